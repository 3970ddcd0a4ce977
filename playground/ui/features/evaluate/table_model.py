"""Cases × columns as the rows of a table. Words are made only for the cells that are looked at."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from playground.domain.checks.asked import Judge
from playground.domain.checks.check import Check, Verdict
from playground.engine.evaluation.resolved import EvalVariant, ResolvedEvaluation
from playground.engine.evaluation.results import Results
from playground.engine.evaluation.statistics import median
from playground.engine.session.plan import Case
from playground.jsonkit.texts import cut
from playground.ui.widgets.plain_text import one_line_of, show_hidden, tip

if TYPE_CHECKING:
    from playground.engine.evaluation.provider import Answer

Index = QModelIndex | QPersistentModelIndex

KEPT: Final = 3_000  # cells whose words are kept
_SAID: Final = 200  # characters of what a case expects
_CHIP: Final = 60  # characters of a check that failed
_IN_TIP: Final = 40  # answers


class Mark(IntEnum):
    """What became of one repeat; each is drawn in a shape of its own."""

    MISSING = 0
    PASSED = 1
    FAILED = 2
    NO_ANSWER = 3
    UNJUDGED = 4
    STALE = 5


MARK_WORDS: Final = {
    Mark.MISSING: "not asked yet",
    Mark.PASSED: "passed",
    Mark.FAILED: "failed a check",
    Mark.NO_ANSWER: "failed to answer",
    Mark.UNJUDGED: "answered, not judged",
    Mark.STALE: "answered, of what was asked before",
}


_PLAIN: Final = {Mark.FAILED: 0, Mark.NO_ANSWER: 1}  # whose words are shown before those of all others


class Filter(StrEnum):
    """Which cases are shown."""

    ALL = "All"
    FAILING = "Failing"
    DIFFERING = "Differing"
    STALE = "Stale"


class Order(NamedTuple):
    """What rows are sorted by: a figure, of the column of that number (0: of the case)."""

    figure: str
    column: int
    down: bool  # largest first


#: What the rows can be sorted by in a column, and whether the largest comes first when it is asked for.
FIGURES: Final[Mapping[str, tuple[str, bool]]] = {
    "rate": ("Pass rate", False),
    "score": ("Score", False),
    "seconds": ("Time to the last token", True),
    "first": ("Time to the first token", True),
    "tokens": ("Tokens", True),
    "price": ("Price", True),
}
NAME: Final = "name"
Stale = Mapping[tuple[str, str], Sequence["Answer"]]


class Shown(NamedTuple):
    """A cell, ready to show. ``failed`` are checks, most frequent first; ``tally`` how many of how many did not hold.

    ``repeat`` is the one whose words are shown; 0 where none came.
    """

    marks: tuple[Mark, ...]
    words: str
    colour: str
    failed: tuple[str, ...]
    tally: str
    repeat: int


class Head(NamedTuple):
    """What the first column says of a case."""

    title: str
    expected: str
    problem: str


class AnswersModel(QAbstractTableModel):
    """``show`` other results; ``show_rows`` which of their cases, by their places in the plan."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._results: Results | None = None
        self._stale: Stale = {}
        self._problems: Mapping[str, str] = {}
        self._rows: list[int] = []
        self._place: dict[str, int] = {}  # row of each case that is shown
        self._cells: OrderedDict[tuple[str, str], Shown] = OrderedDict()

    @property
    def resolved(self) -> ResolvedEvaluation | None:
        """What is asked."""
        return self._results.resolved if self._results is not None else None

    @property
    def rows(self) -> list[int]:
        """The cases that are shown, by their places in the plan."""
        return self._rows

    def show(self, results: Results, rows: list[int], stale: Stale, problems: Mapping[str, str]) -> None:
        """Show these. ``problems`` are words by the id of a case."""
        self.beginResetModel()
        self._results, self._stale, self._problems = results, stale, problems
        self._cells.clear()
        self._take(rows)
        self.endResetModel()

    def show_rows(self, rows: list[int]) -> None:
        """Show these cases of the same results."""
        self.beginResetModel()
        self._take(rows)
        self.endResetModel()

    def _take(self, rows: list[int]) -> None:
        cases = self._results.resolved.cases if self._results is not None else ()
        self._rows = rows
        self._place = {cases[at].id: row for row, at in enumerate(rows)}

    # What is where

    def row_of(self, case: Case) -> int | None:
        """The row of a case; None where it is not shown."""
        return self._place.get(case.id)

    def column_of(self, column: EvalVariant | None) -> int:
        """The number of a column; 0, that of the cases, for None or one that is gone."""
        if self._results is None or column is None:
            return 0
        return next((at for at, one in enumerate(self._results.resolved.columns, 1) if one.id == column.id), 0)

    def case(self, row: int) -> Case:
        """That of a row. Raises IndexError."""
        if self._results is None:
            raise IndexError(row)
        return self._results.resolved.cases[self._rows[row]]

    def column(self, number: int) -> EvalVariant | None:
        """That of a number; None for the first, where the cases stand."""
        return self._results.resolved.columns[number - 1] if self._results is not None and number else None

    def forget(self, case: Case, column: EvalVariant) -> None:
        """There is more in that cell."""
        self._cells.pop((case.id, column.id), None)

    # Words

    def head(self, row: int) -> Head:
        """What is said of the case of a row."""
        case = self.case(row)
        resolved = self._results.resolved if self._results is not None else None
        title = resolved.title(case) if resolved is not None else ""
        expected = " ".join(case.expected[: 2 * _SAID].split())
        return Head(show_hidden(title), show_hidden(cut(expected, _SAID)), self._problems.get(case.id, ""))

    def shown(self, row: int, number: int) -> Shown:
        """What the cell of a row says, in a column from 1."""
        case, column = self.case(row), self.column(number)
        if self._results is None or column is None:
            raise IndexError(number)
        key = case.id, column.id
        found = self._cells.get(key)
        if found is None:
            found = self._cells[key] = shown_of(self._results, case, column, self._stale.get(key, ()))
            if len(self._cells) > KEPT:
                self._cells.popitem(last=False)
        return found

    # Qt's

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() or self._results is None else len(self._results.resolved.columns) + 1

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation is Qt.Orientation.Horizontal:
            column = self.column(section)
            return show_hidden(column.title) if column is not None else "Case"
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return None
        row, number = index.row(), index.column()
        column = self.column(number)
        if column is None:
            head = self.head(row)
            if role == Qt.ItemDataRole.ToolTipRole:
                return tip(_about_case(self.case(row), head))
            return ", ".join(filter(None, (head.title, head.expected and f"expected: {head.expected}", head.problem)))
        shown = self.shown(row, number)
        if role == Qt.ItemDataRole.ToolTipRole and self._results is not None:
            return tip(_about(self._results, self.case(row), column, shown))
        return f"{show_hidden(column.title)}: {_said(shown)}"


def shown_of(results: Results, case: Case, column: EvalVariant, stale: Sequence[Answer]) -> Shown:
    """What a cell says."""
    cell = results.cell(case, column)
    before = {one.repeat: one for one in stale}
    marks = tuple(
        _mark(answer, mark, stale=repeat in before)
        for repeat, (answer, mark) in enumerate(zip(cell.answers, cell.marks, strict=True), 1)
    )
    came = [(one, mark) for one, mark in zip(cell.answers, marks, strict=True) if one is not None]
    bad = [one for one, mark in came if mark in (Mark.FAILED, Mark.NO_ANSWER)]
    # What failed is what one looks for: its words stand in the cell.
    front = min(came, key=lambda pair: _PLAIN.get(pair[1], 2))[0] if came else None
    words, colour = "", "text"
    if front is not None:
        words, colour = (front.preview, "text") if front.preview and not front.failure else (front.failure, "error")
        words = words or "(an empty answer)"
    elif before:
        words, colour = next(iter(before.values())).preview, "muted"
    failed = Counter(
        _chip(check, verdict)
        for one in bad
        for check, verdict in results.verdicts(case, one)
        if verdict is not None and verdict.passed is False
    )
    return Shown(
        marks,
        one_line_of(words),
        colour,
        tuple(words for words, _ in failed.most_common()),
        f"{len(bad)} of {len(came)}" if bad and len(came) > 1 else "",
        front.repeat if front is not None else 0,
    )


def _mark(answer: Answer | None, mark: bool | None, *, stale: bool) -> Mark:
    if answer is None:
        return Mark.STALE if stale else Mark.MISSING
    if answer.failure:
        return Mark.NO_ANSWER
    return Mark.UNJUDGED if mark is None else Mark.PASSED if mark else Mark.FAILED


def _chip(check: Check, verdict: Verdict) -> str:
    title = f"{check.title[:1].lower()}{check.title[1:]}"
    words = f": {verdict.reason}" if isinstance(check, Judge) and verdict.reason else ""
    words = words or (f" {check.words}" if check.words and not isinstance(check, Judge) else "")
    return show_hidden(cut(f"{title}{words}", _CHIP))


def _said(shown: Shown) -> str:
    """A cell for whoever cannot see it."""
    counted = Counter(shown.marks)
    marks = ", ".join(f"{count} {MARK_WORDS[mark]}" for mark, count in counted.items())
    failed = f"Failed: {', '.join(shown.failed)}" if shown.failed else ""
    return ". ".join(filter(None, (marks, shown.words, failed)))


def _about_case(case: Case, head: Head) -> str:
    values = [f"{name}: {cut(value[: 4 * _SAID], _SAID)}" for name, value in case.values.items()]
    expected = [f"Expected: {head.expected}"] if head.expected else []
    return "\n".join([head.title, *values[:_IN_TIP], *expected, *filter(None, [head.problem])])


def _about(results: Results, case: Case, column: EvalVariant, shown: Shown) -> str:
    """Each repeat in a line: what became of it, what it said, what failed."""
    lines = []
    for answer, mark in list(zip(results.cell(case, column).answers, shown.marks, strict=True))[:_IN_TIP]:
        words = "" if answer is None else answer.failure or answer.preview
        failed = [] if answer is None or answer.failure else results.verdicts(case, answer)
        names = [_chip(check, found) for check, found in failed if found is not None and found.passed is False]
        lines.append(": ".join(filter(None, (", ".join((MARK_WORDS[mark], *names)), words))))
    return "\n".join(f"{number}. {line}" if len(lines) > 1 else line for number, line in enumerate(lines, 1))


# ---- which rows, in which order --------------------------------------------------------------------------------------


def arranged(
    results: Results, within: Collection[str] | None, text: str, order: Order | None, stale: Collection[str] = ()
) -> list[int]:
    """The cases that are shown, by their places: those of ``within`` that have ``text``, in order. For a thread.

    ``results`` are a copy of its own. ``stale`` are cases that are found by their words although they are in none of
    the results.
    """
    cases = results.resolved.cases
    rows = [at for at, case in enumerate(cases) if within is None or case.id in within]
    wanted = text.casefold().split()
    if wanted:
        said = _said_of(results)
        rows = [at for at in rows if _has(cases[at], results.resolved.title(cases[at]), said, wanted)]
    if order is not None:
        keys = {at: _key(results, cases[at], order) for at in rows}
        known = [at for at in rows if keys[at] is not None]
        known.sort(key=lambda at: keys[at], reverse=order.down)
        rows = known + [at for at in rows if keys[at] is None]
    return rows


def _said_of(results: Results) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for (digest, _), answer in results.answers.items():
        for case, _column in results.asked_by(digest):
            out.setdefault(case.id, []).append(f"{answer.preview} {answer.failure}".casefold())
    return out


def _has(case: Case, title: str, said: Mapping[str, Sequence[str]], wanted: Sequence[str]) -> bool:
    own = " ".join((title, case.name, case.expected, *case.values.values(), *(turn.text for turn in case.turns)))
    texts = [own.casefold(), *said.get(case.id, ())]
    return any(all(word in text for word in wanted) for text in texts)


def _key(results: Results, case: Case, order: Order) -> Any:
    if order.figure == NAME:
        return results.resolved.title(case).casefold()
    column = results.resolved.columns[order.column - 1]
    cell = results.cell(case, column)
    if order.figure == "rate":
        marks = [mark for mark in cell.marks if mark is not None]
        return sum(marks) / len(marks) if marks else None
    answers = [one for one in cell.answers if one is not None and not one.failure]
    if order.figure == "score":
        values = [one for one in cell.scores if one is not None]
    else:
        values = [found for one in answers if (found := getattr(one.metrics, order.figure)) is not None]
    return median(values) if values else None
