"""Statistics as pure functions of numbers: intervals of rates, tests of pairs, corrections, bootstrap, axis steps.

Each function names its source; the tests compare them with scipy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from statistics import NormalDist
from typing import Final, NamedTuple

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 4_000  # fewer of many values, to bound the time
_MIN_RESAMPLES: Final = 1_000
_MAX_DRAWN: Final = 1_000_000  # values


class Interval(NamedTuple):
    """The interval from ``low`` to ``high``, both included."""

    low: float
    high: float


def wilson(passed: float, total: float, confidence: float = CONFIDENCE) -> Interval:
    """Return the interval of a rate: ``passed`` of ``total``, which may be an effective number with a fraction.

    E. B. Wilson, J. Am. Stat. Assoc. 22 (1927); recommended for small numbers by Brown, Cai and DasGupta, Statistical
    Science 16 (2001), section 3.1.1. For a total of 0: 0 to 1.
    """
    if total <= 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate = passed / total
    middle = (rate + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    return Interval(max(middle - half, 0.0) if passed > 0 else 0.0, min(middle + half, 1.0) if passed < total else 1.0)


def effective(groups: Sequence[tuple[int, int]]) -> float:
    """Return the number of independent answers that grouped answers are worth; ``groups`` are (passed, total) of each.

    Repeats of a case are alike. The variance of the rate is estimated from the spread between cases (ratio estimator;
    W. G. Cochran, Sampling Techniques, 3rd ed. 1977, section 9A.2) and set against that of as many independent answers:
    the quotient is the design effect (L. Kish, Survey Sampling, 1965, section 8.2). The result is at least the number
    of groups and at most that of answers; if all answers are equal it is the number of groups. The answers of a single
    group are independent.
    """
    judged = [(passed, total) for passed, total in groups if total > 0]
    count, answers = len(judged), sum(total for _, total in judged)
    if count < 2:
        return float(answers)
    rate = sum(passed for passed, _ in judged) / answers
    if not 0 < rate < 1:
        return float(count)
    spread = sum((passed - rate * total) ** 2 for passed, total in judged)
    variance = count / (count - 1) * spread / answers**2
    if variance <= 0:
        return float(answers)
    return min(max(rate * (1 - rate) / variance, float(count)), float(answers))


def mcnemar(gained: int, lost: int) -> float:
    """Return the two-sided p of differing pairs: ``gained`` one way, ``lost`` the other way.

    Exact: without a difference both ways are equally likely, so the smaller count is binomial. Q. McNemar,
    Psychometrika 12 (1947);
    exact form after A. L. Edwards (1948). Without differing pairs: 1.
    """
    pairs = gained + lost
    if not pairs:
        return 1.0
    tail = ways = 1  # numbers of ways for so few pairs to go one way
    for count in range(min(gained, lost)):
        ways = ways * (pairs - count) // (count + 1)
        tail += ways
    return min(1.0, float(2 * tail / 2**pairs))


def median(values: Sequence[float]) -> float:
    """Return the median. Raises ValueError without values."""
    return quantile(values, 0.5)


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean. Raises ZeroDivisionError without values."""
    return math.fsum(values) / len(values)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which a ``share`` (0 to 1) of the values lies, interpolated between neighbours.

    R. J. Hyndman and Y. Fan, The American Statistician 50 (1996), definition 7. Raises ValueError without values.
    """
    if not values:
        raise ValueError("there is no value")
    ordered = sorted(values)
    place = min(max(share, 0.0), 1.0) * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


class BootstrapResult(NamedTuple):
    """A statistic of the sample, its confidence interval, and the p of its being 0."""

    value: float
    interval: Interval
    p: float


def bootstrap(
    values: Sequence[float],
    statistic: Callable[[Sequence[float]], float] = mean,
    *,
    seed: int = 0,
) -> BootstrapResult:
    """Return a statistic of ``values``, one for each case, with its interval: cases are resampled with replacement.

    The same seed gives the same interval. Percentile interval: B. Efron and R. J. Tibshirani, An Introduction to the
    Bootstrap, 1993, section 13.3. Its p is twice the smaller share of resamples on either side of 0, one added to both
    counts (section 15.4 and Davison and Hinkley, 1997, section 4.2): how sure it is that the statistic is not 0.
    Raises ValueError without values.
    """
    if not values:
        raise ValueError("there is no value")
    resamples = max(_MIN_RESAMPLES, min(RESAMPLES, _MAX_DRAWN // len(values)))
    chance = Random(seed)  # noqa: S311 - reproducible, not secret
    drawn = sorted(statistic(chance.choices(values, k=len(values))) for _ in range(resamples))
    rest = (1 - CONFIDENCE) / 2
    interval = Interval(quantile(drawn, rest), quantile(drawn, 1 - rest))
    below = sum(value <= 0 for value in drawn)
    above = sum(value >= 0 for value in drawn)
    p = min(1.0, 2 * (min(below, above) + 1) / (resamples + 1))
    return BootstrapResult(statistic(values), interval, p)


def holm(ps: Sequence[float]) -> list[float]:
    """Return each p corrected for multiple comparisons, in the same order.

    S. Holm, Scandinavian Journal of Statistics 6 (1979): the smallest times their number, the next times one less, and
    so on; none below the previous, none above 1.
    """
    out, least = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        least = max(least, min(1.0, ps[place] * (len(ps) - rank)))
        out[place] = least
    return out


def p_words(p: float) -> str:
    """Format a probability of error: ``= 0.023``."""
    return "< 0.001" if p < 0.001 else f"= {p:.3f}" if p < 0.1 else f"= {p:.2f}"


def round_step(least: float) -> float:
    """Return the next of 1, 2, 2.5 and 5 times a power of ten; ``least`` is above 0."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= least * 0.999)


def axis_marks(most: float, count: int = 4) -> list[float]:
    """Return marks of an axis from 0 to at least ``most`` (above 0) in about ``count`` round steps."""
    step = round_step(most / count)
    return [step * number for number in range(math.ceil(most / step * 0.9999) + 1)]
