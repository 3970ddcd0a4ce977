"""A question in a dialog, with a button for each answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QWidget

from playground.ui.widgets.form_parts import push_button, text_label
from playground.ui.widgets.layouts import discard, in_row
from playground.ui.widgets.plain_text import show_hidden

SIDE_BY_SIDE = 520  # pixels; a narrower bar has its buttons below the text

#: The label of a button, its style kind, and its action.
Answer = tuple[str, str, Callable[[], None]]


class QuestionBar(QFrame):
    """Bar with a question, hidden until ``ask``; an answer hides it and runs its action."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "banner")
        self.setAccessibleName("Question")
        self.words = text_label(wrap=True)
        self.buttons: list[QPushButton] = []
        self._line = in_row(1, spacing=8)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(12, 8, 8, 8)
        self._layout.setSpacing(8)
        self._layout.addWidget(self.words, 1)
        self._layout.addLayout(self._line)
        self.hide()

    def ask(self, words: str, *answers: Answer) -> None:
        """Show the question, and focus the first answer."""
        self.words.setText(show_hidden(words))
        self.setAccessibleDescription(words)
        self._clear()
        for text, kind, act in answers:
            button = push_button(text, kind)
            button.setAccessibleName(f"{text}: {words}")
            button.clicked.connect(partial(self._answer, act))
            self._line.addWidget(button)
            self.buttons.append(button)
        self.show()
        for before, after in zip(self.buttons, self.buttons[1:], strict=False):
            QWidget.setTabOrder(before, after)
        self.buttons[0].setFocus()

    def dismiss(self) -> None:
        """Hide the question without an answer."""
        self.hide()
        self._clear()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < SIDE_BY_SIDE
        self._layout.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)

    def _answer(self, act: Callable[[], None]) -> None:
        self.dismiss()
        act()

    def _clear(self) -> None:
        discard(self._line, *self.buttons)
        self.buttons = []
