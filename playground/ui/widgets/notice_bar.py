"""A message about an event, with buttons for its remedies."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import discard, in_row

STAYS_MS = 10_000
MARGIN, WIDEST = 26, 860  # pixels left and right of a floating notice, and its greatest width
SIDE_BY_SIDE = 640  # pixels; a narrower bar has several buttons below the text

#: The text of a button and its action.
Choice = tuple[str, Callable[[], object]]


class NoticeBar(QFrame):
    """A bar that is hidden until ``say`` or ``offer``, and shown until it is closed, answered or replaced.

    It is part of a layout, or floats over another widget after ``float_over`` without moving anything.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "banner")
        self._area: QWidget | None = None
        self._clearance: Callable[[], int] = int
        self._words = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.buttons: list[QPushButton] = []
        self._line = QHBoxLayout()
        self._line.setSpacing(6)
        self._tab_anchor = QWidget(self)  # a hidden widget that precedes the buttons in the tab order
        self._tab_anchor.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._tab_anchor.hide()
        close = IconButton("close", "Dismiss this notice")
        close.clicked.connect(self.hide)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.hide)
        self._inner = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._inner.setSpacing(8)
        self._inner.addWidget(self._words, 1)
        self._inner.addLayout(self._line)
        in_row((self._inner, 1), (close, 0, Qt.AlignmentFlag.AlignVCenter), parent=self, margins=(12, 5, 8, 5))
        self.hide()

    def float_over(self, area: QWidget, clearance: Callable[[], int] = int) -> None:
        """Float over the bottom edge of ``area``, a widget with the same parent, ``clearance`` pixels above it."""
        if self._area is not None:
            self._area.removeEventFilter(self)
        self._area, self._clearance = area, clearance
        area.installEventFilter(self)
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show):
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        area, parent = self._area, self.parentWidget()
        if area is None or parent is None or self.isHidden():
            return
        width = max(min(area.width() - 2 * MARGIN, WIDEST), 0)
        self._arrange(width)
        self.ensurePolished()
        height = self.heightForWidth(width)
        end = area.mapTo(parent, QPoint(area.width() // 2, area.height() - self._clearance()))
        self.setGeometry(end.x() - width // 2, max(end.y() - height, 0), width, height)
        self.raise_()

    @property
    def words(self) -> str:
        """The text shown."""
        return self._words.text()

    def say(self, words: str, action: str = "", act: Callable[[], object] | None = None, *, stays: bool = True) -> None:
        """Show ``words``; ``action`` is the text of a button that calls ``act``. Without ``stays``, hide it later."""
        self.offer(words, *([(action, act)] if act is not None else []))
        if not stays:
            self._timer.start(STAYS_MS)

    def offer(self, words: str, *choices: Choice) -> None:
        """Show ``words`` and a button for each choice; a click hides the notice and then runs the action."""
        self._timer.stop()
        discard(self._line, *self.buttons)
        self.buttons = []
        for text, act in choices:
            button = QPushButton(text)
            button.clicked.connect(partial(self._run_action, act))
            self._line.addWidget(button)
            QWidget.setTabOrder(self.buttons[-1] if self.buttons else self._tab_anchor, button)
            self.buttons.append(button)
        self._words.setText(words)
        self.setAccessibleName(words)
        self._arrange(self.width())
        self.show()
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(event.size().width())

    def _arrange(self, width: int) -> None:
        below = len(self.buttons) > 1 and width < SIDE_BY_SIDE
        direction = QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight
        self._inner.setDirection(direction)
        self._line.setAlignment(Qt.AlignmentFlag.AlignLeft if below else Qt.AlignmentFlag.AlignRight)

    def _run_action(self, act: Callable[[], object], _checked: bool = False) -> None:
        self.hide()
        act()
