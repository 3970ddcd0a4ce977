"""The card of a tool call: layout of arguments and results, verdict, problems."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.jsonkit.values import JSONObject
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
