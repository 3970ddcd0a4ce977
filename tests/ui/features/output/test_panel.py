"""The Output tab with the real parameter models."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from playground.domain.parameters import Parameters
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.chat.parameters import ChatParameters
from playground.ui.features.output.panel import CUSTOM, DEFAULT, EXAMPLE, SCHEMA, OutputPanel
from playground.ui.widgets.rows.kinds import SwitchRow
from tests.ui.conftest import ShowWidget

FORM: JSONObject = {"type": "json_schema", "json_schema": {"name": "invoice", "schema": json.loads(EXAMPLE)}}


class Keeper:
    """Stand-in for the experiment: applies the panel's changes and shows them again, as the window does."""

    def __init__(self, panel: OutputPanel, parameters: Parameters) -> None:
        self.panel = panel
        self.parameters = parameters
        self.draft: JSON = None
        self.sent_values: list[JSON] = []
        panel.changed.connect(self._changed)
        panel.draft_changed.connect(self._draft_changed)
        panel.set_value(parameters)

    def _changed(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.sent_values.append(self.sent)
        self.panel.set_value(parameters, self.draft)

    def _draft_changed(self, draft: JSON) -> None:
        self.draft = draft
        self.panel.set_value(self.parameters, draft)

    @property
    def sent(self) -> JSON:
        return self.parameters.to_wire().get("response_format")


@pytest.fixture
def panel(show_widget: ShowWidget) -> OutputPanel:
    return show_widget(OutputPanel(), 340, 800)


@pytest.fixture
def chat(panel: OutputPanel) -> Keeper:
    return Keeper(panel, ChatParameters(temperature=0.5))


def choose(panel: OutputPanel, kind: str) -> None:
    QTest.mouseClick(panel.radios[kind], Qt.MouseButton.LeftButton, pos=panel.radios[kind].rect().center() / 4)


def read_problems(panel: OutputPanel) -> list[str]:
    panel.check_now()
    return [line.text.text().replace("\u200b", "") for line in panel.schema.lines]


def test_schema_is_sent_with_its_fields(panel: OutputPanel, chat: Keeper) -> None:
    choose(panel, SCHEMA)
    assert chat.sent_values == []
    assert "No schema yet" in panel.unsent.text()
    QTest.mouseClick(panel.example_button, Qt.MouseButton.LeftButton)
    assert chat.sent == FORM
    assert not panel.unsent.isVisible()
    assert read_problems(panel) == []
    QTest.keyClicks(panel.head.line("description"), "One invoice")
    strict = panel.head.rows["strict"]
    assert isinstance(strict, SwitchRow)
    strict.pill.click()
    assert chat.sent["json_schema"] == {**FORM["json_schema"], "description": "One invoice", "strict": True}
    strict.pill.click()
    assert chat.sent["json_schema"]["strict"] is False
    strict.reset.click()
    assert "strict" not in chat.sent["json_schema"]
    assert chat.draft is None


def test_invalid_json_is_kept_and_not_sent(panel: OutputPanel, chat: Keeper) -> None:
    chat.panel.set_value(ChatParameters(response_format=FORM))
    chat.parameters = panel.value
    half = '{\n  "type": "object",\n  "properties": {,}\n}'
    panel.schema.replace_text(half)
    assert chat.sent is None
    assert panel.schema.text == half
    assert "not valid JSON yet" in panel.unsent.text()
    assert read_problems(panel) == ["line 3, column 18: a name in double quotes is expected (or a comma is too many)"]
    assert [(m.line, m.column) for m in panel.schema.editor.marks] == [(3, 18)]
    # another experiment, and back
    saved = chat.draft
    panel.set_value(ChatParameters(), fresh=True)
    assert panel.draft.kind == DEFAULT
    panel.set_value(chat.parameters, saved, fresh=True)
    assert panel.schema.text == half
    assert panel.draft.name == "invoice"


def test_wrong_schema_is_marked_and_sent(panel: OutputPanel, chat: Keeper) -> None:
    choose(panel, SCHEMA)
    panel.schema.replace_text(
        '{\n  "type": "object",\n  "properties": {"a": {"type": "text"}},\n  "required": ["b"]\n}'
    )
    assert chat.sent["json_schema"]["schema"]["required"] == ["b"]
    assert [line.split(":")[0] for line in read_problems(panel)] == ["properties.a.type", "required"]
    assert {mark.line for mark in panel.schema.editor.marks} == {3, 4}
    QTest.keyClick(panel.schema.lines[1], Qt.Key.Key_Return)
    assert panel.schema.editor.textCursor().blockNumber() == 3


def test_unknown_format_is_shown_raw_and_kept(panel: OutputPanel, chat: Keeper) -> None:
    grammar: JSONObject = {"type": "grammar", "value": 'root ::= "yes"'}
    panel.set_value(ChatParameters(response_format=grammar))
    assert panel.radios[CUSTOM].isChecked()
    assert json.loads(panel.custom.text) == grammar
    assert chat.sent_values == []
    panel.custom.replace_text('{"type": "grammar"')
    assert chat.sent is None
    assert "not valid JSON" in panel.unsent.text()
    panel.custom.replace_text('{"type": "grammar"}')
    assert chat.sent == {"type": "grammar"}
