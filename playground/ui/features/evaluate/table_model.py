"""The table model of cases × variants, with the filter and the order of its rows. Cells are made on demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from playground.domain.checks.asked import Judge
from playground.domain.checks.check import Check, Verdict
from playground.engine.evaluation.resolved import EvalVariant, ResolvedEvaluation
from playground.engine.evaluation.results import ColumnResult, Comparison, Findings, Rate, Results
from playground.engine.evaluation.statistics import median
from playground.engine.session.plan import Case
from playground.jsonkit.texts import cut
from playground.ui.widgets.figures import seconds
from playground.ui.widgets.plain_text import one_line_of, show_hidden, tip

if TYPE_CHECKING:
    from playground.engine.evaluation.provider import Answer

Index = QModelIndex | QPersistentModelIndex
Stale = Mapping[tuple[str, str], Sequence["Answer"]]

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
    Mark.MISSING: "no answer yet",
    Mark.PASSED: "passed",
    Mark.FAILED: "failed a check",
    Mark.NO_ANSWER: "failed to answer",
    Mark.UNJUDGED: "answered, not judged",
    Mark.STALE: "outdated answer",
}
_SHOWN_FIRST: Final = {Mark.FAILED: 0, Mark.NO_ANSWER: 1}


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


class CellContent(NamedTuple):
    """The content of a cell. ``text`` is Markdown of a model, or plain words with another colour than "text".

    ``failed`` are checks, most frequent first; ``tally`` is the number of failed answers. ``repeat`` is the one whose
    text is shown; 0 if there is none.
    """

    marks: tuple[Mark, ...]
    text: str
    colour: str
    failed: tuple[str, ...]
    tally: str
    repeat: int


class CaseHead(NamedTuple):
    """The content of the first column: the case."""

    title: str
    expected: str
    problem: str


class ColumnHead(NamedTuple):
    """The header of a column. ``better`` is None without a significant difference from the first variant."""

    title: str
    words: str
    rate: Rate | None = None
    figures: str = ""
    against: str = ""
    better: bool | None = None
    details: str = ""


class AnswersModel(QAbstractTableModel):
    """The model: ``show`` sets the results, ``show_rows`` the cases by their places in the plan."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._results: Results | None = None
        self._stale: Stale = {}
        self._problems: Mapping[str, str] = {}
        self._rows_by_case: dict[str, int] = {}
        self.rows: list[int] = []  # the cases of the rows, by their places in the plan
        self.heads: list[ColumnHead] = []  # of all columns, the cases first

    def show(self, results: Results, rows: list[int], stale: Stale, problems: Mapping[str, str]) -> None:
        """Show results. ``problems`` are texts by the ids of cases."""
        self.beginResetModel()
        self._results, self._stale, self._problems = results, stale, problems
        self._set_rows(rows)
        self.endResetModel()

    def show_rows(self, rows: list[int]) -> None:
        """Show these cases of the same results."""
        self.beginResetModel()
        self._set_rows(rows)
        self.endResetModel()

    def _set_rows(self, rows: list[int]) -> None:
        cases = self._results.resolved.cases if self._results is not None else ()
        self.rows = rows
        self._rows_by_case = {cases[index].id: row for row, index in enumerate(rows)}

    def show_heads(self, heads: list[ColumnHead]) -> None:
        """Show the headers of all columns."""
        if heads != self.heads:
            self.heads = heads
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, max(self.columnCount() - 1, 0))

    # Places

    def row_of(self, case: Case) -> int | None:
        """Return the row of a case, or None if it is not in the table."""
        return self._rows_by_case.get(case.id)

    def column_of(self, column: EvalVariant | None) -> int:
        """Return the number of a variant's column; 0, the column of cases, for None or a deleted variant."""
        columns = self._results.resolved.columns if self._results is not None and column is not None else ()
        return next((number for number, item in enumerate(columns, 1) if column and item.id == column.id), 0)

    def case(self, row: int) -> Case:
        """Return the case of a row. Raises IndexError."""
        if self._results is None:
            raise IndexError(row)
        return self._results.resolved.cases[self.rows[row]]

    def column(self, number: int) -> EvalVariant | None:
        """Return the variant of a column; None for the first, the column of cases."""
        return self._results.resolved.columns[number - 1] if self._results is not None and number else None

    # Content

    def head(self, row: int) -> CaseHead:
        """Return the content of the first column."""
        case = self.case(row)
        title = self._results.resolved.title(case) if self._results is not None else ""
        expected = " ".join(case.expected[: 2 * _EXPECTED_LENGTH].split())
        problem = self._problems.get(case.id, "")
        return CaseHead(show_hidden(title), show_hidden(cut(expected, _EXPECTED_LENGTH)), problem)

    def content(self, row: int, number: int) -> CellContent:
        """Return the content of a cell; columns count from 1."""
        case, column = self.case(row), self.column(number)
        if self._results is None or column is None:
            raise IndexError(number)
        return cell_content(self._results, case, column, self._stale.get((case.id, column.id), ()))

    # Qt's interface

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() or self._results is None else len(self._results.resolved.columns) + 1

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Horizontal and section < len(self.heads):
            if role == Qt.ItemDataRole.DisplayRole:
                return self.heads[section].title
            if role == Qt.ItemDataRole.ToolTipRole:
                return tip(self.heads[section].details)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return None
        row, column = index.row(), self.column(index.column())
        if column is None or self._results is None:
            head = self.head(row)
            if role == Qt.ItemDataRole.ToolTipRole:
                return tip(_case_details(self.case(row), head))
            return ", ".join(filter(None, (head.title, head.expected and f"expected: {head.expected}", head.problem)))
        cell = self.content(row, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(_cell_details(self._results, self.case(row), column, cell))
        return f"{show_hidden(column.label)}: {_cell_words(cell)}"


def cell_content(results: Results, case: Case, column: EvalVariant, stale: Sequence[Answer]) -> CellContent:
    """Return the content of a cell."""
    cell = results.cell(case, column)
    outdated = {answer.repeat: answer for answer in stale}
    marks = tuple(
        _mark(answer, passed, stale=repeat in outdated)
        for repeat, (answer, passed) in enumerate(zip(cell.answers, cell.marks, strict=True), 1)
    )
    received = [(answer, mark) for answer, mark in zip(cell.answers, marks, strict=True) if answer is not None]
    bad = [answer for answer, mark in received if mark in _SHOWN_FIRST]
    # A failed answer is the most interesting one: the cell shows its text.
    first = min(received, key=lambda pair: _SHOWN_FIRST.get(pair[1], 2))[0] if received else None
    text, colour = "", "text"
    if first is not None:
        text, colour = (first.preview, "text") if first.preview and not first.failure else (first.failure, "error")
        text = text or "(empty answer)"
    elif outdated:
        text, colour = next(iter(outdated.values())).preview, "muted"
    failed = Counter(
        _chip(check, verdict)
        for answer in bad
        for check, verdict in results.verdicts(case, answer)
        if verdict is not None and verdict.passed is False
    )
    tally = f"{len(bad)} of {len(received)}" if bad and len(received) > 1 else ""
    names = tuple(name for name, _ in failed.most_common())
    return CellContent(marks, one_line_of(text), colour, names, tally, first.repeat if first is not None else 0)


def _mark(answer: Answer | None, passed: bool | None, *, stale: bool) -> Mark:
    if answer is None:
        return Mark.STALE if stale else Mark.MISSING
    if answer.failure:
        return Mark.NO_ANSWER
    return Mark.UNJUDGED if passed is None else Mark.PASSED if passed else Mark.FAILED


def _chip(check: Check, verdict: Verdict) -> str:
    title = f"{check.title[:1].lower()}{check.title[1:]}"
    if isinstance(check, Judge):
        words = f": {verdict.reason}" if verdict.reason else ""
    else:
        words = f" {check.words}" if check.words else ""
    return show_hidden(cut(f"{title}{words}", _CHIP))


def _cell_words(cell: CellContent) -> str:
    """Return the text of a cell for screen readers."""
    marks = ", ".join(f"{count} {MARK_WORDS[mark]}" for mark, count in Counter(cell.marks).items())
    failed = f"Failed: {', '.join(cell.failed)}" if cell.failed else ""
    return ". ".join(filter(None, (marks, cell.text, failed)))


def _case_details(case: Case, head: CaseHead) -> str:
    values = [f"{name}: {cut(value[: 4 * _EXPECTED_LENGTH], _EXPECTED_LENGTH)}" for name, value in case.values.items()]
    expected = [f"Expected: {head.expected}"] if head.expected else []
    return "\n".join([head.title, *values[:_IN_TIP], *expected, *filter(None, [head.problem])])


def _cell_details(results: Results, case: Case, column: EvalVariant, cell: CellContent) -> str:
    """Return the tooltip of a cell: a line for each repeat with its state, text and failed checks."""
    lines = []
    for answer, mark in list(zip(results.cell(case, column).answers, cell.marks, strict=True))[:_IN_TIP]:
        text = "" if answer is None else answer.failure or answer.preview
        verdicts = [] if answer is None or answer.failure else results.verdicts(case, answer)
        names = [_chip(check, verdict) for check, verdict in verdicts if verdict and verdict.passed is False]
        lines.append(": ".join(filter(None, (", ".join((MARK_WORDS[mark], *names)), text))))
    return "\n".join(f"{number}. {line}" if len(lines) > 1 else line for number, line in enumerate(lines, 1))


# Headers


def column_heads(resolved: ResolvedEvaluation, findings: Findings | None) -> list[ColumnHead]:
    """Return the headers of all columns."""

    def gateway_name(profile_id: str) -> str:
        try:
            return resolved.profile_of(profile_id).name if resolved.profile_of is not None else profile_id
        except LookupError:
            return "another gateway"

    names = ", ".join(resolved.cases[0].values) if resolved.cases else ""
    expected = "expected" if any(case.expected for case in resolved.cases[:100]) else ""
    by_column = {result.column.id: result for result in findings.columns} if findings is not None else {}
    heads = [ColumnHead("Case", " · ".join(filter(None, (names, expected))))]
    for column in resolved.columns:
        words = " · ".join([column.settings.model or "no model", *resolved.words(column, gateway_name)])
        comparisons = [entry for entry in findings.comparisons if entry.column.id == column.id] if findings else []
        heads.append(column_head(column.label, words, by_column.get(column.id), comparisons))
    return heads


def column_head(title: str, words: str, result: ColumnResult | None, comparisons: Sequence[Comparison]) -> ColumnHead:
    """Return the header of a variant, with its results and the comparison with the first variant."""
    if result is None:
        return ColumnHead(show_hidden(title), show_hidden(words), details=f"{title}\n{words}")
    parts = [f"{round(100 * result.rate.share)} % pass"] if result.rate.share is not None else []
    parts += [f"{seconds(result.medians['seconds'])}"] if "seconds" in result.medians else []
    parts += [f"{result.medians['tokens']:,.0f} tok"] if "tokens" in result.medians else []
    parts += [f"{result.failed:,} failed to answer"] if result.failed else []
    difference = next((entry for entry in comparisons if entry.what == "passes" and entry.sure), None)
    better = difference.better if difference is not None else None
    return ColumnHead(
        show_hidden(title),
        show_hidden(words),
        result.rate,
        " · ".join(parts),
        "" if better is None else "better" if better else "worse",
        better,
        "\n".join([title, words, *_column_details(result), *(comparison.words for comparison in comparisons)]),
    )


def _column_details(result: ColumnResult) -> list[str]:
    rate = result.rate
    lines = [f"{result.answered:,} answers"]
    if rate.judged:
        lines.append(f"{rate.passed:,} of {rate.judged:,} passed: {rate.words}, the interval at 95 %")
    lines += [f"{result.failed:,} failed to answer"] if result.failed else []
    lines += [f"{result.not_judged:,} not judged"] if result.not_judged and rate.judged else []
    lines += [f"score {result.score:.2f} of 1"] if result.score is not None else []
    for name, words in (("seconds", "to the last token"), ("first", "to the first token")):
        if name in result.medians:
            lines.append(f"{words}: median {seconds(result.medians[name])}, 95 % within {seconds(result.high[name])}")
    if "tokens" in result.medians:
        lines.append(f"tokens: median {result.medians['tokens']:,.0f}, 95 % have at most {result.high['tokens']:,.0f}")
    return lines


# Filter and order


def arrange(results: Results, filtered: Collection[str] | None, text: str, order: Order | None) -> list[int]:
    """Return the places of the cases in ``filtered`` (None: all) that contain ``text``, sorted.

    Runs in a worker thread: ``results`` must be a copy.
    """
    cases = results.resolved.cases
    rows = [index for index, case in enumerate(cases) if filtered is None or case.id in filtered]
    if words := text.casefold().split():
        texts = _answer_texts(results)
        rows = [index for index in rows if _contains(cases[index], results.resolved.title(cases[index]), texts, words)]
    if order is not None:
        keys = {index: _sort_key(results, cases[index], order) for index in rows}
        sortable = [index for index in rows if keys[index] is not None]
        sortable.sort(key=lambda index: keys[index], reverse=order.down)
        rows = sortable + [index for index in rows if keys[index] is None]
    return rows


def _answer_texts(results: Results) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for (digest, _), answer in results.answers.items():
        for case, _column in results.asked_by(digest):
            texts.setdefault(case.id, []).append(f"{answer.preview} {answer.failure}".casefold())
    return texts


def _contains(case: Case, title: str, answer_texts: Mapping[str, Sequence[str]], words: Sequence[str]) -> bool:
    own = " ".join((title, case.name, case.expected, *case.values.values(), *(turn.text for turn in case.turns)))
    texts = [own.casefold(), *answer_texts.get(case.id, ())]
    return any(all(word in text for word in words) for text in texts)


def _sort_key(results: Results, case: Case, order: Order) -> Any:
    if order.figure == NAME:
        return results.resolved.title(case).casefold()
    cell = results.cell(case, results.resolved.columns[order.column - 1])
    if order.figure == "rate":
        marks = [mark for mark in cell.marks if mark is not None]
        return sum(marks) / len(marks) if marks else None
    if order.figure == "score":
        values = [score for score in cell.scores if score is not None]
        return median(values) if values else None
    return cell.median(order.figure)
