"""The table model of cases × variants. Texts are made only for the cells that are drawn."""

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

CACHED_CELLS: Final = 3_000
_EXPECTED_LENGTH: Final = 200  # characters
_CHIP: Final = 60  # characters of a failed check
_IN_TIP: Final = 40  # answers


class Mark(IntEnum):
    """The state of one repeat; each is drawn as another shape."""

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
    Mark.STALE: "outdated answer",
}


_PLAIN: Final = {Mark.FAILED: 0, Mark.NO_ANSWER: 1}  # their texts are shown first


class Filter(StrEnum):
    """The filter of cases."""

    ALL = "All"
    FAILING = "Failing"
    DIFFERING = "Differing"
    STALE = "Outdated"


class Order(NamedTuple):
    """The metric that rows are sorted by, of the column with a number (0: of the case)."""

    figure: str
    column: int
    down: bool  # largest first


#: The metrics to sort by: the label, and whether the largest comes first.
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


class CellContent(NamedTuple):
    """The content of a cell.

    ``failed`` are checks, most frequent first; ``tally`` is the number of failed answers. ``repeat`` is the one whose
    text is shown; 0 if there is none.
    """

    marks: tuple[Mark, ...]
    words: str
    colour: str
    failed: tuple[str, ...]
    tally: str
    repeat: int


class Head(NamedTuple):
    """The content of the first column: the case."""

    title: str
    expected: str
    problem: str


class AnswersModel(QAbstractTableModel):
    """The model of the table: ``show`` sets the results, ``show_rows`` the cases by their places in the plan."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._results: Results | None = None
        self._stale: Stale = {}
        self._problems: Mapping[str, str] = {}
        self._rows: list[int] = []
        self._place: dict[str, int] = {}  # the row of each case in the table
        self._cells: OrderedDict[tuple[str, str], CellContent] = OrderedDict()

    @property
    def resolved(self) -> ResolvedEvaluation | None:
        """The evaluation that is shown."""
        return self._results.resolved if self._results is not None else None

    @property
    def rows(self) -> list[int]:
        """The cases of the rows, by their places in the plan."""
        return self._rows

    def show(self, results: Results, rows: list[int], stale: Stale, problems: Mapping[str, str]) -> None:
        """Show results. ``problems`` are texts by the ids of cases."""
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
        self._place = {cases[index].id: row for row, index in enumerate(rows)}

    # Places

    def row_of(self, case: Case) -> int | None:
        """Return the row of a case, or None if it is not in the table."""
        return self._place.get(case.id)

    def column_of(self, column: EvalVariant | None) -> int:
        """Return the number of a variant's column; 0, the column of cases, for None or a deleted variant."""
        if self._results is None or column is None:
            return 0
        return next(
            (number for number, item in enumerate(self._results.resolved.columns, 1) if item.id == column.id), 0
        )

    def case(self, row: int) -> Case:
        """Return the case of a row. Raises IndexError."""
        if self._results is None:
            raise IndexError(row)
        return self._results.resolved.cases[self._rows[row]]

    def column(self, number: int) -> EvalVariant | None:
        """Return the variant of a column; None for the first, the column of cases."""
        return self._results.resolved.columns[number - 1] if self._results is not None and number else None

    def forget(self, case: Case, column: EvalVariant) -> None:
        """Drop the cached content of a cell."""
        self._cells.pop((case.id, column.id), None)

    # Content

    def head(self, row: int) -> Head:
        """Return the content of the first column."""
        case = self.case(row)
        resolved = self._results.resolved if self._results is not None else None
        title = resolved.title(case) if resolved is not None else ""
        expected = " ".join(case.expected[: 2 * _EXPECTED_LENGTH].split())
        return Head(show_hidden(title), show_hidden(cut(expected, _EXPECTED_LENGTH)), self._problems.get(case.id, ""))

    def content(self, row: int, number: int) -> CellContent:
        """Return the content of a cell; columns count from 1."""
        case, column = self.case(row), self.column(number)
        if self._results is None or column is None:
            raise IndexError(number)
        key = case.id, column.id
        cell = self._cells.get(key)
        if cell is None:
            cell = self._cells[key] = cell_content(self._results, case, column, self._stale.get(key, ()))
            if len(self._cells) > CACHED_CELLS:
                self._cells.popitem(last=False)
        return cell

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
        cell = self.content(row, number)
        if role == Qt.ItemDataRole.ToolTipRole and self._results is not None:
            return tip(_about(self._results, self.case(row), column, cell))
        return f"{show_hidden(column.title)}: {_cell_words(cell)}"


def cell_content(results: Results, case: Case, column: EvalVariant, stale: Sequence[Answer]) -> CellContent:
    """Return the content of a cell."""
    cell = results.cell(case, column)
    before = {answer.repeat: answer for answer in stale}
    marks = tuple(
        _mark(answer, mark, stale=repeat in before)
        for repeat, (answer, mark) in enumerate(zip(cell.answers, cell.marks, strict=True), 1)
    )
    received = [(answer, mark) for answer, mark in zip(cell.answers, marks, strict=True) if answer is not None]
    bad = [answer for answer, mark in received if mark in (Mark.FAILED, Mark.NO_ANSWER)]
    # A failed answer is the most interesting one: the cell shows its text.
    front = min(received, key=lambda pair: _PLAIN.get(pair[1], 2))[0] if received else None
    words, colour = "", "text"
    if front is not None:
        words, colour = (front.preview, "text") if front.preview and not front.failure else (front.failure, "error")
        words = words or "(an empty answer)"
    elif before:
        words, colour = next(iter(before.values())).preview, "muted"
    failed = Counter(
        _chip(check, verdict)
        for answer in bad
        for check, verdict in results.verdicts(case, answer)
        if verdict is not None and verdict.passed is False
    )
    return CellContent(
        marks,
        one_line_of(words),
        colour,
        tuple(words for words, _ in failed.most_common()),
        f"{len(bad)} of {len(received)}" if bad and len(received) > 1 else "",
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


def _cell_words(cell: CellContent) -> str:
    """Return the text of a cell for screen readers."""
    counted = Counter(cell.marks)
    marks = ", ".join(f"{count} {MARK_WORDS[mark]}" for mark, count in counted.items())
    failed = f"Failed: {', '.join(cell.failed)}" if cell.failed else ""
    return ". ".join(filter(None, (marks, cell.words, failed)))


def _about_case(case: Case, head: Head) -> str:
    values = [f"{name}: {cut(value[: 4 * _EXPECTED_LENGTH], _EXPECTED_LENGTH)}" for name, value in case.values.items()]
    expected = [f"Expected: {head.expected}"] if head.expected else []
    return "\n".join([head.title, *values[:_IN_TIP], *expected, *filter(None, [head.problem])])


def _about(results: Results, case: Case, column: EvalVariant, cell: CellContent) -> str:
    """Return the tooltip of a cell: a line for each repeat with its state, text and failed checks."""
    lines = []
    for answer, mark in list(zip(results.cell(case, column).answers, cell.marks, strict=True))[:_IN_TIP]:
        words = "" if answer is None else answer.failure or answer.preview
        failed = [] if answer is None or answer.failure else results.verdicts(case, answer)
        names = [_chip(check, verdict) for check, verdict in failed if verdict is not None and verdict.passed is False]
        lines.append(": ".join(filter(None, (", ".join((MARK_WORDS[mark], *names)), words))))
    return "\n".join(f"{number}. {line}" if len(lines) > 1 else line for number, line in enumerate(lines, 1))


# ---- filter and order ------------------------------------------------------------------------------------------------


def arranged(
    results: Results, within: Collection[str] | None, text: str, order: Order | None, stale: Collection[str] = ()
) -> list[int]:
    """Return the places of the cases in ``within`` that contain ``text``, sorted. Runs in a worker thread.

    ``results`` must be a copy that nothing else changes.
    """
    cases = results.resolved.cases
    rows = [index for index, case in enumerate(cases) if within is None or case.id in within]
    words = text.casefold().split()
    if words:
        texts = _answer_texts(results)
        rows = [index for index in rows if _has(cases[index], results.resolved.title(cases[index]), texts, words)]
    if order is not None:
        keys = {index: _key(results, cases[index], order) for index in rows}
        sortable = [index for index in rows if keys[index] is not None]
        sortable.sort(key=lambda index: keys[index], reverse=order.down)
        rows = sortable + [index for index in rows if keys[index] is None]
    return rows


def _answer_texts(results: Results) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for (digest, _), answer in results.answers.items():
        for case, _column in results.asked_by(digest):
            out.setdefault(case.id, []).append(f"{answer.preview} {answer.failure}".casefold())
    return out


def _has(case: Case, title: str, answer_texts: Mapping[str, Sequence[str]], words: Sequence[str]) -> bool:
    own = " ".join((title, case.name, case.expected, *case.values.values(), *(turn.text for turn in case.turns)))
    texts = [own.casefold(), *answer_texts.get(case.id, ())]
    return any(all(word in text for word in words) for text in texts)


def _key(results: Results, case: Case, order: Order) -> Any:
    if order.figure == NAME:
        return results.resolved.title(case).casefold()
    column = results.resolved.columns[order.column - 1]
    cell = results.cell(case, column)
    if order.figure == "rate":
        marks = [mark for mark in cell.marks if mark is not None]
        return sum(marks) / len(marks) if marks else None
    answers = [answer for answer in cell.answers if answer is not None and not answer.failure]
    if order.figure == "score":
        values = [score for score in cell.scores if score is not None]
    else:
        values = [value for answer in answers if (value := getattr(answer.metrics, order.figure)) is not None]
    return median(values) if values else None
