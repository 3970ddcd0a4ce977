"""Lists of problems of a definition or an answer, with links to their places."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from playground.jsonkit.problems import Problem
from playground.ui.widgets.form_parts import look, styled
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.theme import tokens

LISTED = 20  # problems listed before "Show more"
MOST_MARKS = 500  # places that are marked in a text
LONG_WORD = re.compile(r"(\S{24})(?=\S)")  # a place to break, so that a long name cannot widen the panel


class ProblemLine(QFrame):
    """One problem; a click or Enter goes to its place. The first ``within`` steps of its path are not shown."""

    chosen = Signal(object)

    def __init__(self, problem: Problem, within: int) -> None:
        super().__init__()
        self.problem = problem
        self.setProperty("kind", "problem")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        location = Problem(problem.path[within:], "").where
        text = show_hidden(f"{location}: {problem.message}" if location else problem.message)
        self.setAccessibleName(f"{problem.severity}: {text}")
        self._mark = QLabel()
        self._mark.setFixedSize(16, 18)
        self.text = QLabel(LONG_WORD.sub("\\1\u200b", text), textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        look(self.text, "small-text")
        in_row((self._mark, 0, Qt.AlignmentFlag.AlignTop), (self.text, 1), parent=self, margins=(4, 2, 4, 2), spacing=8)
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


class ProblemList(QWidget):
    """A list of problems with a button to show more. ``chosen`` carries the problem that was clicked.

    ``within`` is the number of first steps of the paths that are not shown, since they only name the field above.
    """

    chosen = Signal(object)
    grown = Signal()  # "Show more" was clicked

    def __init__(self, within: int = 1) -> None:
        super().__init__()
        self._within = within
        self.lines: list[ProblemLine] = []
        self._problems: list[Problem] = []
        self._most = LISTED
        self.more_button = styled(QPushButton(), "quiet")
        self.more_button.clicked.connect(self._show_more)
        self._column = QVBoxLayout()
        self._column.setSpacing(0)
        in_column(self._column, (self.more_button, 0, Qt.AlignmentFlag.AlignLeft), parent=self, margins=0, spacing=0)
        self.show_problems([])

    def reset(self) -> None:
        """List only the first problems again, for another definition."""
        self._most = LISTED

    def show_problems(self, problems: list[Problem]) -> None:
        """List ``problems``, as many as the current limit allows."""
        self._problems = problems
        listed = problems[: self._most]
        self.setVisible(bool(listed))
        self.more_button.setText(f"Show more of {len(problems) - len(listed):,} others")
        self.more_button.setVisible(len(problems) > len(listed))
        if [line.problem for line in self.lines] == listed:
            return
        discard(self._column, *self.lines)
        self.lines = []
        for item in listed:
            line = ProblemLine(item, self._within)
            line.chosen.connect(self.chosen)
            self._column.addWidget(line)
            self.lines.append(line)

    def _show_more(self) -> None:
        self._most += LISTED
        self.show_problems(self._problems)
        self.grown.emit()
