"""Calls that a tool server answers, over a real process: by rules, by hand, in lanes; stopped, undone, edited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from playground.demo.server import DemoServer
from playground.domain.debugging import Policy, Reason, ResultDraft, ToolRule
from playground.domain.errors import RunRefusedError
from playground.domain.tool_servers import Hints
from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.session.call_notes import given_as
from playground.engine.session.changes import CallKey, Change, DebugChanged, RunState
from playground.engine.session.session import Experiment
from tests.engine.debugging import THREE, ToolConversation, always, begin
from tests.engine.served import Sky, weather
from tests.support.eventually import eventually

OSLO = "Weather in Oslo"
SAYS = "get_weather: it rains in Oslo"
LATE = "saved among the answers to compare"


@pytest.fixture
async def sky() -> AsyncIterator[Sky]:
    async with Sky() as server:
        yield server


def make_conversation(gateways: Gateways, gateway: DemoServer, sky: Sky) -> ToolConversation:
    session = Experiment(gateways.client, profile_id=DEMO_ID, model="demo-tools", serving=lambda: sky).main
    conversation = ToolConversation(session, gateway)
    session.change(tools=(weather(),), debugging=always(Policy.SERVER))
    return conversation


@pytest.fixture
def conversation(gateways: Gateways, gateway: DemoServer, sky: Sky) -> ToolConversation:
    return make_conversation(gateways, gateway, sky)


async def begin_ask(conversation: ToolConversation, sky: Sky) -> tuple[CallKey, asyncio.Task[None]]:
    """Have a call wait, and ask its server for a look: the key of the call, and the task that waits for the answer."""
    conversation.rule(policy=Policy.PAUSE)
    await conversation.ask(OSLO)
    key = conversation.keys[0]
    task = begin(conversation.session.debugger.ask(*key))
    await eventually(lambda: len(sky.calls) == 1)
    return key, task


def late_answers(conversation: ToolConversation, key: CallKey) -> list[str]:
    return [answer.text for answer in conversation.session.debugger.notes.fork_drafts[key]]


def draft_of(conversation: ToolConversation, key: CallKey) -> ResultDraft:
    draft = conversation.session.debugger.notes.draft(*key)
    assert draft is not None
    return draft


def reason_of(conversation: ToolConversation, key: CallKey) -> Reason:
    reason = conversation.session.debugger.reason(*key)
    assert reason is not None
    return reason


async def test_read_only_tool_of_a_trusted_server_runs_by_itself(conversation: ToolConversation, sky: Sky) -> None:
    sky.let_go()
    await conversation.ask(OSLO)
    assert (conversation.roles, conversation.results) == ("ucta", [(SAYS, "server")])
    result = conversation.path[2].results[0]
    assert result.served is not None
    assert result.served.server == "Sky"
    assert result.seconds == result.served.seconds > 0
    assert SAYS in conversation.posts[-1].decode()
    assert "served" not in conversation.posts[-1].decode()
    assert sky.expected == ["get_weather"]
    debugger = conversation.session.debugger
    debugger.remember(conversation.path[1].id, conversation.path[1].calls[0].id)
    assert debugger.debugging.rule("get_weather").policy is Policy.TABLE, "not allowed for good to run by itself"
    conversation.session.change(tools=(weather(hints=Hints()),))
    await conversation.ask("Good morning")
    assert sky.expected == ["get_weather"], "a server that no rule asks is not expected"


async def test_progress_of_a_server_is_announced(conversation: ToolConversation, sky: Sky) -> None:
    announced: list[Change] = []
    session = conversation.session
    session.subscribe(announced.append, DebugChanged)
    run = begin(conversation.ask(OSLO))
    await eventually(lambda: any(isinstance(change, DebugChanged) and change.progress for change in announced))
    changed = session.experiment.changed_at
    ((turn_id, call),) = conversation.waiting
    ticket = session.debugger.ticket(turn_id, call.id)
    assert ticket is not None
    assert (ticket.done, ticket.total, list(ticket.log)) == (1, 2, ["looking it up"])
    assert (session.state, session.experiment.calls_server) == (RunState.ANSWERING, True)
    before = len(announced)
    for _ in range(50):
        ticket.changed()
    await eventually(lambda: len(announced) > before)
    assert len(announced) == before + 1, "fifty at once are one"
    assert session.experiment.changed_at == changed
    sky.let_go()
    await run
    assert (session.debugger.ticket(turn_id, call.id), session.experiment.calls_server) == (None, False)


READ_ONLY, DESTRUCTIVE = Hints(read_only=True), Hints(destructive=True)


@pytest.mark.parametrize("to_end", [False, True])
async def test_call_waits_unless_hints_trust_or_an_own_rule_let_it_run(
    gateways: Gateways, gateway: DemoServer, sky: Sky, to_end: bool
) -> None:
    sky.let_go()
    for hints, trusted, named, own, reason in (
        (READ_ONLY, True, False, False, ""),
        (READ_ONLY, False, False, False, "consent"),
        (Hints(), True, False, False, "consent"),
        (None, True, False, False, "consent"),
        (Hints(), False, False, True, ""),
        (Hints(read_only=True, destructive=True), True, False, False, "destructive"),
        (DESTRUCTIVE, True, False, True, "destructive"),
        (DESTRUCTIVE, True, True, False, ""),
    ):
        case = (hints, trusted, named, own)
        sky.calls.clear()
        sky.trusts, sky.named = trusted, named
        conversation = make_conversation(gateways, gateway, sky)
        debugger = conversation.session.debugger
        conversation.session.change(tools=(weather(hints=hints),))
        rules = always(Policy.SERVER).with_rule("get_weather", ToolRule(policy=Policy.SERVER) if own else None)
        conversation.session.change(debugging=rules)
        if to_end:
            conversation.rule(policy=Policy.PAUSE)
        await conversation.ask(OSLO)
        if to_end:
            conversation.session.change(debugging=rules)
            try:
                await debugger.run_to_end()
            except RunRefusedError:
                assert reason, case
        assert conversation.reasons == ([reason] if reason else []), case
        assert len(sky.calls) == (0 if reason else 1), case
        if reason:  # a person who steps has seen the call
            await debugger.step(*conversation.keys[0])
        assert (conversation.results, conversation.roles) == ([(SAYS, "server")], "ucta"), case


async def test_call_without_a_server_waits_with_the_reason(conversation: ToolConversation, sky: Sky) -> None:
    sky.refused = "“get_weather” is not what you accepted."
    await conversation.ask(OSLO)
    assert conversation.reasons == ["no_server"]
    for ask in (conversation.session.debugger.step, conversation.session.debugger.ask):
        with pytest.raises(RunRefusedError, match="not what you accepted"):
            await ask(*conversation.keys[0])
    conversation.session.delete_turn(conversation.path[-1].id)
    conversation.session.change(tools=(weather(server=""),))
    await conversation.session.run()
    assert (conversation.reasons, sky.calls) == (["no_server"], [])


async def test_rule_stops_before_and_after_the_answer(conversation: ToolConversation, sky: Sky) -> None:
    sky.let_go()
    debugger = conversation.session.debugger
    conversation.rule(policy=Policy.SERVER, before=True, after=True)
    await conversation.ask(OSLO)
    assert (conversation.reasons, sky.calls) == (["before"], [])
    await debugger.go_on()
    assert (conversation.reasons, len(sky.calls)) == (["after"], 1)
    assert draft_of(conversation, conversation.keys[0]).text == SAYS
    await debugger.go_on()
    assert (conversation.results, conversation.roles, len(sky.calls)) == ([(SAYS, "server")], "ucta", 1)
    await conversation.ask("Weather in Rome")
    await debugger.run_to_end()
    assert conversation.roles == "uctaucta"


async def test_error_of_a_tool_is_sent_to_the_model(conversation: ToolConversation, sky: Sky) -> None:
    sky.let_go()
    await conversation.ask("Weather in Atlantis")
    assert conversation.path[2].results[0].is_error
    await conversation.ask("Weather in Nowhere")
    assert conversation.reasons == ["unanswered"]
    assert "no such city" in reason_of(conversation, conversation.keys[0]).words
    assert (conversation.roles, conversation.session.state) == ("uctauc", RunState.IDLE)


async def test_three_calls_are_asked_at_once(conversation: ToolConversation, sky: Sky) -> None:
    debugger = conversation.session.debugger
    run = begin(conversation.ask(THREE))
    await eventually(lambda: len(sky.calls) == 3)
    lisbon, oslo, _ = keys = conversation.keys
    assert all(debugger.ticket(*key) for key in keys)
    debugger.cancel_ask(*lisbon)
    await eventually(lambda: len(sky.cancelled) == 1)
    debugger.send(*oslo, "dry")
    sky.let_go()
    await run
    assert conversation.results == [("dry", "you"), ("get_weather: it rains in Rome", "server")]
    assert (conversation.keys, conversation.reasons) == ([lisbon], ["unanswered"])
    assert late_answers(conversation, oslo) == [SAYS]


async def test_stop_cancels_three_calls_at_the_server_and_they_wait(conversation: ToolConversation, sky: Sky) -> None:
    run = begin(conversation.ask(THREE))
    await eventually(lambda: len(sky.calls) == 3)
    conversation.session.stop()
    await run
    assert conversation.reasons == ["stopped"] * 3
    await eventually(lambda: len(sky.cancelled) == 3)
    assert (conversation.session.state, conversation.session.experiment.calls_server) == (RunState.IDLE, False)


async def test_look_is_cancelled_stopped_or_ended_with_its_task(conversation: ToolConversation, sky: Sky) -> None:
    session = conversation.session
    key, task = await begin_ask(conversation, sky)
    assert session.state is RunState.IDLE
    session.debugger.cancel_ask(*key)
    await task
    assert (conversation.reasons, session.experiment.calls_server) == (["unanswered"], False)
    task = begin(session.debugger.ask(*key))
    await eventually(lambda: len(sky.calls) == 2)
    session.experiment.stop()
    await task
    assert not session.experiment.calls_server
    task = begin(session.debugger.ask(*key))
    await eventually(lambda: len(sky.calls) == 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: len(sky.cancelled) == 3)
    assert not session.experiment.calls_server


@pytest.mark.parametrize("by_rule", [False, True])
@pytest.mark.parametrize("typed", [False, True])
async def test_answer_that_comes_after_typing_or_sending_is_kept_to_compare(
    conversation: ToolConversation, sky: Sky, by_rule: bool, typed: bool
) -> None:
    notes = conversation.session.debugger.notes
    if by_rule:
        conversation.rule(policy=Policy.SERVER, after=True)
        task = begin(conversation.ask(OSLO))
        await eventually(lambda: len(sky.calls) == 1)
        key = conversation.keys[0]
    else:
        key, task = await begin_ask(conversation, sky)
    if typed:
        notes.set_draft(*key, ResultDraft(text="mine"))
    else:
        conversation.session.debugger.send(*key, "dry")
    sky.let_go()
    if by_rule:
        await task
    else:
        with pytest.raises(RunRefusedError, match=LATE):
            await task
    assert late_answers(conversation, key) == [SAYS]
    assert notes.draft(*key) == (ResultDraft(text="mine") if typed else None)
    assert conversation.results == ([] if typed else [("dry", "you")])
    if by_rule and typed:
        reason = reason_of(conversation, key)
        assert (reason.code, LATE in reason.words) == ("after", True)


async def test_continue_during_a_look_waits_for_the_same_answer(conversation: ToolConversation, sky: Sky) -> None:
    key, task = await begin_ask(conversation, sky)
    conversation.rule(policy=Policy.SERVER)
    run = begin(conversation.session.debugger.go_on())
    await eventually(lambda: conversation.session.state is RunState.ANSWERING)
    sky.let_go()
    await asyncio.gather(task, run)
    assert (len(sky.calls), conversation.roles) == (1, "ucta")
    assert key not in conversation.session.debugger.notes.fork_drafts


async def test_lanes_ask_separately_and_an_answer_can_go_to_all(conversation: ToolConversation, sky: Sky) -> None:
    lanes = Lanes(conversation.session)
    first, second = lanes.all[0], lanes.add()
    lanes.write(make_turn(Role.USER, OSLO))
    run = begin(lanes.run())
    await eventually(lambda: len(sky.calls) == 2)
    keys = [(turn_id, call.id) for lane in (first, second) for turn_id, call in lane.debugger.waiting]
    assert [first.debugger.ticket(*key) is None for key in keys] == [False, True]
    second.stop()
    await eventually(lambda: second.state is RunState.IDLE)
    assert len(sky.cancelled) <= 1
    sky.let_go()
    await run
    assert [len(lane.debugger.waiting) for lane in (first, second)] == [0, 1]
    result = first.debugger.result(*keys[0])
    assert result is not None
    await lanes.answer(second, *keys[1], given_as(result), all_lanes=True)
    copied = second.debugger.result(*keys[1])
    assert copied is not None
    assert (copied.text, copied.by, copied.served) == (SAYS, "server", result.served)
