"""Tool calls and results written by a person, in the real window: chosen, typed, checked, undone, and sent."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QTextEdit

from playground.domain.roles import Role
from tests.engine.debugging import WEATHER
from tests.flows.conftest import Person, flow

OSLO = '{"city": "Oslo", "unit": "celsius"}'
ROME = '{"city": "Rome", "unit": "celsius"}'
CONTROL = Qt.KeyboardModifier.ControlModifier


async def offer_weather(person: Person, protocol: str = "chat", model: str = "demo-chat") -> None:
    await person.use_model(model)
    person.session.switch_protocol(protocol)
    person.session.change(tools=(WEATHER,))


async def write(person: Person, role: str, text: str, call_id: str = "") -> None:
    """Add a message of this role without a run; a result answers the call with this id, or the first that waits."""
    composer, turns = person.conversation.composer, len(person.path)
    await composer.choose_role(role)
    await person.type_into(person.message, text)
    if call_id:
        await person.type_into(composer.get(QComboBox, "Call that the result answers"), call_id)
    await composer.press_add()
    await person.until(lambda: len(person.path) == turns + 1, f"the message {text!r}")


def blocks(body: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The blocks of this type in all messages of a request."""
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    return [block for content in contents for block in content if block["type"] == kind]


@flow()
async def test_round_of_calls_is_written_by_hand_and_sent(person: Person) -> None:
    conversation, composer = person.conversation, person.conversation.composer
    await offer_weather(person, "messages", "demo-messages")
    await write(person, "User", "Oslo or Rome?")
    await composer.choose_role("Assistant")
    await person.type_into(person.message, "I look both up.")
    for call_id, arguments in (("", OSLO), ("rome", ROME)):
        form = await composer.add_call()
        await person.keys("get_weather")
        await person.key(Qt.Key.Key_Tab)
        await person.do(person.app.window.activateWindow)  # as a desktop does when the list of names closes
        await person.type_into(form.arguments, arguments)
        await person.until(partial(getattr, form, "matches_schema"), "arguments that fit")
        if call_id:
            await person.type_into(form.id, call_id)
    await composer.press("Run")
    assert "Add the message first" in conversation.notice.text
    await conversation.notice.press("Add the message")
    await person.until(lambda: len(person.path) == 2, "the message")
    oslo, rome = person.path[-1].calls
    assert (rome.id, bool(oslo.id), oslo.id_is_ours) == ("rome", True, True)
    assert composer.text == ""
    await conversation.wait_for_calls()

    await write(person, "Tool", "warm", "rome")
    await composer.choose_role("Tool")
    field = await composer.wait_for(QComboBox, "Call that the result answers")
    line = field.lineEdit()
    assert line is not None
    assert line.placeholderText() == oslo.id, "the call that still waits"
    await person.type_into(person.message, "cold")
    await person.key(Qt.Key.Key_Return, CONTROL)
    await person.idle(turns=5)
    body = person.body()
    calls = [(block["id"], block["input"]) for block in blocks(body, "tool_use")]
    assert calls == [(oslo.id, json.loads(OSLO)), ("rome", json.loads(ROME))]
    results = [(block["tool_use_id"], block["content"]) for block in blocks(body, "tool_result")]
    assert results == [(oslo.id, "cold"), ("rome", "warm")]
    assert composer.role == "User"


@flow()
async def test_result_without_its_call_is_not_sent_until_an_id_is_typed(person: Person) -> None:
    conversation = person.conversation
    await offer_weather(person)
    await write(person, "User", "Oslo?")
    await write(person, "Tool", "cold")
    field = await conversation.message(1).wait_for_answered_call()
    assert field.accessibleDescription() == "No call chosen"
    sent = len(person.server.requests)
    await conversation.composer.press("Run")
    assert "does not say which call it answers" in conversation.notice.text
    assert len(person.server.requests) == sent
    await conversation.notice.press("Choose its call")
    await person.until(field.view().isVisible, "the calls to choose from")
    await person.do(field.hidePopup)
    await person.keys("by-hand")
    await person.key(Qt.Key.Key_Return)
    await person.until(lambda: person.path[1].results[0].call_id == "by-hand", "the id that was typed")
    assert field.accessibleDescription() == "No call above has this id"
    await conversation.composer.press("Run")
    await person.idle(turns=3)
    assert person.body()["messages"][1]["tool_call_id"] == "by-hand"


@flow()
async def test_result_is_moved_behind_the_call_chosen_for_it(person: Person) -> None:
    conversation = person.conversation
    await offer_weather(person)
    await write(person, "User", "Oslo?")
    await write(person, "Tool", "cold")
    await write(person, "Assistant", "I look it up.")
    card = await conversation.wait_for_message(2)
    await card.choose("Add a tool call…")
    form = await card.wait_for_call_form()
    await person.keys("get_weather")
    await person.key(Qt.Key.Key_Tab)
    await form.press("Fill in a sample for the call")
    await person.key(Qt.Key.Key_Return, CONTROL)
    await person.until(lambda: person.path[2].calls, "the call")
    await person.do(partial(person.session.turns.move_turn, person.path[1].id, 1))
    await person.trigger("turn.choose-call")
    field = await (await conversation.wait_for_message(2)).wait_for_answered_call()
    await person.until(field.view().isVisible, "the calls to choose from")
    await person.do(lambda: field.view().setFocus())
    await person.do(lambda: QTest.keyClick(field.view(), Qt.Key.Key_Return))

    def result() -> str:
        views = [view for call in conversation.message(1).calls for view in call.find(QTextEdit, "Result")]
        return "".join(view.toPlainText() for view in views)

    await person.until(lambda: result() == "cold", "the result in its call")
    assert [turn.role for turn in person.path] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    await person.trigger("edit.undo")
    assert person.path[2].results[0].call_id == ""


@flow()
async def test_call_is_changed_as_a_whole_and_deleted_with_its_result(person: Person) -> None:
    conversation = person.conversation
    await offer_weather(person, model="demo-tools")
    await person.run("!calls=2 The weather in Lisbon and Oslo")
    first, second = await conversation.wait_for_calls()
    message = conversation.message(-1)
    second_id = second.call_id
    await first.type_result("sunny")
    await first.choose("Edit name, id and arguments…")
    form = await message.wait_for_call_form()
    assert not first.visible
    await person.type_into(form.id, second_id)
    await person.type_into(form.arguments, ROME)
    await person.key(Qt.Key.Key_Return, CONTROL)
    await person.until(lambda: "would be ambiguous" in message.text, "the refusal")
    await person.type_into(form.id, "mine")
    await message.press("Save")
    await person.until(lambda: person.path[-1].calls[0].id == "mine", "the other id")
    await person.until(lambda: len(message.calls) == 2, "both calls")
    call = message.calls[0]
    assert person.path[-1].calls[0].received is not None, "the call as the model sent it is saved"
    await person.until(lambda: call.result_text == "sunny", "the result that was typed for it")
    await call.send_result()
    await person.until(lambda: len(person.path) == 3, "the result")
    assert person.path[2].results[0].call_id == "mine"
    await conversation.message(1).calls[0].choose("Delete this call")
    await person.until(lambda: len(person.path) == 2, "the call gone with its result")
    assert [call.id for call in person.path[1].calls] == [second_id]
    await conversation.notice.press("Undo")
    assert [call.id for call in person.path[1].calls] == ["mine", second_id]
    assert len(person.path) == 3

    await conversation.message(1).choose_role("Assistant", "User")
    await person.until(lambda: not person.path[1].calls, "no calls in a message of a user")
    await person.trigger("edit.undo")
    assert len(person.path[1].calls) == 2


@flow()
async def test_unfinished_call_is_refused_and_waits_in_its_experiment(person: Person) -> None:
    conversation, composer = person.conversation, person.conversation.composer
    await offer_weather(person)
    session = person.session
    await composer.choose_role("Assistant")
    form = await composer.add_call()
    await person.type_into(form.arguments, OSLO)
    for press in (composer.press_add, partial(composer.press, "Run")):
        await press()
        assert "needs the name of the tool" in conversation.notice.text
    assert not person.path
    assert form.arguments.toPlainText() == OSLO
    await composer.choose_role("User")
    await person.until(lambda: not composer.call_forms, "a message without calls")
    await composer.choose_role("Assistant")
    await person.until(lambda: composer.call_forms, "the call that was being written")
    await form.press("Remove the call")
    await person.until(lambda: not composer.call_forms, "no call")

    await composer.add_call()
    await person.keys("get_w")
    await person.trigger("experiment.new")
    assert not composer.call_forms
    assert not composer.has_button("Add a tool call")
    await person.do(partial(person.app.workspace.open, session.id))
    await person.until(lambda: [form.name for form in composer.call_forms] == ["get_w"], "the call again")
    assert session.draft.calls[0].name == "get_w"
    await composer.press("Run")
    await conversation.notice.press("Add the message")
    await person.until(lambda: len(person.path) == 1, "the message")
    assert person.path[0].calls[0].name == "get_w"
    assert session.draft.empty

    await composer.choose_role("Assistant")
    form = await composer.add_call()
    await person.keys("get_weather")
    await person.until(lambda: form.name == "get_weather", "the name")
    await person.key(Qt.Key.Key_Escape)  # the suggestion
    focused: list[str] = []
    for _ in range(5):
        await person.key(Qt.Key.Key_Tab)
        focused.append(person.app.window.focusWidget().accessibleName())
    assert focused[0] == "Id of the call"
    assert "Arguments of the call" in focused
