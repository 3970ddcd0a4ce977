"""One line that says what is wrong with a definition, and leads to its place."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from playground.domain.tools import Problem
from playground.ui.icons import icon
from playground.ui.parameters.fields import look
from playground.ui.plain_text import show_hidden
from playground.ui.theme import tokens

LONG_WORD = re.compile(r"(\S{24})(?=\S)")  # a place to break, so that a long name cannot widen the panel


class ProblemLine(QFrame):
    """One problem; a click or Enter goes to its place."""

    chosen = Signal(object)

    def __init__(self, problem: Problem, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.problem = problem
        self.setProperty("kind", "problem")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        where = ".".join(str(step) for step in problem.path[1:2]) and Problem(problem.path[1:], "").where
        text = show_hidden(f"{where}: {problem.message}" if where else problem.message)
        self.setAccessibleName(f"{problem.severity}: {text}")
        self._mark = QLabel()
        self._mark.setFixedSize(16, 18)
        self.text = QLabel(LONG_WORD.sub("\\1\u200b", text))
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setWordWrap(True)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        look(self.text, "small-text")
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 2, 4, 2)
        row.setSpacing(8)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.text, 1)
        self._draw()

    def _draw(self) -> None:
        error = self.problem.severity == "error"
        colour = tokens().error if error else tokens().tool
        self._mark.setPixmap(icon("error" if error else "warning", colour).pixmap(14, 14))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(self.problem)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.problem)
        else:
            super().keyPressEvent(event)
