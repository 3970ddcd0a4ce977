"""The verdicts of checks on an answer: a table, and the details of the selected one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from playground.domain.checks.asked import Judge, You
from playground.domain.checks.check import Check, Verdict
from playground.domain.costs import Cost, total
from playground.domain.transcript import Transcript
from playground.engine.session.session import Experiment
from playground.jsonkit.texts import quantity
from playground.ui.features.evaluate.answer_pane import AnswerPane
from playground.ui.widgets.form_parts import say, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.page_parts import look_like_rows, set_row_height
from playground.ui.widgets.plain_text import one_line_of, show_hidden, tip

if TYPE_CHECKING:
    from playground.domain.costs import PriceLookup
    from playground.engine.evaluation.judging import Judgement
    from playground.engine.evaluation.resolved import ResolvedEvaluation

ROW_HEIGHT = 24
NAMES = 45  # % of a table's width for the names of checks, at most
MOST_REASON = 400  # characters in a row
LONGEST_NOTE = 400  # characters
TYPED_MS = 400  # between two saves of a note being typed
#: The icon, its colour and the word of each verdict; None: not judged.
MARKS: Final[dict[bool | None, tuple[str, str, str]]] = {
    True: ("check", "ok", "passed"),
    False: ("close", "error", "failed"),
    None: ("minus", "muted", "not judged"),
}


class Judged(NamedTuple):
    """A check of a case with its key, its verdict on an answer (None before it was made), and the judge's answer."""

    key: str
    check: Check
    verdict: Verdict | None
    judgement: Judgement | None = None

    @property
    def name(self) -> str:
        """The title of the check in one line."""
        words = one_line_of(self.check.words[:120])
        judge = isinstance(self.check, Judge | You)
        return f"{self.check.title} {words}" if words and not judge else self.check.title

    @property
    def reason(self) -> str:
        """The reason for the verdict."""
        if self.verdict is None:
            if isinstance(self.check, You):
                return "not rated"
            return "not made yet; the next run makes it without a new request"
        return self.verdict.reason

    @property
    def score(self) -> str:
        """The score, if it is neither 0 nor 1."""
        verdict = self.verdict
        is_partial = verdict is not None and verdict.passed is not None and 0 < verdict.score < 1
        return f"{verdict.score:.2g} of 1" if verdict is not None and is_partial else ""

    @property
    def mark(self) -> tuple[str, str, str]:
        """The icon, its colour and the word of the verdict."""
        return MARKS[self.verdict.passed if self.verdict is not None else None]


class VerdictTable(QTableWidget):
    """The table of verdicts: mark, name, reason and score. ``opened`` is emitted to show the current row in full."""

    opened = Signal()

    def __init__(self) -> None:
        super().__init__(0, 3)
        self._rows: tuple[Judged, ...] = ()
        self.setAccessibleName("Verdicts")
        look_like_rows(self)
        set_row_height(self, ROW_HEIGHT)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setIconSize(QSize(13, 13))
        self.horizontalHeader().hide()
        for column, mode in enumerate(("Fixed", "Stretch", "ResizeToContents")):
            self.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode[mode])
        self.horizontalHeader().setMinimumSectionSize(8)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(160)
        self.cellClicked.connect(lambda _row, _column: self.opened.emit())

    @property
    def rows(self) -> tuple[Judged, ...]:
        """The rows of the table."""
        return self._rows

    @property
    def current(self) -> Judged | None:
        """The selected row."""
        return self._rows[self.currentRow()] if 0 <= self.currentRow() < len(self._rows) else None

    def show_verdicts(self, rows: Sequence[Judged]) -> None:
        """Show the verdicts; the selected check stays selected."""
        if (new_rows := tuple(rows)) == self._rows:
            return
        key = self.current.key if self.current is not None else ""
        self._rows = new_rows
        self.setRowCount(len(new_rows))
        for index, row in enumerate(new_rows):
            symbol, colour, word = row.mark
            name = QTableWidgetItem(icon(symbol, colour), show_hidden(row.name))
            name.setData(Qt.ItemDataRole.AccessibleTextRole, f"{row.name}: {word}")
            reason = show_hidden(one_line_of(row.reason[:MOST_REASON]))
            for column, item in enumerate((name, QTableWidgetItem(reason), QTableWidgetItem(row.score))):
                item.setToolTip(tip(f"{row.name}: {word}\n{row.reason}"))
                self.setItem(index, column, item)
        current = next((index for index, row in enumerate(new_rows) if row.key == key), 0 if new_rows else -1)
        self.setCurrentCell(current, 0)
        self._fit()

    def _fit(self) -> None:
        """Fit the column of names, at most to half of the width: reasons matter more."""
        self.setColumnWidth(0, min(self.sizeHintForColumn(0), self.viewport().width() * NAMES // 100))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentRow() >= 0:
            self.opened.emit()
        else:
            super().keyPressEvent(event)


@dataclass(frozen=True, slots=True)
class _Rating:
    """A rating by the user: good, bad or None, and a note."""

    good: bool | None = None
    note: str = ""


class Thumbs(QWidget):
    """Thumbs and a note. ``given`` carries the rating, soon after the note was typed or with ``flush``."""

    given = Signal(object, str)  # True, False or None; the note

    def __init__(self) -> None:
        super().__init__()
        self._answer: object = None
        self._shown = _Rating()
        self.up = IconButton("thumb-up", "This answer is good")
        self.down = IconButton("thumb-down", "This answer is bad")
        self.note = QLineEdit()
        self.note.setPlaceholderText("Note")
        self.note.setAccessibleName("Note on this answer")
        self.note.setMaxLength(LONGEST_NOTE)
        self.note.setMinimumWidth(70)
        for button, good in ((self.up, True), (self.down, False)):
            button.setCheckable(True)
            button.clicked.connect(lambda on, good=good: self._thumb(good if on else None))
        self._typed = Throttle(self.flush, self, TYPED_MS)
        self.note.textEdited.connect(lambda _text: self._typed.poke())
        self.note.editingFinished.connect(self.flush)
        in_row(self.up, self.down, (self.note, 1), parent=self, margins=0, spacing=4)

    def show_given(self, answer: object, good: bool | None, note: str) -> None:
        """Show the saved rating of an answer; a note being typed stays."""
        if answer == self._answer and (self.note.hasFocus() or self._current != self._shown):
            return
        self._answer, self._shown = answer, _Rating(good, note)
        self.up.setChecked(good is True)
        self.down.setChecked(good is False)
        self.note.setText(note)

    @property
    def _current(self) -> _Rating:
        good = True if self.up.isChecked() else False if self.down.isChecked() else None
        return _Rating(good, self.note.text())

    def flush(self) -> None:
        """Emit the rating if it has changed."""
        current = self._current
        if current != self._shown:
            self._shown = current
            self.given.emit(current.good, current.note)

    def _thumb(self, good: bool | None) -> None:
        self.up.setChecked(good is True)
        self.down.setChecked(good is False)
        self.flush()


def thumb_of(check: You, verdict: Verdict | None) -> tuple[bool | None, str]:
    """Return the thumb and the note of a verdict."""
    if verdict is None:
        return None, ""
    return None if verdict.passed is None else verdict.passed != check.negated, verdict.reason


class CheckDetails(QWidget):
    """The details of a check of an answer: condition, verdict, and the conversation with a judge."""

    def __init__(self, entered: PriceLookup) -> None:
        super().__init__()
        self._entered = entered
        self._judgement: Judgement | None = None
        self.title = text_label("", "group")
        self.words = text_label("", "small", wrap=True)
        self.verdict = MarkLabel(wraps=True)
        self.spent = text_label("", "small", wrap=True)
        self.failure = text_label("", "error", wrap=True)
        labels = (self.title, self.words, self.verdict, self.spent, self.failure)
        for label in labels:
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        head = in_column(*labels, margins=(12, 8, 12, 4), spacing=4)
        self.pane: AnswerPane | None = None
        self._column = in_column(head, 1, parent=self, margins=0, spacing=0)

    def show_check(self, resolved: ResolvedEvaluation, row: Judged | None) -> None:
        """Show a check with its verdict; None if the answer has none."""
        say(self.title, row.check.title if row is not None else "No checks for this answer.")
        say(self.words, row.check.words if row is not None else "")
        self.verdict.setVisible(row is not None)
        if row is not None:
            symbol, colour, word = row.mark
            details = " · ".join(part for part in (row.score, row.reason) if part)
            self.verdict.setText(show_hidden(f"{word}: {details}" if details else word))
            self.verdict.set_mark(symbol, colour)
        self._show_judge(resolved, row.judgement if row is not None else None)

    def _show_judge(self, resolved: ResolvedEvaluation, judgement: Judgement | None) -> None:
        say(self.spent, _spent(judgement) if judgement is not None else "")
        say(
            self.failure,
            f"The judge failed: {judgement.failure}" if judgement is not None and judgement.failure else "",
        )
        if self.pane is not None:
            self.pane.setVisible(judgement is not None)
        if judgement is None or judgement is self._judgement:
            return
        self._judgement = judgement
        session = Experiment(
            resolved.connect, profile_id=resolved.base.profile_id, profile_of=resolved.profile_of, literal=True
        ).main
        session.history.reset(Transcript().append(*judgement.turns), session.settings)
        if self.pane is None:
            self.pane = AnswerPane(session, self._entered, "Conversation with the judge")
            self._column.insertWidget(1, self.pane, 1000)
        else:
            self.pane.set_session(session)
        self.pane.show()


def _spent(judgement: Judgement) -> str:
    """Return the judge's model, requests, tokens and cost in words."""
    count = judgement.requests
    parts = [f"Judged by {show_hidden(judgement.model)}", quantity(count, "request")]
    if judgement.tokens is not None:
        parts.append(f"{(judgement.prompt or 0) + judgement.tokens:,} tokens")
    if judgement.price is not None:
        parts.append(total([Cost(judgement.price, judgement.currency, judgement.listed)]))
    return " · ".join(parts)
