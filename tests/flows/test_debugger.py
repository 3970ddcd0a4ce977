"""Tool calls: paused, edited, answered, stepped, repeated and stopped, with the requests that are sent."""

from __future__ import annotations

import json
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea

from playground.domain.debugging import FAULTS, Answer, AnswerRow, Policy, ReasonCode, ToolRule
from playground.engine.session.changes import RunState
from playground.engine.session.debugger import FILLING
from tests.engine.debugging import WEATHER
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.conversation import CallCard, focus_in, wait_for_dialog

CALLS = "!calls=3 The weather in Lisbon, Oslo and Rome"
THREE = "!calls=3 !broken=2 The weather in Lisbon, Oslo and Rome"
BY_TABLE = {"policy": Policy.TABLE, "rows": (AnswerRow(answer=Answer(text="again")),)}


async def ready(person: Person, protocol: str = "chat", model: str = "demo-tools") -> None:
    """The weather tool on offer, on that protocol."""
    person.session.change(protocol=protocol)
    person.session.change(tools=(WEATHER,))
    await person.use_model(model)


async def pause(person: Person, message: str) -> list[CallCard]:
    """Send a message and return the cards of the tool calls that wait then."""
    await ready(person)
    await person.run(message)
    return await person.conversation.wait_for_calls()


def loop_reason(person: Person) -> ReasonCode | None:
    """The reason why the first waiting call was not answered by its rule."""
    (turn_id, call), *_ = person.session.debugger.waiting
    reason = person.session.debugger.reason(turn_id, call.id)
    return reason.code if reason is not None else None


async def wait_for_pause(person: Person) -> None:
    session = person.session
    await person.until(lambda: session.state is RunState.IDLE and session.debugger.paused, "a pause")


def rule(person: Person, **fields: Any) -> None:
    debugger = person.session.debugger
    person.session.change(debugging=debugger.debugging.with_rule("get_weather", ToolRule(**fields)))


def calls_sent(body: dict[str, Any], protocol: str) -> list[Any]:
    """The arguments of all calls in a request, as values."""
    arguments: list[Any] = []
    for message in body["messages"]:
        if protocol == "chat":
            arguments += [json.loads(call["function"]["arguments"]) for call in message.get("tool_calls", [])]
        elif isinstance(message["content"], list):
            arguments += [block["input"] for block in message["content"] if block["type"] == "tool_use"]
    return arguments


async def begin_experiment(person: Person) -> None:
    """Begin another experiment that offers the weather tool."""
    before = person.session
    await person.trigger("experiment.new")
    await person.until(lambda: person.session is not before, "another experiment")
    await ready(person)


@flow()
async def test_broken_call_edited_is_sent_as_edited(person: Person) -> None:
    await ready(person, "messages", "demo-messages")
    await person.run(THREE)
    cards = await person.conversation.wait_for_calls()
    assert len(cards) == 3
    assert all(card.waiting for card in cards)
    broken = cards[1]
    sent = person.path[-1].calls[1].arguments
    editor = await broken.edit_arguments()
    assert broken.arguments_check != "Valid"
    await person.type_into(editor, '{"city": "Oslo", "unit": "celsius"}')
    await broken.wait_until(lambda: broken.arguments_check == "Valid", "the verdict while typing")
    await broken.press("Save")
    await person.until(lambda: person.path[-1].calls[1].received == sent, "the arguments as sent, saved")
    await person.until(focus_in(await broken.wait_for_result_field()), "the cursor in the next field")
    await broken.press("Show what was edited")
    ids = [call.id for call in person.path[-1].calls]
    for card in person.conversation.message(-1).calls:
        await card.send_result(f"result for {card.call_id}")
    await person.idle(6)
    body = person.body()
    assert {"city": "Oslo", "unit": "celsius"} in calls_sent(body, "messages")
    assert json.loads(sent) not in calls_sent(body, "messages")
    blocks = [block for message in body["messages"] for block in message["content"] if isinstance(block, dict)]
    assert [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"] == ids
    assert "received" not in json.dumps(body)


@flow()
async def test_paused_calls_are_refused_answered_stepped_and_filled(person: Person) -> None:
    bar, notice = person.conversation.call_bar, person.conversation.notice
    debugger = person.session.debugger

    # Nothing can be run while calls need results; Escape stops
    composer = person.conversation.composer
    cards = await pause(person, CALLS)
    requests = len(person.server.requests)
    await bar.wait_for_text("3 tool calls need results")
    assert not composer.main_button.isEnabled()
    assert composer.main_button.accessibleDescription() == "3 tool calls need results"
    await person.run("And now?")
    await person.until(focus_in(cards[0].result_field), "the cursor where a result is missing")
    assert len(person.server.requests) == requests
    assert not notice.visible
    await cards[0].type_result("sunny")
    await bar.wait_for_text("2 tool calls need results")
    await person.key(Qt.Key.Key_Escape)
    await bar.wait_for_text("Stopped; no result sent")
    assert not person.app.window.action("run.stop").isEnabled()
    await cards[0].send_result()
    await bar.choose("Fail remaining calls")
    await notice.wait_for_text("Run (Ctrl+Enter) continues")
    assert [turn.results[0].text for turn in person.path[2:5]] == ["sunny", FILLING, FILLING]
    assert person.conversation.composer.text == "And now?"

    # One call is answered by a step, the others with Continue
    await begin_experiment(person)
    debugger = person.session.debugger
    await person.run(CALLS)
    cards = await person.conversation.wait_for_calls()
    for card in cards:
        await card.type_result("sunny")
    await cards[1].choose("Step: answer this call, then stop")
    await person.until(lambda: not cards[1].waiting, "the second call to be answered")
    assert person.session.state is RunState.IDLE
    assert len(debugger.waiting) == 2
    await bar.wait_for_text("2 results are ready")
    await composer.press("Continue")
    await person.idle(6)
    assert [turn.results[0].text for turn in person.path[2:5]] == ["sunny"] * 3

    # One result is sent to all, as errors
    await person.run(CALLS)
    cards = await person.conversation.wait_for_calls()
    await cards[0].type_result("no idea")
    await cards[0].choose("Send the same to all, as errors")
    await person.idle(12)
    results = [turn.results[0] for turn in person.path[8:11]]
    assert [(result.text, result.is_error) for result in results] == [("no idea", True)] * 3


def test_loop_pauses_at_its_limit_at_a_repeated_call_and_when_stopped(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        bar = person.conversation.call_bar

        # The bar counts requests since the last stop
        await ready(person)
        await person.run("!chain The weather in Lisbon, Oslo and Rome")
        for number, words in enumerate(("request 1 of 20", "request 2 (1 of 20)")):
            await bar.wait_for_text(words)
            assert len(person.session.debugger.waiting) == 1
            call = (await person.conversation.wait_for_calls())[-1]
            await call.send_result(f"sunny {number}")
            await person.idle()
        await bar.wait_for_text("request 3 (1 of 20)")

        # A step limit
        await begin_experiment(person)
        rule(person, **BY_TABLE)
        debugger = person.session.debugger
        person.session.change(debugging=debugger.debugging.model_copy(update={"step_limit": 3}))
        await person.run("!loop !chain The weather in Lisbon, Oslo, Rome, Paris, Madrid, Bonn and Bern")
        await wait_for_pause(person)
        assert loop_reason(person) is ReasonCode.LIMIT
        sent = len(person.server.requests)
        await person.until(lambda: "limit" in bar.text.lower(), "the limit in the bar")
        await person.conversation.composer.press("Continue")
        await person.until(lambda: len(person.server.requests) > sent, "another request")
        await person.idle()

        # The same call again
        await begin_experiment(person)
        rule(person, **BY_TABLE)
        await person.run("!loop !calls=1 The weather in Lisbon")
        await wait_for_pause(person)
        assert loop_reason(person) is ReasonCode.LOOP
        (card,) = await person.conversation.wait_for_calls()
        await person.until(lambda: "same call again" in card.texts, "the warning")

        # A delayed answer, stopped
        await begin_experiment(person)
        rule(person, policy=Policy.TABLE, rows=(AnswerRow(answer=Answer(text="late", never=True)),))
        await person.run("!calls=1 The weather in Lisbon")
        await person.until(lambda: person.session.state is RunState.ANSWERING, "a delayed answer")
        await bar.press("Stop")
        await person.idle(2)
        (card,) = await person.conversation.wait_for_calls()
        assert card.waiting
        await card.send_result("by hand")
        await person.idle(4)

        # The application quits during a delayed answer
        rule(person, policy=Policy.FIXED, fixed=Answer(text="late", delay=60))
        await person.run("!calls=1 The weather in Lisbon")
        await person.until(lambda: person.session.state is RunState.ANSWERING, "a delayed answer")

    stage.play(scene)
    assert stage.exit_code == 0


@flow()
async def test_next_call_is_in_view_when_a_result_is_sent_by_key(person: Person) -> None:
    await person.do(lambda: person.app.window.resize(960, 600))
    first, second, _third = await pause(person, CALLS)
    area = person.conversation.messages.widget
    assert isinstance(area, QAbstractScrollArea)
    await person.do(lambda: area.verticalScrollBar().setValue(0))
    await person.type_into(first.result_field, "5 degrees")
    await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await person.until(focus_in(second.result_field), "the cursor in the next result")
    field = second.result_field
    await person.until(lambda: field.visibleRegion().boundingRect() == field.rect(), "the field in view")


@flow()
async def test_bar_of_paused_calls_is_above_the_composer_after_another_page(person: Person) -> None:
    await pause(person, CALLS)
    bar, composer = person.conversation.call_bar.widget, person.conversation.composer.widget
    for page in ("evaluate.open", "compare.open"):
        await person.trigger(page)
        await person.until(lambda: not bar.isVisible() or page == "compare.open", "the page")  # noqa: B023
        await person.press("Conversation")
        await person.until(lambda: bar.isVisible() and composer.isVisible(), "the conversation")
        assert bar.geometry().bottom() < composer.geometry().top()


@flow()
async def test_result_is_prepared_remembered_and_sent_by_key(person: Person) -> None:
    first, second = await pause(person, "!calls=2 The weather in Lisbon and Oslo")
    debugger = person.session.debugger
    await first.choose("Compare several results…")
    await close_dialog(person, "Compare answers to get_weather")
    await first.choose("Tool results…")
    await close_dialog(person, "Tool results")
    await first.type_result("21 degrees")
    await first.choose("Save as mock row")
    await person.until(lambda: debugger.debugging.rule("get_weather").rows, "the rule")
    (row,) = debugger.debugging.rule("get_weather").rows
    assert row.answer.text == "21 degrees"
    assert json.loads(row.pattern) == json.loads(person.path[-1].calls[0].arguments)

    names = [name for name, _ in FAULTS]
    choices = first.result_choices[-len(FAULTS) :]
    assert all(choice.startswith(name) for choice, name in zip(choices, names, strict=True))
    await first.choose_result("1 MB")
    assert len(debugger.waiting) == 2, "nothing is sent by choosing"
    await person.until(lambda: "A result of 1,000,000 characters" in first.prepared_result, "its description")
    await person.until(focus_in(first.result_field), "the cursor in the field")
    await person.keys("x")
    await person.until(lambda: not first.prepared_result, "typed text instead of the prepared result")
    assert first.result_text == "x"
    await first.choose_result("Error text")
    await person.until(lambda: first.result_text == "Error: the service did not answer.", "the error text")
    await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await person.until(lambda: len(debugger.waiting) == 1, "the first to be answered")
    result = person.path[2].results[0]
    assert (result.text, result.is_error) == ("Error: the service did not answer.", True)
    _, second = await person.conversation.wait_for_calls(1)
    await second.choose_result("No reply (time out)")
    await second.send_result()
    await person.until(lambda: person.session.state is RunState.ANSWERING, "an answer that never comes")
    await person.key(Qt.Key.Key_Escape)
    await person.until(lambda: person.session.state is RunState.IDLE, "the end of waiting")
    assert len(debugger.waiting) == 1


def test_arguments_grow_as_a_tree_while_they_are_received(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run("!tps=12 !calls=1 !broken The weather in Lisbon")

        def growing() -> bool:
            cards = [call for card in person.conversation.messages.messages for call in card.calls]
            return bool(person.session.growing) and any("city" in card.argument_tree for card in cards)

        await person.until(growing, "a tree that grows")
        (card,) = await person.conversation.wait_for_calls()
        await card.type_result("half a res")  # and quit while it is paused

    stage.play(scene)
    assert stage.exit_code == 0


async def close_dialog(person: Person, title: str) -> None:
    """Wait until a dialog with this title is open, and close it."""
    dialog = await wait_for_dialog(person, title)
    await person.do(dialog.widget.close)
    await person.until(lambda: not dialog.visible, "the dialog to close")
