"""Finding in the conversation: the bar asks, the search counts, the view highlights and scrolls. Holds where one is.

Looking through the turns is done in parts of a few milliseconds between the window's other events.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QToolButton,
    QWidget,
)
from shiboken6 import isValid

from playground.ui.features.conversation.finding import Query, Search
from playground.ui.features.conversation.measures import MARGIN
from playground.ui.features.conversation.rows import Row
from playground.ui.features.conversation.transcript_view import TranscriptView
from playground.ui.widgets.form_parts import styled, text_label, thin_line
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import Throttle

SLICE_S = 0.004
COMPARE_MS = 150
LONGEST = 200  # characters of a selection that are taken for what to look for
TRIES = 100  # places in a row that turn out not to be there

LEAST_FIELD, FIELD = 80, 320  # pixels
NEXT_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class FindBar(QFrame):
    """``edited`` carries a new query, ``stepped`` +1 or -1; ``closed`` asks for the bar to go."""

    edited = Signal(Query)
    stepped = Signal(int)
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "surface")
        self.setAccessibleName("Find in the conversation")
        self.field = _Field()
        self.field.setPlaceholderText("Find in the conversation")
        self.field.setAccessibleName("Find in the conversation")
        self.field.setClearButtonEnabled(True)
        self.field.setMinimumWidth(LEAST_FIELD)
        self.field.setMaximumWidth(FIELD)
        self.field.textChanged.connect(self._edited)
        self.field.stepped.connect(self.stepped)
        self.field.left.connect(self.closed)
        self._case = _switch("Aa", "Match upper and lower case")
        self._whole = _switch("Word", "Whole words only")
        self._says = text_label("", "small")
        self._says.setObjectName("findCount")
        self._says.setMinimumWidth(self._says.fontMetrics().horizontalAdvance("0000 of 0000…"))
        before, after = IconButton("up", "Previous (Shift+Enter)"), IconButton("down", "Next (Enter)")
        before.clicked.connect(partial(self.stepped.emit, -1))
        after.clicked.connect(partial(self.stepped.emit, 1))
        self._steps = (before, after)
        close = IconButton("close", "Close (Esc)")
        close.clicked.connect(self.closed)
        for switch in (self._case, self._whole):
            switch.toggled.connect(self._edited)
        row = in_row((self.field, 1), margins=(MARGIN, 6, MARGIN, 6), spacing=6)
        controls: tuple[QWidget, ...] = (self._case, self._whole, before, after, self._says)
        for control in controls:
            row.addWidget(control, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(0)
        row.addWidget(close)
        in_column(row, thin_line(), of=self, margins=0, spacing=0)
        self.hide()

    @property
    def query(self) -> Query:
        """What is asked for now."""
        return Query(self.field.text(), self._case.isChecked(), self._whole.isChecked())

    @property
    def says(self) -> str:
        """What it says about the places found."""
        return self._says.text()

    def say(self, number: int | None, total: int, *, done: bool) -> None:
        """Say which place it is and how many there are; ``done`` when no more can be found."""
        if self.query.pattern is None:
            words = ""
        elif not total:
            words = "No results" if done else "Searching…"
        else:
            place = f"{number} of {total}" if number is not None else f"{total} places"
            words = place if done else f"{place}…"
        self._says.setText(words)
        self._says.setAccessibleName(words)
        for button in self._steps:
            button.setEnabled(total > 0)

    def ask(self, words: str) -> None:
        """Show the bar, ready to type; ``words`` replace what stands there, if there are any."""
        if words:
            self.field.setText(words)
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def _edited(self) -> None:
        self.edited.emit(self.query)


class _Field(QLineEdit):
    """Enter, Shift+Enter, Ctrl+G and Esc mean the bar while it has the focus, not the window."""

    stepped = Signal(int)
    left = Signal()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_ours(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not _is_ours(event):
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            self.stepped.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)


def _is_ours(event: QKeyEvent) -> bool:
    held = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
    if event.key() == Qt.Key.Key_G:
        return held == Qt.KeyboardModifier.ControlModifier
    return event.key() in (*NEXT_KEYS, Qt.Key.Key_Escape) and held == Qt.KeyboardModifier.NoModifier


def _switch(text: str, says: str) -> QToolButton:
    button = styled(QToolButton(), "quiet")
    button.setText(text)
    button.setCheckable(True)
    button.setToolTip(says)
    button.setAccessibleName(says)
    return button


class Finder(QObject):
    """``open``, ``close``, ``step``; ``set_rows`` whenever the rows shown are others."""

    def __init__(self, view: TranscriptView, parent: QObject) -> None:
        super().__init__(parent)
        self._view = view
        self._search = Search()
        self._rows: Sequence[Row] = ()
        self._at: tuple[str, int] | None = None  # turn id, number of the place in its card
        self._start = 0  # the row from which on the first place is looked for
        self._focus: QWidget | None = None  # what had it before
        self.bar = FindBar()
        self.bar.edited.connect(self._look_for)
        self.bar.stepped.connect(self.step)
        self.bar.closed.connect(self.close)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._work)
        self._compare = Throttle(self._compare_cards, self, interval=COMPARE_MS)
        view.laid_out.connect(self._laid_out)

    @property
    def is_open(self) -> bool:
        """Whether somebody is looking for something."""
        return not self.bar.isHidden()

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Other rows are shown."""
        self._rows = rows
        if self.is_open:
            self._search.set_rows(rows, self._view.first_in_view())
            self._timer.start()
            self._compare.poke()

    def open(self) -> None:
        """Show the bar with what is selected, or with what was looked for last."""
        focus = QApplication.focusWidget()
        if focus is not None and not self.bar.isAncestorOf(focus):
            self._focus = focus
        fresh = not self.is_open
        before = self.bar.query
        self.bar.ask(_selected(focus))
        if fresh:
            self._search.set_rows(self._rows, 0)
            if self.bar.query == before:
                self._look_for(before)

    def close(self) -> None:
        """Take the bar and the highlights away; the focus goes back to where it was."""
        had_focus = self.bar.isAncestorOf(QApplication.focusWidget() or self._view)
        self.bar.hide()
        self._timer.stop()
        self._search.forget()
        self._at = None
        self._view.show_found(None)
        focus, self._focus = self._focus, None
        if had_focus:
            back = focus if focus is not None and isValid(focus) and focus.isVisible() else self._view
            back.setFocus()

    def step(self, step: int) -> None:
        """Go to the next place (+1) or the one before (-1); opens the bar where it is closed."""
        if not self.is_open:
            self.open()
            return
        row, place = self._here()
        for _ in range(TRIES):
            found = self._search.after(row, place) if step > 0 else self._search.before(row, place)
            if found is None:
                break
            row, place = found
            if self._go(row, place):
                return
        self._say()

    def _here(self) -> tuple[int, int]:
        """The place one is at; without one, a place just before the first row in view."""
        row = self._view.row_of(self._at[0]) if self._at is not None else None
        if row is None or self._at is None:
            return self._view.first_in_view() - 1, 1 << 30
        return row, self._at[1]

    def _look_for(self, query: Query) -> None:
        if not self.is_open:
            return
        row = self._view.row_of(self._at[0]) if self._at is not None else None
        self._start = row if row is not None else self._view.first_in_view()
        self._at = None
        self._search.look_for(query, self._start)
        self._view.show_found(query.pattern)
        self._timer.start()
        self._work()

    def _work(self) -> None:
        if self._search.work(SLICE_S):
            self._timer.stop()
            self._compare.poke()
        if self._at is None and self._search.total:
            found = self._search.after(self._start - 1, 1 << 30)
            if found is not None and not self._go(*found):
                self._start = found[0] + 1
        self._say()

    def _go(self, row: int, place: int) -> bool:
        """Whether that place is there; then it is shown."""
        turn_id = self._rows[row].id
        self._at = (turn_id, place)
        self._view.show_found(self._search.query.pattern, self._at)
        if (by_part := self._search.by_part(turn_id)) and (card := self._view.card(turn_id)) is not None:
            card.finds.know(by_part)
        self._view.reveal_found()
        card = self._view.cards.get(turn_id)
        count = card.finds.count if card is not None else 0
        if place < count:
            self._search.correct(row, count)
            self._say()
            return True
        self._search.correct(row, count)
        self._at = None
        return False

    def _laid_out(self) -> None:
        if self.is_open:
            self._compare.poke()

    def _compare_cards(self) -> None:
        """What a card holds counts: a turn that grows has more, and a card may be shown another way than most."""
        if not self.is_open:
            return
        for turn_id, card in self._view.cards.items():
            row = self._view.row_of(turn_id)
            if row is not None:
                card.finds.know(self._search.by_part(turn_id))
                self._search.correct(row, card.finds.count)
        if self._at is not None:
            row = self._view.row_of(self._at[0])
            if row is None or (self._search.done and self._at[1] >= self._search.counts[row]):
                self._at = None
                self._view.show_found(self._search.query.pattern)
        self._say()

    def _say(self) -> None:
        row = self._view.row_of(self._at[0]) if self._at is not None else None
        number = self._search.number(row, self._at[1]) if row is not None and self._at is not None else None
        self.bar.say(number, self._search.total, done=self._search.done)


def _selected(focus: QWidget | None) -> str:
    """What is selected where the focus is, if it is a few words."""
    if not isinstance(focus, QTextEdit | QPlainTextEdit):
        return ""
    cursor: QTextCursor = focus.textCursor()
    text = cursor.selectedText()
    return text if len(text) <= LONGEST and "\u2029" not in text else ""
