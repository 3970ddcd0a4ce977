"""The tool-call debugger over real sockets: stop, edit, answer, step, continue, undo."""

from __future__ import annotations

import json

import pytest

from playground.domain.debugging import Answer, Policy, ResultDraft
from playground.domain.errors import RunRefusedError
from playground.domain.parts import ToolCall
from playground.domain.transcript import Role, make_turn
from playground.engine.session.changes import Change, PathChanged, RunState, RunStateChanged
from playground.engine.session.debugger import FILLING
from playground.engine.session.run import Mode
from tests.engine.debugging import SUNNY, THREE, ToolConversation, begin, for_city
from tests.engine.session.conftest import Connect
from tests.protocols.streams import DONE, chunk
from tests.support.editors import edit_call, edit_in_place
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, head, send

both_protocols = pytest.mark.parametrize("conversation", ["chat", "messages"], indirect=True)


@both_protocols
async def test_three_calls_edited_and_answered_by_hand_are_sent_exactly_so(conversation: ToolConversation) -> None:
    session, debugger = conversation.session, conversation.session.debugger
    await conversation.ask(f"{THREE} !broken=2")
    assert (conversation.roles, session.state, debugger.paused) == ("uc", RunState.IDLE, True)
    assert conversation.reasons == ["breakpoint", "misfit", "breakpoint"]
    turn_id, broken = conversation.waiting[1]
    assert [debugger.verdict(call).code for _, call in conversation.waiting] == ["fits", "misfit", "fits"]

    fixed = '{"city": "Oslo", "unit": "celsius"}'
    edit_call(session, turn_id, broken.id, fixed)
    edited = conversation.waiting[1][1]
    assert (edited.arguments, edited.received) == (fixed, broken.arguments)
    edit_call(session, turn_id, broken.id, broken.arguments)
    assert conversation.waiting[1][1] == broken, "edited back is not edited"
    edit_call(session, turn_id, broken.id, fixed)
    for number, (_, call) in enumerate(reversed(conversation.waiting)):
        session.turns.answer(call.id, f"result {number}", is_error=number == 1)
    assert session.next_request.refusal() == ""
    await session.run()

    assert conversation.roles == "ucttta"
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
    assert all((result.seconds or 0) >= 0 for turn in conversation.path for result in turn.results)


@both_protocols
async def test_run_without_results_is_refused_until_they_are_filled(conversation: ToolConversation) -> None:
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
    assert session.debugger.send_all("fine") == 3
    assert conversation.results == [("fine", "you")] * 3
    assert session.debugger.send_all("again") == 0


async def test_typed_results_are_kept_and_come_back_with_undo(conversation: ToolConversation) -> None:
    debugger = conversation.session.debugger
    await conversation.ask("Weather in Oslo")
    key = conversation.keys[0]
    debugger.notes.set_draft(*key, ResultDraft(text="cold"))
    await debugger.step(*key)
    assert (conversation.roles, conversation.results) == ("ucta", [("cold", "you")])
    conversation.session.undo()
    assert (conversation.roles, debugger.notes.draft(*key)) == ("uc", ResultDraft(text="cold"))
    debugger.notes.set_draft(*key, ResultDraft())
    with pytest.raises(RunRefusedError, match="No answer is ready"):
        await debugger.go_on()
    debugger.send(*key, "")
    assert conversation.results == [("", "you")]


async def test_table_answers_and_the_loop_runs_until_undone_round_by_round(conversation: ToolConversation) -> None:
    conversation.table(for_city("Oslo", text="cold"), for_city("Rome", text="no", is_error=True), SUNNY)
    await conversation.ask(f"{THREE} !chain")
    assert conversation.results == [("sunny", "table"), ("cold", "table"), ("no", "table")]
    assert (conversation.session.debugger.requests, conversation.session.debugger.paused) == (4, False)
    calls, results = conversation.sent()
    assert [key for key, _ in calls] == [key for key, _, _ in results]
    assert len(conversation.posts) == 4
    seen = [conversation.roles]
    while conversation.path and conversation.session.undo():
        seen.append(conversation.roles)
    assert seen == ["uctctcta", "uctctc", "uctc", "uc", "u", ""]
    while conversation.session.redo():
        pass
    assert conversation.roles == "uctctcta"


async def test_many_calls_are_answered_several_at_once(conversation: ToolConversation) -> None:
    calls = tuple(ToolCall(id=f"c{number}", name="get_weather", arguments="{}") for number in range(300))
    session = conversation.session
    session.turns.add_turn(make_turn(Role.USER, "All of them"))
    session.turns.add_turn(make_turn(Role.ASSISTANT, "", *calls))
    changes: list[object] = []
    session.subscribe(changes.append, PathChanged)
    assert session.debugger.send_all("rain") == 300
    assert len(changes) == 1
    session.undo()
    changes.clear()
    conversation.rule(policy=Policy.FIXED, fixed=Answer(text="sunny"))
    await session.debugger.go_on()
    assert len(changes) < 150
    results = [result for turn in conversation.path for result in turn.results]
    assert [result.call_id for result in results] == [call.id for call in calls]
    assert {result.text for result in results} == {"sunny"}


async def test_delayed_answers_stand_in_the_order_of_their_calls(conversation: ToolConversation) -> None:
    states: list[RunState] = []
    conversation.session.subscribe(
        lambda change: states.append(change.state) if isinstance(change, RunStateChanged) else None
    )
    conversation.table(for_city("Lisbon", text="last", delay=0.06), for_city("Oslo", text="second", delay=0.03), SUNNY)
    await conversation.ask(THREE)
    assert [text for text, _ in conversation.results] == ["last", "second", "sunny"]
    assert [result.seconds for turn in conversation.path for result in turn.results] == [0.06, 0.03, 0]
    request = [RunState.WAITING, RunState.STREAMING]
    assert states == [*request, RunState.ANSWERING, *request, RunState.IDLE]
    assert conversation.session.debugger.pending == {}


async def test_calls_without_an_answer_wait_while_the_others_are_answered(conversation: ToolConversation) -> None:
    conversation.table(for_city("Oslo", text="cold"), for_city("Rome", text="warm"))
    await conversation.ask(f"{THREE} !broken=3")
    assert (conversation.roles, conversation.results) == ("uct", [("cold", "table")])
    assert conversation.reasons == ["no_row", "misfit"]
    assert len(conversation.posts) == 1
    conversation.session.debugger.fill()
    assert [by for _, by in conversation.results] == ["filled", "table", "filled"]


async def test_calls_that_wait_for_equal_reasons_share_one(server: FaultServer, connect_to: Connect) -> None:
    entries = [{"index": n, "id": f"c{n}", "function": {"name": "f", "arguments": "{}"}} for n in range(40)]
    server.play(send(head(), chunk({"tool_calls": entries}, "tool_calls"), DONE))
    session = connect_to(server.url)
    session.turns.add_turn(make_turn(Role.USER, "Call."))
    await session.run()
    reasons = [session.debugger.notes.stops[turn_id, call.id] for turn_id, call in session.transcript.waiting]
    assert len(reasons) == 40
    assert all(reason is reasons[0] for reason in reasons)


async def test_conditions_pause_the_loop_and_run_to_end_skips_them(conversation: ToolConversation) -> None:
    conversation.table(pause_on_path="$[?@.city == 'Oslo']")
    await conversation.ask(f"{THREE} !chain")
    assert (conversation.roles, conversation.reasons) == ("uctc", ["path"])
    conversation.table(pause_from=3)
    await conversation.session.debugger.go_on()
    assert (conversation.roles, conversation.reasons) == ("uctctc", ["from_nth"])
    await conversation.session.debugger.run_to_end()
    assert conversation.roles == "uctctcta"


async def test_call_of_a_tool_switched_off_during_the_request_pauses(conversation: ToolConversation) -> None:
    conversation.table()

    def switch_off(change: Change) -> None:
        if change == RunStateChanged(RunState.STREAMING):
            conversation.session.change(tools=())

    conversation.session.subscribe(switch_off)
    await conversation.ask("Weather in Oslo")
    assert conversation.reasons == ["unknown_tool"]
    assert conversation.session.debugger.verdict(conversation.waiting[0][1]).code == "unknown_tool"


async def test_call_that_was_cut_off_is_never_answered_by_a_rule(conversation: ToolConversation) -> None:
    conversation.table(SUNNY, pause_on_misfit=False)
    await conversation.ask("Weather in Oslo !cutargs")
    assert (conversation.roles, conversation.reasons) == ("uc", ["truncated"])
    for go in (conversation.session.debugger.go_on, conversation.session.debugger.run_to_end):
        with pytest.raises(RunRefusedError, match="broke off"):
            await go()
    assert conversation.session.debugger.verdict(conversation.waiting[0][1], cut=True).code == "cut_off"
    assert len(conversation.posts) == 1


async def test_step_answers_one_call_and_stops_at_the_next(conversation: ToolConversation) -> None:
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


async def test_continue_with_nothing_waiting_is_a_run(conversation: ToolConversation) -> None:
    with pytest.raises(RunRefusedError, match="Write a message first"):
        await conversation.session.debugger.go_on()
    conversation.session.turns.add_turn(make_turn(Role.USER, "Weather in Oslo"))
    conversation.table(pause_from=1)
    await conversation.session.debugger.run_to_end()
    assert conversation.roles == "ucta"
    conversation.session.undo()
    assert conversation.roles == "uc"


@both_protocols
async def test_call_edited_to_invalid_json_is_refused_before_anything_changes(conversation: ToolConversation) -> None:
    await conversation.ask("Weather in Oslo")
    turn_id, call = conversation.waiting[0]
    edit_call(conversation.session, turn_id, call.id, "{not json")
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


async def test_step_limit_pauses_and_continue_counts_from_zero(conversation: ToolConversation) -> None:
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
    await eventually(lambda: len(conversation.posts) > 14)
    conversation.session.stop()
    await run
    assert conversation.session.state is RunState.IDLE


async def test_run_to_end_passes_a_repeated_call_with_a_warning(conversation: ToolConversation) -> None:
    await conversation.ask("Weather in Oslo !loop=3")
    conversation.rule(rows=(SUNNY,), pause_from=1)
    await conversation.session.debugger.run_to_end()
    assert conversation.roles == "uctctcta"
    assert len(conversation.session.debugger.warnings) == 2


async def test_answer_by_hand_wins_over_a_delayed_one(conversation: ToolConversation) -> None:
    session = conversation.session
    conversation.table(for_city("Oslo", text="late", delay=0.3), SUNNY)
    session.turns.add_turn(make_turn(Role.USER, "Weather in Lisbon and Oslo"))
    run = begin(session.run())
    await eventually(lambda: session.state is RunState.ANSWERING)
    session.turns.answer(conversation.keys[0][1], "mine")
    await run
    assert [text for text, _ in conversation.results] == ["sunny", "mine"]
    assert conversation.roles == "uctta"


async def test_deleting_the_turn_of_a_delayed_answer_ends_the_run(conversation: ToolConversation) -> None:
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


async def test_undo_of_an_edit_during_the_loop_keeps_its_turns(conversation: ToolConversation) -> None:
    session = conversation.session
    conversation.rule(policy=Policy.FIXED, fixed=Answer(text="ok", delay=0.05))
    question = make_turn(Role.USER, f"{THREE} !chain")
    session.turns.add_turn(question)
    run = begin(session.run())
    await eventually(lambda: session.state is RunState.ANSWERING)
    edit_in_place(session, question.id, f"{THREE}, please !chain")
    await run
    complete = session.transcript
    assert conversation.roles == "uctctcta"
    while conversation.path[0].text.endswith("please !chain"):
        assert session.undo()
    assert [turn.id for turn in conversation.path] == [turn.id for turn in complete.path]


async def test_complete_gives_the_turns_of_a_run_and_why_it_ended(conversation: ToolConversation) -> None:
    session = conversation.session
    assert (await session.complete()).refusal == "Write a message first."
    session.turns.add_turn(make_turn(Role.USER, THREE))
    once = await session.complete(Mode.ONCE)
    assert [turn.role for turn in once.turns] == [Role.ASSISTANT]
    assert (once.refusal, once.failure, once.paused) == ("", None, True)
    conversation.table()
    result = await session.complete()
    assert [turn.role for turn in result.turns] == [Role.TOOL] * 3 + [Role.ASSISTANT]
    assert (result.refusal, result.failure, result.paused) == ("", None, False)
    session.turns.add_turn(make_turn(Role.USER, "Hello !503"))
    failure = (await session.complete()).failure
    assert failure is not None
    assert failure.status == 503
