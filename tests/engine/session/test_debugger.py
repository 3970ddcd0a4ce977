"""The tool-call debugger over real sockets, on both protocols: stop, edit, answer, step, go on, undo."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from playground.demo.server import DemoServer
from playground.domain.debugging import Answer, AnswerRow, MatchKind, Policy, ResultDraft
from playground.domain.errors import RunRefusedError
from playground.domain.parts import ToolCall
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.session import tool_loop
from playground.engine.session.changes import Change, DebugChanged, PathChanged, RunState, RunStateChanged
from playground.engine.session.debugger import FILLING
from playground.engine.session.session import Session
from playground.engine.session.tool_loop import SLICE_S
from tests.engine.debugging import MODELS, SUNNY, THREE, Bench, begin, for_city, until


@pytest.fixture(params=["chat", "messages"])
def bench(request: pytest.FixtureRequest, session: Session, demo: DemoServer) -> Bench:
    session.change(protocol=request.param)
    session.change(model=MODELS[request.param])
    return Bench(session, demo)


# Stopping and answering by hand


async def test_three_calls_pause_one_is_edited_and_what_goes_out_is_exactly_that(bench: Bench) -> None:
    session, debugger = bench.session, bench.session.debugger
    await bench.ask(f"{THREE} !broken=2")
    assert (bench.roles, session.state, debugger.paused) == ("uc", RunState.IDLE, True)
    assert bench.reasons == ["breakpoint", "misfit", "breakpoint"]
    turn_id, broken = bench.waiting[1]
    assert [debugger.verdict(call).code for _, call in bench.waiting] == ["fits", "misfit", "fits"]

    fixed = '{"city": "Oslo", "unit": "celsius"}'
    session.turns.edit_call(turn_id, broken.id, fixed)
    edited = bench.waiting[1][1]
    assert (edited.arguments, edited.received) == (fixed, broken.arguments)
    for number, (_, call) in enumerate(reversed(bench.waiting)):
        session.turns.answer(call.id, f"result {number}", is_error=number == 1)
    assert session.next_request.refusal() == ""
    await session.run()

    assert bench.roles == "uctttA".lower()
    calls, results = bench.sent()
    assert [arguments["city"] for _, arguments in calls] == ["Lisbon", "Oslo", "Rome"]
    assert calls[1] == (edited.id, json.loads(fixed))
    native = session.settings.protocol == "messages"
    assert results == [
        (calls[0][0], "result 2", False),
        (calls[1][0], "result 1", native),
        (calls[2][0], "result 0", False),
    ]
    assert "received" not in bench.posts[-1].decode()
    assert [by for _, by in bench.results] == ["you"] * 3
    assert all(result.seconds is not None and result.seconds >= 0 for turn in bench.path for result in turn.results)


async def test_edited_back_is_not_edited(bench: Bench) -> None:
    await bench.ask("Weather in Oslo")
    turn_id, call = bench.waiting[0]
    bench.session.turns.edit_call(turn_id, call.id, "{}")
    bench.session.turns.edit_call(turn_id, call.id, '{"city": 1}')
    assert bench.waiting[0][1].received == call.arguments
    bench.session.turns.edit_call(turn_id, call.id, call.arguments)
    assert bench.waiting[0][1] == call


async def test_running_without_answers_is_refused_and_one_fill_makes_it_possible(bench: Bench) -> None:
    session = bench.session
    await bench.ask(THREE)
    with pytest.raises(RunRefusedError, match="Every tool call needs a result"):
        await session.run()
    assert session.debugger.fill() == (0, 3)
    assert bench.results == [(FILLING, "filled")] * 3
    await session.run()
    assert bench.roles == "ucttta"
    if session.settings.protocol == "messages":
        assert all(marked for _, _, marked in bench.sent()[1])
    session.undo()
    session.undo()
    assert (bench.roles, len(bench.waiting)) == ("uc", 3), "one undo took all three back"


async def test_the_same_to_all(bench: Bench) -> None:
    await bench.ask(THREE)
    assert bench.session.debugger.send_all("fine") == 3
    assert bench.results == [("fine", "you")] * 3
    assert bench.session.debugger.send_all("again") == 0


async def test_typed_results_are_kept_and_come_back_with_undo(bench: Bench) -> None:
    debugger = bench.session.debugger
    await bench.ask("Weather in Oslo")
    key = bench.keys[0]
    debugger.notes.set_draft(*key, ResultDraft(text="cold"))
    await debugger.step(*key)
    assert (bench.roles, bench.results) == ("ucta", [("cold", "you")])
    bench.session.undo()
    assert (bench.roles, debugger.notes.draft(*key)) == ("uc", ResultDraft(text="cold"))
    debugger.notes.set_draft(*key, None)
    assert debugger.notes.drafts == {}


# Rules


async def test_the_table_answers_and_the_loop_runs_by_itself(bench: Bench) -> None:
    bench.table(for_city("Oslo", text="cold"), for_city("Rome", text="no", is_error=True), SUNNY)
    await bench.ask(f"{THREE} !chain")
    assert bench.roles == "uctctcta"
    assert bench.results == [("sunny", "table"), ("cold", "table"), ("no", "table")]
    assert bench.session.debugger.requests == 4
    assert not bench.session.debugger.paused
    calls, results = bench.sent()
    assert [key for key, _ in calls] == [key for key, _, _ in results]
    assert len(bench.posts) == 4


async def test_others_have_their_turn_between_lots_of_answers(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_loop, "AT_ONCE", 1)
    bench.session.subscribe(lambda _change: time.sleep(2 * SLICE_S), PathChanged)
    bench.rule(policy=Policy.FIXED, fixed=Answer(text="ok"))
    asked = asyncio.create_task(bench.ask(THREE))  # noqa: TID251
    seen: set[int] = set()
    while not asked.done():
        seen.add(len(bench.results))
        await asyncio.sleep(0)
    await asked
    assert bench.results == [("ok", "fixed")] * 3
    assert {1, 2} & seen


@pytest.mark.parametrize("by", ["hand", "rule"])
async def test_two_thousand_calls_are_answered_several_at_once(bench: Bench, by: str) -> None:
    calls = tuple(ToolCall(id=f"c{number}", name="get_weather", arguments="{}") for number in range(2_000))
    bench.session.turns.add_turn(make_turn(Role.USER, "All of them"))
    bench.session.turns.add_turn(make_turn(Role.ASSISTANT, "", *calls))
    told: list[object] = []
    bench.session.subscribe(told.append, PathChanged)
    if by == "hand":
        assert bench.session.debugger.send_all("sunny") == 2_000
        assert len(told) == 1
    else:
        bench.rule(policy=Policy.FIXED, fixed=Answer(text="sunny"))
        await bench.session.debugger.go_on()
        assert len(told) < 500
    results = [result for turn in bench.path for result in turn.results]
    assert [result.call_id for result in results] == [call.id for call in calls]
    assert {result.text for result in results} == {"sunny"}


async def test_a_fixed_answer_takes_its_time(bench: Bench) -> None:
    states: list[RunState] = []
    bench.session.subscribe(lambda change: states.append(change.state) if isinstance(change, RunStateChanged) else None)
    bench.rule(policy=Policy.FIXED, fixed=Answer(text="ok", delay=0.05))
    await bench.ask(THREE)
    assert bench.results == [("ok", "fixed")] * 3
    assert states == [
        RunState.WAITING,
        RunState.STREAMING,
        RunState.ANSWERING,
        RunState.WAITING,
        RunState.STREAMING,
        RunState.IDLE,
    ]
    assert all(result.seconds == 0.05 for turn in bench.path for result in turn.results)
    assert bench.session.debugger.pending == {}


async def test_answers_stand_in_the_order_of_the_calls_whatever_their_delay(bench: Bench) -> None:
    bench.table(for_city("Lisbon", text="last", delay=0.1), for_city("Oslo", text="second", delay=0.03), SUNNY)
    await bench.ask(THREE)
    assert [text for text, _ in bench.results] == ["last", "second", "sunny"]


async def test_what_has_an_answer_is_answered_and_the_rest_waits(bench: Bench) -> None:
    bench.table(for_city("Oslo", text="cold"), for_city("Rome", text="warm"))
    await bench.ask(f"{THREE} !broken=3")
    assert (bench.roles, bench.results) == ("uct", [("cold", "table")])
    assert bench.reasons == ["no_row", "misfit"]
    assert len(bench.posts) == 1
    bench.session.debugger.fill()
    assert [by for _, by in bench.results] == ["filled", "table", "filled"]


async def test_conditions_stop_where_they_say(bench: Bench) -> None:
    bench.table(pause_on_path="$[?@.city == 'Oslo']")
    await bench.ask(f"{THREE} !chain")
    assert (bench.roles, bench.reasons) == ("uctc", ["path"])
    bench.table(pause_from=3)
    await bench.session.debugger.go_on()
    assert (bench.roles, bench.reasons) == ("uctctc", ["from_nth"])
    await bench.session.debugger.run_to_end()
    assert bench.roles == "uctctcta"


async def test_a_tool_that_was_switched_off_meanwhile_pauses(bench: Bench) -> None:
    """The request went out with the tool; when its call comes back, it is not on offer any more."""
    bench.table()

    def switch_off(change: Change) -> None:
        if change == RunStateChanged(RunState.STREAMING):
            bench.session.change(tools=())

    bench.session.subscribe(switch_off)
    await bench.ask("Weather in Oslo")
    assert bench.reasons == ["unknown_tool"]
    assert bench.session.debugger.verdict(bench.waiting[0][1]).code == "unknown_tool"


async def test_remember_makes_a_row_that_answers_the_next_time(bench: Bench) -> None:
    debugger = bench.session.debugger
    await bench.ask("Weather in Oslo !loop=2")
    key = bench.keys[0]
    with pytest.raises(KeyError):
        debugger.remember(*key)
    debugger.notes.set_draft(*key, ResultDraft(text="cold", is_error=True))
    row = debugger.remember(*key)
    assert (row.match, row.answer) == (MatchKind.EQUAL, Answer(text="cold", is_error=True))
    debugger.notes.set_draft(*key, ResultDraft(text="colder"))
    debugger.remember(*key)
    rows = debugger.debugging.rule("get_weather").rows
    assert [kept.answer.text for kept in rows] == ["colder"], "the row for the same arguments is replaced"
    await debugger.step(*key)
    debugger.notes.set_draft(*bench.keys[0], ResultDraft(text="colder still"))
    await debugger.run_to_end()
    assert [text for text, _ in bench.results] == ["colder", "colder still"]


async def test_a_call_that_was_cut_off_is_never_answered_by_itself(bench: Bench) -> None:
    bench.table(SUNNY, pause_on_misfit=False)
    await bench.ask("Weather in Oslo !cutargs")
    assert (bench.roles, bench.reasons) == ("uc", ["truncated"])
    for go in (bench.session.debugger.go_on, bench.session.debugger.run_to_end):
        with pytest.raises(RunRefusedError, match="broke off"):
            await go()
    assert bench.session.debugger.verdict(bench.waiting[0][1], cut=True).code == "cut_off"
    assert len(bench.posts) == 1


# Step, continue, run to the end


async def test_step_answers_one_call_and_stops_at_the_next_whatever_the_rules_say(bench: Bench) -> None:
    debugger = bench.session.debugger
    await bench.ask("Weather in Lisbon and Oslo !loop=2")
    bench.table()
    first, second = bench.keys
    await debugger.step(*second)
    assert (bench.roles, bench.keys, len(bench.posts)) == ("uct", [first], 1)
    await debugger.step(*first)
    assert (bench.roles, bench.reasons, len(bench.posts)) == ("ucttc", ["step", "step"], 2)
    bench.rule()
    with pytest.raises(RunRefusedError, match=r"No answer is ready for get_weather"):
        await debugger.step(*bench.keys[0])
    with pytest.raises(KeyError):
        await debugger.step(*first)


async def test_continue_answers_what_it_can_and_says_what_is_missing(bench: Bench) -> None:
    debugger = bench.session.debugger
    await bench.ask(THREE)
    with pytest.raises(RunRefusedError, match="No answer is ready"):
        await debugger.go_on()
    debugger.notes.set_draft(*bench.keys[1], ResultDraft(text="typed"))
    await debugger.go_on()
    assert (bench.results, bench.reasons, len(bench.posts)) == ([("typed", "you")], ["no_row", "no_row"], 1)
    bench.table()
    await debugger.go_on()
    assert bench.roles == "ucttta"
    assert [by for _, by in bench.results] == ["table", "you", "table"]


async def test_a_draft_that_was_emptied_is_no_answer(bench: Bench) -> None:
    debugger = bench.session.debugger
    await bench.ask("Weather in Oslo")
    debugger.notes.set_draft(*bench.keys[0], ResultDraft())
    with pytest.raises(RunRefusedError, match="No answer is ready"):
        await debugger.go_on()
    debugger.send(*bench.keys[0], "")
    assert bench.results == [("", "you")]


async def test_continue_with_nothing_waiting_is_a_run(bench: Bench) -> None:
    with pytest.raises(RunRefusedError, match="Write a message first"):
        await bench.session.debugger.go_on()
    bench.session.turns.add_turn(make_turn(Role.USER, "Weather in Oslo"))
    bench.table(pause_from=1)
    await bench.session.debugger.run_to_end()
    assert bench.roles == "ucta"
    bench.session.undo()
    assert bench.roles == "uc"
    bench.session.undo()
    assert bench.roles == "u"


async def test_an_edited_call_that_cannot_be_written_is_refused_before_anything_changes(bench: Bench) -> None:
    await bench.ask("Weather in Oslo")
    turn_id, call = bench.waiting[0]
    bench.session.turns.edit_call(turn_id, call.id, "{not json")
    bench.table(pause_on_misfit=False)
    with pytest.raises(RunRefusedError, match="malformed"):
        await bench.session.debugger.go_on()
    assert bench.roles == "uc"
    bench.session.debugger.notes.set_draft(turn_id, call.id, ResultDraft(text="typed by hand"))
    if bench.session.settings.protocol == "messages":
        with pytest.raises(RunRefusedError, match="cannot be written"):
            await bench.session.debugger.go_on()
        assert bench.roles == "uc"
    else:
        await bench.session.debugger.go_on()
        assert bench.roles == "ucta"


async def test_the_step_limit_pauses_and_continue_counts_anew(bench: Bench) -> None:
    bench.table()
    bench.limit(3)
    await bench.ask("Weather in Oslo !loop")
    assert bench.reasons == ["loop"]
    await bench.session.debugger.go_on()
    assert bench.reasons == ["limit"]
    assert (len(bench.posts), bench.session.debugger.requests) == (5, 3)
    await bench.session.debugger.run_to_end()
    assert (len(bench.posts), bench.reasons) == (8, ["limit"])
    bench.limit(0)
    run = begin(bench.session.debugger.run_to_end())
    await until(lambda: len(bench.posts) > 30)
    bench.session.stop()
    await run
    assert bench.session.state is RunState.IDLE


async def test_a_loop_is_warned_of_and_pauses_once(bench: Bench) -> None:
    debugger = bench.session.debugger
    bench.table()
    await bench.ask("Weather in Oslo !loop=4")
    assert (bench.roles, bench.reasons) == ("uctc", ["loop"])
    assert list(debugger.warnings) == bench.keys
    assert "once before with the same arguments" in debugger.warnings[bench.keys[0]]
    await debugger.go_on()
    assert bench.roles == "uctctctcta"
    assert len(debugger.warnings) == 3
    assert "3 times" in list(debugger.warnings.values())[-1]


async def test_running_to_the_end_only_warns_of_a_loop(bench: Bench) -> None:
    await bench.ask("Weather in Oslo !loop=3")
    bench.rule(rows=(SUNNY,), pause_from=1)
    await bench.session.debugger.run_to_end()
    assert bench.roles == "uctctcta"
    assert len(bench.session.debugger.warnings) == 2


# Stop


async def test_stop_while_an_answer_never_comes(bench: Bench) -> None:
    session = bench.session
    bench.table(for_city("Oslo", never=True), SUNNY)
    session.turns.add_turn(make_turn(Role.USER, THREE))
    run = begin(session.run())
    await until(lambda: session.state is RunState.ANSWERING and len(bench.results) == 2)  # the others have come
    assert session.active_run is None
    assert [pending.remaining for pending in session.debugger.pending.values()] == [float("inf")]
    session.stop()
    await run
    assert (session.state, bench.reasons, session.debugger.pending) == (RunState.IDLE, ["stopped"], {})
    assert "Oslo" in bench.waiting[0][1].arguments
    session.turns.answer(bench.keys[0][1], "by hand")
    await session.run()
    assert [text for text, _ in bench.results] == ["sunny", "by hand", "sunny"]


async def test_a_call_answered_by_hand_while_its_answer_is_waited_for(bench: Bench) -> None:
    session = bench.session
    bench.table(for_city("Oslo", text="late", delay=0.3), SUNNY)
    session.turns.add_turn(make_turn(Role.USER, "Weather in Lisbon and Oslo"))
    run = begin(session.run())
    await until(lambda: session.state is RunState.ANSWERING)
    session.turns.answer(bench.keys[0][1], "mine")
    await run
    assert [text for text, _ in bench.results] == ["sunny", "mine"]
    assert bench.roles == "uctta"


async def test_a_turn_taken_away_while_its_answer_is_waited_for_ends_the_lane(bench: Bench) -> None:
    session = bench.session
    bench.rule(policy=Policy.FIXED, fixed=Answer(text="late", delay=0.1))
    session.turns.add_turn(make_turn(Role.USER, "Weather in Oslo"))
    run = begin(session.run())
    await until(lambda: session.state is RunState.ANSWERING)
    session.delete_turn(bench.path[-1].id)
    await run
    assert (bench.roles, session.state) == ("u", RunState.IDLE)
    assert session.undo()
    assert bench.roles == "uc"


async def test_stop_while_paused_and_stop_while_nothing_is_there_do_nothing(bench: Bench) -> None:
    bench.session.stop()
    await bench.ask("Weather in Oslo")
    before = bench.session.transcript
    bench.session.stop()
    assert bench.session.transcript is before
    assert bench.reasons == ["breakpoint"]


async def test_stop_from_within_does_not_reach_whoever_awaits(bench: Bench) -> None:
    session = bench.session
    bench.table()

    def stop_at_the_answer(change: Change) -> None:
        if isinstance(change, RunStateChanged) and len(bench.path) > 2:
            session.stop()

    session.subscribe(stop_at_the_answer)
    await bench.ask(f"{THREE} !chain")
    await asyncio.sleep(0)
    assert bench.roles.startswith("uct")
    assert session.state is RunState.IDLE


async def test_cancelling_from_outside_stops_and_is_passed_on(bench: Bench) -> None:
    bench.rule(policy=Policy.FIXED, fixed=Answer(never=True))
    bench.session.turns.add_turn(make_turn(Role.USER, "Weather in Oslo"))
    run = begin(bench.session.run())
    await until(lambda: bench.session.state is RunState.ANSWERING)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (bench.session.state, bench.reasons, bench.session.debugger.loop) == (RunState.IDLE, ["stopped"], None)


async def test_an_error_ends_the_loop_and_the_turns_stay(bench: Bench) -> None:
    bench.table()
    bench.session.change(model="no-such-model")
    await bench.ask("Weather in Oslo")
    outcome = bench.path[-1].outcome
    assert outcome is not None
    assert outcome.ending is Ending.FAILED
    bench.session.change(model=MODELS[bench.session.settings.protocol])
    await bench.session.regenerate(bench.path[-1].id)
    assert bench.roles == "ucta"


# Undo


async def test_undo_goes_back_round_by_round_and_redo_forth(bench: Bench) -> None:
    bench.table()
    await bench.ask(f"{THREE} !chain")
    seen = [bench.roles]
    while bench.path and bench.session.undo():
        seen.append(bench.roles)
    assert seen == ["uctctcta", "uctctc", "uctc", "uc", "u", ""]
    while bench.session.redo():
        pass
    assert bench.roles == "uctctcta"


async def test_undoing_an_edit_made_meanwhile_keeps_what_the_lane_brought(bench: Bench) -> None:
    session = bench.session
    bench.rule(policy=Policy.FIXED, fixed=Answer(text="ok", delay=0.05))
    question = make_turn(Role.USER, f"{THREE} !chain")
    session.turns.add_turn(question)
    run = begin(session.run())
    await until(lambda: session.state is RunState.ANSWERING)
    session.turns.edit_text(question.id, f"{THREE}, please !chain", in_place=True)
    await run
    whole = session.transcript
    assert bench.roles == "uctctcta"
    while bench.path[0].text.endswith("please !chain"):
        assert session.undo()
    assert bench.roles == "uctctcta", "everything that came after the edit is still there"
    assert [turn.id for turn in bench.path] == [turn.id for turn in whole.path]


# What is told


async def test_times_are_taken_call_by_call(bench: Bench) -> None:
    await bench.ask(THREE)
    outcome = bench.path[-1].outcome
    assert outcome is not None
    assert outcome.timing is not None
    assert outcome.timing.end is not None
    assert len(outcome.call_times) == 3
    marks = [mark for pair in outcome.call_times for mark in pair]
    assert marks == sorted(marks)
    assert 0 < marks[0] <= marks[-1] <= outcome.timing.end


async def test_observers_hear_of_every_difference(bench: Bench) -> None:
    heard: list[int] = []
    debugger = bench.session.debugger

    def note(change: Change) -> None:
        if isinstance(change, DebugChanged):
            heard.append(1)

    bench.session.subscribe(note)
    bench.session.change(debugging=debugger.debugging)
    assert heard == []
    bench.table()
    assert heard == [1]
    await bench.ask("Weather in Oslo !broken")
    heard.clear()
    debugger.notes.set_draft(*bench.keys[0], ResultDraft(text="x"))
    debugger.notes.set_draft(*bench.keys[0], ResultDraft(text="x"))
    assert heard == [1]


async def test_a_long_answer_goes_out_whole(bench: Bench) -> None:
    bench.table(AnswerRow(answer=Answer(text="0123456789", size=1_000_000)))
    await bench.ask("Weather in Oslo")
    assert len(bench.sent()[1][0][1]) == 1_000_000
    assert bench.path[-1].role is Role.ASSISTANT
