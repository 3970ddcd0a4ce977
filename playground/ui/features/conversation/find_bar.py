"""The bar above the turns in which words to look for are typed. Knows nothing of turns."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QToolButton, QVBoxLayout, QWidget

from playground.ui.features.conversation.finding import Query
from playground.ui.features.conversation.measures import MARGIN
from playground.ui.widgets.icon_button import IconButton

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
        self._says = QLabel(textFormat=Qt.TextFormat.PlainText)
        self._says.setProperty("kind", "small")
        self._says.setMinimumWidth(self._says.fontMetrics().horizontalAdvance("0000 of 0000…"))
        before, after = IconButton("up", "Previous (Shift+Enter)"), IconButton("down", "Next (Enter)")
        before.clicked.connect(partial(self.stepped.emit, -1))
        after.clicked.connect(partial(self.stepped.emit, 1))
        self._steps = (before, after)
        close = IconButton("close", "Close (Esc)")
        close.clicked.connect(self.closed)
        for switch in (self._case, self._whole):
            switch.toggled.connect(self._edited)
        row = QHBoxLayout()
        row.setContentsMargins(MARGIN, 6, MARGIN, 6)
        row.setSpacing(6)
        row.addWidget(self.field, 1)
        controls: tuple[QWidget, ...] = (self._case, self._whole, before, after, self._says)
        for control in controls:
            row.addWidget(control, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(0)
        row.addWidget(close)
        line = QFrame()
        line.setProperty("kind", "line")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(line)
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
    button = QToolButton()
    button.setProperty("kind", "quiet")
    button.setText(text)
    button.setCheckable(True)
    button.setToolTip(says)
    button.setAccessibleName(says)
    return button
