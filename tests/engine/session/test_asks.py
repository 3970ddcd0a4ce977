"""Calls that a tool server is asked, over a real process: by rules, by hand, in lanes; stopped, undone, answered also
by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from playground.demo.server import DemoServer
from playground.domain.debugging import Policy, ResultDraft, ToolRule
from playground.domain.errors import RunRefusedError
from playground.domain.tool_servers import Hints
from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.gateways.offered import DEMO_ID, Gateways
from playground.engine.session.call_notes import given_as
from playground.engine.session.changes import DebugChanged, RunState
from playground.engine.session.session import Session
from tests.engine.debugging import THREE, ToolConversation, always, begin
from tests.engine.served import PICTURE, Sky, weather
from tests.support.eventually import eventually

OSLO = "Weather in Oslo"
SAYS = "get_weather: it rains in Oslo"


@pytest.fixture
async def sky() -> AsyncIterator[Sky]:
    async with Sky() as made:
        yield made


@pytest.fixture
def conversation(gateways: Gateways, gateway: DemoServer, sky: Sky) -> ToolConversation:
    session = Session(gateways.client, profile_id=DEMO_ID, model="demo-tools", serving=lambda: sky)
    made = ToolConversation(session, gateway)
    session.change(tools=(weather(),), debugging=always(Policy.SERVER))
    return made


async def test_a_tool_that_only_reads_of_a_trusted_server_is_asked_by_itself(
    conversation: ToolConversation, sky: Sky
) -> None:
    sky.let_go()
    await conversation.ask(OSLO)
    assert conversation.roles == "ucta"
    assert conversation.results == [(SAYS, "server")]
    result = conversation.path[2].results[0]
    assert result.served is not None
    assert result.served.server == "Sky"
    assert result.seconds == result.served.seconds > 0
    assert SAYS in conversation.posts[-1].decode()
    assert "served" not in conversation.posts[-1].decode()


async def test_how_far_a_server_is_is_told_and_no_more_than_that_changed(
    conversation: ToolConversation, sky: Sky
) -> None:
    told: list[DebugChanged] = []
    session = conversation.session
    session.subscribe(lambda change: told.append(change) if isinstance(change, DebugChanged) else None, DebugChanged)
    run = begin(conversation.ask(OSLO))
    await eventually(lambda: any(change.progress for change in told))
    changed = session.changed_at
    ((turn_id, call),) = conversation.waiting
    ticket = session.debugger.asked(turn_id, call.id)
    assert ticket is not None
    assert (ticket.done, ticket.total, list(ticket.log)) == (1, 2, ["looking it up"])
    assert (session.state, session.asking) == (RunState.ANSWERING, True)
    for _ in range(50):
        ticket.changed()
    before = len(told)
    await eventually(lambda: len(told) > before)
    assert len(told) == before + 1  # fifty words at once are one
    assert session.changed_at == changed
    sky.let_go()
    await run
    assert session.debugger.asked(turn_id, call.id) is None
    assert not session.asking


@pytest.mark.parametrize(
    ("hints", "trusted", "own", "reason"),
    [
        (Hints(read_only=True), True, False, ""),
        (Hints(read_only=True), False, False, "consent"),
        (Hints(), True, False, "consent"),
        (None, True, False, "consent"),
        (Hints(), False, True, ""),
        (Hints(read_only=True, destructive=True), True, False, "destructive"),
        (Hints(destructive=True), True, True, "destructive"),
    ],
)
@pytest.mark.parametrize("to_end", [False, True])
async def test_which_tools_run_by_themselves(
    conversation: ToolConversation, sky: Sky, hints: Hints | None, trusted: bool, own: bool, reason: str, to_end: bool
) -> None:
    sky.let_go()
    sky.trusts = trusted
    conversation.session.change(tools=(weather(hints=hints),))
    if own:
        conversation.rule(policy=Policy.SERVER)
    if to_end:
        conversation.rule(policy=Policy.PAUSE)
        await conversation.ask(OSLO)
        rules = always(Policy.SERVER)
        conversation.session.change(
            debugging=rules.with_rule("get_weather", ToolRule(policy=Policy.SERVER) if own else None)
        )
        if reason:
            with pytest.raises(RunRefusedError, match=r"asked( only)? when you say so|is not set as one"):
                await conversation.session.debugger.run_to_end()
        else:
            await conversation.session.debugger.run_to_end()
    else:
        await conversation.ask(OSLO)
    assert conversation.reasons == ([reason] if reason else [])
    assert len(sky.calls) == (0 if reason else 1)
    if reason:  # a person who steps has seen the call
        await conversation.session.debugger.step(*conversation.keys[0])
        assert (conversation.results, conversation.roles) == ([(SAYS, "server")], "ucta")


async def test_a_tool_that_was_named_runs_whatever_it_says(conversation: ToolConversation, sky: Sky) -> None:
    sky.let_go()
    sky.named = True
    conversation.session.change(tools=(weather(hints=Hints(destructive=True)),))
    await conversation.ask(OSLO)
    assert conversation.roles == "ucta"


async def test_a_tool_that_cannot_be_asked_says_why_and_no_step_asks_it(
    conversation: ToolConversation, sky: Sky
) -> None:
    sky.refused = "“get_weather” is not what you accepted."
    await conversation.ask(OSLO)
    assert conversation.reasons == ["no_server"]
    for way in (conversation.session.debugger.step, conversation.session.debugger.ask):
        with pytest.raises(RunRefusedError, match="not what you accepted"):
            await way(*conversation.keys[0])
    assert sky.calls == []


async def test_a_tool_of_no_server_waits(conversation: ToolConversation, sky: Sky) -> None:
    conversation.session.change(tools=(weather(server=""),))
    await conversation.ask(OSLO)
    assert conversation.reasons == ["no_server"]
    assert sky.calls == []


async def test_stops_before_and_after(conversation: ToolConversation, sky: Sky) -> None:
    sky.let_go()
    debugger = conversation.session.debugger
    conversation.rule(policy=Policy.SERVER, before=True, after=True)
    await conversation.ask(OSLO)
    assert (conversation.reasons, sky.calls) == (["before"], [])
    await debugger.go_on()
    assert (conversation.reasons, len(sky.calls)) == (["after"], 1)
    draft = debugger.notes.draft(*conversation.keys[0])
    assert draft is not None
    assert draft.text == SAYS
    assert draft.served is not None
    await debugger.go_on()
    assert (conversation.results, conversation.roles, len(sky.calls)) == ([(SAYS, "server")], "ucta", 1)


async def test_run_to_end_passes_over_both(conversation: ToolConversation, sky: Sky) -> None:
    sky.let_go()
    conversation.rule(policy=Policy.SERVER, before=True, after=True)
    await conversation.ask(OSLO)
    await conversation.session.debugger.run_to_end()
    assert (conversation.results, conversation.roles) == ([(SAYS, "server")], "ucta")


async def test_asked_for_a_look_the_answer_is_a_draft_that_can_be_edited(
    conversation: ToolConversation, sky: Sky
) -> None:
    sky.picture = True
    sky.let_go()
    debugger = conversation.session.debugger
    conversation.rule(policy=Policy.PAUSE)
    await conversation.ask(OSLO)
    key = conversation.keys[0]
    assert debugger.ask_refusal(*key) == ""
    await debugger.ask(*key)
    assert (conversation.roles, conversation.reasons) == ("uc", ["after"])
    draft = debugger.notes.draft(*key)
    assert draft is not None
    assert draft.answer is not None
    assert draft.images[0].url.endswith(PICTURE.data)
    edited = draft.typed("it snows")
    debugger.notes.set_draft(*key, edited)
    assert edited.answer is not None
    debugger.send_answer(*key, edited.answer)
    result = conversation.path[2].results[0]
    assert (result.text, result.by, len(result.images)) == ("it snows", "you", 1)
    assert result.served is not None
    assert result.served.blocks[0].kind == "text"
    conversation.session.undo()
    debugger.send_answer(*key, draft.answer)
    assert conversation.results == [(SAYS, "server")]


async def test_a_server_that_dies_says_its_last_words_and_nothing_is_sent(
    conversation: ToolConversation, sky: Sky
) -> None:
    sky.let_go()
    await conversation.ask("Weather in Nowhere")
    assert conversation.reasons == ["unanswered"]
    reason = conversation.session.debugger.reason(*conversation.keys[0])
    assert reason is not None
    assert "no such city" in reason.words
    assert (conversation.roles, conversation.session.state) == ("uc", RunState.IDLE)


async def test_an_error_of_a_tool_goes_to_the_model_as_one(conversation: ToolConversation, sky: Sky) -> None:
    sky.let_go()
    await conversation.ask("Weather in Atlantis")
    assert conversation.path[2].results[0].is_error


async def test_three_calls_are_asked_at_once(conversation: ToolConversation, sky: Sky) -> None:
    run = begin(conversation.ask(THREE))
    await eventually(lambda: len(sky.calls) == 3)
    assert all(conversation.session.debugger.asked(*key) for key in conversation.keys)
    sky.let_go()
    await run
    assert [text for text, _ in conversation.results] == [
        f"get_weather: it rains in {city}" for city in ("Lisbon", "Oslo", "Rome")
    ]
    conversation.session.undo()
    assert conversation.roles == "uc"


async def test_stop_tells_the_server_and_the_calls_wait(conversation: ToolConversation, sky: Sky) -> None:
    run = begin(conversation.ask(THREE))
    await eventually(lambda: len(sky.calls) == 3)
    conversation.session.stop()
    await run
    assert conversation.reasons == ["stopped"] * 3
    await eventually(lambda: len(sky.cancelled) == 3)
    assert (conversation.session.state, conversation.session.asking) == (RunState.IDLE, False)


async def test_one_of_them_is_cancelled_and_the_others_are_answered(conversation: ToolConversation, sky: Sky) -> None:
    run = begin(conversation.ask(THREE))
    await eventually(lambda: len(sky.calls) == 3)
    conversation.session.debugger.cancel_ask(*conversation.keys[1])
    await eventually(lambda: len(sky.cancelled) == 1)
    sky.let_go()
    await run
    assert (conversation.roles, conversation.reasons) == ("uctt", ["unanswered"])
    assert conversation.waiting[0][1].arguments.find("Oslo") > 0


async def test_a_look_that_is_cancelled_says_so(conversation: ToolConversation, sky: Sky) -> None:
    conversation.rule(policy=Policy.PAUSE)
    await conversation.ask(OSLO)
    asking = begin(conversation.session.debugger.ask(*conversation.keys[0]))
    await eventually(lambda: len(sky.calls) == 1)
    assert conversation.session.state is RunState.IDLE
    conversation.session.debugger.cancel_ask(*conversation.keys[0])
    await asking
    assert conversation.reasons == ["unanswered"]
    conversation.session.stop()  # nothing is under way


async def test_stop_ends_a_look_as_well(conversation: ToolConversation, sky: Sky) -> None:
    conversation.rule(policy=Policy.PAUSE)
    await conversation.ask(OSLO)
    asking = begin(conversation.session.debugger.ask(*conversation.keys[0]))
    await eventually(lambda: conversation.session.asking)
    conversation.session.stop_all()
    await asking
    assert not conversation.session.asking


async def test_closing_in_the_middle_of_a_look_tells_the_server(conversation: ToolConversation, sky: Sky) -> None:
    conversation.rule(policy=Policy.PAUSE)
    await conversation.ask(OSLO)
    asking = begin(conversation.session.debugger.ask(*conversation.keys[0]))
    await eventually(lambda: len(sky.calls) == 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await eventually(lambda: len(sky.cancelled) == 1)
    assert not conversation.session.asking


async def test_answered_by_hand_meanwhile_the_answer_is_kept_to_be_compared(
    conversation: ToolConversation, sky: Sky
) -> None:
    debugger = conversation.session.debugger
    run = begin(conversation.ask(THREE))
    await eventually(lambda: len(sky.calls) == 3)
    key = conversation.keys[1]
    debugger.send(*key, "dry")
    sky.let_go()
    await run
    assert [text for text, _ in conversation.results][1] == "dry"
    assert [answer.text for answer in debugger.notes.fork_drafts[key]] == [SAYS]
    assert conversation.roles == "uctttA".lower()


async def test_a_look_at_a_call_that_was_answered_meanwhile_says_where_it_is(
    conversation: ToolConversation, sky: Sky
) -> None:
    debugger = conversation.session.debugger
    conversation.rule(policy=Policy.PAUSE)
    await conversation.ask(OSLO)
    key = conversation.keys[0]
    asking = begin(debugger.ask(*key))
    await eventually(lambda: len(sky.calls) == 1)
    debugger.send(*key, "dry")
    sky.let_go()
    with pytest.raises(RunRefusedError, match="kept among the answers to compare"):
        await asking
    assert [answer.text for answer in debugger.notes.fork_drafts[key]] == [SAYS]
    assert conversation.results == [("dry", "you")]


async def test_what_was_typed_meanwhile_stays(conversation: ToolConversation, sky: Sky) -> None:
    debugger = conversation.session.debugger
    conversation.rule(policy=Policy.PAUSE)
    await conversation.ask(OSLO)
    key = conversation.keys[0]
    asking = begin(debugger.ask(*key))
    await eventually(lambda: len(sky.calls) == 1)
    debugger.notes.set_draft(*key, ResultDraft(text="mine"))
    sky.let_go()
    with pytest.raises(RunRefusedError, match="kept among the answers to compare"):
        await asking
    assert debugger.notes.draft(*key) == ResultDraft(text="mine")


async def test_undone_and_deleted_while_it_is_asked(conversation: ToolConversation, sky: Sky) -> None:
    session, debugger = conversation.session, conversation.session.debugger
    conversation.rule(policy=Policy.PAUSE)
    await conversation.ask(OSLO)
    key = conversation.keys[0]
    asking = begin(debugger.ask(*key))
    await eventually(lambda: len(sky.calls) == 1)
    session.delete_turn(key[0])
    assert conversation.roles == "u"
    sky.let_go()
    await asking
    session.undo()
    draft = debugger.notes.draft(*key)
    assert draft is not None
    assert draft.text == SAYS
    assert conversation.reasons == ["after"]


async def test_the_turn_is_deleted_while_a_loop_asks(conversation: ToolConversation, sky: Sky) -> None:
    session = conversation.session
    run = begin(conversation.ask(OSLO))
    await eventually(lambda: len(sky.calls) == 1)
    key = conversation.keys[0]
    session.delete_turn(key[0])
    sky.let_go()
    await run
    assert (conversation.roles, session.state) == ("u", RunState.IDLE)
    session.undo()
    assert [answer.text for answer in session.debugger.notes.fork_drafts[key]] == [SAYS]


async def test_going_on_while_it_is_looked_at_waits_for_the_one_answer(
    conversation: ToolConversation, sky: Sky
) -> None:
    debugger = conversation.session.debugger
    conversation.rule(policy=Policy.PAUSE)
    await conversation.ask(OSLO)
    key = conversation.keys[0]
    asking = begin(debugger.ask(*key))
    await eventually(lambda: len(sky.calls) == 1)
    conversation.rule(policy=Policy.SERVER)
    run = begin(debugger.go_on())
    await eventually(lambda: conversation.session.state is RunState.ANSWERING)
    sky.let_go()
    await asyncio.gather(asking, run)
    assert (len(sky.calls), conversation.roles) == (1, "ucta")
    assert key not in debugger.notes.fork_drafts


async def test_the_call_has_another_id_by_then(conversation: ToolConversation, sky: Sky) -> None:
    session, debugger = conversation.session, conversation.session.debugger
    conversation.rule(policy=Policy.PAUSE)
    await conversation.ask(OSLO)
    (turn_id, call) = conversation.waiting[0]
    asking = begin(debugger.ask(turn_id, call.id))
    await eventually(lambda: len(sky.calls) == 1)
    session.turns.replace_call(turn_id, call.id, call.model_copy(update={"id": "other"}))
    assert debugger.asked(turn_id, "other") is not None
    sky.let_go()
    await asking
    draft = debugger.notes.draft(turn_id, "other")
    assert draft is not None
    assert draft.text == SAYS


async def test_each_lane_asks_for_itself_and_the_same_answer_can_go_to_all(
    conversation: ToolConversation, sky: Sky
) -> None:
    lanes = Lanes(conversation.session)
    one, other = lanes.all[0], lanes.add()
    lanes.write(make_turn(Role.USER, OSLO))
    run = begin(lanes.run())
    await eventually(lambda: len(sky.calls) == 2)
    keys = [(turn_id, call.id) for lane in (one, other) for turn_id, call in lane.debugger.waiting]
    assert (one.debugger.asked(*keys[0]) is None, one.debugger.asked(*keys[1]) is None) == (False, True)
    other.stop()
    await eventually(lambda: other.state is RunState.IDLE)
    assert len(sky.cancelled) <= 1
    sky.let_go()
    await run
    assert [len(lane.debugger.waiting) for lane in (one, other)] == [0, 1]
    result = one.debugger.result(*keys[0])
    assert result is not None
    await lanes.answer(other, *keys[1], given_as(result), all_lanes=True)
    copied = other.debugger.result(*keys[1])
    assert copied is not None
    assert (copied.text, copied.by, copied.served) == (SAYS, "server", result.served)


async def test_recorded_answers_are_given_again_and_nothing_is_asked(conversation: ToolConversation, sky: Sky) -> None:
    session, debugger = conversation.session, conversation.session.debugger
    sky.let_go()
    await conversation.ask(THREE)
    assert debugger.record(replay=True) == 3
    rule = debugger.debugging.rules["get_weather"]
    assert (rule.policy, len(rule.rows)) == (Policy.TABLE, 3)
    assert all(row.answer.served is None for row in rule.rows)
    assert debugger.record(replay=True) == 3
    assert debugger.debugging.rules["get_weather"] == rule  # the same rows once more
    session.undo()
    assert debugger.debugging.rules == {}
    session.redo()
    await conversation.ask(THREE)
    assert len(sky.calls) == 3
    assert [by for _, by in conversation.results[3:]] == ["table"] * 3
    assert [text for text, _ in conversation.results[3:]] == [text for text, _ in conversation.results[:3]]


async def test_what_is_remembered_lets_no_tool_run_by_itself(conversation: ToolConversation, sky: Sky) -> None:
    sky.let_go()
    debugger = conversation.session.debugger
    await conversation.ask(OSLO)
    ((turn_id, call),) = [(turn.id, call) for turn in conversation.path for call in turn.calls]
    debugger.remember(turn_id, call.id)
    assert debugger.debugging.rule("get_weather").policy is Policy.TABLE  # not “server” of its own


async def test_what_was_typed_while_a_rule_has_its_answer_looked_at_stays(
    conversation: ToolConversation, sky: Sky
) -> None:
    debugger = conversation.session.debugger
    conversation.rule(policy=Policy.SERVER, after=True)
    run = begin(conversation.ask(OSLO))
    await eventually(lambda: len(sky.calls) == 1)
    key = conversation.keys[0]
    debugger.notes.set_draft(*key, ResultDraft(text="mine"))
    sky.let_go()
    await run
    assert debugger.notes.draft(*key) == ResultDraft(text="mine")
    reason = debugger.reason(*key)
    assert reason is not None
    assert (reason.code, "kept among the answers to compare" in reason.words) == ("after", True)
    assert [answer.text for answer in debugger.notes.fork_drafts[key]] == [SAYS]


async def test_what_was_sent_while_a_rule_has_its_answer_looked_at_stays(
    conversation: ToolConversation, sky: Sky
) -> None:
    debugger = conversation.session.debugger
    conversation.rule(policy=Policy.SERVER, after=True)
    run = begin(conversation.ask(OSLO))
    await eventually(lambda: len(sky.calls) == 1)
    key = conversation.keys[0]
    debugger.send(*key, "dry")
    sky.let_go()
    await run
    assert conversation.results == [("dry", "you")]
    assert debugger.notes.draft(*key) is None
    assert [answer.text for answer in debugger.notes.fork_drafts[key]] == [SAYS]


async def test_one_that_waits_for_the_answer_to_a_renamed_call_asks_for_that_one(
    conversation: ToolConversation, sky: Sky
) -> None:
    asks, (turn_id, call_id) = conversation.session.debugger.asks, ("turn", "call")
    first = begin(asks.ask((turn_id, call_id), weather(), '{"city": "Oslo"}'))
    await eventually(lambda: len(sky.calls) == 1)
    second = begin(asks.ask((turn_id, call_id), weather(), '{"city": "Oslo"}'))
    await asyncio.sleep(0)
    asks.rename((turn_id, call_id), (turn_id, "renamed"))
    first.cancel()
    await eventually(lambda: len(sky.calls) == 2)
    assert asks.ticket((turn_id, "renamed")) is not None
    assert asks.ticket((turn_id, call_id)) is None
    sky.let_go()
    key, _ = await second
    assert key == (turn_id, "renamed")


async def test_a_server_that_rules_ask_by_themselves_is_expected_once_a_run(
    conversation: ToolConversation, sky: Sky
) -> None:
    sky.let_go()
    await conversation.ask(OSLO)
    assert conversation.roles == "ucta"
    assert sky.expected == ["get_weather"]
    conversation.session.change(tools=(weather(hints=Hints()),))
    await conversation.ask("Good morning")
    assert sky.expected == ["get_weather"]
