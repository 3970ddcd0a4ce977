"""Calls and results written by a person, in the real window: chosen, typed, checked, taken back, and what goes out."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QPushButton, QToolButton, QWidget

from playground.domain.roles import Role
from playground.ui.features.conversation.answers_row import NONE_CHOSEN, NOT_ABOVE, AnswersRow
from playground.ui.features.conversation.calls.call_form import CallForm
from playground.ui.features.conversation.card_editing import CallEditor
from tests.engine.debugging import WEATHER
from tests.flows.conftest import Person, Stage

OSLO = '{"city": "Oslo", "unit": "celsius"}'
ROME = '{"city": "Rome", "unit": "celsius"}'
BOTH = pytest.mark.parametrize(("protocol", "model"), [("chat", "demo-chat"), ("messages", "demo-messages")])
CONTROL = Qt.KeyboardModifier.ControlModifier


async def ready(person: Person, protocol: str = "chat", model: str = "demo-chat") -> None:
    await person.use_model(model)
    person.session.switch_protocol(protocol)
    person.session.change(tools=(WEATHER,))


async def role(person: Person, word: str) -> None:
    await person.choose(person.one(QPushButton, "Role of the message"), word)


async def add(person: Person) -> None:
    await person.click(person.pane.composer._add)


async def write(person: Person, word: str, text: str) -> None:
    """A turn of that role, added and not run."""
    await role(person, word)
    await person.type_into(person.message, text)
    await add(person)


async def answer(person: Person, text: str, call_id: str = "") -> None:
    """A result in the composer, for the call that is typed, else for the first that waits."""
    await role(person, "Tool")
    await person.type_into(person.message, text)
    if call_id:
        await person.type_into(person.one(QComboBox, "Call that the result answers", person.pane.composer), call_id)
    await add(person)


def blocks(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks of all native messages."""
    lists = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    return [block for found in lists for block in found]


def has_focus(widget: QWidget) -> bool:
    focus = widget.window().focusWidget()
    return focus is widget or widget.isAncestorOf(focus)


def fits(form: CallForm) -> bool:
    return form.verdict.mark == "check"


def wire_calls(body: dict[str, Any], protocol: str) -> dict[str, Any]:
    """The calls in a body: their arguments by id."""
    if protocol == "chat":
        calls = [call for message in body["messages"] for call in message.get("tool_calls", [])]
        return {call["id"]: json.loads(call["function"]["arguments"]) for call in calls}
    return {block["id"]: block["input"] for block in blocks(body) if block["type"] == "tool_use"}


def wire_results(body: dict[str, Any], protocol: str) -> list[tuple[str, str]]:
    """The results in a body: the ids of their calls and their texts, in order."""
    if protocol == "chat":
        tools = [message for message in body["messages"] if message["role"] == "tool"]
        return [(message["tool_call_id"], message["content"]) for message in tools]
    return [(block["tool_use_id"], block["content"]) for block in blocks(body) if block["type"] == "tool_result"]


@BOTH
def test_a_whole_round_of_calls_is_written_by_hand_and_sent(stage: Stage, protocol: str, model: str) -> None:
    async def scene(person: Person) -> None:
        await ready(person, protocol, model)
        await write(person, "User", "Oslo or Rome?")
        await role(person, "Assistant")
        await person.type_into(person.message, "I look both up.")
        for number, (call_id, arguments) in enumerate((("", OSLO), ("rome", ROME))):
            await person.press("Add a tool call", person.pane.composer)
            form = person.pane.composer.findChildren(CallForm)[number]
            await person.until(partial(has_focus, form), "the new call")
            await person.keys("get_weather")
            await person.key(Qt.Key.Key_Tab)
            await person.do(person.app.window.activateWindow)  # as a desktop does when the list of names closes
            await person.type_into(form.arguments, arguments)
            await person.until(partial(fits, form), "arguments that fit")
            if call_id:
                await person.type_into(form.id, call_id)
        await person.press("Run", person.pane.composer)
        assert "Add the turn first" in person.pane.notice.words
        await person.press("Add the turn", person.pane.notice)
        await person.until(lambda: len(person.path) == 2, "the turn")
        made, rome = person.path[-1].calls
        assert (rome.id, bool(made.id), made.id_is_ours) == ("rome", True, True)
        assert person.message.toPlainText() == ""
        assert len(person.card(-1).calls) == 2

        await answer(person, "warm", "rome")
        await person.until(lambda: len(person.path) == 3, "the first result")
        await role(person, "Tool")
        row = await person.seen(AnswersRow, inside=person.pane.composer)
        assert row.field.line.placeholderText() == made.id, "the one that still waits"
        await person.type_into(person.message, "cold")
        await person.key(Qt.Key.Key_Return, CONTROL)
        await person.idle(turns=5)
        assert list(wire_calls(person.body(), protocol)) == [made.id, "rome"]
        assert wire_calls(person.body(), protocol)["rome"] == json.loads(ROME)
        assert wire_results(person.body(), protocol) == [(made.id, "cold"), ("rome", "warm")]
        assert person.pane.composer.role is Role.USER

    stage.play(scene)


def test_a_tool_turn_without_its_call_is_held_back_and_mended_with_one_button(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await write(person, "User", "Oslo?")
        await answer(person, "cold")
        row = await person.seen(AnswersRow, inside=person.card(1))
        assert row.state.text == NONE_CHOSEN
        asked = len(person.server.requests)
        await person.press("Run", person.pane.composer)
        assert "does not say which call it answers" in person.pane.notice.words
        assert len(person.server.requests) == asked, "nothing went out"
        await person.press("Choose its call", person.pane.notice)
        await person.until(row.field.view().isVisible, "the calls to choose from")
        await person.do(row.field.hidePopup)
        await person.keys("by-hand")
        await person.key(Qt.Key.Key_Return)
        await person.until(lambda: person.path[1].results[0].call_id == "by-hand", "the id that was typed")
        assert (await person.seen(AnswersRow, inside=person.card(1))).state.text == NOT_ABOVE
        await person.press("Run", person.pane.composer)
        await person.idle(turns=3)
        assert person.body()["messages"][1]["tool_call_id"] == "by-hand", "what is set goes out"

    stage.play(scene)


def test_a_result_finds_its_call_and_stands_behind_it(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await write(person, "User", "Oslo?")
        await write(person, "Tool", "cold")
        await write(person, "Assistant", "I look it up.")
        await person.choose(person.one(QToolButton, "More for this turn", person.card(2)), "Add a tool call…")
        form = await person.seen(CallForm, inside=person.card(2))
        await person.keys("get_weather")
        await person.key(Qt.Key.Key_Tab)
        await person.press("Fill in an example for the call", form)
        await person.key(Qt.Key.Key_Return, CONTROL)
        await person.until(lambda: person.path[2].calls, "the call")
        await person.do(partial(person.session.turns.move_turn, person.path[1].id, 1))
        await person.do(person.app.window.action("turn.choose-call").trigger)
        row = await person.seen(AnswersRow, inside=person.card(2))
        await person.until(row.field.view().isVisible, "the calls to choose from")
        await person.do(lambda: row.field.view().setFocus())
        await person.do(lambda: QTest.keyClick(row.field.view(), Qt.Key.Key_Return))
        await person.until(lambda: person.card(1).calls and person.card(1).calls[0]._answer, "the result in its call")
        assert [turn.role for turn in person.path] == [Role.USER, Role.ASSISTANT, Role.TOOL]
        await person.do(person.pane.undo)
        assert person.path[2].results[0].call_id == ""

    stage.play(scene)


def test_a_call_is_changed_as_a_whole_refused_and_deleted_with_its_result(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person, model="demo-tools")
        await person.run("!calls=2 The weather in Lisbon and Oslo")
        await person.until(lambda: len(person.path) == 2 and len(person.card(-1).calls) == 2, "the calls")
        await person.idle()
        _, second = (card.call.id for card in person.card(-1).calls)
        await person.type_into(person.card(-1).calls[0].field.field, "sunny")  # type: ignore[union-attr]  # it waits
        await person.choose(person.card(-1).calls[0].more, "Edit its name, id and arguments…")
        form = await person.seen(CallForm, inside=person.card(-1))
        assert not person.card(-1).calls[0].isVisible()
        await person.type_into(form.id, second)
        await person.type_into(form.arguments, ROME)
        await person.key(Qt.Key.Key_Return, CONTROL)
        assert "could not be told apart" in (await person.seen(CallEditor, inside=person.card(-1))).problem
        await person.type_into(form.id, "mine")
        await person.press("Keep", person.card(-1))
        await person.until(lambda: person.path[-1].calls[0].id == "mine", "the other id")
        card = person.card(-1).calls[0]
        assert card.isVisible()
        assert card.call.received is not None, "what the model sent is kept"
        field = card.field
        assert field is not None
        await person.until(lambda: field.text == "sunny", "what was typed for it: it stays with it")
        await person.press("Send result", card)
        await person.until(lambda: len(person.path) == 3, "the result")
        assert person.path[2].results[0].call_id == "mine"
        await person.choose(person.card(1).calls[0].more, "Delete this call")
        await person.until(lambda: len(person.path) == 2, "the call gone with its result")
        assert [call.id for call in person.path[1].calls] == [second]
        await person.press("Undo", person.pane.notice)
        assert [call.id for call in person.path[1].calls] == ["mine", second]
        assert len(person.path) == 3

    stage.play(scene)


def test_what_is_written_waits_in_its_experiment(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        first = person.session
        await role(person, "Assistant")
        await person.press("Add a tool call", person.pane.composer)
        await person.keys("get_w")
        await person.do(person.app.window.action("experiment.new").trigger)
        assert not person.find(CallForm)
        assert person.find(QAbstractButton, "Add a tool call") == []
        await person.do(partial(person.app.workspace.open, first.id))
        form = await person.seen(CallForm, inside=person.pane.composer)
        assert form.call.name == "get_w"
        assert first.draft.calls[0].name == "get_w"
        await person.press("Run", person.pane.composer)
        await person.press("Add the turn", person.pane.notice)
        await person.until(lambda: len(person.path) == 1, "the turn")
        assert person.path[0].calls[0].name == "get_w"
        assert first.draft.empty

    stage.play(scene)


def test_an_unfinished_call_is_pointed_out_and_kept(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await role(person, "Assistant")
        await person.press("Add a tool call", person.pane.composer)
        form = await person.seen(CallForm, inside=person.pane.composer)
        await person.type_into(form.arguments, OSLO)
        for button in (person.pane.composer._add, person.pane.composer._run):
            await person.click(button)
            assert "needs the name of the tool" in person.pane.notice.words
        assert not person.path
        assert form.call.arguments == OSLO
        await role(person, "User")
        await person.until(lambda: not form.isVisible(), "the call out of the way")
        await person.run("Hello")
        await person.idle(turns=2)
        await role(person, "Assistant")
        await person.until(form.isVisible, "the call that was being written")
        await person.press("Remove the call", form)
        await person.until(lambda: not person.find(CallForm), "no call")

    stage.play(scene)


def test_a_role_without_calls_takes_them_out_and_back(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person, model="demo-tools")
        await person.run("!calls=1 The weather in Oslo")
        await person.idle(turns=2)
        await person.choose(person.card(1)._header._role, "User")
        await person.until(lambda: not person.path[1].calls, "no calls in a user's turn")
        await person.do(person.pane.undo)
        assert len(person.path[1].calls) == 1

    stage.play(scene)


def test_the_fields_can_be_reached_by_tab_alone(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await role(person, "Assistant")
        await person.press("Add a tool call", person.pane.composer)
        form = await person.seen(CallForm, inside=person.pane.composer)
        await person.keys("get_weather")
        await person.until(lambda: form.call.name == "get_weather", "the name")
        await person.key(Qt.Key.Key_Escape)  # the suggestion
        reached: list[str] = []
        for _ in range(4):
            await person.key(Qt.Key.Key_Tab)
            focus = person.app.window.focusWidget()
            reached.append(focus.accessibleName())
        assert reached[0] == "Id of the call"
        assert "Arguments of the call" in reached

    stage.play(scene)
