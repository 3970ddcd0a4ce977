"""Tool calls in the real window: paused, edited, answered, stepped, repeated, stopped; and what went over the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest
from PySide6.QtCore import Qt

from playground.domain.debugging import FAULTS, Answer, AnswerRow, Policy, ReasonCode, ToolRule
from playground.engine.session.debugger import FILLING
from playground.engine.session.run_state import RunState
from tests.engine.debugging import WEATHER
from tests.flows.conftest import Person, Stage
from tests.flows.pages.conversation import CallCard, focus_in, wait_for_dialog

CALLS = "!calls=3 The weather in Lisbon, Oslo and Rome"
THREE = "!calls=3 !broken=2 The weather in Lisbon, Oslo and Rome"
BOTH = pytest.mark.parametrize(("protocol", "model"), [("chat", "demo-tools"), ("messages", "demo-messages")])


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


async def calls_of(person: Person, at: int = -1) -> list[Any]:
    """The product's own cards, for flows that do not use the page objects yet."""
    await person.conversation.wait_for_calls(at)
    cards: list[Any] = person.card(at).calls
    return cards


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


def results_sent(body: dict[str, Any], protocol: str) -> list[str]:
    """The ids of the calls that a request answers, in order."""
    ids: list[str] = []
    for message in body["messages"]:
        if protocol == "chat" and message["role"] == "tool":
            ids.append(message["tool_call_id"])
        elif protocol == "messages" and isinstance(message["content"], list):
            ids += [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
    return ids


@BOTH
def test_broken_call_edited_is_sent_as_edited(stage: Stage, protocol: str, model: str) -> None:
    async def scene(person: Person) -> None:
        await ready(person, protocol, model)
        await person.run(THREE)
        cards = await person.conversation.wait_for_calls()
        assert len(cards) == 3
        assert all(card.waiting for card in cards)
        broken = cards[1]
        sent = person.path[-1].calls[1].arguments
        editor = await broken.edit_arguments()
        assert broken.arguments_check != "matches schema"
        await person.type_into(editor, '{"city": "Oslo", "unit": "celsius"}')
        await broken.wait_until(lambda: broken.arguments_check == "matches schema", "the verdict while typing")
        await broken.press("Keep")
        await person.until(lambda: person.path[-1].calls[1].received == sent, "the arguments as sent, saved")
        await person.until(focus_in(await broken.wait_for_result_field()), "the cursor in the next field")
        await broken.press("changes")
        ids = [call.id for call in person.path[-1].calls]
        for card in person.conversation.message(-1).calls:
            await card.send_result(f"result for {card.call_id}")
        await person.idle(6)
        body = person.body()
        assert {"city": "Oslo", "unit": "celsius"} in calls_sent(body, protocol)
        assert json.loads(sent) not in calls_sent(body, protocol)
        assert results_sent(body, protocol) == ids, "one result for each call, in their order"
        assert "received" not in json.dumps(body)

    stage.play(scene)


def test_step_answers_one_call_and_continue_the_rest(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        cards = await pause(person, CALLS)
        for card in cards:
            await card.type_result("sunny")
        await cards[1].press("Step")
        await person.until(lambda: not cards[1].waiting, "the second call to be answered")
        assert person.session.state is RunState.IDLE
        assert len(person.session.debugger.waiting) == 2
        await person.conversation.call_bar.press("Continue")
        await person.idle(6)
        assert [turn.results[0].text for turn in person.path[2:5]] == ["sunny"] * 3

    stage.play(scene)


def test_bar_counts_requests_of_the_loop_and_since_the_last_stop(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run("!chain The weather in Lisbon, Oslo and Rome")
        bar = person.conversation.call_bar
        for number, words in enumerate(("Request 1 of 20.", "Request 2 (1 of 20 since you went on).")):
            await bar.wait_for_text(words)
            assert len(person.session.debugger.waiting) == 1
            call = (await person.conversation.wait_for_calls())[-1]
            await call.send_result(f"sunny {number}")
            await person.idle()
        await bar.wait_for_text("Request 3 (1 of 20 since you went on).")

    stage.play(scene)


def test_one_result_is_sent_to_all_calls(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        cards = await pause(person, CALLS)
        await cards[0].type_result("no idea")
        await cards[0].choose("Send the same to all, as errors")
        await person.idle(6)
        results = [turn.results[0] for turn in person.path[2:5]]
        assert [(result.text, result.is_error) for result in results] == [("no idea", True)] * 3

    stage.play(scene)


def test_run_without_results_is_refused_and_filled_with_errors(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await pause(person, CALLS)
        before = len(person.server.requests)
        await person.run("And then?")
        notice = person.conversation.notice
        await notice.wait_for_text("needs a result")
        assert len(person.server.requests) == before
        await notice.press("Fill with errors")
        await person.until(lambda: not person.session.debugger.waiting, "no call that waits")
        assert person.conversation.composer.text == "And then?"

    stage.play(scene)


def test_step_limit_pauses_and_continue_counts_from_zero(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        rule(person, policy=Policy.TABLE, rows=(AnswerRow(answer=Answer(text="again")),))
        debugger = person.session.debugger
        person.session.change(debugging=debugger.debugging.model_copy(update={"step_limit": 3}))
        await person.run("!loop !chain The weather in Lisbon, Oslo, Rome, Paris, Madrid, Bonn and Bern")
        await wait_for_pause(person)
        assert loop_reason(person) is ReasonCode.LIMIT
        sent = len(person.server.requests)
        bar = person.conversation.call_bar
        await person.until(lambda: "limit" in bar.text.lower(), "the limit in the bar")
        await bar.press("Continue")
        await person.until(lambda: len(person.server.requests) > sent, "another request")
        await person.idle()

    stage.play(scene)


def test_repeated_call_shows_a_warning(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        rule(person, policy=Policy.TABLE, rows=(AnswerRow(answer=Answer(text="again")),))
        await person.run("!loop !calls=1 The weather in Lisbon")
        await wait_for_pause(person)
        assert loop_reason(person) is ReasonCode.LOOP
        (card,) = await person.conversation.wait_for_calls()
        assert "same call again" in card.texts

    stage.play(scene)


def test_stop_ends_a_delayed_answer_and_loses_nothing(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        rule(person, policy=Policy.TABLE, rows=(AnswerRow(answer=Answer(text="late", never=True)),))
        await person.run("!calls=1 The weather in Lisbon")
        await person.until(lambda: person.session.state is RunState.ANSWERING, "a delayed answer")
        await person.conversation.call_bar.press("Stop")
        await person.idle(2)
        (card,) = await person.conversation.wait_for_calls()
        assert card.waiting
        await card.send_result("by hand")
        await person.idle(4)

    stage.play(scene)


def test_quit_while_paused_or_answering_leaves_nothing_behind(stage: Stage) -> None:
    async def paused(person: Person) -> None:
        cards = await pause(person, THREE)
        await cards[0].type_result("half a res")

    async def answering(person: Person) -> None:
        await ready(person)
        rule(person, policy=Policy.FIXED, fixed=Answer(text="late", delay=60))
        await person.run("!calls=1 The weather in Lisbon")
        await person.until(lambda: person.session.state is RunState.ANSWERING, "a delayed answer")

    for scene in (paused, answering):
        stage.play(scene)
        assert stage.exit_code == 0


def test_arguments_grow_as_a_tree_while_they_are_received(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run("!tps=12 !calls=1 !broken The weather in Lisbon")

        def growing() -> bool:
            cards = [call for card in person.conversation.messages.messages for call in card.calls]
            return bool(person.session.growing) and any("city" in card.argument_tree for card in cards)

        await person.until(growing, "a tree that grows")
        await person.idle()

    stage.play(scene)


def test_menu_of_a_call_opens_its_rules_and_several_answers(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        (card,) = await pause(person, "!calls=1 The weather in Lisbon")
        await card.choose("Compare several answers…")
        await close_dialog(person, "Compare several answers to get_weather")
        await card.choose("Rules for this tool…")
        await close_dialog(person, "Rules for tool calls")

    stage.play(scene)


def test_answer_is_remembered_for_equal_arguments(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        (card,) = await pause(person, "!calls=1 The weather in Lisbon")
        await card.type_result("21 degrees")
        await card.choose("Remember this answer")
        (row,) = person.session.debugger.debugging.rule("get_weather").rows
        assert row.answer.text == "21 degrees"
        assert json.loads(row.pattern) == json.loads(person.path[-1].calls[0].arguments)

    stage.play(scene)


def test_prepared_result_is_shown_first_and_sent_by_key(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        first, second = await pause(person, "!calls=2 The weather in Lisbon and Oslo")
        debugger = person.session.debugger
        names = [name for name, _ in FAULTS]
        choices = first.result_choices[-len(FAULTS) :]
        assert all(choice.startswith(name) for choice, name in zip(choices, names, strict=True))
        await first.choose_result("1 MB")
        assert len(debugger.waiting) == 2, "nothing is sent by choosing"
        await person.until(lambda: "a result of 1,000,000 characters" in first.prepared_result, "its description")
        await person.until(focus_in(first.result_field), "the cursor in the field")
        await person.keys("x")
        await person.until(lambda: not first.prepared_result, "typed text instead of the prepared result")
        assert first.result_text == "x"
        await first.choose_result("Error text")
        assert first.result_text == "Error: the service did not answer."
        await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await person.until(lambda: len(debugger.waiting) == 1, "the first to be answered")
        result = person.path[2].results[0]
        assert (result.text, result.is_error) == ("Error: the service did not answer.", True)
        second = person.conversation.message(1).calls[1]
        await second.choose_result("Never")
        await second.send_result()
        await person.until(lambda: person.session.state is RunState.ANSWERING, "an answer that never comes")
        await person.key(Qt.Key.Key_Escape)
        await person.until(lambda: person.session.state is RunState.IDLE, "the end of waiting")
        assert len(debugger.waiting) == 1

    stage.play(scene)


def test_escape_stops_a_paused_loop_and_outdated_notice_disappears(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        first, _ = await pause(person, "!calls=2 The weather in Lisbon and Oslo")
        bar, notice = person.conversation.call_bar, person.conversation.notice
        await person.run("And now?")
        await notice.wait_for_text("Every tool call needs a result")
        await first.type_result("sunny")
        await person.key(Qt.Key.Key_Escape)
        await person.until(lambda: bar.text.startswith("Stopped at 2 calls"), "the stop in the bar")
        assert not person.app.window.action("run.stop").isEnabled()
        await first.send_result()
        await notice.wait_until_hidden()
        await bar.press("Fill with errors")
        await notice.wait_for_text("Run (Ctrl+Enter) goes on")
        assert [turn.results[0].text for turn in person.path[2:4]] == ["sunny", FILLING]

    stage.play(scene)


async def close_dialog(person: Person, title: str) -> None:
    """Wait until a dialog with this title is open, and close it."""
    dialog = await wait_for_dialog(person, title)
    await person.do(dialog.widget.close)
