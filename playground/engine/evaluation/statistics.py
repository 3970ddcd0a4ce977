"""How sure a number is: intervals of rates, tests of pairs, corrections for many of them. Pure functions of numbers.

Sources stand at each; the tests hold them against scipy. Nothing here knows what was counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from statistics import NormalDist
from typing import Final, NamedTuple

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 4_000  # of a few values; of many fewer, so that it takes a quarter of a second at most
_FEWEST: Final = 1_000
_DRAWN: Final = 1_000_000  # values


class Interval(NamedTuple):
    """From ``low`` to ``high``, both included."""

    low: float
    high: float


def wilson(passed: float, total: float, confidence: float = CONFIDENCE) -> Interval:
    """The interval of a rate: ``passed`` of ``total``, which may be an effective number and need not be whole.

    E. B. Wilson, J. Am. Stat. Assoc. 22 (1927); recommended for small numbers by Brown, Cai and DasGupta, Statistical
    Science 16 (2001), section 3.1.1. Of nothing everything may be true: 0 to 1.
    """
    if total <= 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate = passed / total
    middle = (rate + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    return Interval(max(middle - half, 0.0) if passed > 0 else 0.0, min(middle + half, 1.0) if passed < total else 1.0)


def effective(groups: Sequence[tuple[int, int]]) -> float:
    """How many independent answers as many answers in groups are worth: ``groups`` are (passed, total) of each.

    Repeats of a case are alike. The variance of the rate is estimated from the spread between cases (ratio estimator;
    W. G. Cochran, Sampling Techniques, 3rd ed. 1977, section 9A.2) and set against that of as many independent answers:
    the quotient is the design effect (L. Kish, Survey Sampling, 1965, section 8.2). Never more than there are answers,
    and never fewer than there are groups; where all answers are alike nothing tells them from one a group. Of one group
    alone nothing is asked but about itself, and its answers are independent.
    """
    known = [(passed, total) for passed, total in groups if total > 0]
    count, answers = len(known), sum(total for _, total in known)
    if count < 2:
        return float(answers)
    rate = sum(passed for passed, _ in known) / answers
    if not 0 < rate < 1:
        return float(count)
    spread = sum((passed - rate * total) ** 2 for passed, total in known)
    variance = count / (count - 1) * spread / answers**2
    if variance <= 0:
        return float(answers)
    return min(max(rate * (1 - rate) / variance, float(count)), float(answers))


def mcnemar(gained: int, lost: int) -> float:
    """The two-sided p of pairs that differ: ``gained`` one way, ``lost`` the other.

    Exact: under no difference each is as likely, so the smaller one is binomial. Q. McNemar, Psychometrika 12 (1947);
    exact form after A. L. Edwards (1948). Without any that differ, 1.
    """
    pairs = gained + lost
    if not pairs:
        return 1.0
    tail = ways = 1  # in which so few of them can go one way
    for count in range(min(gained, lost)):
        ways = ways * (pairs - count) // (count + 1)
        tail += ways
    return min(1.0, float(2 * tail / 2**pairs))


def median(values: Sequence[float]) -> float:
    """The middle one. Raises ValueError without any."""
    return quantile(values, 0.5)


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean. Raises ZeroDivisionError without any."""
    return math.fsum(values) / len(values)


def quantile(values: Sequence[float], share: float) -> float:
    """The value at or below which that share (0 to 1) of them lies, between two neighbours in proportion.

    R. J. Hyndman and Y. Fan, The American Statistician 50 (1996), definition 7. Raises ValueError without any.
    """
    if not values:
        raise ValueError("there is no value")
    ordered = sorted(values)
    place = min(max(share, 0.0), 1.0) * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


class BootstrapResult(NamedTuple):
    """A statistic of the sample, where it lies with what confidence, and the p of its being 0 (None: not asked)."""

    value: float
    interval: Interval
    p: float


def bootstrap(
    values: Sequence[float],
    statistic: Callable[[Sequence[float]], float] = mean,
    *,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> BootstrapResult:
    """A statistic of ``values``, one a case, with its interval: cases drawn again with replacement.

    The same seed gives the same interval. Percentile interval: B. Efron and R. J. Tibshirani, An Introduction to the
    Bootstrap, 1993, section 13.3. Its p is twice the smaller share of resamples on either side of 0, one added to both
    counts (section 15.4 and Davison and Hinkley, 1997, section 4.2): how sure it is that the statistic is not 0.
    Raises ValueError without any value.
    """
    if not values:
        raise ValueError("there is no value")
    resamples = max(_FEWEST, min(RESAMPLES, _DRAWN // len(values)))
    chance = Random(seed)  # noqa: S311 - not for secrets: to be drawn again in the same way
    drawn = sorted(statistic(chance.choices(values, k=len(values))) for _ in range(resamples))
    rest = (1 - confidence) / 2
    interval = Interval(quantile(drawn, rest), quantile(drawn, 1 - rest))
    below = sum(one <= 0 for one in drawn)
    above = sum(one >= 0 for one in drawn)
    p = min(1.0, 2 * (min(below, above) + 1) / (resamples + 1))
    return BootstrapResult(statistic(values), interval, p)


def holm(ps: Sequence[float]) -> list[float]:
    """Each p corrected for there being so many of them, in their order.

    S. Holm, Scandinavian Journal of Statistics 6 (1979): the smallest times their number, the next one less, and so on,
    none below one before it, none above 1.
    """
    out, least = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda at: ps[at])):
        least = max(least, min(1.0, ps[place] * (len(ps) - rank)))
        out[place] = least
    return out


def p_words(p: float) -> str:
    """A probability of error as it is told: ``= 0.023``."""
    return "< 0.001" if p < 0.001 else f"= {p:.3f}" if p < 0.1 else f"= {p:.2f}"


def round_step(least: float) -> float:
    """The next of 1, 2, 2.5 and 5 times a power of ten; ``least`` is above 0."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= least * 0.999)


def axis_marks(most: float, count: int = 4) -> list[float]:
    """From 0 in about ``count`` round steps until ``most``, which is above 0, is reached."""
    step = round_step(most / count)
    return [step * number for number in range(math.ceil(most / step * 0.9999) + 1)]
