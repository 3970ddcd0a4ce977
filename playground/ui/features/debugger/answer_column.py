"""One of the answers of a fork: what it starts from, the answer itself, and the way to be rid of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from playground.domain.debugging import Answer
from playground.ui.features.debugger.answer_field import AnswerField
from playground.ui.features.debugger.fork_starts import Start
from playground.ui.widgets.icon_button import IconButton

COLUMN = 262  # least width, pixels


class StartMenu(QMenu):
    """What an answer may start from, looked up when it opens. ``chosen`` gives the answer."""

    chosen = Signal(object)

    def __init__(self, starts: Callable[[], list[Start]], parent: QWidget, *, empty: bool = False) -> None:
        super().__init__(parent)
        self._starts = starts
        self._empty = empty
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        if self._empty:
            self.addAction("To be typed").triggered.connect(partial(self._choose, Answer()))
        group = "" if not self._empty else "empty"
        for start in self._starts():
            if group and start.group != group:
                self.addSeparator()
            group = start.group
            self.addAction(start.words.replace("&", "&&")).triggered.connect(partial(self._choose, start.answer))

    def _choose(self, answer: Answer, _checked: bool = False) -> None:
        self.chosen.emit(answer)


class AnswerColumn(QFrame):
    """``changed`` whenever the answer is another."""

    changed = Signal()
    remove_asked = Signal()

    def __init__(self, starts: Callable[[], list[Start]]) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.setMinimumWidth(COLUMN)
        self.title = QLabel()
        self.title.setProperty("kind", "heading")
        self.start_button = QToolButton()
        self.start_button.setText("Start from")
        self.start_button.setProperty("kind", "button")
        self.start_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = StartMenu(starts, self.start_button)
        menu.chosen.connect(self.take)
        self.start_button.setMenu(menu)
        self.remove_button = IconButton("close", "Remove this answer", size=14)
        self.remove_button.setFixedSize(22, 22)
        self.field = AnswerField("Answer", least=6, fills=True)
        head = QHBoxLayout()
        head.setSpacing(4)
        head.addWidget(self.title, 1)
        head.addWidget(self.start_button)
        head.addWidget(self.remove_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 12)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self.field, 1)
        self.field.changed.connect(self._changed)
        self.remove_button.clicked.connect(self.remove_asked)
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)
        self.setFocusProxy(self.field)

    def show_answer(self, number: int, answer: Answer, *, removable: bool) -> None:
        """Show an answer without telling anyone, and the number of its lane."""
        self.title.setText(f"Lane {number}")
        self.start_button.setAccessibleName(f"Start lane {number} from")
        self.field.text.setAccessibleName(f"Answer of lane {number}")
        self.remove_button.say(f"Remove lane {number}")
        self.remove_button.setVisible(removable)
        self.field.set_answer(answer)

    def take(self, answer: Answer) -> None:
        """Another answer to go on from."""
        self.field.set_answer(answer)
        self.field.text.setFocus()
        self.changed.emit()

    def _changed(self, _answer: Answer) -> None:
        self.changed.emit()
