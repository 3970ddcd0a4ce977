"""What follows from the answers: rates and figures of each column with how sure they are, and each against the first.

The case is the unit: repeats of one are no independent answers (``statistics.effective``), and columns are compared in
pairs on the cases they have both answered. What cannot be told is said so, in words. Answers that failed and checks
that were not judged count neither way, and are counted beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from playground.domain.checks.check import Check, Verdict
from playground.domain.costs import Cost, total
from playground.engine.evaluation.answering import Answer, Figures
from playground.engine.evaluation.inquiry import Column, Inquiry, Job
from playground.engine.evaluation.statistics import (
    Estimate,
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

SURE: Final = 0.05  # the p below which a difference is told
_FEWEST: Final = 6  # cases that differ, from which on an exact test of them can tell anything

#: The figures that are compared: their names, what they are, their units, and which way is better.
FIGURES: Final[tuple[tuple[str, str, str], ...]] = (
    ("seconds", "time to the last token", "s"),
    ("first", "time to the first token", "s"),
    ("tokens", "tokens", "tokens"),
    ("price", "price", ""),
)


class Rate(NamedTuple):
    """How many answers passed of those that were judged, what that is worth, and where the rate lies."""

    passed: int
    judged: int
    interval: Interval

    @property
    def share(self) -> float | None:
        """From 0 to 1; None where nothing was judged."""
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
    """The answers of one case in one column, by repeat; None where one is missing.

    ``marks`` are whether each passed, ``scores`` what the checks give it; None where nothing was judged.
    """

    case: Case
    column: Column
    answers: tuple[Answer | None, ...]
    marks: tuple[bool | None, ...]
    scores: tuple[float | None, ...]

    @property
    def failing(self) -> bool:
        """Whether one of them failed a check, or for good."""
        return any(mark is False for mark in self.marks) or any(one is not None and one.failure for one in self.answers)


@dataclass(frozen=True)
class CheckRate:
    """How often a check was passed over all answers it was made of, and for how many cases it is."""

    title: str
    words: str
    rate: Rate
    not_judged: int
    cases: int


@dataclass(frozen=True)
class Comparison:
    """A column against the first: what is compared, words for what can be told, and the p that was corrected.

    ``short`` says in signs which of them is better, as ``B > A, p = 0.03``.
    """

    column: Column
    what: str
    p: float
    difference: float
    interval: Interval | None
    better: bool
    words: str
    short: str

    @property
    def sure(self) -> bool:
        """Whether a difference can be told."""
        return self.p < SURE


@dataclass(frozen=True)
class ColumnResult:
    """One column: its rate, its figures, and what counted neither way."""

    column: Column
    rate: Rate
    score: float | None
    answered: int
    failed: int
    not_judged: int
    medians: Mapping[str, float]
    high: Mapping[str, float]
    spent: Mapping[str, float]
    listed: bool = False

    @property
    def price(self) -> str:
        """What its answers cost, in words; empty where nobody says."""
        return total(Cost(amount, currency, self.listed) for currency, amount in self.spent.items())

    @property
    def words(self) -> str:
        """In a line: ``83 % [69–92] · 0.90 s · 214 tokens``."""
        parts = [self.rate.words]
        parts += [f"{self.medians['seconds']:.2f} s"] if "seconds" in self.medians else []
        parts += [f"{self.medians['tokens']:,.0f} tokens"] if "tokens" in self.medians else []
        parts += [self.price] if self.price else []
        parts += [f"{self.failed} failed to answer"] if self.failed else []
        return " · ".join(parts)


class Findings(NamedTuple):
    """All that follows together; ``failing`` and ``differing`` are ids of cases."""

    columns: tuple[ColumnResult, ...]
    checks: tuple[CheckRate, ...]
    comparisons: tuple[Comparison, ...]
    failing: frozenset[str]
    differing: frozenset[str]


class Results:
    """``answers`` are those of the plan, by digest and repeat. Everything is worked out when it is first asked for."""

    def __init__(self, inquiry: Inquiry, answers: Mapping[tuple[str, int], Answer]) -> None:
        self.inquiry = inquiry
        self._answers = dict(answers)
        self._cells: dict[tuple[str, str], Cell] = {}
        self._places: dict[str, list[tuple[Case, Column]]] | None = None  # of each digest
        self._touched: set[tuple[str, str]] = set()  # cells that have more since the last picture was taken

    def arrived(self, answers: Iterable[Answer]) -> None:
        """These came, or have other verdicts; the others stay as they are. What the plan does not ask is left out."""
        for answer in answers:
            asked = self.asked_by(answer.digest)
            if asked and answer.repeat <= self.inquiry.plan.repeats:
                self._answers[answer.key] = answer
            for case, column in asked:
                self._cells.pop((case.id, column.id), None)
                self._touched.add((case.id, column.id))

    def take(self, answers: Iterable[Answer]) -> list[Answer]:
        """Have those of them that the plan asks for, before anything was worked out. Returns the others."""
        places, repeats = self._asked(), self.inquiry.plan.repeats
        others = []
        for answer in answers:
            if answer.repeat <= repeats and answer.digest in places:
                self._answers[answer.digest, answer.repeat] = answer
            else:
                others.append(answer)
        return others

    def picture(self) -> Results:
        """As it is now, for a thread of its own; what was worked out there is taken over by ``learn``."""
        self._touched.clear()
        return self.copy()

    def copy(self) -> Results:
        """As it is now, for a thread that nothing is learnt from."""
        taken = Results(self.inquiry, self._answers)
        taken._cells, taken._places = dict(self._cells), self._places
        return taken

    def learn(self, picture: Results) -> None:
        """Have the cells of the picture that was taken last, but for those that have more since."""
        cells = picture._cells
        for key in self._touched:
            cells.pop(key, None)
            if (found := self._cells.get(key)) is not None:
                cells[key] = found
        self._cells = cells

    def asked_by(self, digest: str) -> Sequence[tuple[Case, Column]]:
        """Where an answer belongs to; nowhere, where the plan does not ask that."""
        return self._asked().get(digest, ())

    def _asked(self) -> Mapping[str, Sequence[tuple[Case, Column]]]:
        """Where the answers to each digest belong to."""
        if self._places is None:
            self._places = {}
            inquiry = self.inquiry
            for column in inquiry.columns:
                for case in inquiry.cases:
                    self._places.setdefault(inquiry.digest(case, column), []).append((case, column))
        return self._places

    @property
    def answers(self) -> Mapping[tuple[str, int], Answer]:
        """Those that came, by digest and repeat."""
        return self._answers

    @property
    def count(self) -> int:
        """How many came."""
        return len(self._answers)

    @property
    def total(self) -> int:
        """How many are wanted."""
        return len(self._asked()) * self.inquiry.plan.repeats

    @property
    def failed(self) -> int:
        """How many failed for good."""
        return sum(bool(one.failure) for one in self._answers.values())

    @property
    def missing(self) -> list[Job]:
        """What is still to be asked for."""
        return [job for job in self.inquiry.jobs if job.key not in self._answers]

    def cell(self, case: Case, column: Column) -> Cell:
        """The answers of a case in a column."""
        key = case.id, column.id
        found = self._cells.get(key)
        if found is None:
            digest = self.inquiry.digest(case, column)
            repeats = range(1, self.inquiry.plan.repeats + 1)
            answers = tuple(self._answers.get((digest, repeat)) for repeat in repeats)
            scores = tuple(self.score(case, one) if one is not None else None for one in answers)
            found = self._cells[key] = Cell(case, column, answers, tuple(map(self._mark(case), answers)), scores)
        return found

    def _mark(self, case: Case) -> Callable[[Answer | None], bool | None]:
        keys = [key for key, _ in self.inquiry.keyed(case)]

        def mark(answer: Answer | None) -> bool | None:
            if answer is None or answer.failure:
                return None
            known = [
                found.passed
                for key in keys
                if (found := answer.verdicts.get(key)) is not None and found.passed is not None
            ]
            return all(known) if known else None

        return mark

    def score(self, case: Case, answer: Answer) -> float | None:
        """What the checks give an answer, from 0 to 1, each by its weight; None where nothing was judged."""
        pairs = [
            (check.weight, found.score)
            for key, check in self.inquiry.keyed(case)
            if (found := answer.verdicts.get(key)) is not None and found.passed is not None
        ]
        weight = sum(one for one, _ in pairs)
        return sum(one * score for one, score in pairs) / weight if weight else None

    def verdicts(self, case: Case, answer: Answer) -> list[tuple[Check, Verdict | None]]:
        """What each check said of an answer; None where it was not made yet."""
        return [(check, answer.verdicts.get(key)) for key, check in self.inquiry.keyed(case)]

    # Columns

    def column(self, column: Column) -> ColumnResult:
        """What came of a column."""
        cells = [self.cell(case, column) for case in self.inquiry.cases]
        answers = [one for cell in cells for one in cell.answers if one is not None]
        good = [one for one in answers if not one.failure]
        scores = [score for cell in cells for score in cell.scores if score is not None]
        spent: dict[str, float] = {}
        for one in good:
            if one.figures.price is not None:
                spent[one.figures.currency] = spent.get(one.figures.currency, 0.0) + one.figures.price
        marks = [mark for cell in cells for mark in cell.marks if mark is not None]
        figures = _by_figure(good)
        return ColumnResult(
            column=column,
            rate=_rate(cells),
            score=mean(scores) if scores else None,
            answered=len(good),
            failed=len(answers) - len(good),
            not_judged=len(good) - len(marks),
            medians={name: median(values) for name, values in figures.items()},
            high={name: quantile(values, 0.95) for name, values in figures.items()},
            spent=spent,
            listed=any(one.figures.listed for one in good),
        )

    @property
    def columns(self) -> list[ColumnResult]:
        """All of them."""
        return [self.column(column) for column in self.inquiry.columns]

    def checks(self) -> list[CheckRate]:
        """How often each check of the plan was passed."""
        inquiry = self.inquiry
        passed, failed, others, cases = (Counter[int]() for _ in range(4))  # by the place of the check
        for case in inquiry.cases:
            keys = [(at, key) for at in range(len(inquiry.plan.checks)) if (key := inquiry.plan_key(case, at))]
            cases.update(at for at, _ in keys)
            for column in inquiry.columns:
                for one in self.cell(case, column).answers:
                    if one is None or one.failure:
                        continue
                    for at, key in keys:
                        if (found := one.verdicts.get(key)) is not None:
                            (passed if found.passed else others if found.passed is None else failed)[at] += 1
        out = []
        for at, check in enumerate(inquiry.plan.checks):
            judged = passed[at] + failed[at]
            rate = Rate(passed[at], judged, wilson(passed[at], judged))
            out.append(CheckRate(check.title, check.words, rate, others[at], cases[at]))
        return out

    def findings(self, *, compared: bool = True) -> Findings:
        """All that follows; without what takes longest where it is not to be ``compared``."""
        return Findings(
            tuple(self.columns),
            tuple(self.checks()),
            tuple(self.comparisons()) if compared else (),
            frozenset(case.id for case in self.inquiry.cases if self.failing(case)),
            frozenset(case.id for case in self.inquiry.cases if self.differing(case)),
        )

    def failing(self, case: Case) -> bool:
        """Whether an answer to a case failed a check, or for good."""
        return any(self.cell(case, column).failing for column in self.inquiry.columns)

    # Columns against the first

    def comparisons(self) -> list[Comparison]:
        """Each column against the first: passing, then figures. All p are corrected together."""
        columns = self.inquiry.columns
        if len(columns) < 2:
            return []
        raw = [found for column in columns[1:] for found in self._against(columns[0], column)]
        corrected = holm([one.p for one in raw])
        return [_worded(one, p, columns[0]) for one, p in zip(raw, corrected, strict=True)]

    def _against(self, first: Column, other: Column) -> list[_Raw]:
        pairs = [(self.cell(case, first), self.cell(case, other)) for case in self.inquiry.cases]
        unit = "cases"
        if len(pairs) == 1:  # nothing is asked but about this one: its repeats are independent
            unit, pairs = "answers", list(zip(*map(_each, pairs[0]), strict=True))
        out = []
        judged = [(_majority(a), _majority(b)) for a, b in pairs]
        known = [(a, b) for a, b in judged if a is not None and b is not None]
        gained, lost = sum(b and not a for a, b in known), sum(a and not b for a, b in known)
        if known:
            difference = (gained - lost) / len(known)
            p = mcnemar(gained, lost)
            out.append(_Raw(other, "passes", p, difference, None, len(known), gained + lost, unit))
        for name, words, _unit in FIGURES:
            differences = [
                there - here
                for a, b in pairs
                if (here := _middle(a, name)) is not None and (there := _middle(b, name)) is not None
            ]
            if len(differences) >= 2 and any(differences) and (name != "price" or _one_currency(pairs)):
                count = len(differences)
                found: Estimate = bootstrap(differences, seed=self.inquiry.plan.seed)
                # As many signs drawn by chance are all alike in two of 2^n: no test of so few can tell more.
                p = max(found.p or 1.0, 2.0 ** (1 - count))
                out.append(_Raw(other, words, p, found.value, found.interval, count, count, unit))
        return out

    def answers_of(self, case: Case, column: Column) -> list[tuple[str, int]]:
        """Which answers came, and how often each, most frequent first."""
        return Counter(one.gist for one in self.cell(case, column).answers if one is not None).most_common()

    def differing(self, case: Case) -> bool:
        """Whether columns passed a case otherwise than each other."""
        found = {_majority(self.cell(case, column)) for column in self.inquiry.columns} - {None}
        return len(found) > 1


class _Raw(NamedTuple):
    column: Column
    what: str
    p: float
    difference: float
    interval: Interval | None
    cases: int
    telling: int  # cases that can tell anything
    unit: str  # what is counted: cases, or answers of the only one


def _each(cell: Cell) -> list[Cell]:
    """A cell for each of its answers."""
    each = zip(cell.answers, cell.marks, cell.scores, strict=True)
    return [Cell(cell.case, cell.column, (answer,), (mark,), (score,)) for answer, mark, score in each]


def _rate(cells: Sequence[Cell]) -> Rate:
    groups = []
    for cell in cells:
        known = [mark for mark in cell.marks if mark is not None]
        groups.append((sum(known), len(known)))
    passed, judged = sum(one for one, _ in groups), sum(total for _, total in groups)
    worth = effective(groups)
    return Rate(passed, judged, wilson(passed / judged * worth if judged else 0, worth))


def _by_figure(answers: Sequence[Answer]) -> dict[str, list[float]]:
    """All values of each figure that there are, smallest first."""
    found = {
        name: [value for one in answers if (value := _figure(one.figures, name)) is not None] for name, *_ in FIGURES
    }
    return {name: sorted(values) for name, values in found.items() if values}


def _figure(figures: Figures, name: str) -> float | None:
    value: float | None = getattr(figures, name)
    return value


def _middle(cell: Cell, name: str) -> float | None:
    """The median of a figure over the repeats of a case."""
    found = [_figure(one.figures, name) for one in cell.answers if one is not None and not one.failure]
    values = [value for value in found if value is not None]
    return median(values) if values else None


def _one_currency(pairs: Sequence[tuple[Cell, Cell]]) -> bool:
    found = {one.figures.currency for pair in pairs for cell in pair for one in cell.answers if one is not None}
    return len(found - {""}) == 1


def _majority(cell: Cell) -> bool | None:
    """Whether more than half of the judged repeats passed; None where none was, or as many did as not."""
    known = [mark for mark in cell.marks if mark is not None]
    passed = sum(known)
    return None if not known or 2 * passed == len(known) else 2 * passed > len(known)


def _worded(raw: _Raw, p: float, first: Column) -> Comparison:
    here, there = raw.column.letter, first.letter
    better = raw.difference > 0 if raw.what == "passes" else raw.difference < 0
    if p < SURE:
        if raw.what == "passes":
            words = f"{here} passes {'more' if better else 'less'} often than {there} (p {p_words(p)})"
        else:
            low, high = raw.interval or Interval(0.0, 0.0)
            way = "less" if better else "more"
            words = (
                f"{here}: {raw.what} {way} than {there} by {abs(raw.difference):.3g} "
                f"[{min(abs(low), abs(high)):.3g}–{max(abs(low), abs(high)):.3g}] (p {p_words(p)})"
            )
    else:
        what = "passing" if raw.what == "passes" else raw.what
        count = f"{raw.cases} {raw.unit}"
        words = f"no difference between {here} and {there} in {what} can be told from {count} (p {p_words(p)})"
        if raw.what == "passes" and 0 < raw.telling < _FEWEST:
            words = f"{here} and {there} differ in {raw.telling} of {count}: too few to tell who passes more often"
    short = f"{here} {'>' if better else '<'} {there}, p {p_words(p)}"
    return Comparison(raw.column, raw.what, p, raw.difference, raw.interval, better, words, short)
