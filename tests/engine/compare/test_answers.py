"""Several answers to one call, over real sockets: a lane for each answer, by the rules."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.debugging import Answer, ResultDraft
from playground.domain.errors import RunRefusedError
from playground.domain.transcript import Ending, Role
from playground.engine.compare.lanes import Lanes, LanesError
from playground.engine.compare.words import place_words
from playground.engine.files.experiment_file import open_file
from playground.engine.session.changes import RunState
from playground.engine.session.session import Session
from playground.engine.session.snapshot import restore
from playground.engine.session.variants import MOST_LANES
from tests.engine.debugging import THREE, ToolConversation, begin
from tests.engine.session.conftest import Connect
from tests.support.eventually import eventually
from tests.support.open_streams import open_streams

STORED = Path(__file__).parents[1] / "stored"


def roles(lane: Session) -> str:
    return "".join("c" if turn.calls else turn.role.value[0] for turn in lane.transcript.path)


def results(lane: Session) -> list[str]:
    return [result.text for turn in lane.transcript.path for result in turn.results]


async def test_each_answer_of_a_call_runs_in_a_lane_of_its_own(conversation: ToolConversation) -> None:
    session, debugger, lanes = conversation.session, conversation.session.debugger, Lanes(conversation.session)
    await conversation.ask("Weather in Lisbon and Oslo")
    (turn_id, first), (_, second) = conversation.keys
    assert "The other calls of this message need an answer first" in debugger.fork_refusal(turn_id, first)
    debugger.notes.set_draft(turn_id, second, ResultDraft(text="same"))
    before = session.transcript
    answers = [Answer(text=f"answer {n}", is_error=n == 1) for n in range(3)]
    await lanes.add_answers(session, turn_id, first, answers)
    assert [place_words(lane, str)[-1] for lane in lanes.all] == [
        "current settings",
        "get_weather gave answer 0",
        "get_weather gave the error answer 1",
        "get_weather gave answer 2",
    ]
    assert [roles(lane) for lane in lanes.all] == ["uc", "uctta", "uctta", "uctta"]
    results_of_lanes = [[answer.text, "same"] for answer in answers]
    assert [results(lane) for lane in lanes.all[1:]] == results_of_lanes
    errors = [turn.results[0].is_error for lane in lanes.all[1:] for turn in lane.transcript.path[2:3]]
    assert errors == [False, True, False]
    assert session.transcript.path == before.path
    assert conversation.reasons == ["breakpoint"] * 2, "the conversation itself is where it was"
    sent = {results[0][1] for _, results in (conversation.sent(index) for index in (-1, -2, -3))}
    assert sent == {answer.text for answer in answers}
    assert session.undo()
    assert (lanes.all, session.transcript.path) == ((session,), before.path)
    assert session.redo()
    assert [results(lane) for lane in lanes.all[1:]] == results_of_lanes
    lanes.continue_with(lanes.all[2])
    assert [results(lane) for lane in lanes.all] == [results_of_lanes[1], results_of_lanes[0], [], results_of_lanes[2]]
    assert session.undo()
    assert [results(lane) for lane in lanes.all] == [[], *results_of_lanes]


async def test_lanes_of_answers_follow_the_rules_and_one_undo_takes_all_back(conversation: ToolConversation) -> None:
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
        await never.runs.start()
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


async def test_answers_beyond_the_lanes_or_on_another_branch_are_refused(conversation: ToolConversation) -> None:
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
    work = begin(lanes.add_answers(session, *conversation.keys[0], [Answer()] * 2))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert not session.experiment.busy
    assert [lane.active_run for lane in lanes.all] == [None] * 3


async def test_stop_ends_every_lane_and_closes_its_connection(connect_to: Connect) -> None:
    with DemoServer(DemoConfig(tokens_per_second=80, time_to_first_token=0.02, rate_limit=1_000_000)) as slow:
        conversation = ToolConversation(connect_to(slow.base_url, model="demo-tools"), slow)
        session, lanes = conversation.session, Lanes(conversation.session)
        await conversation.ask("Weather in Oslo !long=3000")
        turn_id = conversation.path[-1].id
        answers = [Answer(text=str(n)) for n in range(3)]
        work = begin(lanes.add_answers(session, *conversation.keys[0], answers))
        await eventually(lambda: open_streams(slow) == 3)
        await eventually(lambda: [choice.deltas > 2 for choice in session.growing.values()] == [True] * 3)
        session.stop(next(iter(session.growing)))
        await eventually(lambda: open_streams(slow) == 2)
        lanes.stop()
        await work
        await eventually(lambda: open_streams(slow) == 0)
        for lane in lanes.all[1:]:
            turn = lane.transcript.path[-1]
            assert turn.text
            assert turn.outcome is not None
            assert turn.outcome.ending is Ending.STOPPED
        assert len(session.transcript.children(turn_id)) == 3


def test_forks_of_an_older_file_are_alternatives_with_their_drafts(session: Session) -> None:
    restore(open_file(STORED / "tools.playground.json"), session)
    lanes = Lanes(session)
    tree = session.transcript
    forked_result = next(turn.id for turn in tree.turns.values() if any(result.by == "fork" for result in turn.results))
    forked, siblings = next(
        (turn.id, siblings)
        for turn in tree.lineage(forked_result)
        if turn.role is Role.TOOL and (siblings := tree.siblings(turn.id))
    )
    assert len(siblings) > 1
    session.turns.select_alternative(forked)
    added = lanes.add_alternatives(forked)
    assert len(added) == len(siblings) - 1
    alternatives = [{turn.id for turn in lane.transcript.path} & {*siblings} for lane in lanes.all]
    assert all(len(turn_ids) == 1 for turn_ids in alternatives)
    assert set[str]().union(*alternatives) == {*siblings}
    assert all(session.debugger.notes.fork_drafts.values())
    assert session.debugger.notes.fork_drafts
