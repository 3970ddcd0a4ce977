"""A person evaluates: the sample opened, run, stopped, gone on with, looked at, left, and found again."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from playground.demo.server import DemoConfig
from playground.engine.io.resources import resource_root
from playground.engine.library.opening_files import open_sample
from playground.engine.session.plan import Budget
from playground.ui.features.evaluate.control import EvaluateControl
from playground.ui.features.evaluate.look import Look
from playground.ui.shell.features import EVALUATE
from tests.flows.conftest import Person, Stage

SAMPLE = resource_root() / "samples" / "evaluation.playground.json"
AT_ONCE = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=0)
SLOW = DemoConfig(tokens_per_second=0, time_to_first_token=0.3, rate_limit=0)
ENDLESS = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=3)  # of 48 requests, in a minute
CONTROL = Qt.KeyboardModifier.ControlModifier


def control(person: Person) -> EvaluateControl:
    found: EvaluateControl = person.app.actions.of(EVALUATE)
    return found


def look(person: Person) -> Look:
    found = control(person).look
    assert found is not None
    return found


async def open_evaluation(person: Person) -> Look:
    """The sample's."""
    await person.do(lambda: open_sample(person.app.workspace.current, SAMPLE, "Evaluation"))
    await person.press("Evaluate", person.app.window.bar)
    await person.until(lambda: control(person).look is not None and look(person).ready, "the plan")
    return look(person)


async def run_all(person: Person) -> None:
    await person.key(Qt.Key.Key_Return, CONTROL)
    await person.until(lambda: not look(person).results.missing and not look(person).under_way, "all answers")


def test_the_sample_is_asked_and_its_answers_are_there_the_next_day(stage: Stage) -> None:
    async def first(person: Person) -> None:
        found = await open_evaluation(person)
        assert not person.pane.composer.isVisible()
        await run_all(person)
        assert not found.results.missing
        assert found.results.failed == 0
        assert control(person).page is not None
        await person.press("Conversation", person.app.window.bar)
        await person.until(
            lambda: control(person).page is None and person.pane.composer.isVisible(), "the message field"
        )

    async def second(person: Person) -> None:
        await person.press("Evaluate", person.app.window.bar)
        await person.until(lambda: control(person).look is not None, "the page")
        await person.until(
            lambda: look(person).results.count == 48, "the answers of the experiment that was looked at last"
        )

    stage.play(first, AT_ONCE)
    stage.play(second, AT_ONCE)


def test_stopped_it_keeps_what_came_and_goes_on_where_it_was(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        found = await open_evaluation(person)
        await person.key(Qt.Key.Key_Return, CONTROL)
        await person.until(lambda: found.results.count >= 8, "some answers")
        await person.key(Qt.Key.Key_Escape)
        await person.until(lambda: not found.under_way, "the end")
        came = dict(found.results.answers)
        assert 8 <= len(came) < 48
        await run_all(person)
        assert not found.results.missing
        assert all(found.results.answers[key] == answer for key, answer in came.items()), "none was asked twice"

    stage.play(scene, SLOW)


def test_another_question_makes_answers_stale_and_undo_brings_them_back(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        found = await open_evaluation(person)
        await run_all(person)
        first = found.plan.cases[0]
        changed = first.model_copy(update={"values": {"sum": "1 + 1"}})
        await person.do(lambda: found.change(cases=(changed, *found.plan.cases[1:])))
        await person.until(lambda: len(found.stale) == 4, "stale answers")
        assert found.results.count == 44
        await person.do(person.session.undo)
        await person.until(lambda: not found.stale and found.results.count == 48, "the answers again")

    stage.play(scene, AT_ONCE)


def test_what_keeps_it_from_being_run_is_said(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.press("Evaluate", person.app.window.bar)
        await person.until(lambda: control(person).look is not None and look(person).ready, "the plan")
        await person.key(Qt.Key.Key_Return, CONTROL)
        await person.until(lambda: person.pane.notice.isVisible(), "a notice")
        assert "There is no case yet" in person.pane.notice.words
        assert not look(person).under_way

    stage.play(scene, AT_ONCE)


def test_it_goes_on_behind_other_pages_and_quitting_asks(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await open_evaluation(person)
        runs = look(person).runs
        await person.key(Qt.Key.Key_Return, CONTROL)
        await person.until(lambda: runs.going, "the run")
        await person.press("Compare", person.app.window.bar)
        await person.until(lambda: control(person).page is None and person.pane.columns is not None, "the lanes")
        assert runs.going
        await person.press("Evaluate", person.app.window.bar)
        await person.until(lambda: control(person).look is not None and look(person).ready, "the page again")
        assert look(person).under_way
        assert person.pane.columns is None
        await person.do(person.app.quit)
        box = await person.seen(QMessageBox)
        await person.click(next(one for one in box.buttons() if "Cancel" in one.text()))
        await person.until(lambda: not person.find(QMessageBox), "the question is answered")
        assert runs.going

    stage.play(scene, ENDLESS)


def test_the_next_page_of_the_centre_opens_with_the_docks_it_was_left_with(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        window = person.app.window
        before = [dock.isVisible() for dock in (window.left_dock, window.right_dock, window.bottom_dock)]
        await open_evaluation(person)
        assert not window.right_dock.isVisible()
        await person.press("Compare", window.bar)
        await person.until(lambda: person.pane.columns is not None, "the lanes")
        await person.press("Conversation", window.bar)
        await person.until(lambda: person.pane.columns is None, "the conversation")
        assert [dock.isVisible() for dock in (window.left_dock, window.right_dock, window.bottom_dock)] == before

    stage.play(scene, AT_ONCE)


def test_an_experiment_that_is_deleted_is_asked_no_longer(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await open_evaluation(person)
        runs = look(person).runs
        await person.key(Qt.Key.Key_Return, CONTROL)
        await person.until(lambda: runs.going, "the run")
        workspace = person.app.workspace
        await person.do(lambda: workspace.delete(person.session.main.id))
        await person.until(lambda: not runs.going, "its end")

    stage.play(scene, SLOW)


def test_a_run_that_stops_by_itself_says_why(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        found = await open_evaluation(person)
        await person.do(lambda: found.change(budget=Budget(requests=10), at_once=1))
        await person.key(Qt.Key.Key_Return, CONTROL)
        await person.until(lambda: "budget of 10 requests" in person.pane.notice.words, "why it stopped")
        assert person.pane.notice.isVisible()
        assert found.results.count == 10
        await person.do(lambda: found.change(budget=Budget(), cases=found.plan.cases[:1]))
        turn = person.session.transcript.path[-1]
        await person.do(lambda: person.session.turns.edit_text(turn.id, "What is {{sum}}? !401"))
        await person.until(lambda: found.ready and not found.results.count, "another question")
        await person.key(Qt.Key.Key_Return, CONTROL)
        await person.until(lambda: "A · as set" in person.pane.notice.words, "who refused")
        assert found.results.count == 0
        assert "Continue asks for the rest" in person.pane.notice.words

    stage.play(scene, AT_ONCE)
