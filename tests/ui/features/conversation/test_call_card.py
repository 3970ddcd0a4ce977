"""The card of a tool call: layout of arguments and results, verdict, problems."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton, QLabel, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.jsonkit.values import JSONObject
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.widgets.mark_label import Chip

SCHEMA: JSONObject = {"type": "object", "properties": {"city": {"enum": ["Oslo", "Lisbon"]}}}
TOOL = ToolDefinition(name="get_weather", parameters=SCHEMA)
GOOD = ToolCall(id="call_1", name="get_weather", arguments='{"city":"Oslo"}')
BAD = ToolCall(id="call_1", name="get_weather", arguments='{"city":"Rome"}')


def labels_of(widget: QWidget) -> list[str]:
    """The texts of the visible labels."""
    return [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]


def text_of(card: CallCard, name: str) -> str:
    """The text of the view with this accessible name."""
    (view,) = (view for view in card.findChildren(QTextEdit) if view.accessibleName() == name)
    return view.toPlainText()


def verdict_of(card: CallCard) -> Chip:
    """The chip that says if the arguments match the schema."""
    (chip,) = (chip for chip in card.findChildren(Chip) if chip.isVisible() and chip.text() != "same call again")
    return chip


def press(card: CallCard, name: str) -> None:
    """Click the button with this text or accessible name."""
    (button,) = (each for each in card.findChildren(QAbstractButton) if name in (each.text(), each.accessibleName()))
    button.click()


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


def test_schema_error_is_shown_once(card: CallCard) -> None:
    said = '"Rome" is not one of Oslo, Lisbon'
    card.show_call(BAD, TOOL, None, waiting=True)
    assert said in text_of(card, "Arguments")
    assert said not in verdict_of(card).text()
    assert said in verdict_of(card).toolTip().replace("&quot;", '"')
    card.more.chosen.emit("raw")  # there nothing is said beside the arguments
    assert said not in text_of(card, "Arguments")
    assert said in verdict_of(card).text()
    card.more.chosen.emit("raw")
    assert verdict_of(card).text() == "1 problem"
    card.follow_editors()
    press(card, "Edit the arguments")
    assert said in verdict_of(card).text()


def test_call_with_free_text_has_no_problem(card: CallCard) -> None:
    for fragments in (["print("], ["print(", '"hi")']):
        card.draw_growing_call("c", "code", fragments, free_text=True)
        assert text_of(card, "Result") == "".join(fragments)
        assert card.tree is None or not card.tree.isVisible()
    card.show_call(ToolCall(id="c", name="code", arguments='print("hi")', free_text=True), None, None, waiting=True)
    assert text_of(card, "Arguments") == 'print("hi")'
    assert verdict_of(card).text() == "free text"
    assert card.tree is None or not card.tree.isVisible()
    card.show_call(ToolCall(id="c", name="code", arguments='{"a":1}', free_text=True), None, None, waiting=True)
    assert text_of(card, "Arguments") == '{"a":1}', "a text that happens to be JSON is not laid out"
