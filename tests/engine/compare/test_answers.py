"""One call answered in several ways, over real sockets, on both protocols: a lane for each answer, by the rules."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.debugging import Answer, ResultDraft
from playground.domain.errors import RunRefusedError
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.compare.lanes import Lanes, LanesError
from playground.engine.compare.words import place_words
from playground.engine.files.experiment_file import open_file
from playground.engine.gateways.secrets import Secret
from playground.engine.session import tool_loop
from playground.engine.session.changes import RunState
from playground.engine.session.session import Session
from playground.engine.session.snapshot import restore
from playground.engine.session.variants import MOST_LANES
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from tests.engine.debugging import THREE, ToolConversation, begin
from tests.support.eventually import eventually
from tests.support.open_streams import open_streams

STORED = Path(__file__).parents[1] / "stored"


def roles(lane: Session) -> str:
    return "".join("c" if turn.calls else turn.role.value[0] for turn in lane.transcript.path)


def results(lane: Session) -> list[str]:
    return [result.text for turn in lane.transcript.path for result in turn.results]


@pytest.mark.parametrize("slow", [False, True], ids=["", "slow"])
async def test_every_answer_runs_on_at_once_in_a_lane_of_its_own(
    conversation: ToolConversation, slow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if slow:
        monkeypatch.setattr(tool_loop, "AT_ONCE", 1)  # each answer waits for the next turn of the loop
    session, debugger, lanes = conversation.session, conversation.session.debugger, Lanes(conversation.session)
    await conversation.ask("Weather in Lisbon and Oslo")
    (turn_id, first), (_, second) = conversation.keys
    assert "The other calls of this turn need an answer first" in debugger.given_refusal(turn_id, first)
    debugger.notes.set_draft(turn_id, second, ResultDraft(text="same"))
    before = session.transcript
    answers = [Answer(text=f"answer {n}", is_error=n == 1) for n in range(3)]
    await lanes.add_answers(session, turn_id, first, answers)
    assert [place_words(lane, str)[-1] for lane in lanes.all] == [
        "as set",
        "get_weather gave answer 0",
        "get_weather gave the error answer 1",
        "get_weather gave answer 2",
    ]
    assert [roles(lane) for lane in lanes.all] == ["uc", "uctta", "uctta", "uctta"]
    assert [results(lane) for lane in lanes.all[1:]] == [[answer.text, "same"] for answer in answers]
    assert [turn.results[0].is_error for lane in lanes.all[1:] for turn in lane.transcript.path[2:3]] == [
        answer.is_error for answer in answers
    ]
    assert session.transcript.path == before.path
    assert len(debugger.waiting) == 2, "the conversation itself is where it was"
    assert conversation.reasons == ["breakpoint"] * 2
    sent = {results[0][1] for _, results in (conversation.sent(at) for at in (-1, -2, -3))}
    assert sent == {answer.text for answer in answers}
    assert session.undo()
    assert (lanes.all, session.transcript.path) == ((session,), before.path)
    assert session.redo()
    assert [results(lane) for lane in lanes.all[1:]] == [[answer.text, "same"] for answer in answers]


async def test_answers_before_it_are_shared_and_a_call_that_has_one_keeps_it(conversation: ToolConversation) -> None:
    session, lanes = conversation.session, Lanes(conversation.session)
    conversation.table()
    await conversation.ask("Weather in Lisbon and Oslo")
    maker = conversation.path[1]
    old = session.transcript.path
    await lanes.add_answers(session, maker.id, maker.calls[1].id, [Answer(text="a"), Answer(text="b")])
    assert session.transcript.path == old
    assert [results(lane) for lane in lanes.all] == [["sunny", "sunny"], ["sunny", "a"], ["sunny", "b"]]
    assert len({lane.transcript.path[2].id for lane in lanes.all}) == 1
    assert len(session.transcript.children(old[2].id)) == 3
    assert [turn.results[0].by for lane in lanes.all for turn in lane.transcript.path[3:4]] == ["table", "you", "you"]


async def test_each_goes_its_own_way_by_the_rules_and_one_undo_takes_all_back(conversation: ToolConversation) -> None:
    session, lanes = conversation.session, Lanes(conversation.session)
    conversation.table(pause_on_path="$[?@.city == 'Rome']")
    await conversation.ask(f"{THREE} !chain")
    assert conversation.roles == "uctctc"
    turn_id, call_id = conversation.path[1].id, conversation.path[1].calls[0].id
    answers = [Answer(text="now"), Answer(text="later", delay=0.05), Answer(never=True)]
    work = begin(lanes.add_answers(session, turn_id, call_id, answers))
    now, later, never = lanes.all[1:]
    await eventually(lambda: now.debugger.paused and later.debugger.paused and bool(never.debugger.pending))
    assert not session.debugger.pending, "the conversation waits for nothing"
    assert [pending.remaining for pending in never.debugger.pending.values()] == [float("inf")]
    assert not session.undo(), "something is under way"
    with pytest.raises(RunRefusedError, match="under way"):
        await never.debugger.go_on()
    with pytest.raises(RunRefusedError, match="under way"):
        await never.debugger.start()
    lanes.stop()
    await work
    assert (never.state, roles(never), never.debugger.stopped) == (RunState.IDLE, "uc", True)
    for lane in (now, later):
        assert roles(lane) == "uctctc"
        ((waiting_id, call),) = lane.debugger.waiting
        reason = lane.debugger.reason(waiting_id, call.id)
        assert reason is not None
        assert reason.words.startswith("The arguments match")
        await lane.debugger.go_on()
        assert roles(lane) == "uctctcta"
    assert session.undo()
    assert session.undo()
    assert len(lanes.all) == 4
    assert session.undo()
    assert [*map(roles, lanes.all)] == ["uctctc"]


async def test_a_lane_of_an_answer_becomes_the_conversation(conversation: ToolConversation) -> None:
    session, lanes = conversation.session, Lanes(conversation.session)
    await conversation.ask("Weather in Oslo")
    await lanes.add_answers(session, *conversation.keys[0], [Answer(text="sun"), Answer(text="rain")])
    lanes.continue_with(lanes.all[2])
    assert [results(lane) for lane in lanes.all] == [["rain"], ["sun"], []]
    assert session.undo()
    assert [results(lane) for lane in lanes.all] == [[], ["sun"], ["rain"]]


async def test_a_call_of_a_lane_is_answered_with_what_is_set_there(conversation: ToolConversation) -> None:
    lanes = Lanes(conversation.session)
    lane = lanes.add(name="warm")
    lane.set_parameters(lane.settings.current.with_value("temperature", 0.5))
    lane.turns.add_turn(make_turn(Role.USER, "Weather in Oslo"))
    await lanes.run([lane])
    ((turn_id, call),) = lane.debugger.waiting
    await lanes.add_answers(lane, turn_id, call.id, [Answer(text="sun")])
    made = lanes.all[-1]
    assert made.settings == lane.settings.changed(variants=made.settings.variants)
    assert roles(made) == "ucta"


async def test_it_is_refused_in_words_and_then_nothing_is_there(conversation: ToolConversation) -> None:
    session, lanes = conversation.session, Lanes(conversation.session)
    await conversation.ask("Weather in Oslo")
    key = conversation.keys[0]
    before = session.transcript
    with pytest.raises(LanesError, match="6 lanes at most"):
        await lanes.add_answers(session, *key, [Answer()] * MOST_LANES)
    await session.regenerate(key[0])
    with pytest.raises(RunRefusedError, match="another branch"):
        await lanes.add_answers(session, *key, [Answer()] * 2)
    assert lanes.all == (session,)
    assert before.turns.keys() < session.transcript.turns.keys()


async def test_cancelled_before_it_begins_it_leaves_nothing_under_way(conversation: ToolConversation) -> None:
    await conversation.ask("Weather in Oslo")
    lanes = Lanes(conversation.session)
    work = begin(lanes.add_answers(conversation.session, *conversation.keys[0], [Answer()] * 2))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert not conversation.session.busy
    assert [lane.debugger.loop for lane in lanes.all] == [None] * 3


async def test_stop_ends_every_lane_and_the_gateway_sees_it() -> None:
    with DemoServer(DemoConfig(tokens_per_second=80, time_to_first_token=0.02, rate_limit=1_000_000)) as slow:
        async with GatewayClient(Connection(base_url=slow.base_url, key=Secret("demo"))) as client:

            async def connect(_profile_id: str) -> GatewayClient:
                return client

            await _stop_three(ToolConversation(Session(connect, profile_id="p", model="demo-tools"), slow))


async def _stop_three(conversation: ToolConversation) -> None:
    slow, lanes = conversation.gateway, Lanes(conversation.session)
    await conversation.ask("Weather in Oslo !long=3000")
    turn_id = conversation.path[-1].id
    answers = [Answer(text=str(n)) for n in range(3)]
    work = begin(lanes.add_answers(conversation.session, *conversation.keys[0], answers))
    await eventually(lambda: open_streams(slow) == 3)
    await eventually(lambda: all(choice.deltas > 2 for choice in conversation.session.growing.values()))
    conversation.session.stop(next(iter(conversation.session.growing)))
    await eventually(lambda: open_streams(slow) == 2)
    lanes.stop()
    await work
    await eventually(lambda: open_streams(slow) == 0)
    for lane in lanes.all[1:]:
        turn = lane.transcript.path[-1]
        assert turn.text
        assert turn.outcome is not None
        assert turn.outcome.ending is Ending.STOPPED
    assert len(conversation.session.transcript.children(turn_id)) == 3


def test_forks_of_an_older_file_are_alternatives_and_what_was_typed_for_them_is_kept(session: Session) -> None:
    restore(open_file(STORED / "tools.playground.json"), session)
    lanes = Lanes(session)
    tree = session.transcript
    given = next(turn.id for turn in tree.turns.values() if any(result.by == "fork" for result in turn.results))
    forked, beside = next(
        (turn.id, beside)
        for turn in tree.lineage(given)
        if turn.role is Role.TOOL and (beside := tree.siblings(turn.id))
    )
    assert len(beside) > 1
    session.turns.select_alternative(forked)
    made = lanes.add_alternatives(forked)
    assert len(made) == len(beside) - 1
    shown = [{turn.id for turn in lane.transcript.path} & {*beside} for lane in lanes.all]
    assert all(len(one) == 1 for one in shown)
    assert set[str]().union(*shown) == {*beside}
    assert all(session.debugger.notes.fork_drafts.values())
    assert session.debugger.notes.fork_drafts


async def test_a_call_that_waits_in_another_lane_too_keeps_the_reason_why(conversation: ToolConversation) -> None:
    lanes = Lanes(conversation.session)
    await conversation.ask("Weather in Oslo")
    lane = lanes.add()
    turn_id, call_id = conversation.keys[0]
    lane.debugger.send(turn_id, call_id, "sun")
    assert conversation.reasons == ["breakpoint"]
    assert place_words(lane, str)[-1] == "get_weather gave sun"
    conversation.session.debugger.send(turn_id, call_id, "sun")
    assert conversation.session.debugger.notes.stops == {}
    assert place_words(lane, str)[-1] == "as set"
