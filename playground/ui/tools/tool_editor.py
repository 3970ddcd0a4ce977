"""The editor of one tool: name, description, strict, and the JSON Schema of its parameters.

It gets a definition and hands back another; what is wrong with it is told from outside (``show_problems``).
"""

from __future__ import annotations

import json
import re
from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from playground.domain.tools import Problem, ToolDefinition
from playground.domain.values import JSON
from playground.ui.code_editor import CodeEditor
from playground.ui.icon_button import IconButton
from playground.ui.icons import icon
from playground.ui.json_text import locate, pretty, problem_at, read_json
from playground.ui.parameters.fields import SwitchPill, look
from playground.ui.plain_text import show_hidden, tip
from playground.ui.theme import code_font, tokens

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


class ToolEditor(QWidget):
    """``show_tool`` shows a definition, ``edited`` tells the one a person made of it."""

    edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tool: ToolDefinition | None = None
        self._showing = False
        self._whole: ToolDefinition | None = None
        self.problem_lines: list[ProblemLine] = []
        self.name = QLineEdit()
        self.name.setFont(code_font())
        self.name.setPlaceholderText("get_weather")
        self.name.setAccessibleName("Tool name")
        self.description = QPlainTextEdit()
        self.description.setProperty("kind", "field")
        self.description.setPlaceholderText("What it does and when the model should call it")
        self.description.setAccessibleName("Tool description")
        self.description.setTabChangesFocus(True)
        self.description.document().setDocumentMargin(2)
        self.description.setFixedHeight(64)
        self.schema = CodeEditor()
        self.schema.setPlaceholderText('{"type": "object", "properties": {}}')
        self.schema.setAccessibleName("Parameters, JSON Schema")
        self.schema.setMinimumHeight(96)
        self.strict = SwitchPill()
        self.strict.setAccessibleName("Strict")
        strict_help = "Ask the gateway to hold the model to the schema exactly. Left out while it is at default."
        self.strict.setToolTip(tip(strict_help))
        self.strict.setAccessibleDescription(strict_help)
        self.strict_reset = IconButton("close", "Strict back to default (Delete)", size=12)
        self.strict_reset.setFixedSize(20, 20)
        self.strict_reset.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.layout_button = QPushButton("Format")
        self.layout_button.setProperty("kind", "quiet")
        self.layout_button.setToolTip(tip("Lay the JSON out anew (Ctrl+Shift+F)"))
        self.take_button = QPushButton("Use this definition's name, description and parameters")
        self.take_button.hide()
        self._problems = QVBoxLayout()
        self._problems.setSpacing(0)
        self._arrange()
        self.name.textEdited.connect(self._named)
        self.description.textChanged.connect(self._described)
        self.schema.textChanged.connect(self._typed)
        self.strict.switched.connect(self._strict)
        self.strict.cleared.connect(self._strict_cleared)
        self.strict_reset.clicked.connect(self._strict_cleared)
        self.layout_button.clicked.connect(self.schema.format_json)
        self.take_button.clicked.connect(self._take_whole)

    def heightForWidth(self, width: int) -> int:
        """The least height: the schema, which can scroll by itself, gives way to what is said below it."""
        return self._column.minimumHeightForWidth(width)

    def _arrange(self) -> None:
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(4)
        column.addWidget(_caption("Name", self.name))
        column.addWidget(self.name)
        column.addSpacing(8)
        column.addWidget(_caption("Description", self.description))
        column.addWidget(self.description)
        column.addSpacing(8)
        strict = QHBoxLayout()
        strict.setSpacing(4)
        strict.addWidget(_caption("Strict", self.strict))
        strict.addStretch(1)
        strict.addWidget(self.strict_reset)
        strict.addWidget(self.strict)
        head = QHBoxLayout()
        head.addWidget(_caption("Parameters (JSON Schema)", self.schema))
        head.addStretch(1)
        head.addWidget(self.layout_button)
        column.addLayout(head)
        column.addWidget(self.schema, 1)
        column.addWidget(self.take_button)
        column.addLayout(self._problems)
        column.addSpacing(4)
        column.addLayout(strict)

    @property
    def tool(self) -> ToolDefinition | None:
        """The definition as edited."""
        return self._tool

    def show_tool(self, tool: ToolDefinition) -> None:
        """Show a definition; a text whose value is the same one keeps its layout and cursor."""
        if tool == self._tool:
            return
        self._showing = True
        if self.name.text() != tool.name:
            self.name.setText(tool.name)
        if _plain(self.description) != tool.description:
            self.description.setPlainText(tool.description)
        if not self._shows(tool):
            self.schema.setPlainText(_schema_text(tool))
        self._show_strict(tool.strict)
        self._tool = tool
        self._showing = False
        self._offer_whole()

    def show_problems(self, problems: list[Problem]) -> None:
        """List what is wrong and mark the places in the schema."""
        text = self.schema.text()
        problem = problem_at(text) if text.strip() else None
        shown = [p for p in problems if p.path or self._tool is None or self._tool.source is None]
        if self._tool is not None and self._tool.source is not None:
            said = (
                f"line {problem.line}, column {problem.column}: {problem.message}; this tool is not sent"
                if problem
                else "must be a JSON Schema object, in braces; this tool is not sent"
            )
            shown.insert(0, Problem(("parameters",), said))
        self.schema.clear_marks()
        if problem is not None:
            self.schema.mark(problem.line, problem.column, problem.message)
        for item in shown:
            place = self._place(item)
            if problem is None and place is not None:
                self.schema.mark(*place, item.message, item.severity)
        look(self.schema, "true" if any(m.severity == "error" for m in self.schema.marks) else "false", "bad")
        bad_name = any(p.path[:1] == ("name",) and p.severity == "error" for p in shown)
        look(self.name, "true" if bad_name else "false", "bad")
        for line in self.problem_lines:
            self._problems.removeWidget(line)
            line.hide()
            line.deleteLater()
        self.problem_lines = []
        for item in shown:
            line = ProblemLine(item)
            line.chosen.connect(self.go_to)
            self._problems.addWidget(line)
            self.problem_lines.append(line)

    def go_to(self, problem: Problem) -> None:
        """Put the cursor where the problem is."""
        first = problem.path[0] if problem.path else ""
        wrong = self.schema.problem() if self._tool is not None and self._tool.source is not None else None
        if first == "name":
            self.name.setFocus(Qt.FocusReason.OtherFocusReason)
            self.name.selectAll()
        elif first == "description":
            self.description.setFocus(Qt.FocusReason.OtherFocusReason)
        elif wrong is not None:
            self.schema.go_to(wrong.line, wrong.column)
        else:
            self.schema.go_to(*(self._place(problem) or (1, 1)))

    def _place(self, problem: Problem) -> tuple[int, int] | None:
        return locate(self.schema.text(), problem.path[1:]) if problem.path[:1] == ("parameters",) else None

    def _shows(self, tool: ToolDefinition) -> bool:
        """Whether the text in the editor already stands for this tool's parameters."""
        text = self.schema.text()
        if tool.source is not None:
            return text == tool.source
        if not text.strip():
            return tool.parameters is None
        try:
            return bool(read_json(text) == tool.parameters)
        except ValueError:
            return False

    def _tell(self, **changes: Any) -> None:
        if self._showing or self._tool is None:
            return
        self._tool = self._tool.model_copy(update=changes)
        self.edited.emit(self._tool)

    def _named(self, text: str) -> None:
        self._tell(name=text)

    def _described(self) -> None:
        self._tell(description=_plain(self.description))

    def _typed(self) -> None:
        if self._showing or self._tool is None:
            return
        text = self.schema.text()
        if not text.strip():
            self._tell(parameters=None, source=None)
        else:
            try:
                value = read_json(text)
            except ValueError:
                value = None
            if isinstance(value, dict):
                self._tell(parameters=value, source=None)
            else:
                self._tell(source=text)
        self._offer_whole()

    def _strict(self, state: bool) -> None:
        self._show_strict(state)
        self._tell(strict=state)

    def _strict_cleared(self) -> None:
        self._show_strict(None)
        self._tell(strict=None)

    def _show_strict(self, state: bool | None) -> None:
        self.strict.show_state(state)
        self.strict_reset.setVisible(state is not None)

    def _offer_whole(self) -> None:
        """A whole definition pasted where only the parameters belong can be taken apart with one click."""
        tool = self._tool
        self._whole = whole_definition(tool.parameters) if tool is not None and tool.source is None else None
        self.take_button.setVisible(self._whole is not None)

    def _take_whole(self) -> None:
        if self._tool is None or self._whole is None:
            return
        found = self._whole
        new = self._tool.model_copy(
            update={
                "name": found.name,
                "description": found.description,
                "parameters": found.parameters,
                "strict": found.strict,
                "source": None,
            }
        )
        self.show_tool(new)
        self.edited.emit(new)


def whole_definition(value: JSON) -> ToolDefinition | None:
    """The tool that a pasted definition of either protocol describes; None when it is no definition."""
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    inner = inner if isinstance(inner, dict) else value
    schema = inner.get("parameters", inner.get("input_schema"))
    name = inner.get("name")
    if not isinstance(name, str) or not isinstance(schema, dict):
        return None
    description = inner.get("description")
    strict = inner.get("strict")
    return ToolDefinition(
        name=name,
        description=description if isinstance(description, str) else "",
        parameters=schema,
        strict=strict if isinstance(strict, bool) else None,
    )


def _schema_text(tool: ToolDefinition) -> str:
    if tool.source is not None:
        return tool.source
    return "" if tool.parameters is None else pretty(json.dumps(tool.parameters, ensure_ascii=False))


def _plain(field: QPlainTextEdit) -> str:
    return field.document().toRawText().replace("\u2029", "\n")


def _caption(text: str, field: QWidget) -> QLabel:
    label = QLabel(text)
    label.setProperty("kind", "group")
    label.setMinimumWidth(40)  # rather cut at its end than wider than the panel
    label.setBuddy(field)
    return label
