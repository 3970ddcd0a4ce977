"""Variant B of the tools: a copy of them as JSON, and another tool choice. The experiment's own stay as they are."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from playground.domain.parameters import Parameters
from playground.domain.tools import ToolDefinition
from playground.engine.files.tool_import import export_tools
from playground.engine.files.tool_import.definitions import read
from playground.engine.files.tool_import.found import ToolCollector
from playground.engine.session.stability import Variant
from playground.jsonkit.problems import Problem
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON
from playground.ui.widgets.choice_fields import ChoiceField
from playground.ui.widgets.form_parts import paragraph
from playground.ui.widgets.json_field import JsonField
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.scroll_page import ScrollPage

CHECK_MS = 200

MOST_PLACES = 3
SAME = "Nothing is different yet."


def read_tools(text: str) -> tuple[ToolDefinition, ...]:
    """The tools a JSON text lists, in either protocol's shape, exactly as they stand there; none for ``[]``.

    Raises ValueError in words.
    """
    found = ToolCollector()
    problem = read(parse_json(text), found)
    if problem or found.notes:
        raise ValueError(problem or found.notes[0])
    return tuple(found.tools)


def read_choice(text: str, kind: type[Parameters], names: Collection[str]) -> JSON:
    """The value of ``tool_choice`` for what is typed: a tool's name, JSON, or a word as it is. None for nothing.

    Raises ValueError for broken JSON.
    """
    text = text.strip()
    if not text:
        return None
    if text.startswith("{"):
        return parse_json(text)
    return kind.tool_choice_for(text) if text in names else text


def choice_words(value: JSON) -> str:
    """A value of ``tool_choice`` in a few words."""
    if value is None:
        return "default"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def differences(first: Sequence[ToolDefinition], second: Sequence[ToolDefinition]) -> list[str]:
    """What is different about the second set, a line each; empty where both are the same on the wire."""
    before = {tool.name: tool for tool in first if tool.sendable}
    after = {tool.name: tool for tool in second if tool.sendable}
    out = [f"{name} is not on offer" for name in before if name not in after]
    out += [f"{name} is new" for name in after if name not in before]
    for name, tool in after.items():
        if name in before and (changed := _changes(before[name], tool)):
            out.append(f"{name}: {', '.join(changed)}")
    kept = [name for name in before if name in after]
    if kept != [name for name in after if name in before]:
        out.append("the order is another one")
    return out


def _changes(before: ToolDefinition, after: ToolDefinition) -> list[str]:
    out: list[str] = []
    if before.description != after.description:
        out.append("description")
    if not _same(before.parameters, after.parameters):
        places = list(_places(before.parameters, after.parameters, ""))
        more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
        out.append(f"schema ({', '.join(places[:MOST_PLACES])}{more})" if places else "schema")
    if before.strict != after.strict:
        out.append("strict")
    return out


def _same(before: JSON, after: JSON) -> bool:
    """Whether both are spelled alike: the order of keys is a difference that a model sees, and true is not 1."""
    return json.dumps(before) == json.dumps(after)


def _places(before: JSON, after: JSON, path: str) -> Iterator[str]:
    """The innermost places that differ."""
    if _same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [*before, *(key for key in after if key not in before)]
        inner = [place for key in keys for place in _inner(before, after, key, path)]
        yield from inner or [f"{path or 'all of it'}, in another order"]
    else:
        yield path or "all of it"


def _inner(before: dict[str, JSON], after: dict[str, JSON], key: str, path: str) -> Iterator[str]:
    place = f"{path}.{key}" if path else key
    if key in before and key in after:
        yield from _places(before[key], after[key], place)
    else:
        yield place


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
        self.said = paragraph("", "small")
        self.said.setAccessibleName("What is different")
        label = QLabel("Tool choice")
        label.setBuddy(self.choice)
        row = in_row(label, 1, self.choice)
        inner = QWidget()
        in_column(self.said, row, self.field, 1, of=inner, margins=(0, 0, 10, 0), spacing=8)
        page = ScrollPage()
        page.setWidget(inner)
        in_column(page, of=self, margins=0)
        self._check_later = QTimer(self, singleShot=True, interval=CHECK_MS)
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
