"""The card of a tool call: layout of arguments and results, verdict, problems."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.jsonkit.values import JSONObject
from playground.ui.features.conversation.calls.call_card import CallCard

SCHEMA: JSONObject = {"type": "object", "properties": {"city": {"enum": ["Oslo", "Lisbon"]}}}
TOOL = ToolDefinition(name="get_weather", parameters=SCHEMA)
GOOD = ToolCall(id="call_1", name="get_weather", arguments='{"city":"Oslo"}')


def labels_of(widget: QWidget) -> list[str]:
    """The texts of the visible labels."""
    return [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]


def test_result_that_is_not_json_is_marked_and_can_be_sent(card: CallCard, qtbot: QtBot) -> None:
    card.show_call(GOOD, TOOL, None, waiting=True)
    field = card.field
    assert field is not None
    field.kind.buttons[1].click()
    field.field.setPlainText('{"temp": 21')
    assert any("not JSON" in label for label in labels_of(field))
    with qtbot.waitSignal(card.answered) as sent:
        field.send_button.click()
    assert sent.args == ["call_1", '{"temp": 21', False]
    field.field.setPlainText('{"temp": 21}')
    assert not any("not JSON" in label for label in labels_of(field))
