"""A field for JSON: the editor, its caption and buttons, and the list of its problems.

It finds syntax errors itself; other problems come from ``show_problems``.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from playground.jsonkit.layout import locate, locate_all
from playground.jsonkit.problems import Problem
from playground.jsonkit.reading import problem_at
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.form_parts import look, styled, text_label
from playground.ui.widgets.json_text import MARKED_AT_MOST
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.problem_line import MOST_MARKS, ProblemLine, ProblemList

LEAST_LINES = 4
MOST_LINES = 24
FRAME = 18  # pixels of border and padding above and below the lines


class JsonField(QWidget):
    """A JSON editor with its problems. ``edited`` is emitted after every keystroke.

    ``root`` is the first step of the paths of problems in this text.
    """

    edited = Signal()

    def __init__(self, caption: str, *, root: str, placeholder: str = "", least: int = LEAST_LINES) -> None:
        super().__init__()
        self._root = root
        self._least = least
        self._showing = False
        self.editor = CodeEditor()
        self.editor.may_fold = True
        self.editor.setPlaceholderText(placeholder)
        self.editor.setAccessibleName(caption)
        self.editor.set_wheel_needs_focus()
        self.editor.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.caption = text_label(caption, "group", wrap=True)
        self.caption.setMinimumWidth(40)  # it wraps instead of widening the panel
        self.caption.setBuddy(self.editor)
        self.format_button = styled(QPushButton("Format"), "quiet")
        self.format_button.setToolTip(tip("Format the JSON (Ctrl+Shift+F)"))
        self._head = in_row((self.caption, 1), self.format_button, spacing=4)
        self._problems = ProblemList()
        self._problems.chosen.connect(self.go_to)
        in_column(self._head, self.editor, self._problems, parent=self, margins=0, spacing=4)
        self.editor.textChanged.connect(self._changed)
        self.format_button.clicked.connect(self.editor.format_json)
        self._grow()

    def add_tool(self, button: QPushButton) -> None:
        """Add a button before Format."""
        button.setProperty("kind", "quiet")
        self._head.insertWidget(self._head.count() - 1, button)

    @property
    def text(self) -> str:
        """The text exactly as typed."""
        return self.editor.text()

    def set_text(self, text: str) -> None:
        """Show a text without emitting ``edited``; an equal text keeps its cursor and its undo history."""
        self._showing = True
        self.editor.setPlainText(text)
        self._showing = False

    def replace_text(self, text: str) -> None:
        """Replace the text like a person's edit: ``edited`` is emitted, and one undo step reverts it."""
        self.editor.replace_text(text)

    @property
    def lines(self) -> list[ProblemLine]:
        """The listed problems."""
        return self._problems.lines

    def show_problems(self, problems: list[Problem], *, is_json: bool = False) -> None:
        """List problems and mark their places; while the text is not JSON, only the syntax error.

        ``is_json`` skips the search for a syntax error, for a long text that was parsed already.
        """
        text = self.text
        syntax_error = problem_at(text) if text.strip() and not is_json else None
        self.editor.clear_marks()
        if syntax_error is not None:
            self.editor.mark(syntax_error.line, syntax_error.column, syntax_error.message)
            words = f"line {syntax_error.line}, column {syntax_error.column}: {syntax_error.message}"
            problems = [Problem((self._root,), words)]
        paths = [item.path[1:] for item in problems] if syntax_error is None and len(text) <= MARKED_AT_MOST else []
        places = locate_all(text, paths) if paths else {}
        for item in problems[:MOST_MARKS]:
            if (place := places.get(item.path[1:])) is not None:
                self.editor.mark(*place, item.message, item.severity)
        look(self.editor, "true" if any(m.severity == "error" for m in self.editor.marks) else "false", "bad")
        self._problems.show_problems(problems)

    def go_to(self, problem: Problem) -> None:
        """Move the cursor to the place of a problem."""
        syntax_error = problem_at(self.text) if self.text.strip() else None
        if syntax_error is not None:
            self.editor.go_to(syntax_error.line, syntax_error.column)
        else:
            self.editor.go_to(*(self._place(problem) or (1, 1)))

    def _place(self, problem: Problem) -> tuple[int, int] | None:
        return locate(self.text, problem.path[1:])

    def _changed(self) -> None:
        self._grow()
        if not self._showing:
            self.edited.emit()

    def _grow(self) -> None:
        lines = min(max(self.editor.document().blockCount(), self._least), MOST_LINES)
        self.editor.setFixedHeight(lines * self.editor.fontMetrics().lineSpacing() + FRAME)

    def focus(self) -> None:
        """Put the cursor into the text."""
        self.editor.setFocus(Qt.FocusReason.OtherFocusReason)
