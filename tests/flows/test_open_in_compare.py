"""What stands beside a turn or a result is opened as lanes: from its menu, by the command, and while it still comes."""

from __future__ import annotations

from PySide6.QtWidgets import QToolButton

from playground.demo.server import DemoConfig
from playground.domain.debugging import Answer
from playground.engine.compare.lanes import Lanes
from playground.engine.session.changes import RunState
from playground.ui.features.conversation.card_texts import texts_of
from playground.ui.features.debugger.answers_dialog import AnswersDialog
from playground.ui.features.tools.samples import SAMPLE
from tests.flows.conftest import Person, Stage
from tests.flows.test_compare import columns, page
from tests.flows.test_rules import results


async def opened(person: Person, count: int) -> Lanes:
    await person.until(lambda: person.pane.columns is not None, "the lanes")
    await person.until(lambda: len(columns(person)) == count, "a column for each")
    return page(person).lanes


def test_the_answers_to_a_question_from_the_menu_of_one_and_again_by_the_command(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        session = person.session
        await person.run("Hello")
        await person.idle(2)
        await person.do(lambda: person.app.window.action("compare.alternatives").trigger())
        assert "Nothing stands beside this turn" in person.pane.notice.words
        first = person.path[-1].id
        for _ in range(2):
            await person.do(person.pane.retry_last)
            await person.until(lambda: person.session.state is not RunState.IDLE, "the run")
            await person.idle(2)
        await person.choose(await person.seen(QToolButton, "More for this turn", person.card(-1)), "Open in Compare")
        lanes = await opened(person, 3)
        assert lanes.all[1].transcript.head == first
        assert len({lane.transcript.head for lane in lanes.all}) == 3

        await person.press("Conversation", person.app.window.bar)
        await person.until(lambda: person.pane.columns is None, "the conversation alone")
        await person.do(lambda: person.app.window.action("compare.alternatives").trigger())
        await opened(person, 3)

        await person.press("Continue here", columns(person)[1])
        await person.until(lambda: session.transcript.head == first, "the lane to be the conversation")
        await person.do(lambda: person.app.window.action("edit.undo").trigger())
        await person.until(lambda: session.transcript.head != first, "the conversation as it was")

    stage.play(scene)


def test_the_results_of_a_call_from_its_menu(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        session = person.session
        session.change(tools=(SAMPLE,), model="demo-tools")
        await person.run("Weather in Oslo")
        await person.until(lambda: session.debugger.paused, "a call")
        ((turn_id, call),) = session.debugger.waiting
        lanes = Lanes(session)
        await lanes.add_answers(session, turn_id, call.id, [Answer(text="sun"), Answer(text="rain")])
        chosen = lanes.all[1]
        lanes.continue_with(chosen)
        for lane in lanes.all[1:]:
            lanes.close(lane)
        await person.until(lambda: len(person.path) == 4 and bool(person.card(1).calls), "the call with its result")
        (card,) = person.card(1).calls
        await person.choose(card.more, "Open in Compare")
        await opened(person, 2)
        assert [results(lane) for lane in lanes.all] == [["sun"], ["rain"]]

    stage.play(scene)


def test_several_answers_are_to_the_call_of_the_lane_whose_menu_it_is(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        session = person.session
        session.change(tools=(SAMPLE,), model="demo-tools")
        lanes = Lanes(session)
        lane = lanes.add(name="warm")
        lane.set_parameters(lane.settings.current.with_value("temperature", 0.5))
        await person.do(person.app.window.action("compare.open").trigger)
        await opened(person, 2)
        await person.run("Weather in Oslo")
        await person.until(lambda: all(one.debugger.paused for one in lanes.all), "a call in each lane")
        ((turn_id, call),) = lane.debugger.waiting
        pane = columns(person)[1].pane
        await person.until(lambda: pane.view.card(turn_id) is not None, "its card")
        card = pane.view.card(turn_id)
        assert card is not None
        shown = card.turn_to_call(call.id)
        assert shown is not None
        assert person.session is session, "the first lane is in front"
        await person.choose(shown.more, "Compare several answers…")
        dialog = await person.seen(AnswersDialog)
        await person.press("Start 2 lanes", dialog)
        await opened(person, 4)
        await person.until(lambda: all(results(one) for one in lanes.all[2:]), "a result in each")
        assert all(one.settings.current.held.get("temperature") == 0.5 for one in lanes.all[1:])
        assert [one.transcript.path[1].id for one in lanes.all[1:]] == [turn_id] * 3
        await person.until(lambda: not session.busy, "the answers")

    stage.play(scene)


def test_answers_that_are_still_coming_grow_in_their_lanes(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        session = person.session
        session.set_parameters(session.settings.current.with_value("n", 2))
        await person.run("Tell me !long=9000")
        await person.until(lambda: len(session.growing) == 2, "two answers on their way")
        await person.do(lambda: person.pane.open_in_compare(person.path[-1].id))
        lanes = await opened(person, 2)
        second = columns(person)[1]
        assert lanes.all[1].state is RunState.IDLE, "what it shows is the run of the first one"

        def length() -> int:
            card = second.pane.view.card(lanes.all[1].transcript.head or "")
            return sum(len(text.view.toPlainText()) for text in texts_of(card)) if card is not None else 0

        await person.until(lambda: length() > 0, "its text")
        before = length()
        await person.until(lambda: length() > before + 40, "more of it")
        session.stop()
        await person.until(lambda: not session.busy, "the end")
        await person.until(lambda: "first token" in second.figures.text(), "figures below it")

    stage.play(scene, DemoConfig(tokens_per_second=60, time_to_first_token=0.02, rate_limit=1_000_000))
