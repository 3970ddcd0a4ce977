"""Lanes: places of one experiment, asked at once over real sockets; one way back, one row of the store."""

from __future__ import annotations

import json

import pytest

from playground.demo.server import DemoServer
from playground.domain.debugging import Answer
from playground.domain.errors import RunRefusedError
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.compare.lanes import Lanes, LanesError
from playground.engine.compare.rounds import fellow_request, last_request, last_requests, request_before
from playground.engine.files.presets import Preset, PresetError, apply, from_session
from playground.engine.session.changes import Change, ExchangeChanged, RunState, TurnGrew
from playground.engine.session.open_edits import OpenEdit
from playground.engine.session.session import Session
from playground.engine.session.snapshot import restore, snapshot
from playground.engine.session.variants import MOST_LANES
from tests.engine.debugging import WEATHER, begin
from tests.support.eventually import eventually


@pytest.fixture
def lanes(session: Session) -> Lanes:
    return Lanes(session)


def said(lane: Session) -> list[str]:
    return [turn.text for turn in lane.transcript.path]


def bodies(gateway: DemoServer) -> list[dict[str, object]]:
    return [json.loads(request.body) for request in gateway.requests if request.method == "POST"]


# Asked at once


async def test_one_question_goes_to_all_each_with_what_is_set_for_it(lanes: Lanes, gateway: DemoServer) -> None:
    first = lanes.all[0]
    warm = lanes.add(name="warm")
    warm.set_parameters(warm.settings.current.with_value("temperature", 1))
    lanes.add_models(["demo-reasoner"])
    lanes.write(make_turn(Role.USER, "Hello"))
    await lanes.run()

    assert {(str(body["model"]), body.get("temperature")) for body in bodies(gateway)} == {
        ("demo-chat", None),
        ("demo-chat", 1),
        ("demo-reasoner", None),
    }
    assert [lane.transcript.path[0].id for lane in lanes.all] == [first.transcript.path[0].id] * 3
    answers = [lane.transcript.path[-1] for lane in lanes.all]
    assert len({turn.id for turn in answers}) == 3
    assert [turn.outcome.asked.model for turn in answers if turn.outcome] == ["demo-chat", "demo-chat", "demo-reasoner"]
    assert first.transcript.siblings(answers[0].id) == tuple(
        key for key in first.transcript.turns if key in {turn.id for turn in answers}
    )


async def test_requests_of_the_same_round_belong_together_and_each_lane_has_its_own_before(lanes: Lanes) -> None:
    first, second = lanes.all[0], lanes.add()
    assert (last_request(second), last_requests(second)) == ("", None)
    for words in ("Hello", "And now?"):
        lanes.write(make_turn(Role.USER, words))
        await lanes.run()
    asked = {lane: [turn.outcome.exchange or "" for turn in lane.transcript.path if turn.outcome] for lane in lanes.all}
    (one, two), (three, four) = asked[first], asked[second]
    assert (last_request(first), last_request(second)) == (two, four)
    assert (request_before(second, four), request_before(second, three)) == (three, "")
    assert (fellow_request(second, three), fellow_request(second, four)) == (one, two)
    assert (fellow_request(first, one), fellow_request(second, one)) == (None, "")
    pair = last_requests(second)
    assert pair is not None
    assert [each.id for each in pair] == [two, four]
    await lanes.regenerate([first])
    assert fellow_request(second, four) not in (two, "")
    lanes.close(second)
    assert last_request(first) == list(first.exchanges)[-1], "of one lane, whatever was asked last"


async def test_each_goes_on_from_its_own_answer(lanes: Lanes, gateway: DemoServer) -> None:
    lanes.add()
    lanes.write(make_turn(Role.USER, "Hello"))
    await lanes.run()
    lanes.write(make_turn(Role.USER, "And now?"))
    ends = [lane.transcript.path[2].id for lane in lanes.all]
    assert len(set(ends)) == 2
    await lanes.run()
    sent = bodies(gateway)[-2:]
    assert {str(body["messages"][1]["content"]) for body in sent} == {said(lane)[1] for lane in lanes.all}  # type: ignore[index]
    assert [len(said(lane)) for lane in lanes.all] == [4, 4]


async def test_a_lane_that_fails_or_cannot_be_asked_leaves_the_others_alone(lanes: Lanes) -> None:
    wrong, without = lanes.add_models(["no-such-model", "demo-chat"])
    without.change(model="")
    lanes.write(make_turn(Role.USER, "Hello"))
    assert lanes.refusals(lanes.all) == {"C": "Choose a model first (Ctrl+L)."}
    await lanes.run()
    good, bad = lanes.all[0].transcript.path[-1], wrong.transcript.path[-1]
    assert good.outcome is not None
    assert good.outcome.whole
    assert bad.outcome is not None
    assert bad.outcome.failure is not None
    assert said(without) == ["Hello"]
    with pytest.raises(RunRefusedError, match="Choose a model"):
        await lanes.run([without])


async def test_ticks_say_where_a_question_goes(lanes: Lanes) -> None:
    other = lanes.add()
    lanes.tick(lanes.all[0], False)
    assert lanes.ticked == (other,)
    lanes.write(make_turn(Role.USER, "Only here"))
    assert [said(lane) for lane in lanes.all] == [[], ["Only here"]]
    lanes.tick(lanes.all[0], True)
    assert lanes.ticked == lanes.all


async def test_one_is_stopped_or_all_and_what_came_stays(lanes: Lanes) -> None:
    lanes.add()
    lanes.add()
    lanes.write(make_turn(Role.USER, "!long=4000 !tps=50"))
    run = begin(lanes.run())
    await eventually(lambda: all(lane.state is RunState.STREAMING for lane in lanes.all))
    lanes.all[1].stop()
    await eventually(lambda: lanes.all[1].state is RunState.IDLE)
    assert [lane.state is RunState.IDLE for lane in lanes.all] == [False, True, False]
    assert lanes.all[0].busy
    assert not lanes.all[0].undo()
    lanes.stop()
    await run
    endings = [turn.outcome.ending for lane in lanes.all if (turn := lane.transcript.path[-1]).outcome]
    assert endings == [Ending.STOPPED] * 3
    assert not lanes.all[0].busy


async def test_regenerated_in_all_lanes_each_has_another_answer_and_one_undo_takes_them_back(lanes: Lanes) -> None:
    lanes.add()
    lanes.write(make_turn(Role.USER, "Hello"))
    await lanes.run()
    before = [lane.transcript.head for lane in lanes.all]
    await lanes.regenerate()
    assert not set(before) & {lane.transcript.head for lane in lanes.all}
    assert lanes.all[0].undo()
    assert [lane.transcript.head for lane in lanes.all] == before


async def test_lanes_that_failed_at_the_same_turn_are_all_asked_again(lanes: Lanes) -> None:
    first = lanes.all[0]
    first.change(model="no-such-model")
    lanes.write(make_turn(Role.USER, "Hello"))
    await lanes.run()
    lanes.add()
    assert first.transcript.path[-1].hollow
    first.change(model="demo-chat")
    await lanes.regenerate()
    answers = [lane.transcript.path[-1] for lane in lanes.all]
    assert all(turn.outcome is not None and turn.outcome.whole for turn in answers)
    assert len({turn.id for turn in answers}) == 2
    assert len(first.transcript.turns) == 3


async def test_what_is_being_written_into_a_turn_of_several_lanes_goes_out_in_all_of_them(
    lanes: Lanes, gateway: DemoServer
) -> None:
    first, second = lanes.all[0], lanes.add()
    lanes.write(make_turn(Role.USER, "Hello"))
    await lanes.run()
    first.editors.set_editing(OpenEdit(turn=first.transcript.path[0].id, text="Good evening"))
    assert [lane.next_request.build().turns[0].text for lane in lanes.all] == ["Good evening"] * 2
    lanes.write(make_turn(Role.USER, "And now?"))
    await lanes.run()
    sent = [[message["content"] for message in body["messages"]] for body in bodies(gateway)[-2:]]  # type: ignore[attr-defined]
    assert sent == [["Good evening", "And now?"]] * 2
    assert not first.editors.open
    before = second.transcript
    first.editors.set_editing(OpenEdit(turn=first.transcript.path[0].id, text="Good night"))
    await lanes.regenerate()
    assert [said(lane)[0] for lane in lanes.all] == ["Good night", "Good evening"]
    assert second.transcript.turns.keys() > before.turns.keys()


def test_a_turn_that_is_moved_stays_where_it_was_in_a_lane_that_has_another_answer(lanes: Lanes) -> None:
    first, second, third = lanes.all[0], lanes.add(), lanes.add()
    lanes.write(make_turn(Role.USER, "Question"))
    for lane, text in ((first, "one"), (second, "two")):
        lane.turns.add_turn(make_turn(Role.ASSISTANT, text))
    first.turns.move_turn(first.transcript.path[0].id, 1)
    assert [said(lane) for lane in lanes.all] == [["one", "Question"], ["Question", "two"], ["Question"]]
    first.undo()
    second.turns.take_out(second.transcript.path[1].id)
    first.turns.move_turn(first.transcript.path[1].id, -1)
    assert [said(lane) for lane in lanes.all] == [["one", "Question"], ["Question"], ["Question"]]
    first.undo()
    lanes.close(second)
    lanes.close(third)
    turns = set(first.transcript.turns)
    first.turns.move_turn(first.transcript.path[0].id, 1)
    assert (said(first), set(first.transcript.turns)) == (["one", "Question"], turns)


async def test_a_token_is_told_to_its_own_lane_and_to_whoever_keeps_all(lanes: Lanes) -> None:
    first, second = lanes.all[0], lanes.add()
    told: dict[str, list[Change]] = {"first": [], "second": [], "all": []}
    first.subscribe(told["first"].append, TurnGrew, ExchangeChanged)
    second.subscribe(told["second"].append, TurnGrew, ExchangeChanged)
    first.subscribe(told["all"].append, TurnGrew, ExchangeChanged, everywhere=True)
    second.turns.add_turn(make_turn(Role.USER, "Hello"))
    await lanes.run([second])
    assert told["first"] == []
    assert told["second"]
    assert told["all"] == told["second"]


# Columns


def test_lanes_are_added_named_moved_and_closed_a_step_each(lanes: Lanes) -> None:
    session = lanes.all[0]
    session.turns.add_turn(make_turn(Role.USER, "?"))
    second = lanes.add(name="one")
    third = lanes.add(second, name=" two  words ")
    assert [lanes.title(lane) for lane in lanes.all] == ["A", "B · one", "C ·  two  words "]
    lanes.rename(third, " two  words ")
    lanes.move(third, 1)
    assert [lanes.title(lane) for lane in lanes.all] == ["A", "B · two words", "C · one"]
    second.turns.add_turn(make_turn(Role.USER, "more"))
    lanes.close(second)
    assert list(lanes.all) == [session, third]
    assert session.undo()
    assert list(lanes.all) == [session, third, second]
    assert said(second) == ["?", "more"]
    for _ in range(3):
        assert session.undo()
    assert [lanes.title(lane) for lane in lanes.all] == ["A", "B · one", "C ·  two  words "]
    assert session.redo()
    assert lanes.title(third) == "C · two words"


def test_what_cannot_be_done_is_said(lanes: Lanes) -> None:
    session = lanes.all[0]
    with pytest.raises(LanesError, match="the conversation itself"):
        lanes.close(session)
    with pytest.raises(LanesError, match="the conversation itself"):
        lanes.move(session, 2)
    lanes.add_models(["m"] * (MOST_LANES - 1))
    with pytest.raises(LanesError, match="6 lanes at most"):
        lanes.add()
    with pytest.raises(LanesError, match=r"There is no variant “G”\. There is A, B, C, D, E, F\."):
        lanes.find("G")
    lanes.rename(lanes.all[1], "Twice")
    lanes.rename(lanes.all[2], "twice")
    with pytest.raises(LanesError, match="2 variants are called"):
        lanes.find("TWICE")
    assert lanes.find(" c ") is lanes.all[2]


async def test_a_lane_becomes_the_conversation_and_the_conversation_that_lane(lanes: Lanes) -> None:
    session = lanes.all[0]
    session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
    chosen, other = lanes.add_models(["demo-reasoner", "demo-tools"])
    lanes.set_system(other, "Be long.")
    lanes.write(make_turn(Role.USER, "Hello"))
    await lanes.run()
    texts, models = [said(lane) for lane in lanes.all], [lane.settings.model for lane in lanes.all]
    lanes.continue_with(chosen)
    assert [said(lane) for lane in lanes.all] == [texts[1], texts[0], texts[2]]
    assert [lane.settings.model for lane in lanes.all] == [models[1], models[0], models[2]]
    assert session.settings.model == "demo-reasoner"
    assert session.undo()
    assert [said(lane) for lane in lanes.all] == texts


async def test_alternatives_of_a_turn_open_as_lanes(lanes: Lanes) -> None:
    session = lanes.all[0]
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    await session.run()
    first = session.transcript.path[-1].id
    with pytest.raises(LanesError, match="Nothing stands beside"):
        lanes.add_alternatives(first)
    await session.regenerate(first)
    shown = session.transcript.path[-1].id
    (opened,) = lanes.add_alternatives(shown)
    assert opened.transcript.head == first
    assert session.transcript.head == shown


def test_another_system_turn_is_a_branch_with_what_was_written_below_it(lanes: Lanes) -> None:
    session = lanes.all[0]
    for turn in (make_turn(Role.SYSTEM, "Be brief."), make_turn(Role.USER, "Hello")):
        session.turns.add_turn(turn)
    lane = lanes.add()
    lanes.set_system(lane, "Be long.")
    assert [said(one) for one in lanes.all] == [["Be brief.", "Hello"], ["Be long.", "Hello"]]
    lanes.set_system(lane, "")
    assert said(lane) == ["Hello"]
    lanes.set_system(lane, None)
    assert said(lane) == ["Be brief.", "Hello"]
    assert session.settings.variants[0].system is None
    for _ in range(3):
        session.undo()
    assert said(lane) == ["Be brief.", "Hello"]


# Edits of what all have together


def test_an_edit_in_one_lane_moves_no_other_and_what_is_taken_out_is_left_by_all(lanes: Lanes) -> None:
    session = lanes.all[0]
    for text in ("one", "two"):
        session.turns.add_turn(make_turn(Role.USER, text))
    lane = lanes.add()
    lane.turns.add_turn(make_turn(Role.USER, "three"))
    assert [said(one) for one in lanes.all] == [["one", "two"], ["one", "two", "three"]]
    session.delete_turn(session.transcript.path[1].id)
    assert [said(one) for one in lanes.all] == [["one"], ["one", "three"]]
    session.delete_branch(session.transcript.path[0].id)
    assert [said(one) for one in lanes.all] == [[], []]
    session.undo()
    session.undo()
    assert [said(one) for one in lanes.all] == [["one", "two"], ["one", "two", "three"]]


async def test_what_a_lane_brought_survives_the_undoing_of_an_edit_elsewhere(lanes: Lanes) -> None:
    session, lane = lanes.all[0], lanes.add()
    lanes.write(make_turn(Role.USER, "Hello !long=200 !tps=200"))
    run = begin(lanes.run([lane]))
    await eventually(lambda: lane.state is RunState.STREAMING)
    session.change(title="Meanwhile")
    session.turns.add_turn(make_turn(Role.USER, "typed meanwhile"))
    await run
    assert session.undo()
    assert len(said(session)) == 1
    assert len(said(lane)) == 2
    answer = lane.transcript.path[-1]
    assert answer.outcome is not None
    assert answer.outcome.whole


# Calls of tools


@pytest.fixture
async def calling(lanes: Lanes) -> Lanes:
    """Three lanes, two of which wait at the same call and one at another."""
    session = lanes.all[0]
    session.change(tools=(WEATHER,), model="demo-tools")
    lanes.add()
    other = lanes.add()
    for lane in lanes.all:
        city = "Oslo" if lane is not other else "Rome"
        lane.turns.add_turn(make_turn(Role.USER, f"Weather in {city}"))
    await lanes.run()
    return lanes


async def test_each_lane_pauses_for_itself_and_one_result_goes_to_one(calling: Lanes) -> None:
    first = calling.all[0]
    assert [lane.debugger.paused for lane in calling.all] == [True] * 3
    ((turn_id, call),) = first.debugger.waiting
    await calling.answer(first, turn_id, call.id, Answer(text="sunny"))
    assert [lane.debugger.paused for lane in calling.all] == [False, True, True]
    assert [turn.role.value for turn in first.transcript.path] == ["user", "assistant", "tool", "assistant"]


async def test_one_result_goes_to_every_lane_that_asks_the_same(calling: Lanes) -> None:
    first, second = calling.all[:2]
    ((turn_id, call),) = first.debugger.waiting
    assert [one.lane for one in calling.same_calls(first, turn_id, call.id)] == [second]
    await calling.answer(first, turn_id, call.id, Answer(text="sunny"), all_lanes=True)
    assert [lane.debugger.paused for lane in calling.all] == [False, False, True]
    for lane in (first, second):
        assert [result.text for turn in lane.transcript.path for result in turn.results] == ["sunny"]
    assert first.undo()  # the runs
    assert first.undo()  # the answers, in both
    assert [len(lane.debugger.waiting) for lane in calling.all] == [1, 1, 1]
    with pytest.raises(KeyError):
        await calling.answer(first, turn_id, "no such call", Answer(text="?"))


async def test_while_lanes_stream_a_snapshot_has_all_of_them_as_far_as_they_came(lanes: Lanes) -> None:
    lanes.add()
    lanes.write(make_turn(Role.USER, "!long=4000 !tps=50"))
    run = begin(lanes.run())
    await eventually(lambda: all(any(c.parts for c in lane.growing.values()) for lane in lanes.all))
    await eventually(lambda: len([c for c in lanes.all[0].growing.values() if c.parts]) == 2)
    found = snapshot(lanes.all[0])
    lanes.stop()
    await run
    again = Session(lanes.all[0].experiment.connect, profile_id="")
    restore(found, again)
    for lane in again.lanes:
        turn = lane.transcript.path[-1]
        assert turn.text
        assert turn.outcome is not None
        assert (turn.outcome.ending, turn.outcome.exchange is not None) == (Ending.INTERRUPTED, True)


def test_a_preset_used_in_a_lane_is_what_differs_there_and_moves_no_other(lanes: Lanes) -> None:
    session = lanes.all[0]
    session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    lane = lanes.add()
    preset = Preset(name="long", system="Be long.", parameters={"temperature": 1}, model="demo-tools", switches=True)
    assert apply(lane, preset)
    assert [said(one) for one in lanes.all] == [["Be brief.", "Hello"], ["Be long.", "Hello"]]
    assert (session.settings.model, lane.settings.model) == ("demo-chat", "demo-tools")
    assert lane.settings.current.held["temperature"] == 1
    assert snapshot(session).variants[0].system == "Be long."
    made = from_session(lane, "again", with_model=True)
    assert (made.system, made.model) == ("Be long.", "demo-tools")
    assert session.undo()
    assert [said(one) for one in lanes.all] == [["Be brief.", "Hello"]] * 2


def test_a_preset_makes_a_lane_of_its_own_in_one_step(lanes: Lanes) -> None:
    session = lanes.all[0]
    session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    preset = Preset(name="long", system="Be long.", parameters={"temperature": 1}, model="demo-tools", switches=True)
    lane = lanes.add_preset(preset)
    assert lanes.title(lane) == "B · long"
    assert [said(one) for one in lanes.all] == [["Be brief.", "Hello"], ["Be long.", "Hello"]]
    assert (session.settings.model, lane.settings.model) == ("demo-chat", "demo-tools")
    assert session.settings.current.held.get("temperature") is None
    like = lanes.add_preset(Preset(name="cold", parameters={"top_p": 0.5}), lane)
    assert (like.settings.model, said(like)[0]) == ("demo-tools", "Be long.")
    with pytest.raises(PresetError):
        lanes.add_preset(Preset(name="new", protocol="of tomorrow", switches=True))
    assert len(lanes.all) == 3
    assert session.undo()
    assert session.undo()
    assert [said(one) for one in lanes.all] == [["Be brief.", "Hello"]]
