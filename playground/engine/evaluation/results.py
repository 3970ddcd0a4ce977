"""Statistics of the answers: rates and metrics of each variant with their certainty, and each against the first.

The unit is the case: repeats of a case are not independent (``statistics.effective``), and variants are compared in
pairs on the cases that both answered. A difference that is not significant is named as such. Failed answers and checks
without a judgement count neither way, and are counted separately.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from playground.domain.checks.check import Check, Verdict
from playground.domain.costs import Cost, sum_costs, total
from playground.engine.evaluation.provider import Answer, passes
from playground.engine.evaluation.resolved import EvalVariant, Job, ResolvedEvaluation
from playground.engine.evaluation.statistics import (
    Interval,
    bootstrap,
    effective,
    holm,
    mcnemar,
    mean,
    median,
    p_words,
    quantile,
    wilson,
)
from playground.engine.session.plan import Case

SURE: Final = 0.05  # the p below which a difference is significant
_MIN_DIFFERING: Final = 6  # differing cases below which an exact test cannot be significant

#: The metrics that are compared: name, words, unit. Less is better.
METRICS: Final[tuple[tuple[str, str, str], ...]] = (
    ("seconds", "time to the last token", "s"),
    ("first", "time to the first token", "s"),
    ("tokens", "tokens", "tokens"),
    ("price", "price", ""),
)


class Rate(NamedTuple):
    """A pass rate: ``passed`` of the ``judged`` answers, and its confidence interval."""

    passed: int
    judged: int
    interval: Interval

    @property
    def share(self) -> float | None:
        """The rate from 0 to 1; None if nothing was judged."""
        return self.passed / self.judged if self.judged else None

    @property
    def words(self) -> str:
        """``83 % [69–92]``."""
        if self.share is None:
            return "not judged"
        low, high = round(100 * self.interval.low), round(100 * self.interval.high)
        return f"{round(100 * self.share)} % [{low}–{high}]"


@dataclass(frozen=True, slots=True)
class Cell:
    """The answers of a case in a variant, by repeat; None for a missing one.

    ``marks`` are whether each answer passed, ``scores`` are from 0 to 1; None if nothing was judged.
    """

    case: Case
    column: EvalVariant
    answers: tuple[Answer | None, ...]
    marks: tuple[bool | None, ...]
    scores: tuple[float | None, ...]

    @property
    def failing(self) -> bool:
        """Return whether an answer failed a check, or failed altogether."""
        return False in self.marks or any(answer is not None and answer.failure for answer in self.answers)

    @property
    def good(self) -> list[Answer]:
        """The answers that did not fail."""
        return [answer for answer in self.answers if answer is not None and not answer.failure]

    @property
    def majority(self) -> bool | None:
        """True if most of the judged repeats passed, False if most failed, None for a tie or without any."""
        judged = [mark for mark in self.marks if mark is not None]
        passed = sum(judged)
        return None if 2 * passed == len(judged) else 2 * passed > len(judged)

    def median(self, name: str) -> float | None:
        """Return the median of a metric over the repeats; None if it is unknown."""
        values = metric_values(self.good, name)
        return median(values) if values else None

    def split(self) -> list[Cell]:
        """Return one cell for each repeat."""
        repeats = zip(self.answers, self.marks, self.scores, strict=True)
        return [Cell(self.case, self.column, (answer,), (mark,), (score,)) for answer, mark, score in repeats]


@dataclass(frozen=True)
class CheckRate:
    """The pass rate of a check of the plan. ``cases`` counts the cases that it applies to."""

    title: str
    words: str
    rate: Rate
    not_judged: int
    cases: int


@dataclass(frozen=True)
class Comparison:
    """A variant compared with the first in ``what``, with the corrected p.

    ``short`` says in signs which one is better, such as ``B > A, p = 0.03``.
    """

    column: EvalVariant
    what: str
    p: float
    difference: float
    interval: Interval | None
    better: bool
    words: str
    short: str

    @property
    def sure(self) -> bool:
        """Return whether the difference is significant."""
        return self.p < SURE


@dataclass(frozen=True)
class ColumnResult:
    """The results of a variant. ``medians`` and ``high`` (95th percentiles) are by the name of the metric."""

    column: EvalVariant
    rate: Rate
    score: float | None
    answered: int
    failed: int
    not_judged: int
    medians: Mapping[str, float]
    high: Mapping[str, float]
    costs: tuple[Cost, ...]

    @property
    def price(self) -> str:
        """The costs in words; empty if unknown."""
        return total(self.costs)

    @property
    def words(self) -> str:
        """One line: ``83 % [69–92] · 0.90 s · 214 tokens``."""
        parts = [self.rate.words]
        parts += [f"{self.medians['seconds']:.2f} s"] if "seconds" in self.medians else []
        parts += [f"{self.medians['tokens']:,.0f} tokens"] if "tokens" in self.medians else []
        parts += [self.price] if self.price else []
        parts += [f"{self.failed} failed to answer"] if self.failed else []
        return " · ".join(parts)


class Findings(NamedTuple):
    """All statistics; ``failing`` and ``differing`` are ids of cases."""

    columns: tuple[ColumnResult, ...]
    checks: tuple[CheckRate, ...]
    comparisons: tuple[Comparison, ...]
    failing: frozenset[str]
    differing: frozenset[str]

    @property
    def sentences(self) -> list[str]:
        """The pass rates in plain words: a sentence for each variant compared with the first, significant ones first.

        Empty if nothing was judged.
        """
        shares = {result.column.id: result.rate.share for result in self.columns}
        judged = [result for result in self.columns if result.rate.share is not None]
        compared = [comparison for comparison in self.comparisons if comparison.what == "passes"]
        if len(self.columns) == 1 and judged:
            rate = judged[0].rate
            return [f"{judged[0].column.letter} passes {_percent(rate.share)} of {rate.judged:,} answers."]
        if not compared:
            parts = [f"{result.column.letter} {_percent(result.rate.share)}" for result in judged]
            return [f"Pass rates so far: {', '.join(parts)}."] if parts else []
        base = self.columns[0].column
        compared.sort(key=lambda comparison: not comparison.sure)
        return [_sentence(entry, base.letter, shares[entry.column.id], shares[base.id]) for entry in compared]


class Results:
    """The answers of an evaluation, by digest and repeat, and their statistics. Not thread-safe: copy it first."""

    def __init__(self, resolved: ResolvedEvaluation, answers: Mapping[tuple[str, int], Answer]) -> None:
        self.resolved = resolved
        self._answers = dict(answers)
        self._cells: dict[tuple[str, str], Cell] = {}
        self._places: dict[str, list[tuple[Case, EvalVariant]]] | None = None  # by digest

    def arrived(self, answers: Iterable[Answer]) -> list[Answer]:
        """Add new or newly judged answers. Returns those that the plan does not ask for."""
        stale = []
        for answer in answers:
            places = self.asked_by(answer.digest)
            if not places or answer.repeat > self.resolved.plan.repeats:
                stale.append(answer)
                continue
            self._answers[answer.key] = answer
            for case, column in places:
                self._cells.pop((case.id, column.id), None)
        return stale

    def copy(self) -> Results:
        """Return a snapshot for another thread."""
        results = Results(self.resolved, self._answers)
        results._cells, results._places = dict(self._cells), self._places
        return results

    def asked_by(self, digest: str) -> Sequence[tuple[Case, EvalVariant]]:
        """Return the cells that an answer belongs to; empty if the plan does not ask for it."""
        return self._cells_by_digest().get(digest, ())

    def _cells_by_digest(self) -> Mapping[str, Sequence[tuple[Case, EvalVariant]]]:
        if self._places is None:
            self._places = {}
            for column in self.resolved.columns:
                for case in self.resolved.cases:
                    self._places.setdefault(self.resolved.digest(case, column), []).append((case, column))
        return self._places

    @property
    def answers(self) -> Mapping[tuple[str, int], Answer]:
        """The answers by digest and repeat."""
        return self._answers

    @property
    def count(self) -> int:
        """The number of answers."""
        return len(self._answers)

    @property
    def total(self) -> int:
        """The number of answers that the plan asks for."""
        return len(self._cells_by_digest()) * self.resolved.plan.repeats

    @property
    def failed(self) -> int:
        """The number of failed answers."""
        return sum(bool(answer.failure) for answer in self._answers.values())

    @property
    def missing(self) -> list[Job]:
        """The answers that are missing."""
        return [job for job in self.resolved.jobs if job.key not in self._answers]

    def cell(self, case: Case, column: EvalVariant) -> Cell:
        """Return the answers of a case in a variant."""
        key = case.id, column.id
        cell = self._cells.get(key)
        if cell is None:
            digest = self.resolved.digest(case, column)
            repeats = range(1, self.resolved.plan.repeats + 1)
            answers = tuple(self._answers.get((digest, repeat)) for repeat in repeats)
            checks = self.resolved.checks(case)
            marks = tuple(passes(answer, checks) if answer is not None else None for answer in answers)
            scores = tuple(self.score(case, answer) if answer is not None else None for answer in answers)
            cell = self._cells[key] = Cell(case, column, answers, marks, scores)
        return cell

    def score(self, case: Case, answer: Answer) -> float | None:
        """Return the score of an answer from 0 to 1, by the weights of the checks; None if nothing was judged."""
        pairs = [
            (check.weight, verdict.score)
            for check, verdict in self.verdicts(case, answer)
            if verdict is not None and verdict.passed is not None
        ]
        weights = sum(weight for weight, _ in pairs)
        return sum(weight * score for weight, score in pairs) / weights if weights else None

    def verdicts(self, case: Case, answer: Answer) -> list[tuple[Check, Verdict | None]]:
        """Return the verdict of each check; None for one that is still to be made."""
        return [(check, answer.verdicts.get(key)) for key, check in self.resolved.checks(case)]

    def failed_checks(self, case: Case, answer: Answer, default: str = "") -> list[str]:
        """Return ``title: reason`` of each check that an answer failed; ``default`` replaces a missing reason."""
        return [
            f"{check.title}: {verdict.reason or default}"
            for check, verdict in self.verdicts(case, answer)
            if verdict is not None and verdict.passed is False
        ]

    # Statistics

    def column(self, column: EvalVariant) -> ColumnResult:
        """Return the results of a variant."""
        cells = [self.cell(case, column) for case in self.resolved.cases]
        good = [answer for cell in cells for answer in cell.good]
        failed = sum(answer is not None and bool(answer.failure) for cell in cells for answer in cell.answers)
        scores = [score for cell in cells for score in cell.scores if score is not None]
        values = {name: metric_values(good, name) for name, *_ in METRICS}
        rate = _rate(cells)
        return ColumnResult(
            column=column,
            rate=rate,
            score=mean(scores) if scores else None,
            answered=len(good),
            failed=failed,
            not_judged=len(good) - rate.judged,
            medians={name: median(numbers) for name, numbers in values.items() if numbers},
            high={name: quantile(numbers, 0.95) for name, numbers in values.items() if numbers},
            costs=sum_costs(answer.metrics.cost for answer in good),
        )

    @property
    def columns(self) -> list[ColumnResult]:
        """The results of all variants."""
        return [self.column(column) for column in self.resolved.columns]

    def checks(self) -> list[CheckRate]:
        """Return the pass rate of each check of the plan."""
        checks = self.resolved.plan.checks
        verdicts: list[Counter[bool | None]] = [Counter() for _ in checks]
        cases: Counter[int] = Counter()
        for case in self.resolved.cases:
            plan_checks = enumerate(self.resolved.plan_checks(case))
            keyed = [(place, item.key) for place, item in plan_checks if item is not None]
            cases.update(place for place, _ in keyed)
            for answer in (answer for column in self.resolved.columns for answer in self.cell(case, column).good):
                for place, key in keyed:
                    if (verdict := answer.verdicts.get(key)) is not None:
                        verdicts[place][verdict.passed] += 1
        rates = []
        for place, (check, counts) in enumerate(zip(checks, verdicts, strict=True)):
            judged = counts[True] + counts[False]
            rate = Rate(counts[True], judged, wilson(counts[True], judged))
            rates.append(CheckRate(check.title, check.words, rate, counts[None], cases[place]))
        return rates

    def findings(self, *, compared: bool = True) -> Findings:
        """Return all statistics; without comparisons, which take longest, unless ``compared``."""
        return Findings(
            tuple(self.columns),
            tuple(self.checks()),
            tuple(self.comparisons()) if compared else (),
            frozenset(case.id for case in self.resolved.cases if self.failing(case)),
            frozenset(case.id for case in self.resolved.cases if self.differing(case)),
        )

    def failing(self, case: Case) -> bool:
        """Return whether an answer to a case failed a check, or failed altogether."""
        return any(self.cell(case, column).failing for column in self.resolved.columns)

    def differing(self, case: Case) -> bool:
        """Return whether one variant passes a case and another one does not."""
        return len({self.cell(case, column).majority for column in self.resolved.columns} - {None}) > 1

    def answers_of(self, case: Case, column: EvalVariant) -> list[tuple[str, int]]:
        """Return the previews of the answers with their counts, most frequent first."""
        answers = self.cell(case, column).answers
        return Counter(answer.preview for answer in answers if answer is not None).most_common()

    def comparisons(self) -> list[Comparison]:
        """Compare each variant with the first, in passing and in metrics. All p are corrected together."""
        first, *others = self.resolved.columns or (None,)
        if first is None or not others:
            return []
        raw = [difference for column in others for difference in self._differences(first, column)]
        corrected = holm([difference.p for difference in raw])
        return [_comparison(difference, p, first) for difference, p in zip(raw, corrected, strict=True)]

    def _differences(self, first: EvalVariant, column: EvalVariant) -> list[_Difference]:
        pairs = [(self.cell(case, first), self.cell(case, column)) for case in self.resolved.cases]
        unit = "cases"
        if len(pairs) == 1:  # the repeats of the only case are independent
            unit, pairs = "answers", list(zip(pairs[0][0].split(), pairs[0][1].split(), strict=True))
        differences = []
        both = [(a.majority, b.majority) for a, b in pairs]
        judged = [(a, b) for a, b in both if a is not None and b is not None]
        gained, lost = sum(b and not a for a, b in judged), sum(a and not b for a, b in judged)
        if judged:
            share, p = (gained - lost) / len(judged), mcnemar(gained, lost)
            differences.append(_Difference(column, "passes", p, share, None, len(judged), gained + lost, unit))
        for name, words, _unit in METRICS:
            medians = [(a.median(name), b.median(name)) for a, b in pairs]
            values = [b - a for a, b in medians if a is not None and b is not None]
            count = len(values)
            if count >= 2 and any(values) and (name != "price" or _is_one_currency(pairs)):
                result = bootstrap(values, seed=self.resolved.plan.seed)
                # Of n random signs all are equal in 2 of 2^n cases: no test of so few values can be surer.
                p = max(result.p, 2.0 ** (1 - count))
                differences.append(_Difference(column, words, p, result.value, result.interval, count, count, unit))
        return differences


class _Difference(NamedTuple):
    """A difference before correction. ``differing`` of ``size`` (in ``unit``) can show one."""

    column: EvalVariant
    what: str
    p: float
    difference: float
    interval: Interval | None
    size: int
    differing: int
    unit: str


def metric_values(answers: Iterable[Answer], name: str) -> list[float]:
    """Return the known values of a metric, smallest first."""
    values = (getattr(answer.metrics, name) for answer in answers)
    return sorted(value for value in values if value is not None)


def _rate(cells: Sequence[Cell]) -> Rate:
    marks = [[mark for mark in cell.marks if mark is not None] for cell in cells]
    groups = [(sum(judged), len(judged)) for judged in marks]
    passed, judged = sum(part for part, _ in groups), sum(size for _, size in groups)
    worth = effective(groups)
    return Rate(passed, judged, wilson(passed / judged * worth if judged else 0, worth))


def _percent(share: float | None) -> str:
    return f"{round(100 * (share or 0))} %"


def _sentence(comparison: Comparison, base: str, share: float | None, base_share: float | None) -> str:
    """Return a comparison of pass rates in plain words."""
    letter, rates = comparison.column.letter, f"{_percent(share)} against {_percent(base_share)}"
    if comparison.sure:
        more = "more" if comparison.better else "less"
        return f"{letter} passes {more} often than {base}: {rates}, unlikely to be chance."
    if share == base_share:
        return f"{letter} passes as often as {base}: {_percent(share)}."
    return f"{letter} passes {_percent(share)}, {base} {_percent(base_share)}. The difference may be chance."


def _is_one_currency(pairs: Sequence[tuple[Cell, Cell]]) -> bool:
    answers = (answer for pair in pairs for cell in pair for answer in cell.answers if answer is not None)
    return len({answer.metrics.currency for answer in answers} - {""}) == 1


def _comparison(raw: _Difference, p: float, first: EvalVariant) -> Comparison:
    letter, base = raw.column.letter, first.letter
    is_rate = raw.what == "passes"
    better = raw.difference > 0 if is_rate else raw.difference < 0
    count = f"{raw.size} {raw.unit}"
    if p < SURE and is_rate:
        words = f"{letter} passes {'more' if better else 'less'} often than {base} (p {p_words(p)})"
    elif p < SURE:
        bounds = sorted(map(abs, raw.interval or (0.0, 0.0)))
        words = (
            f"{letter}: {raw.what} {'less' if better else 'more'} than {base} by {abs(raw.difference):.3g} "
            f"[{bounds[0]:.3g}–{bounds[1]:.3g}] (p {p_words(p)})"
        )
    elif is_rate and 0 < raw.differing < _MIN_DIFFERING:
        words = f"{letter} and {base} differ in {raw.differing} of {count}: too few to compare their pass rates"
    else:
        what = "passing" if is_rate else raw.what
        words = f"no difference between {letter} and {base} in {what} can be told from {count} (p {p_words(p)})"
    short = f"{letter} {'>' if better else '<'} {base}, p {p_words(p)}"
    return Comparison(raw.column, raw.what, p, raw.difference, raw.interval, better, words, short)
