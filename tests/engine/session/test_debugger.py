"""The tool-call debugger over real sockets, on both protocols: stop, edit, answer, step, go on, undo."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from playground.domain.debugging import Answer, AnswerRow, MatchKind, Policy, ResultDraft
from playground.domain.errors import RunRefusedError
from playground.domain.parts import ToolCall
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.session import tool_loop
from playground.engine.session.changes import Change, DebugChanged, PathChanged, RunState, RunStateChanged
from playground.engine.session.debugger import FILLING
from playground.engine.session.tool_loop import SLICE_S
from tests.engine.debugging import MODELS, SUNNY, THREE, ToolConversation, begin, for_city
from tests.support.eventually import eventually

# Stopping and answering by hand


async def test_three_calls_pause_one_is_edited_and_what_goes_out_is_exactly_that(
    conversation: ToolConversation,
) -> None:
    session, debugger = conversation.session, conversation.session.debugger
    await conversation.ask(f"{THREE} !broken=2")
    assert (conversation.roles, session.state, debugger.paused) == ("uc", RunState.IDLE, True)
    assert conversation.reasons == ["breakpoint", "misfit", "breakpoint"]
    turn_id, broken = conversation.waiting[1]
    assert [debugger.verdict(call).code for _, call in conversation.waiting] == ["fits", "misfit", "fits"]

    fixed = '{"city": "Oslo", "unit": "celsius"}'
    session.turns.edit_call(turn_id, broken.id, fixed)
    edited = conversation.waiting[1][1]
    assert (edited.arguments, edited.received) == (fixed, broken.arguments)
    for number, (_, call) in enumerate(reversed(conversation.waiting)):
        session.turns.answer(call.id, f"result {number}", is_error=number == 1)
    assert session.next_request.refusal() == ""
    await session.run()

    assert conversation.roles == "uctttA".lower()
    calls, results = conversation.sent()
    assert [arguments["city"] for _, arguments in calls] == ["Lisbon", "Oslo", "Rome"]
    assert calls[1] == (edited.id, json.loads(fixed))
    native = session.settings.protocol == "messages"
    assert results == [
        (calls[0][0], "result 2", False),
        (calls[1][0], "result 1", native),
        (calls[2][0], "result 0", False),
    ]
    assert "received" not in conversation.posts[-1].decode()
    assert [by for _, by in conversation.results] == ["you"] * 3
    assert all(
        result.seconds is not None and result.seconds >= 0 for turn in conversation.path for result in turn.results
    )


async def test_edited_back_is_not_edited(conversation: ToolConversation) -> None:
    await conversation.ask("Weather in Oslo")
    turn_id, call = conversation.waiting[0]
    conversation.session.turns.edit_call(turn_id, call.id, "{}")
    conversation.session.turns.edit_call(turn_id, call.id, '{"city": 1}')
    assert conversation.waiting[0][1].received == call.arguments
    conversation.session.turns.edit_call(turn_id, call.id, call.arguments)
    assert conversation.waiting[0][1] == call


async def test_running_without_answers_is_refused_and_one_fill_makes_it_possible(
    conversation: ToolConversation,
) -> None:
    session = conversation.session
    await conversation.ask(THREE)
    with pytest.raises(RunRefusedError, match="Every tool call needs a result"):
        await session.run()
    assert session.debugger.fill() == (0, 3)
    assert conversation.results == [(FILLING, "filled")] * 3
    await session.run()
    assert conversation.roles == "ucttta"
    if session.settings.protocol == "messages":
        assert all(marked for _, _, marked in conversation.sent()[1])
    session.undo()
    session.undo()
    assert (conversation.roles, len(conversation.waiting)) == ("uc", 3), "one undo took all three back"


async def test_the_same_to_all(conversation: ToolConversation) -> None:
    await conversation.ask(THREE)
    assert conversation.session.debugger.send_all("fine") == 3
    assert conversation.results == [("fine", "you")] * 3
    assert conversation.session.debugger.send_all("again") == 0


async def test_typed_results_are_kept_and_come_back_with_undo(conversation: ToolConversation) -> None:
    debugger = conversation.session.debugger
    await conversation.ask("Weather in Oslo")
    key = conversation.keys[0]
    debugger.notes.set_draft(*key, ResultDraft(text="cold"))
    await debugger.step(*key)
    assert (conversation.roles, conversation.results) == ("ucta", [("cold", "you")])
    conversation.session.undo()
    assert (conversation.roles, debugger.notes.draft(*key)) == ("uc", ResultDraft(text="cold"))
    debugger.notes.set_draft(*key, None)
    assert debugger.notes.drafts == {}


# Rules


async def test_the_table_answers_and_the_loop_runs_by_itself(conversation: ToolConversation) -> None:
    conversation.table(for_city("Oslo", text="cold"), for_city("Rome", text="no", is_error=True), SUNNY)
    await conversation.ask(f"{THREE} !chain")
    assert conversation.roles == "uctctcta"
    assert conversation.results == [("sunny", "table"), ("cold", "table"), ("no", "table")]
    assert conversation.session.debugger.requests == 4
    assert not conversation.session.debugger.paused
    calls, results = conversation.sent()
    assert [key for key, _ in calls] == [key for key, _, _ in results]
    assert len(conversation.posts) == 4


async def test_others_have_their_turn_between_lots_of_answers(
    conversation: ToolConversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_loop, "AT_ONCE", 1)
    conversation.session.subscribe(lambda _change: time.sleep(2 * SLICE_S), PathChanged)
    conversation.rule(policy=Policy.FIXED, fixed=Answer(text="ok"))
    asked = asyncio.create_task(conversation.ask(THREE))  # noqa: TID251
    seen: set[int] = set()
    while not asked.done():
        seen.add(len(conversation.results))
        await asyncio.sleep(0)
    await asked
    assert conversation.results == [("ok", "fixed")] * 3
    assert {1, 2} & seen


@pytest.mark.parametrize("by", ["hand", "rule"])
async def test_two_thousand_calls_are_answered_several_at_once(conversation: ToolConversation, by: str) -> None:
    calls = tuple(ToolCall(id=f"c{number}", name="get_weather", arguments="{}") for number in range(2_000))
    conversation.session.turns.add_turn(make_turn(Role.USER, "All of them"))
    conversation.session.turns.add_turn(make_turn(Role.ASSISTANT, "", *calls))
    told: list[object] = []
    conversation.session.subscribe(told.append, PathChanged)
    if by == "hand":
        assert conversation.session.debugger.send_all("sunny") == 2_000
        assert len(told) == 1
    else:
        conversation.rule(policy=Policy.FIXED, fixed=Answer(text="sunny"))
        await conversation.session.debugger.go_on()
        assert len(told) < 500
    results = [result for turn in conversation.path for result in turn.results]
    assert [result.call_id for result in results] == [call.id for call in calls]
    assert {result.text for result in results} == {"sunny"}


async def test_a_fixed_answer_takes_its_time(conversation: ToolConversation) -> None:
    states: list[RunState] = []
    conversation.session.subscribe(
        lambda change: states.append(change.state) if isinstance(change, RunStateChanged) else None
    )
    conversation.rule(policy=Policy.FIXED, fixed=Answer(text="ok", delay=0.05))
    await conversation.ask(THREE)
    assert conversation.results == [("ok", "fixed")] * 3
    assert states == [
        RunState.WAITING,
        RunState.STREAMING,
        RunState.ANSWERING,
        RunState.WAITING,
        RunState.STREAMING,
        RunState.IDLE,
    ]
    assert all(result.seconds == 0.05 for turn in conversation.path for result in turn.results)
    assert conversation.session.debugger.pending == {}


async def test_answers_stand_in_the_order_of_the_calls_whatever_their_delay(conversation: ToolConversation) -> None:
    conversation.table(for_city("Lisbon", text="last", delay=0.1), for_city("Oslo", text="second", delay=0.03), SUNNY)
    await conversation.ask(THREE)
    assert [text for text, _ in conversation.results] == ["last", "second", "sunny"]


async def test_what_has_an_answer_is_answered_and_the_rest_waits(conversation: ToolConversation) -> None:
    conversation.table(for_city("Oslo", text="cold"), for_city("Rome", text="warm"))
    await conversation.ask(f"{THREE} !broken=3")
    assert (conversation.roles, conversation.results) == ("uct", [("cold", "table")])
    assert conversation.reasons == ["no_row", "misfit"]
    assert len(conversation.posts) == 1
    conversation.session.debugger.fill()
    assert [by for _, by in conversation.results] == ["filled", "table", "filled"]


async def test_conditions_stop_where_they_say(conversation: ToolConversation) -> None:
    conversation.table(pause_on_path="$[?@.city == 'Oslo']")
    await conversation.ask(f"{THREE} !chain")
    assert (conversation.roles, conversation.reasons) == ("uctc", ["path"])
    conversation.table(pause_from=3)
    await conversation.session.debugger.go_on()
    assert (conversation.roles, conversation.reasons) == ("uctctc", ["from_nth"])
    await conversation.session.debugger.run_to_end()
    assert conversation.roles == "uctctcta"


async def test_a_tool_that_was_switched_off_meanwhile_pauses(conversation: ToolConversation) -> None:
    """The request went out with the tool; when its call comes back, it is not on offer any more."""
    conversation.table()

    def switch_off(change: Change) -> None:
        if change == RunStateChanged(RunState.STREAMING):
            conversation.session.change(tools=())

    conversation.session.subscribe(switch_off)
    await conversation.ask("Weather in Oslo")
    assert conversation.reasons == ["unknown_tool"]
    assert conversation.session.debugger.verdict(conversation.waiting[0][1]).code == "unknown_tool"


async def test_remember_makes_a_row_that_answers_the_next_time(conversation: ToolConversation) -> None:
    debugger = conversation.session.debugger
    await conversation.ask("Weather in Oslo !loop=2")
    key = conversation.keys[0]
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
    debugger.notes.set_draft(*conversation.keys[0], ResultDraft(text="colder still"))
    await debugger.run_to_end()
    assert [text for text, _ in conversation.results] == ["colder", "colder still"]


async def test_a_call_that_was_cut_off_is_never_answered_by_itself(conversation: ToolConversation) -> None:
    conversation.table(SUNNY, pause_on_misfit=False)
    await conversation.ask("Weather in Oslo !cutargs")
    assert (conversation.roles, conversation.reasons) == ("uc", ["truncated"])
    for go in (conversation.session.debugger.go_on, conversation.session.debugger.run_to_end):
        with pytest.raises(RunRefusedError, match="broke off"):
            await go()
    assert conversation.session.debugger.verdict(conversation.waiting[0][1], cut=True).code == "cut_off"
    assert len(conversation.posts) == 1


# Step, continue, run to the end


async def test_step_answers_one_call_and_stops_at_the_next_whatever_the_rules_say(
    conversation: ToolConversation,
) -> None:
    debugger = conversation.session.debugger
    await conversation.ask("Weather in Lisbon and Oslo !loop=2")
    conversation.table()
    first, second = conversation.keys
    await debugger.step(*second)
    assert (conversation.roles, conversation.keys, len(conversation.posts)) == ("uct", [first], 1)
    await debugger.step(*first)
    assert (conversation.roles, conversation.reasons, len(conversation.posts)) == ("ucttc", ["step", "step"], 2)
    conversation.rule()
    with pytest.raises(RunRefusedError, match=r"No answer is ready for get_weather"):
        await debugger.step(*conversation.keys[0])
    with pytest.raises(KeyError):
        await debugger.step(*first)


async def test_continue_answers_what_it_can_and_says_what_is_missing(conversation: ToolConversation) -> None:
    debugger = conversation.session.debugger
    await conversation.ask(THREE)
    with pytest.raises(RunRefusedError, match="No answer is ready"):
        await debugger.go_on()
    debugger.notes.set_draft(*conversation.keys[1], ResultDraft(text="typed"))
    await debugger.go_on()
    assert (conversation.results, conversation.reasons, len(conversation.posts)) == (
        [("typed", "you")],
        ["no_row", "no_row"],
        1,
    )
    conversation.table()
    await debugger.go_on()
    assert conversation.roles == "ucttta"
    assert [by for _, by in conversation.results] == ["table", "you", "table"]


async def test_a_draft_that_was_emptied_is_no_answer(conversation: ToolConversation) -> None:
    debugger = conversation.session.debugger
    await conversation.ask("Weather in Oslo")
    debugger.notes.set_draft(*conversation.keys[0], ResultDraft())
    with pytest.raises(RunRefusedError, match="No answer is ready"):
        await debugger.go_on()
    debugger.send(*conversation.keys[0], "")
    assert conversation.results == [("", "you")]


async def test_continue_with_nothing_waiting_is_a_run(conversation: ToolConversation) -> None:
    with pytest.raises(RunRefusedError, match="Write a message first"):
        await conversation.session.debugger.go_on()
    conversation.session.turns.add_turn(make_turn(Role.USER, "Weather in Oslo"))
    conversation.table(pause_from=1)
    await conversation.session.debugger.run_to_end()
    assert conversation.roles == "ucta"
    conversation.session.undo()
    assert conversation.roles == "uc"
    conversation.session.undo()
    assert conversation.roles == "u"


async def test_an_edited_call_that_cannot_be_written_is_refused_before_anything_changes(
    conversation: ToolConversation,
) -> None:
    await conversation.ask("Weather in Oslo")
    turn_id, call = conversation.waiting[0]
    conversation.session.turns.edit_call(turn_id, call.id, "{not json")
    conversation.table(pause_on_misfit=False)
    with pytest.raises(RunRefusedError, match="malformed"):
        await conversation.session.debugger.go_on()
    assert conversation.roles == "uc"
    conversation.session.debugger.notes.set_draft(turn_id, call.id, ResultDraft(text="typed by hand"))
    if conversation.session.settings.protocol == "messages":
        with pytest.raises(RunRefusedError, match="cannot be written"):
            await conversation.session.debugger.go_on()
        assert conversation.roles == "uc"
    else:
        await conversation.session.debugger.go_on()
        assert conversation.roles == "ucta"


async def test_the_step_limit_pauses_and_continue_counts_anew(conversation: ToolConversation) -> None:
    conversation.table()
    conversation.limit(3)
    await conversation.ask("Weather in Oslo !loop")
    assert conversation.reasons == ["loop"]
    await conversation.session.debugger.go_on()
    assert conversation.reasons == ["limit"]
    assert (len(conversation.posts), conversation.session.debugger.requests) == (5, 3)
    await conversation.session.debugger.run_to_end()
    assert (len(conversation.posts), conversation.reasons) == (8, ["limit"])
    conversation.limit(0)
    run = begin(conversation.session.debugger.run_to_end())
    await eventually(lambda: len(conversation.posts) > 30)
    conversation.session.stop()
    await run
    assert conversation.session.state is RunState.IDLE


async def test_a_loop_is_warned_of_and_pauses_once(conversation: ToolConversation) -> None:
    debugger = conversation.session.debugger
    conversation.table()
    await conversation.ask("Weather in Oslo !loop=4")
    assert (conversation.roles, conversation.reasons) == ("uctc", ["loop"])
    assert list(debugger.warnings) == conversation.keys
    assert "once before with the same arguments" in debugger.warnings[conversation.keys[0]]
    await debugger.go_on()
    assert conversation.roles == "uctctctcta"
    assert len(debugger.warnings) == 3
    assert "3 times" in list(debugger.warnings.values())[-1]


async def test_running_to_the_end_only_warns_of_a_loop(conversation: ToolConversation) -> None:
    await conversation.ask("Weather in Oslo !loop=3")
    conversation.rule(rows=(SUNNY,), pause_from=1)
    await conversation.session.debugger.run_to_end()
    assert conversation.roles == "uctctcta"
    assert len(conversation.session.debugger.warnings) == 2


# Stop


async def test_stop_while_an_answer_never_comes(conversation: ToolConversation) -> None:
    session = conversation.session
    conversation.table(for_city("Oslo", never=True), SUNNY)
    session.turns.add_turn(make_turn(Role.USER, THREE))
    run = begin(session.run())
    await eventually(
        lambda: session.state is RunState.ANSWERING and len(conversation.results) == 2
    )  # the others have come
    assert session.active_run is None
    assert [pending.remaining for pending in session.debugger.pending.values()] == [float("inf")]
    session.stop()
    await run
    assert (session.state, conversation.reasons, session.debugger.pending) == (RunState.IDLE, ["stopped"], {})
    assert "Oslo" in conversation.waiting[0][1].arguments
    session.turns.answer(conversation.keys[0][1], "by hand")
    await session.run()
    assert [text for text, _ in conversation.results] == ["sunny", "by hand", "sunny"]


async def test_a_call_answered_by_hand_while_its_answer_is_waited_for(conversation: ToolConversation) -> None:
    session = conversation.session
    conversation.table(for_city("Oslo", text="late", delay=0.3), SUNNY)
    session.turns.add_turn(make_turn(Role.USER, "Weather in Lisbon and Oslo"))
    run = begin(session.run())
    await eventually(lambda: session.state is RunState.ANSWERING)
    session.turns.answer(conversation.keys[0][1], "mine")
    await run
    assert [text for text, _ in conversation.results] == ["sunny", "mine"]
    assert conversation.roles == "uctta"


async def test_a_turn_taken_away_while_its_answer_is_waited_for_ends_the_lane(conversation: ToolConversation) -> None:
    session = conversation.session
    conversation.rule(policy=Policy.FIXED, fixed=Answer(text="late", delay=0.1))
    session.turns.add_turn(make_turn(Role.USER, "Weather in Oslo"))
    run = begin(session.run())
    await eventually(lambda: session.state is RunState.ANSWERING)
    session.delete_turn(conversation.path[-1].id)
    await run
    assert (conversation.roles, session.state) == ("u", RunState.IDLE)
    assert session.undo()
    assert conversation.roles == "uc"


async def test_stop_while_paused_and_stop_while_nothing_is_there_do_nothing(conversation: ToolConversation) -> None:
    conversation.session.stop()
    await conversation.ask("Weather in Oslo")
    before = conversation.session.transcript
    conversation.session.stop()
    assert conversation.session.transcript is before
    assert conversation.reasons == ["breakpoint"]


async def test_stop_from_within_does_not_reach_whoever_awaits(conversation: ToolConversation) -> None:
    session = conversation.session
    conversation.table()

    def stop_at_the_answer(change: Change) -> None:
        if isinstance(change, RunStateChanged) and len(conversation.path) > 2:
            session.stop()

    session.subscribe(stop_at_the_answer)
    await conversation.ask(f"{THREE} !chain")
    await asyncio.sleep(0)
    assert conversation.roles.startswith("uct")
    assert session.state is RunState.IDLE


async def test_cancelling_from_outside_stops_and_is_passed_on(conversation: ToolConversation) -> None:
    conversation.rule(policy=Policy.FIXED, fixed=Answer(never=True))
    conversation.session.turns.add_turn(make_turn(Role.USER, "Weather in Oslo"))
    run = begin(conversation.session.run())
    await eventually(lambda: conversation.session.state is RunState.ANSWERING)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (conversation.session.state, conversation.reasons, conversation.session.debugger.loop) == (
        RunState.IDLE,
        ["stopped"],
        None,
    )


async def test_an_error_ends_the_loop_and_the_turns_stay(conversation: ToolConversation) -> None:
    conversation.table()
    conversation.session.change(model="no-such-model")
    await conversation.ask("Weather in Oslo")
    outcome = conversation.path[-1].outcome
    assert outcome is not None
    assert outcome.ending is Ending.FAILED
    conversation.session.change(model=MODELS[conversation.session.settings.protocol])
    await conversation.session.regenerate(conversation.path[-1].id)
    assert conversation.roles == "ucta"


# Undo


async def test_undo_goes_back_round_by_round_and_redo_forth(conversation: ToolConversation) -> None:
    conversation.table()
    await conversation.ask(f"{THREE} !chain")
    seen = [conversation.roles]
    while conversation.path and conversation.session.undo():
        seen.append(conversation.roles)
    assert seen == ["uctctcta", "uctctc", "uctc", "uc", "u", ""]
    while conversation.session.redo():
        pass
    assert conversation.roles == "uctctcta"


async def test_undoing_an_edit_made_meanwhile_keeps_what_the_lane_brought(conversation: ToolConversation) -> None:
    session = conversation.session
    conversation.rule(policy=Policy.FIXED, fixed=Answer(text="ok", delay=0.05))
    question = make_turn(Role.USER, f"{THREE} !chain")
    session.turns.add_turn(question)
    run = begin(session.run())
    await eventually(lambda: session.state is RunState.ANSWERING)
    session.turns.edit_text(question.id, f"{THREE}, please !chain", in_place=True)
    await run
    whole = session.transcript
    assert conversation.roles == "uctctcta"
    while conversation.path[0].text.endswith("please !chain"):
        assert session.undo()
    assert conversation.roles == "uctctcta", "everything that came after the edit is still there"
    assert [turn.id for turn in conversation.path] == [turn.id for turn in whole.path]


# What is told


async def test_times_are_taken_call_by_call(conversation: ToolConversation) -> None:
    await conversation.ask(THREE)
    outcome = conversation.path[-1].outcome
    assert outcome is not None
    assert outcome.timing is not None
    assert outcome.timing.end is not None
    assert len(outcome.call_times) == 3
    marks = [mark for pair in outcome.call_times for mark in pair]
    assert marks == sorted(marks)
    assert 0 < marks[0] <= marks[-1] <= outcome.timing.end


async def test_observers_hear_of_every_difference(conversation: ToolConversation) -> None:
    heard: list[int] = []
    debugger = conversation.session.debugger

    def note(change: Change) -> None:
        if isinstance(change, DebugChanged):
            heard.append(1)

    conversation.session.subscribe(note)
    conversation.session.change(debugging=debugger.debugging)
    assert heard == []
    conversation.table()
    assert heard == [1]
    await conversation.ask("Weather in Oslo !broken")
    heard.clear()
    debugger.notes.set_draft(*conversation.keys[0], ResultDraft(text="x"))
    debugger.notes.set_draft(*conversation.keys[0], ResultDraft(text="x"))
    assert heard == [1]


async def test_a_long_answer_goes_out_whole(conversation: ToolConversation) -> None:
    conversation.table(AnswerRow(answer=Answer(text="0123456789", size=1_000_000)))
    await conversation.ask("Weather in Oslo")
    assert len(conversation.sent()[1][0][1]) == 1_000_000
    assert conversation.path[-1].role is Role.ASSISTANT
