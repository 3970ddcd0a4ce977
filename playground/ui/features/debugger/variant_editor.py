"""Variant B of the tools: a copy of them as JSON, and another tool choice. The experiment's own stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from playground.domain.parameters import Parameters
from playground.domain.tools import ToolDefinition
from playground.engine.files.tool_import import export_tools
from playground.engine.session.stability import Variant
from playground.jsonkit.problems import Problem
from playground.jsonkit.values import JSON
from playground.ui.features.debugger.tool_differences import SAME, choice_words, differences, read_choice, read_tools
from playground.ui.widgets.choice_fields import ChoiceField
from playground.ui.widgets.json_field import JsonField
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.scroll_page import ScrollPage

CHECK_MS = 200


class VariantEditor(QWidget):
    """``start`` begins with what the experiment has; ``variant`` gives what was made of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tools: tuple[ToolDefinition, ...] = ()
        self._parameters = Parameters()
        self._protocol = ""
        self.setMinimumWidth(250)
        self.field = JsonField("Tools of variant B", root="tools", least=12)
        self.again = QPushButton("Begin again")
        self.again.setToolTip(tip("Throw the changes away and begin with the experiment's tools"))
        self.field.add_tool(self.again)
        self.choice = ChoiceField()
        self.choice.setAccessibleName("Tool choice of variant B")
        line = self.choice.lineEdit()
        if line is not None:
            line.setPlaceholderText("as in A")
        self.said = QLabel()
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.said.setWordWrap(True)
        self.said.setProperty("kind", "small")
        self.said.setAccessibleName("What is different")
        label = QLabel("Tool choice")
        label.setBuddy(self.choice)
        row = QHBoxLayout()
        row.addWidget(label)
        row.addStretch(1)
        row.addWidget(self.choice)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 10, 0)
        column.setSpacing(8)
        column.addWidget(self.said)
        column.addLayout(row)
        column.addWidget(self.field)
        column.addStretch(1)
        page = ScrollPage()
        page.setWidget(inner)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(page)
        self._check_later = QTimer(self)
        self._check_later.setSingleShot(True)
        self._check_later.setInterval(CHECK_MS)
        self._check_later.timeout.connect(self.check)
        self.field.edited.connect(self._check_later.start)
        self.choice.picked.connect(self._picked)
        self.again.clicked.connect(self._begin_again)

    def start(self, tools: Sequence[ToolDefinition], parameters: Parameters, protocol: str) -> None:
        """The experiment's tools, parameters and protocol; what was typed stays, the differences are found anew."""
        fresh = not self.field.text
        moved = protocol != self._protocol
        self._tools = tuple(tool for tool in tools if tool.sendable)
        text = export_tools(self._tools, protocol)
        with suppress(ValueError):  # a tool may go out that is none by the rules
            self._tools = read_tools(text)  # as the protocol spells them: what it adds is no difference
        self._parameters, self._protocol = parameters, protocol
        if moved:
            self.choice.set_choices((*self._suggestions(), *(tool.name for tool in self._tools)))
        if fresh:
            self.field.set_text(text)
        self.check()

    def variant(self) -> Variant:
        """Variant B. Raises ValueError in words while what is typed cannot be read."""
        try:
            tools = read_tools(self.field.text or "[]")
        except ValueError as error:
            raise ValueError(f"The tools of variant B cannot be read: {error}") from None
        try:
            choice = self._choice(tools)
        except ValueError as error:
            raise ValueError(f"The tool choice of variant B cannot be read: {error}") from None
        return Variant(name="B", tools=tools, tool_choice=choice)

    def check(self) -> None:
        """Say what is different, or what is wrong."""
        try:
            tools = read_tools(self.field.text or "[]")
        except ValueError as error:
            self.field.show_problems([Problem(("tools",), str(error))])
            self.said.setText("The tools cannot be read yet.")
            return
        self.field.show_problems([])
        words = differences(self._tools, tools)
        try:
            choice = self._choice(tools)
        except ValueError as error:
            self.said.setText(f"The tool choice cannot be read: {error}")
            return
        before = getattr(self._parameters, "tool_choice", None)
        if choice is not None and choice != before:
            words.append(f"tool choice: {choice_words(before)} → {choice_words(choice)}")
        lines = ["Different in B:", *(f"• {show_hidden(word)}" for word in words)]
        self.said.setText("\n".join(lines) if words else SAME)

    def _choice(self, tools: Sequence[ToolDefinition]) -> JSON:
        names = {tool.name for tool in tools} - {*self._suggestions()}
        return read_choice(self.choice.currentText(), type(self._parameters), names)

    def _suggestions(self) -> tuple[str, ...]:
        return next((hint.suggestions for name, hint in type(self._parameters).hints() if name == "tool_choice"), ())

    def _picked(self, _text: object) -> None:
        self._check_later.start()

    def _begin_again(self) -> None:
        self.field.replace_text(export_tools(self._tools, self._protocol))
        self.choice.show_text("")
        self.check()
