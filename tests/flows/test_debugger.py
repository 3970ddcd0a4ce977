"""Tool calls in the real window: paused, edited, answered, stepped, repeated, stopped; and what went over the wire."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPlainTextEdit

from playground.domain.debugging import FAULTS, Answer, AnswerRow, Policy, ReasonCode, ToolRule
from playground.engine.session.debugger import FILLING
from playground.engine.session.run_state import RunState
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.debugger.answers_dialog import AnswersDialog
from playground.ui.features.debugger.rules_dialog import RulesDialog
from playground.ui.widgets.mark_label import Chip
from tests.engine.debugging import WEATHER
from tests.flows.conftest import Person, Stage

THREE = "!calls=3 !broken=2 The weather in Lisbon, Oslo and Rome"
BOTH = pytest.mark.parametrize(("protocol", "model"), [("chat", "demo-tools"), ("messages", "demo-messages")])


async def ready(person: Person, protocol: str = "chat", model: str = "demo-tools") -> None:
    """The weather tool on offer, on that protocol."""
    person.session.change(protocol=protocol)
    person.session.change(tools=(WEATHER,))
    await person.use_model(model)


async def calls_of(person: Person, at: int = -1) -> list[CallCard]:
    """The cards of the calls of a turn, once they wait."""

    def wait() -> bool:
        return person.session.active_run is None and len(person.path) > 1 and bool(person.card(at).calls)

    await person.until(wait, "the cards of the calls")
    return person.card(at).calls


def rule(person: Person, **fields: Any) -> None:
    debugger = person.session.debugger
    person.session.change(debugging=debugger.debugging.with_rule("get_weather", ToolRule(**fields)))


def calls_sent(body: dict[str, Any], protocol: str) -> list[Any]:
    """The arguments of all calls in a request, as values."""
    found: list[Any] = []
    for message in body["messages"]:
        if protocol == "chat":
            found += [json.loads(call["function"]["arguments"]) for call in message.get("tool_calls", [])]
        elif isinstance(message["content"], list):
            found += [block["input"] for block in message["content"] if block["type"] == "tool_use"]
    return found


def results_sent(body: dict[str, Any], protocol: str) -> list[str]:
    """The ids of the calls that a request answers, in order."""
    found: list[str] = []
    for message in body["messages"]:
        if protocol == "chat" and message["role"] == "tool":
            found.append(message["tool_call_id"])
        elif protocol == "messages" and isinstance(message["content"], list):
            found += [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
    return found


@BOTH
def test_a_broken_call_is_edited_and_the_next_request_holds_exactly_that(
    stage: Stage, protocol: str, model: str
) -> None:
    async def scene(person: Person) -> None:
        await ready(person, protocol, model)
        await person.run(THREE)
        cards = await calls_of(person)
        assert len(cards) == 3
        assert all(card.waiting for card in cards)
        broken = cards[1]
        sent = broken.call.arguments
        await person.press("Edit the arguments", broken)
        editor = await person.seen(QPlainTextEdit, "Arguments of the call", broken)
        verdict = next(chip for chip in broken.findChildren(Chip) if chip.mark == "error")
        await person.type_into(editor, '{"city": "Oslo", "unit": "celsius"}')
        await person.until(lambda: verdict.text() == "matches schema", "the verdict, while it is typed")
        await person.press("Keep", broken)
        await person.until(lambda: broken.call.received == sent, "what the model sent, kept")
        result = await person.seen(QPlainTextEdit, "Result of the call", broken)
        await person.until(lambda: QApplication.focusWidget() is result, "the cursor where one types next")
        await person.press("changes", broken)
        for card in person.card(-1).calls:
            field = await person.seen(QPlainTextEdit, "Result of the call", card)
            await person.type_into(field, f"result for {card.call.id}")
            await person.press("Send result", card)
        await person.idle(6)
        body = person.body()
        assert {"city": "Oslo", "unit": "celsius"} in calls_sent(body, protocol)
        assert json.loads(sent) not in calls_sent(body, protocol)
        ids = [card.call.id for card in cards]
        assert results_sent(body, protocol) == ids, "one result for each call, in their order"
        assert "received" not in json.dumps(body)

    stage.play(scene)


def test_step_answers_one_call_and_continue_the_rest(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run("!calls=3 The weather in Lisbon, Oslo and Rome")
        cards = await calls_of(person)
        for card in cards:
            await person.type_into(await person.seen(QPlainTextEdit, "Result of the call", card), "sunny")
        await person.press("Step", cards[1])
        await person.until(lambda: not cards[1].waiting, "the second call to be answered")
        assert person.session.state is RunState.IDLE
        assert len(person.session.debugger.waiting) == 2
        await person.press("Continue", person.pane.calls.bar)
        await person.idle(6)
        assert [turn.results[0].text for turn in person.path[2:5]] == ["sunny"] * 3

    stage.play(scene)


def test_the_bar_counts_the_requests_of_the_loop_and_those_since_a_person_went_on(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run("!chain The weather in Lisbon, Oslo and Rome")
        bar = person.pane.calls.bar

        def said(words: str) -> bool:
            return bar.isVisible() and words in bar.words

        for number, words in enumerate(("Request 1 of 20.", "Request 2 (1 of 20 since you went on).")):
            await person.until(partial(said, words), words)
            assert len(person.session.debugger.waiting) == 1
            call = (await calls_of(person))[-1]
            await person.type_into(await person.seen(QPlainTextEdit, "Result of the call", call), f"sunny {number}")
            await person.press("Send result", call)
            await person.idle()
        await person.until(lambda: "Request 3 (1 of 20 since you went on)." in bar.words, "the third request")

    stage.play(scene)


def test_the_same_is_sent_to_all(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run("!calls=3 The weather in Lisbon, Oslo and Rome")
        cards = await calls_of(person)
        await person.type_into(await person.seen(QPlainTextEdit, "Result of the call", cards[0]), "no idea")
        await person.choose(cards[0].more, "Send the same to all, as errors")
        await person.idle(6)
        results = [turn.results[0] for turn in person.path[2:5]]
        assert [(result.text, result.is_error) for result in results] == [("no idea", True)] * 3

    stage.play(scene)


def test_a_run_without_answers_is_refused_and_filled_with_one_click(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run("!calls=3 The weather in Lisbon, Oslo and Rome")
        await calls_of(person)
        before = len(person.server.requests)
        await person.type_into(person.message, "And then?")
        await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await person.until(lambda: "needs a result" in person.pane.notice.words, "a refusal in words")
        assert len(person.server.requests) == before
        await person.press("Fill with errors", person.pane.notice)
        await person.until(lambda: not person.session.debugger.waiting, "no call that waits")
        assert person.message.toPlainText() == "And then?", "what was written stays"

    stage.play(scene)


def test_the_step_limit_pauses_and_continue_begins_anew(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        rule(person, policy=Policy.TABLE, rows=(AnswerRow(answer=Answer(text="again")),))
        debugger = person.session.debugger
        person.session.change(debugging=debugger.debugging.model_copy(update={"step_limit": 3}))
        await person.run("!loop !chain The weather in Lisbon, Oslo, Rome, Paris, Madrid, Bonn and Bern")
        await person.until(lambda: person.session.state is RunState.IDLE and debugger.paused, "a pause")
        (turn_id, call), *_ = debugger.waiting
        reason = debugger.reason(turn_id, call.id)
        assert reason is not None
        assert reason.code is ReasonCode.LIMIT
        sent = len(person.server.requests)
        await person.until(lambda: "limit" in person.pane.calls.bar.words.lower(), "the limit in the bar")
        await person.press("Continue", person.pane.calls.bar)
        await person.until(lambda: len(person.server.requests) > sent, "another request")
        await person.idle()

    stage.play(scene)


def test_the_same_call_again_is_warned_of(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        rule(person, policy=Policy.TABLE, rows=(AnswerRow(answer=Answer(text="again")),))
        await person.run("!loop !calls=1 The weather in Lisbon")
        debugger = person.session.debugger
        await person.until(lambda: person.session.state is RunState.IDLE and debugger.paused, "a pause")
        (turn_id, call), *_ = debugger.waiting
        reason = debugger.reason(turn_id, call.id)
        assert reason is not None
        assert reason.code is ReasonCode.LOOP
        (card,) = await calls_of(person)
        assert any("same call again" in label.text() for label in person.find(type(card._repeated), "", card))

    stage.play(scene)


def test_stop_ends_a_delayed_answer_and_nothing_is_lost(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        rule(person, policy=Policy.TABLE, rows=(AnswerRow(answer=Answer(text="late", never=True)),))
        await person.run("!calls=1 The weather in Lisbon")
        await person.until(lambda: person.session.state is RunState.ANSWERING, "an answer that is waited for")
        await person.press("Stop", person.pane.calls.bar)
        await person.idle(2)
        (card,) = await calls_of(person)
        assert card.waiting
        await person.type_into(await person.seen(QPlainTextEdit, "Result of the call", card), "by hand")
        await person.press("Send result", card)
        await person.idle(4)

    stage.play(scene)


def test_quitting_while_paused_and_while_answering_leaves_nothing_behind(stage: Stage) -> None:
    async def paused(person: Person) -> None:
        await ready(person)
        await person.run(THREE)
        cards = await calls_of(person)
        await person.type_into(await person.seen(QPlainTextEdit, "Result of the call", cards[0]), "half a res")

    async def answering(person: Person) -> None:
        await ready(person)
        rule(person, policy=Policy.FIXED, fixed=Answer(text="late", delay=60))
        await person.run("!calls=1 The weather in Lisbon")
        await person.until(lambda: person.session.state is RunState.ANSWERING, "an answer that is waited for")

    stage.play(paused)
    assert stage.exit_code == 0
    stage.play(answering)
    assert stage.exit_code == 0


def test_arguments_grow_as_a_tree_with_the_text_beside_it(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run("!tps=12 !calls=1 !broken The weather in Lisbon")
        seen: list[str] = []

        def forming() -> bool:
            cards = person.card(-1).calls if len(person.path) > 1 else []
            tree = cards[0].tree if cards else None
            if tree is not None and person.session.growing:
                seen.append(tree.text)
            return any("city" in text for text in seen)

        await person.until(forming, "a tree that grows")
        await person.idle()

    stage.play(scene)


def test_the_menu_of_a_call_leads_to_its_rules_and_to_several_answers(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run("!calls=1 The weather in Lisbon")
        (card,) = await calls_of(person)
        await person.choose(card.more, "Compare several answers…")
        await person.until(lambda: person.app.window.findChildren(AnswersDialog), "the dialog for answers")
        (dialog,) = person.app.window.findChildren(AnswersDialog)
        assert dialog.isVisible()
        dialog.reject()
        await person.choose(card.more, "Rules for this tool…")
        await person.until(lambda: person.app.window.findChildren(RulesDialog), "the rules")
        (rules,) = person.app.window.findChildren(RulesDialog)
        assert rules.isVisible()
        rules.close()

    stage.play(scene)


def test_an_answer_is_remembered_for_the_same_arguments(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run("!calls=1 The weather in Lisbon")
        (card,) = await calls_of(person)
        await person.type_into(await person.seen(QPlainTextEdit, "Result of the call", card), "21 degrees")
        await person.choose(card.more, "Remember this answer")
        (row,) = person.session.debugger.debugging.rule("get_weather").rows
        assert row.answer.text == "21 degrees"
        assert json.loads(row.pattern) == json.loads(card.call.arguments)

    stage.play(scene)


def test_a_prepared_answer_is_looked_at_first_and_sent_with_a_key_of_its_own(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run("!calls=2 The weather in Lisbon and Oslo")
        first, second = await calls_of(person)
        assert first.field is not None
        assert second.field is not None
        names = [name for name, _ in person.pane.calls.choices("get_weather")]
        assert [name.split(" result")[0].rstrip(":") for name in names][-len(FAULTS) :] == [name for name, _ in FAULTS]
        await person.choose(first.field.choose, next(a for a in _entries(first) if a.startswith("1 MB")))
        assert person.session.debugger.waiting, "nothing is sent by choosing"
        said = first.field._says
        await person.until(lambda: said.isVisible() and "a result of 1,000,000 characters" in said.text(), "what it is")
        field = first.field.field
        await person.until(lambda: QApplication.focusWidget() is field, "the cursor in the field")
        await person.keys("x")
        await person.until(lambda: not said.isVisible(), "typing to take its place")
        assert first.field.text == "x"
        await person.choose(first.field.choose, next(a for a in _entries(first) if a.startswith("Error text")))
        assert first.field.text == "Error: the service did not answer."
        await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await person.until(lambda: len(person.session.debugger.waiting) == 1, "the first to be answered")
        result = person.path[2].results[0]
        assert (result.text, result.is_error) == ("Error: the service did not answer.", True)
        second = person.card(1).calls[1]
        assert second.field is not None
        await person.choose(second.field.choose, next(a for a in _entries(second) if a.startswith("Never")))
        await person.press("Send result", second)
        await person.until(lambda: person.session.state is RunState.ANSWERING, "it to be waited for")
        await person.key(Qt.Key.Key_Escape)
        await person.until(lambda: person.session.state is RunState.IDLE, "the end of waiting")
        assert len(person.session.debugger.waiting) == 1

    stage.play(scene)


def test_a_paused_loop_is_stopped_with_escape_and_a_notice_goes_when_it_is_no_longer_true(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run("!calls=2 The weather in Lisbon and Oslo")
        first, _ = await calls_of(person)
        bar, notice = person.pane.calls.bar, person.pane.notice
        await person.run("And now?")
        await person.until(
            lambda: notice.isVisible() and "Every tool call needs a result" in notice.words, "the notice"
        )
        field = await person.seen(QPlainTextEdit, "Result of the call", first)
        await person.type_into(field, "sunny")
        await person.key(Qt.Key.Key_Escape)
        await person.until(lambda: bar.words.startswith("Stopped at 2 calls"), "what was left")
        assert not person.app.window.action("run.stop").isEnabled()
        await person.press("Send result", first)
        await person.until(lambda: not notice.isVisible(), "the notice to go")
        await person.press("Fill with errors", bar)
        await person.until(lambda: notice.isVisible() and "Run (Ctrl+Enter) goes on" in notice.words, "what goes on")
        assert [turn.results[0].text for turn in person.path[2:4]] == ["sunny", FILLING]

    stage.play(scene)


def _entries(card: CallCard) -> list[str]:
    assert card.field is not None
    card.field._fill_choices()
    return [action.text().replace("&&", "&") for action in card.field.choose.menu().actions()]
