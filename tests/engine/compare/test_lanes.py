"""Lanes of one experiment, asked at once over real sockets, with one history."""

from __future__ import annotations

import json

import pytest

from playground.demo.server import DemoServer
from playground.domain.debugging import Answer
from playground.domain.errors import RunRefusedError
from playground.domain.transcript import Role, make_turn
from playground.engine.compare.differences import fellow_request, last_request, last_requests, request_before
from playground.engine.compare.lanes import Lanes, LanesError
from playground.engine.files.presets import Preset, PresetError, apply, from_session
from playground.engine.session.changes import RunState
from playground.engine.session.drafts import OpenEdit
from playground.engine.session.session import Session
from playground.engine.session.snapshot import snapshot
from playground.engine.session.variants import MOST_LANES
from tests.engine.debugging import WEATHER, begin
from tests.engine.session.conftest import Connect
from tests.engine.session.test_run import IN_TWO_PARTS
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer


@pytest.fixture
def lanes(session: Session) -> Lanes:
    return Lanes(session)


def texts_of(lane: Session) -> list[str]:
    return [turn.text for turn in lane.transcript.path]


def bodies(gateway: DemoServer) -> list[dict[str, object]]:
    return [json.loads(request.body) for request in gateway.requests if request.method == "POST"]


async def test_question_goes_to_every_ticked_lane_with_its_settings(lanes: Lanes, gateway: DemoServer) -> None:
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
    assert set(first.transcript.siblings(answers[0].id)) == {turn.id for turn in answers}
    heads = [lane.transcript.head for lane in lanes.all]
    await lanes.regenerate()
    assert not set(heads) & {lane.transcript.head for lane in lanes.all}
    assert first.undo()
    assert [lane.transcript.head for lane in lanes.all] == heads, "one undo for all lanes"
    lanes.tick(first, False)
    assert lanes.ticked == lanes.all[1:]
    lanes.write(make_turn(Role.USER, "And now?"))
    assert [len(texts_of(lane)) for lane in lanes.all] == [2, 3, 3]
    await lanes.run()
    sent = [body["messages"][1]["content"] for body in bodies(gateway)[-2:]]  # type: ignore[index]
    assert set(sent) == {texts_of(lane)[1] for lane in lanes.all[1:]}, "each continues from its own answer"
    lanes.tick(first, True)
    assert lanes.ticked == lanes.all


async def test_requests_of_the_same_round_belong_together(lanes: Lanes) -> None:
    first, second = lanes.all[0], lanes.add()
    assert (last_request(second), last_requests(second)) == ("", None)
    for words in ("Hello", "And now?"):
        lanes.write(make_turn(Role.USER, words))
        await lanes.run()
    exchanges = {
        lane: [turn.outcome.exchange or "" for turn in lane.transcript.path if turn.outcome] for lane in lanes.all
    }
    (first_id, two), (three, four) = exchanges[first], exchanges[second]
    assert (last_request(first), last_request(second)) == (two, four)
    assert (request_before(second, four), request_before(second, three)) == (three, "")
    assert (fellow_request(second, three), fellow_request(second, four)) == (first_id, two)
    assert (fellow_request(first, first_id), fellow_request(second, first_id)) == (None, "")
    pair = last_requests(second)
    assert pair is not None
    assert [each.id for each in pair] == [two, four]
    await lanes.regenerate([first])
    assert fellow_request(second, four) not in (two, "")
    lanes.close(second)
    assert last_request(first) == list(first.exchanges)[-1], "of one lane, whatever was asked last"


async def test_failing_lane_leaves_the_others_alone_and_is_asked_again(lanes: Lanes) -> None:
    first, (wrong, without) = lanes.all[0], lanes.add_models(["no-such-model", "demo-chat"])
    without.change(model="")
    lanes.write(make_turn(Role.USER, "Hello"))
    assert lanes.refusals(lanes.all) == {"C": "Choose a model first (Ctrl+L)."}
    await lanes.run()
    good, bad = first.transcript.path[-1], wrong.transcript.path[-1]
    assert (good.text != "", bad.is_empty) == (True, True)
    assert texts_of(without) == ["Hello"]
    with pytest.raises(RunRefusedError, match="Choose a model"):
        await lanes.run([without])
    lanes.close(without)
    added = lanes.add(wrong)
    for lane in (wrong, added):
        lane.change(model="demo-chat")
    await lanes.regenerate([wrong, added])
    answers = [lane.transcript.path[-1] for lane in (wrong, added)]
    assert all(turn.outcome is not None and turn.outcome.is_complete for turn in answers)
    assert len({turn.id for turn in answers}) == 2
    assert bad.id not in first.transcript.turns


async def test_open_edit_of_a_shared_turn_is_sent_in_all_lanes(lanes: Lanes, gateway: DemoServer) -> None:
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
    assert [texts_of(lane)[0] for lane in lanes.all] == ["Good night", "Good evening"]
    assert second.transcript.turns.keys() > before.turns.keys()


def test_adding_renaming_moving_and_closing_a_lane_are_steps_of_undo(lanes: Lanes) -> None:
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
    assert texts_of(second) == ["?", "more"]
    for _ in range(3):
        assert session.undo()
    assert [lanes.title(lane) for lane in lanes.all] == ["A", "B · one", "C ·  two  words "]
    assert session.redo()
    assert lanes.title(third) == "C · two words"


def test_impossible_changes_of_lanes_are_refused(lanes: Lanes) -> None:
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


def test_edit_is_of_one_lane_and_a_deletion_of_all(lanes: Lanes) -> None:
    session = lanes.all[0]
    for text in ("one", "two"):
        session.turns.add_turn(make_turn(Role.USER, text))
    lane = lanes.add()
    lane.turns.add_turn(make_turn(Role.USER, "three"))
    assert [texts_of(item) for item in lanes.all] == [["one", "two"], ["one", "two", "three"]]
    session.delete_turn(session.transcript.path[1].id)
    assert [texts_of(item) for item in lanes.all] == [["one"], ["one", "three"]]
    session.delete_branch(session.transcript.path[0].id)
    assert [texts_of(item) for item in lanes.all] == [[], []]
    session.undo()
    session.undo()
    assert [texts_of(item) for item in lanes.all] == [["one", "two"], ["one", "two", "three"]]


def test_moved_turn_stays_in_lanes_with_another_answer(lanes: Lanes) -> None:
    first, second, _ = lanes.all[0], lanes.add(), lanes.add()
    lanes.write(make_turn(Role.USER, "Question"))
    for lane, text in ((first, "one"), (second, "two")):
        lane.turns.add_turn(make_turn(Role.ASSISTANT, text))
    first.turns.move_turn(first.transcript.path[0].id, 1)
    assert [texts_of(lane) for lane in lanes.all] == [["one", "Question"], ["Question", "two"], ["Question"]]


async def test_answer_of_a_lane_survives_undo_of_an_edit_in_another(connect_to: Connect, server: FaultServer) -> None:
    server.play(*IN_TWO_PARTS)
    session = connect_to(server.url)
    lanes = Lanes(session)
    lane = lanes.add()
    lanes.write(make_turn(Role.USER, "Hello"))
    run = begin(lanes.run([lane]))
    await eventually(lambda: lane.state is RunState.STREAMING)
    session.change(title="Meanwhile")
    session.turns.add_turn(make_turn(Role.USER, "typed meanwhile"))
    server.go_on()
    await run
    assert session.undo()
    assert (texts_of(session), texts_of(lane)) == (["Hello"], ["Hello", "Hello"])
    outcome = lane.transcript.path[-1].outcome
    assert outcome is not None
    assert outcome.is_complete


@pytest.fixture
async def calling(lanes: Lanes) -> Lanes:
    """Three lanes, two of which wait at the same call and the last at another."""
    session = lanes.all[0]
    session.change(tools=(WEATHER,), model="demo-tools")
    lanes.add()
    lanes.add()
    for lane, city in zip(lanes.all, ("Oslo", "Oslo", "Rome"), strict=True):
        lane.turns.add_turn(make_turn(Role.USER, f"Weather in {city}"))
    await lanes.run()
    return lanes


async def test_result_goes_to_one_lane_or_to_every_lane_with_the_same_call(calling: Lanes) -> None:
    first, second, third = calling.all
    assert [lane.debugger.paused for lane in calling.all] == [True] * 3
    ((turn_id, call),) = third.debugger.waiting
    await calling.answer(third, turn_id, call.id, Answer(text="rain"))
    assert [turn.role.value for turn in third.transcript.path] == ["user", "assistant", "tool", "assistant"]
    ((turn_id, call),) = first.debugger.waiting
    assert [match.lane for match in calling.same_calls(first, turn_id, call.id)] == [second]
    await calling.answer(first, turn_id, call.id, Answer(text="sunny"), all_lanes=True)
    assert [lane.debugger.paused for lane in calling.all] == [False] * 3
    for lane in (first, second):
        assert [result.text for turn in lane.transcript.path for result in turn.results] == ["sunny"]
    assert first.undo()  # the runs
    assert first.undo()  # the answers, in both
    assert [len(lane.debugger.waiting) for lane in calling.all] == [1, 1, 0]
    with pytest.raises(KeyError):
        await calling.answer(first, turn_id, "no such call", Answer(text="?"))


def test_preset_and_system_turn_of_a_lane_are_its_own(lanes: Lanes) -> None:
    session = lanes.all[0]
    session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    preset = Preset(name="long", system="Be long.", parameters={"temperature": 1}, model="demo-tools", switches=True)
    lane = lanes.add_preset(preset)
    assert lanes.title(lane) == "B · long"
    assert [texts_of(item) for item in lanes.all] == [["Be brief.", "Hello"], ["Be long.", "Hello"]]
    assert (session.settings.model, lane.settings.model) == ("demo-chat", "demo-tools")
    assert (
        session.settings.current.set_fields.get("temperature"),
        lane.settings.current.set_fields["temperature"],
    ) == (None, 1)
    assert snapshot(session).variants[0].system == "Be long."
    own_preset = from_session(lane, "again", with_model=True)
    assert (own_preset.system, own_preset.model) == ("Be long.", "demo-tools")
    like = lanes.add_preset(Preset(name="cold", parameters={"top_p": 0.5}), lane)
    assert (like.settings.model, texts_of(like)[0]) == ("demo-tools", "Be long.")
    with pytest.raises(PresetError):
        lanes.add_preset(Preset(name="new", protocol="of tomorrow", switches=True))
    assert session.undo()
    lanes.set_system(lane, "")
    assert texts_of(lane) == ["Hello"]
    lanes.set_system(lane, None)
    assert texts_of(lane) == ["Be brief.", "Hello"]
    assert session.settings.variants[0].system is None
    assert apply(lane, preset)
    assert [texts_of(item) for item in lanes.all] == [["Be brief.", "Hello"], ["Be long.", "Hello"]]
    for _ in range(4):
        assert session.undo()
    assert [texts_of(item) for item in lanes.all] == [["Be brief.", "Hello"]]
