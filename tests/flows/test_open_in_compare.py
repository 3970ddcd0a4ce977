"""Alternatives of a message or a result are opened as lanes: from the menu, by the command, and while they stream."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt

from playground.demo.server import DemoConfig
from playground.domain.debugging import Answer
from playground.engine.compare.lanes import Lanes
from playground.engine.session.changes import RunState
from playground.engine.session.session import Session
from tests.engine.debugging import WEATHER
from tests.flows.conftest import Person, flow
from tests.flows.pages.compare import ComparePage
from tests.flows.pages.conversation import wait_for_dialog


def results(lane: Session) -> list[str]:
    """The texts of all results of a lane."""
    return [result.text for turn in lane.transcript.path for result in turn.results]


@flow()
async def test_alternative_answers_open_as_lanes(person: Person) -> None:
    session, page = person.session, ComparePage(person)
    await person.run("Hello")
    await person.idle(2)
    await person.trigger("compare.alternatives")
    await person.conversation.notice.wait_for_text("This message has no alternatives to compare")
    first = person.path[-1].id
    for _ in range(2):
        before = person.path[-1].id
        await person.do(person.conversation.message(-1).widget.setFocus)
        await person.key(Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
        await person.until(partial(lambda before: person.path[-1].id != before, before), "the run")
        await person.idle(2)
    await person.conversation.message(-1).choose("Open in Compare")
    lanes = await page.wait_for_lanes(3)
    assert lanes.all[1].transcript.head == first
    assert len({lane.transcript.head for lane in lanes.all}) == 3

    await page.close()
    await person.trigger("compare.alternatives")
    await page.wait_for_lanes(3)

    await page.lanes[1].press("Continue here")
    await person.until(lambda: session.transcript.head == first, "the lane to be the conversation")
    await person.trigger("edit.undo")
    await person.until(lambda: session.transcript.head != first, "the conversation as it was")


@flow()
async def test_results_of_a_call_open_as_lanes(person: Person) -> None:
    session, page = person.session, ComparePage(person)
    session.change(tools=(WEATHER,), model="demo-tools")
    await person.run("Weather in Oslo")
    await person.until(lambda: session.debugger.paused, "a call")
    ((turn_id, call),) = session.debugger.waiting
    lanes = Lanes(session)
    await lanes.add_answers(session, turn_id, call.id, [Answer(text="sun"), Answer(text="rain")])
    chosen = lanes.all[1]
    lanes.continue_with(chosen)
    for lane in lanes.all[1:]:
        lanes.close(lane)
    (card,) = await person.conversation.wait_for_calls(1)
    await card.choose("Open in Compare")
    await page.wait_for_lanes(2)
    assert [results(lane) for lane in lanes.all] == [["sun"], ["rain"]]

    # Several results are tried for the call of a lane
    await person.trigger("experiment.new")
    await person.until(lambda: person.session.main is not session, "another experiment")
    session = person.session
    session.change(tools=(WEATHER,), model="demo-tools")
    lanes = Lanes(session)
    lane = lanes.add(name="warm")
    lane.set_parameters(lane.settings.current.with_value("temperature", 0.5))
    await page.wait_for_lanes(2)
    await person.run("Weather in Oslo")
    await person.until(lambda: all(item.debugger.paused for item in lanes.all), "a call in each lane")
    ((turn_id, _),) = lane.debugger.waiting
    card = await page.wait_for_call(1)
    assert person.session is session, "the first lane is in front"
    await card.choose("Compare several results…")
    dialog = await wait_for_dialog(person, "Compare answers to")
    await dialog.press("Start 2 lanes")
    await page.wait_for_lanes(4)
    await person.until(lambda: all(results(item) for item in lanes.all[2:]), "a result in each")
    assert all(item.settings.current.set_fields.get("temperature") == 0.5 for item in lanes.all[1:])
    assert [item.transcript.path[1].id for item in lanes.all[1:]] == [turn_id] * 3
    await person.until(lambda: not session.experiment.busy, "the answers")


@flow(DemoConfig(tokens_per_second=60, time_to_first_token=0.02, rate_limit=1_000_000))
async def test_streaming_answers_grow_in_their_lanes(person: Person) -> None:
    session, page = person.session, ComparePage(person)
    session.set_parameters(session.settings.current.with_value("n", 2))
    await person.run("Tell me !long=9000")
    await person.until(lambda: len(session.growing) == 2, "two answers on their way")
    await person.trigger("compare.alternatives")
    lanes = await page.wait_for_lanes(2)
    assert lanes.all[1].state is RunState.IDLE, "what it shows is the run of the first one"

    def length() -> int:
        return sum(len(message.text) for message in page.lanes[1].messages.messages[-1:])

    await person.until(lambda: length() > 0, "its text")
    before = length()
    await person.until(lambda: length() > before + 40, "more of it")
    session.stop()
    await person.until(lambda: not session.experiment.busy, "the end")
    await person.until(lambda: "first token" in page.lanes[1].metrics, "figures below it")
