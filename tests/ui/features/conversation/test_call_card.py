"""The card of a tool call: layout of arguments and results, verdict, problems."""

from __future__ import annotations

import json

from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.debugging import ResultDraft
from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.jsonkit.values import JSONObject
from playground.ui.features.conversation.calls.argument_tree import ArgumentTree
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.transcript_pane import TranscriptPane

SCHEMA: JSONObject = {"type": "object", "properties": {"city": {"enum": ["Oslo", "Lisbon"]}}}
TOOL = ToolDefinition(name="get_weather", parameters=SCHEMA)
GOOD = ToolCall(id="call_1", name="get_weather", arguments='{"city":"Oslo"}')


def labels_of(widget: QWidget) -> list[str]:
    """The texts of the visible labels."""
    return [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]


def test_result_that_is_not_json_is_marked_and_can_be_sent(card: CallCard, pane: TranscriptPane) -> None:
    card.show_call(GOOD, TOOL, None, waiting=True)
    field = card.field
    assert field is not None
    assert not field.send_button.isEnabled()
    assert field.send_button.accessibleDescription() == "Enter or insert a result first"
    field.field.setPlainText('{"temp": 21')
    assert any("not JSON" in label for label in labels_of(field))
    assert field.send_button.isEnabled()
    draft = pane.session.debugger.notes.draft("t", "call_1")
    assert draft is not None
    assert draft.text == '{"temp": 21'
    field.field.setPlainText('{"temp": 21}')
    assert not any("not JSON" in label for label in labels_of(field))


def insert(card: CallCard, beginning: str) -> None:
    """Choose the entry of the Insert menu that begins like this."""
    assert card.field is not None
    menu = card.field.insert_button.menu()
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if action.text().startswith(beginning)).trigger()


def test_sample_last_result_and_failure_are_inserted_without_being_sent(
    card: CallCard, pane: TranscriptPane, qtbot: QtBot
) -> None:
    session = pane.session
    earlier = ToolCall(id="call_0", name="get_weather", arguments="{}")
    session.turns.add_turn(make_turn(Role.ASSISTANT, "", earlier))
    session.turns.answer("call_0", '{"temp": 4}')
    output: JSONObject = {"type": "object", "properties": {"temp": {"type": "integer"}}, "required": ["temp"]}
    card.show_call(GOOD, TOOL.model_copy(update={"output": output}), None, waiting=True)

    def draft() -> ResultDraft:
        draft = session.debugger.notes.draft("t", "call_1")
        assert draft is not None
        return draft

    insert(card, "Sample from the result schema")
    qtbot.waitUntil(lambda: session.debugger.notes.draft("t", "call_1") is not None)
    assert isinstance(json.loads(draft().text)["temp"], int)
    insert(card, "Last result")
    assert draft().text == '{"temp": 4}'
    insert(card, "Error text")
    assert draft().is_error
    assert len(session.transcript.path) == 2, "nothing is sent"


def test_growing_arguments_are_listed_a_line_each_with_their_problems(qtbot: QtBot) -> None:
    tree = ArgumentTree()
    qtbot.addWidget(tree)
    tree.begin(SCHEMA)
    fragments = ['{"city": "Pa', 'ris", "days": [1, {"rain\u202e": tr']
    tree.read_fragments(fragments[:1])
    assert tree.toPlainText() == '1 member …\n  city: "Pa …'
    tree.read_fragments(fragments)
    lines = tree.toPlainText().splitlines()
    assert lines[1].startswith('  city: "Paris"   × ')
    assert lines[2] == "  days: 2 items …   × is not among the tool's parameters"
    assert lines[3:] == ["    [0]: 1", "    [1]: 1 member …", "      rain‹U+202E›: tr …"]
