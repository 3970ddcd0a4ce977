"""Find in the conversation: the bar, and the match that is current. The view highlights and scrolls."""

from __future__ import annotations

import sys
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

SLICE_S = 0.02  # seconds that the window searches before it looks at other events
COUNT_MS = 150  # between two counts of the matches in a turn that is being received
LONGEST = 200  # characters of a selection that are searched for
LEAST_FIELD, FIELD = 80, 320  # pixels
NEXT_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class FindBar(QFrame):
    """The search bar; ``edited`` carries a new query, ``stepped`` +1 or -1, ``closed`` requests to hide it."""

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
        self.field.escaped.connect(self.closed)
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
        in_column(row, thin_line(), parent=self, margins=0, spacing=0)
        self.hide()

    @property
    def query(self) -> Query:
        """Return the query that is typed in."""
        return Query(self.field.text(), self._case.isChecked(), self._whole.isChecked())

    @property
    def says(self) -> str:
        """Return the words about the matches."""
        return self._says.text()

    def say(self, number: int | None, total: int, *, done: bool, capped: bool = False) -> None:
        """Show the number of the current match and of all; ``done`` when all are counted, ``capped`` if not all are."""
        if self.query.pattern is None:
            words = ""
        elif not total:
            words = "No results" if done else "Searching…"
        else:
            count = f"{total:,}{'+' * capped}"
            place = f"{number:,} of {count}" if number is not None else f"{count} matches"
            words = place if done else f"{place}…"
        self._says.setText(words)
        self._says.setAccessibleName(words)
        for button in self._steps:
            button.setEnabled(total > 0)

    def ask(self, words: str) -> None:
        """Show the bar, ready to type, with other ``words`` if there are any."""
        if words:
            self.field.setText(words)
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def _edited(self) -> None:
        self.edited.emit(self.query)


class _Field(QLineEdit):
    """A field whose Enter, Shift+Enter, Ctrl+G and Esc are for the bar, not for the window."""

    stepped = Signal(int)
    escaped = Signal()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_ours(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not _is_ours(event):
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            self.stepped.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)


def _is_ours(event: QKeyEvent) -> bool:
    modifiers = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
    if event.key() == Qt.Key.Key_G:
        return modifiers == Qt.KeyboardModifier.ControlModifier
    return event.key() in (*NEXT_KEYS, Qt.Key.Key_Escape) and modifiers == Qt.KeyboardModifier.NoModifier


def _switch(text: str, says: str) -> QToolButton:
    button = styled(QToolButton(), "quiet")
    button.setText(text)
    button.setCheckable(True)
    button.setToolTip(says)
    button.setAccessibleName(says)
    return button


class Finder(QObject):
    """Search in a view: ``open``, ``close`` and ``step`` through matches; ``set_rows`` sets the rows to search."""

    def __init__(self, view: TranscriptView, parent: QObject) -> None:
        super().__init__(parent)
        self._view = view
        self._search = Search()
        self._rows: Sequence[Row] = ()
        self._current: tuple[str, int] | None = None  # turn id, number of the match in it
        self._start = 0  # the row from which on the first place is looked for
        self._focus: QWidget | None = None  # widget that had the focus before
        self.bar = FindBar()
        self.bar.edited.connect(self._search_for)
        self.bar.stepped.connect(self.step)
        self.bar.closed.connect(self.close)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._work)
        self._counting = Throttle(self._count_growing, self, interval=COUNT_MS)
        view.laid_out.connect(self._counting.poke)

    @property
    def is_open(self) -> bool:
        """Return whether the bar is shown."""
        return not self.bar.isHidden()

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Search other rows."""
        self._rows = rows
        if self.is_open:
            self._search.set_rows(rows, self._view.first_in_view())
            self._timer.start()

    def open(self) -> None:
        """Show the bar with the selected text or the last query."""
        focus = QApplication.focusWidget()
        if focus is not None and not self.bar.isAncestorOf(focus):
            self._focus = focus
        fresh = not self.is_open
        before = self.bar.query
        self.bar.ask(_selected(focus))
        if fresh:
            self._search.set_rows(self._rows, 0)
            if self.bar.query == before:
                self._search_for(before)

    def close(self) -> None:
        """Hide the bar and the highlights; the focus returns to where it was."""
        had_focus = self.bar.isAncestorOf(QApplication.focusWidget() or self._view)
        self.bar.hide()
        self._timer.stop()
        self._search.forget()
        self._current = None
        self._view.show_found(None)
        focus, self._focus = self._focus, None
        if had_focus:
            back = focus if focus is not None and isValid(focus) and focus.isVisible() else self._view
            back.setFocus()

    def step(self, step: int) -> None:
        """Go to the next match (+1) or the previous one (-1); open the bar if it is closed."""
        if not self.is_open:
            self.open()
            return
        row = self._row_of_current()
        if row is None or self._current is None:
            row, match = self._view.first_in_view() - 1, sys.maxsize
        else:
            match = self._current[1]
        target = self._search.after(row, match) if step > 0 else self._search.before(row, match)
        if target is not None:
            self._go_to_match(*target)
        self._say()

    def _row_of_current(self) -> int | None:
        return self._view.row_of(self._current[0]) if self._current is not None else None

    def _search_for(self, query: Query) -> None:
        if not self.is_open:
            return
        row = self._row_of_current()
        self._start = row if row is not None else self._view.first_in_view()
        self._current = None
        self._search.look_for(query, self._start)
        self._view.show_found(query.pattern)
        self._timer.start()
        self._work()

    def _work(self) -> None:
        if self._search.work(SLICE_S):
            self._timer.stop()
        if self._current is None and (first := self._search.after(self._start - 1, sys.maxsize)) is not None:
            self._go_to_match(*first)
        self._say()

    def _go_to_match(self, row: int, match: int) -> None:
        self._current = (self._rows[row].id, match)
        self._view.show_found(self._search.query.pattern, self._current)
        self._view.reveal_found()

    def _count_growing(self) -> None:
        """Count the matches of streaming turns in their cards."""
        if not self.is_open:
            return
        for turn_id, card in self._view.cards.items():
            row = self._view.row_of(turn_id)
            if row is not None and card.row.growing:
                self._search.set_count(row, card.finds.count)
        row = self._row_of_current()
        if self._current is not None and (row is None or self._current[1] >= self._search.counts[row]):
            self._current = None
            self._view.show_found(self._search.query.pattern)
        self._say()

    def _say(self) -> None:
        row = self._row_of_current()
        number = self._search.number(row, self._current[1]) if row is not None and self._current is not None else None
        self.bar.say(number, self._search.total, done=self._search.done, capped=self._search.capped)


def _selected(focus: QWidget | None) -> str:
    """Return the selected text where the focus is, if it is a few words."""
    if not isinstance(focus, QTextEdit | QPlainTextEdit):
        return ""
    cursor: QTextCursor = focus.textCursor()
    text = cursor.selectedText()
    return text if len(text) <= LONGEST and "\u2029" not in text else ""
