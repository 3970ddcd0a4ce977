"""What checks say of an answer: a row each, and all there is about the one that is chosen."""

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
from playground.ui.features.evaluate.answer_pane import AnswerPane
from playground.ui.widgets.form_parts import say, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_column, in_row, split
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.page_parts import look_like_rows, set_row_height
from playground.ui.widgets.plain_text import one_line_of, show_hidden, tip

if TYPE_CHECKING:
    from playground.domain.costs import PriceLookup
    from playground.engine.evaluation.judging import Judgement
    from playground.engine.evaluation.provider import Answer
    from playground.engine.evaluation.resolved import ResolvedEvaluation

ROW_HEIGHT = 24
NAMES = 45  # % of a table's width that the names of checks have at most
MOST_REASON = 400  # characters in a row
LONGEST_NOTE = 400  # characters
TYPED_MS = 400  # between two times that a note is kept while it is typed
#: Passed, failed, not judged: the icon, its colour, and the word for it.
MARKS: Final[dict[bool | None, tuple[str, str, str]]] = {
    True: ("check", "ok", "passed"),
    False: ("close", "error", "failed"),
    None: ("minus", "muted", "not judged"),
}


class Judged(NamedTuple):
    """A check of a case with its key, what it says of an answer (None: it was not made yet), and its judge's work."""

    key: str
    check: Check
    verdict: Verdict | None
    judgement: Judgement | None = None

    @property
    def name(self) -> str:
        """What it is called in a line."""
        words = one_line_of(self.check.words[:120])
        judge = isinstance(self.check, Judge | You)
        return f"{self.check.title} {words}" if words and not judge else self.check.title

    @property
    def reason(self) -> str:
        """What it says of the answer."""
        if self.verdict is None:
            if isinstance(self.check, You):
                return "not judged yet: give a thumb"
            return "not made yet: the next run makes it, without asking again"
        return self.verdict.reason

    @property
    def score(self) -> str:
        """Where it is neither all nor nothing."""
        found = self.verdict
        told = found is not None and found.passed is not None and 0 < found.score < 1
        return f"{found.score:.2g} of 1" if found is not None and told else ""

    @property
    def mark(self) -> tuple[str, str, str]:
        """The icon, its colour, and the word for it."""
        return MARKS[self.verdict.passed if self.verdict is not None else None]


class VerdictTable(QTableWidget):
    """A row a check: passed or not, its name, why, its score. ``looked_at`` tells which is to be seen whole."""

    looked_at = Signal(int)

    def __init__(self) -> None:
        super().__init__(0, 3)
        self._rows: tuple[Judged, ...] = ()
        self.setAccessibleName("What the checks say")
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
        self.cellClicked.connect(lambda row, _column: self.looked_at.emit(row))

    @property
    def rows(self) -> tuple[Judged, ...]:
        """Those that are shown."""
        return self._rows

    def show_verdicts(self, rows: Sequence[Judged]) -> None:
        """Show these; the row that is chosen stays."""
        if (found := tuple(rows)) == self._rows:
            return
        self._rows = found
        self.setRowCount(len(found))
        for at, one in enumerate(found):
            symbol, colour, word = one.mark
            name = QTableWidgetItem(icon(symbol, colour), show_hidden(one.name))
            name.setData(Qt.ItemDataRole.AccessibleTextRole, f"{one.name}: {word}")
            reason = show_hidden(one_line_of(one.reason[:MOST_REASON]))
            for column, item in enumerate((name, QTableWidgetItem(reason), QTableWidgetItem(one.score))):
                item.setToolTip(tip(f"{one.name}: {word}\n{one.reason}"))
                self.setItem(at, column, item)
        self._fit()

    def _fit(self) -> None:
        """Names have the room they take, but never more than half of it: what is said counts more."""
        self.setColumnWidth(0, min(self.sizeHintForColumn(0), self.viewport().width() * NAMES // 100))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentRow() >= 0:
            self.looked_at.emit(self.currentRow())
        else:
            super().keyPressEvent(event)


@dataclass(frozen=True, slots=True)
class _Given:
    """What was given by hand: good, bad or nothing, and the note."""

    good: bool | None = None
    note: str = ""


class Thumbs(QWidget):
    """Good or bad, with a note: ``given`` tells both, once the note was typed; ``flush`` says so at once."""

    given = Signal(object, str)  # True, False or None; the note

    def __init__(self) -> None:
        super().__init__()
        self._of: object = None
        self._shown = _Given()
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
        in_row(self.up, self.down, (self.note, 1), of=self, margins=0, spacing=4)

    def show_given(self, of: object, good: bool | None, note: str) -> None:
        """Show what was said before of what ``of`` stands for; a note that is being typed stays."""
        if of == self._of and (self.note.hasFocus() or self._now != self._shown):
            return
        self._of, self._shown = of, _Given(good, note)
        self.up.setChecked(good is True)
        self.down.setChecked(good is False)
        self.note.setText(note)

    @property
    def _now(self) -> _Given:
        good = True if self.up.isChecked() else False if self.down.isChecked() else None
        return _Given(good, self.note.text())

    def flush(self) -> None:
        """Tell what stands here, if it was not told yet."""
        now = self._now
        if now != self._shown:
            self._shown = now
            self.given.emit(now.good, now.note)

    def _thumb(self, good: bool | None) -> None:
        self.up.setChecked(good is True)
        self.down.setChecked(good is False)
        self.flush()


def thumb_of(check: You, verdict: Verdict | None) -> tuple[bool | None, str]:
    """Which thumb a verdict came of, and its note."""
    if verdict is None:
        return None, ""
    return None if verdict.passed is None else verdict.passed != check.negated, verdict.reason


class ChecksPage(QWidget):
    """All checks of an answer, and beside them the chosen one whole: what it asks, what it says, who was asked.

    ``given`` tells a verdict by hand: the key of the check, a thumb, a note.
    """

    given = Signal(str, object, str)

    def __init__(self, entered: PriceLookup) -> None:
        super().__init__()
        self._entered = entered
        self._inquiry: ResolvedEvaluation | None = None
        self._key = ""
        self._of: object = None
        self._none = ""
        self._asked: Judgement | None = None
        self.table = VerdictTable()
        self.table.currentCellChanged.connect(self._row_changed)
        self.title = text_label("", "group")
        self.words = text_label("", "small", wrap=True)
        self.verdict = MarkLabel(wraps=True)
        self.thumbs = Thumbs()
        self.thumbs.given.connect(lambda good, note: self.given.emit(self._key, good, note))
        self.spent = text_label("", "small", wrap=True)
        self.failure = text_label("", "error", wrap=True)
        for label in (self.words, self.verdict, self.spent, self.failure):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        head = QWidget()
        in_column(
            self.title,
            self.words,
            self.verdict,
            self.thumbs,
            self.spent,
            self.failure,
            of=head,
            margins=(12, 8, 12, 4),
            spacing=4,
        )
        self._whole = QWidget()
        self.pane: AnswerPane | None = None
        self._column = in_column(head, 1, of=self._whole, margins=0, spacing=0)
        self._whole.setMinimumWidth(200)
        in_column((split(self.table, self._whole, sizes=(360, 480), thin=True), 1), of=self, margins=0, spacing=0)

    def show_verdicts(self, resolved: ResolvedEvaluation, answer: Answer, rows: Sequence[Judged]) -> None:
        """Show the checks of an answer; the one that is chosen stays so if it is there."""
        self.thumbs.flush()
        self._inquiry, self._of = resolved, answer.key
        self._none = "It failed to answer: no check was made." if answer.failure else "There is no check of this case."
        self.table.show_verdicts(rows)
        at = next((at for at, one in enumerate(rows) if one.key == self._key), 0 if rows else -1)
        self.table.blockSignals(True)
        self.table.setCurrentCell(at, 0)
        self.table.blockSignals(False)
        self._show(rows[at] if at >= 0 else None)

    def choose(self, row: int) -> None:
        """Look at the check of that row."""
        self.table.setCurrentCell(row, 0)

    def _row_changed(self, row: int, *_rest: int) -> None:
        self.thumbs.flush()
        rows = self.table.rows
        self._show(rows[row] if 0 <= row < len(rows) else None)

    def _show(self, one: Judged | None) -> None:
        self._key = one.key if one is not None else ""
        say(self.title, one.check.title if one is not None else self._none)
        say(self.words, one.check.words if one is not None else "")
        self.verdict.setVisible(one is not None)
        if one is not None:
            symbol, colour, word = one.mark
            said = " · ".join(part for part in (one.score, one.reason) if part)
            self.verdict.setText(show_hidden(f"{word}: {said}" if said else word))
            self.verdict.set_mark(symbol, colour)
        by_hand = one is not None and isinstance(one.check, You)
        self.thumbs.setVisible(by_hand)
        if one is not None and isinstance(one.check, You):
            self.thumbs.show_given((self._of, one.key), *thumb_of(one.check, one.verdict))
        self._show_judge(one.judgement if one is not None else None)

    def _show_judge(self, asked: Judgement | None) -> None:
        say(self.spent, _spent(asked) if asked is not None else "")
        say(self.failure, f"The judge failed: {asked.failure}" if asked is not None and asked.failure else "")
        if self.pane is not None:
            self.pane.setVisible(asked is not None)
        if asked is None or asked is self._asked or self._inquiry is None:
            return
        self._asked = asked
        resolved = self._inquiry
        session = Experiment(
            resolved.connect, profile_id=resolved.base.profile_id, profile_of=resolved.profile_of, literal=True
        ).main
        session.history.reset(Transcript().append(*asked.turns), session.settings)
        if self.pane is None:
            self.pane = AnswerPane(session, self._entered, "What the judge was asked, and what it said")
            self._column.insertWidget(1, self.pane, 1000)
        else:
            self.pane.set_session(session)
        self.pane.show()


def _spent(asked: Judgement) -> str:
    """Who was asked, and what that took."""
    count = asked.requests
    parts = [f"Asked {show_hidden(asked.model)}", f"{count} request{'s' * (count != 1)}"]
    if asked.tokens is not None:
        parts.append(f"{(asked.prompt or 0) + asked.tokens:,} tokens")
    if asked.price is not None:
        parts.append(total([Cost(asked.price, asked.currency, asked.listed)]))
    return " · ".join(parts)
