"""Evaluations: the sample opened, run, stopped, continued, left and opened again."""

from __future__ import annotations

from PySide6.QtCore import Qt

from playground.demo.server import DemoConfig
from playground.engine.compare.lanes import Lanes
from playground.engine.session.plan import Budget
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.compare import ComparePage
from tests.flows.pages.evaluate import AT_ONCE, EvaluatePage, change_plan, plan_of
from tests.flows.pages.steps import answer_question
from tests.support.editors import edit_text

SLOW = DemoConfig(tokens_per_second=0, time_to_first_token=0.3, rate_limit=0)
ENDLESS = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=3)  # of 48 requests, in a minute


def test_sample_is_evaluated_and_its_answers_are_there_after_restart(stage: Stage) -> None:
    async def first(person: Person) -> None:
        window = person.app.window
        docks = (window.left_dock, window.right_dock, window.bottom_dock)
        before = [dock.isVisible() for dock in docks]

        # An evaluation without cases is not run
        page = await EvaluatePage.open(person)
        await page.begin()
        await person.conversation.notice.wait_for_text("There is no case yet")
        assert not page.running

        page = await EvaluatePage.open_sample(person)
        assert not person.pane.composer.isVisible()
        assert not window.right_dock.isVisible()
        await page.run()
        assert page.failed == 0

        # A case that was edited has stale answers
        first, *others = plan_of(person).cases
        await change_plan(person, cases=(first.model_copy(update={"values": {"sum": "1 + 1"}}), *others))
        await person.until(lambda: page.stale == 1 and page.answers == 44, "a case with stale answers")
        await person.do(person.session.undo)
        await person.until(lambda: page.stale == 0 and page.answers == 48, "the answers again")

        await person.press("Compare", window.bar)
        await person.until(lambda: ComparePage(person).lanes, "the lanes")
        await person.press("Conversation", window.bar)
        await ComparePage(person).wait_until_closed()
        await person.until(person.pane.composer.isVisible, "the conversation")
        await person.until(lambda: [dock.isVisible() for dock in docks] == before, "the panels as before")

    async def second(person: Person) -> None:
        # The page of the new experiment gives way to that of the experiment of the last start.
        await person.trigger("evaluate.open")
        await person.until(
            lambda: [page.answers for page in EvaluatePage.find_all(person)] == [48], "the answers of the last start"
        )

    stage.play(first, AT_ONCE)
    stage.play(second, AT_ONCE)


@flow(AT_ONCE)
async def test_empty_evaluation_starts_from_lanes_or_the_sample(person: Person) -> None:
    Lanes(person.session).add(name="warm")
    page = await EvaluatePage.open(person)
    await page.press("Use my lanes")
    await person.until(
        lambda: [variant.name for variant in plan_of(person).variants] == ["warm"], "the lane as a variant"
    )
    await page.press("Try the sample")
    await person.until(lambda: len(plan_of(person).cases) == 12, "the cases of the sample")
    page = await EvaluatePage.wait(person)
    await person.until(lambda: page.ready and not page.answers, "its page")


@flow(SLOW)
async def test_run_is_stopped_continued_left_and_deleted(person: Person) -> None:
    page = await EvaluatePage.open_sample(person)
    await change_plan(person, at_once=4)
    await page.begin()
    await person.until(lambda: page.answers >= 8, "some answers")
    await person.key(Qt.Key.Key_Escape)
    await person.until(lambda: not page.running, "the end")
    store, evaluation = person.app.workspace.answers, person.session.main.id
    before = {answer.key: answer for answer in await store.load(evaluation)}
    await person.until(lambda: page.answers == len(before), "the answers in the table")
    assert 8 <= len(before) < 48
    await change_plan(person, at_once=48)
    await page.run()
    after = {answer.key: answer for answer in await store.load(evaluation)}
    assert len(after) == 48
    assert all(after[key] == answer for key, answer in before.items()), "none was asked twice"

    # Deleted while it runs, it sends no more requests
    page = await EvaluatePage.open_sample(person)
    await change_plan(person, at_once=4)
    requests = len(person.posts)
    await page.begin()
    await person.until(lambda: page.running and len(person.posts) > requests, "the run")
    await person.do(lambda: person.app.workspace.delete(person.session.main.id))
    page = await EvaluatePage.wait(person)
    await page.wait_until(lambda: page.ready and not page.running, "another experiment")
    count = len(person.posts)
    assert count < requests + 48
    await person.do(lambda: person.app.workspace.undelete())
    page = await EvaluatePage.wait(person)
    await page.wait_until(lambda: page.ready and not page.running, "the restored experiment")
    assert len(person.posts) == count


@flow(ENDLESS)
async def test_run_continues_behind_other_pages_and_quitting_asks(person: Person) -> None:
    page = await EvaluatePage.open_sample(person)
    await page.begin()
    await person.until(lambda: page.running and page.answers, "the run")
    await person.press("Compare", person.app.window.bar)
    await person.until(lambda: not EvaluatePage.count(person) and ComparePage(person).lanes, "the lanes")
    await person.press("Evaluate", person.app.window.bar)
    page = await EvaluatePage.wait(person)
    await person.until(lambda: page.running, "the run")
    assert not ComparePage(person).lanes
    await person.do(person.app.quit)
    assert "An evaluation is under way" in await answer_question(person, "Cancel")
    await person.until(lambda: page.running, "the run")


@flow(AT_ONCE)
async def test_run_that_stops_by_itself_says_why(person: Person) -> None:
    page = await EvaluatePage.open_sample(person)
    await change_plan(person, budget=Budget(requests=10), at_once=1)
    await page.begin()
    await person.conversation.notice.wait_for_text("budget of 10 requests")
    await person.until(lambda: page.answers == 10, "ten answers")
    await change_plan(person, budget=Budget(), cases=plan_of(person).cases[:1])
    turn = person.session.transcript.path[-1]
    await person.do(lambda: edit_text(person.session, turn.id, "What is {{sum}}? !401"))
    await person.until(lambda: page.ready and not page.answers, "another question")
    await page.begin()
    await person.conversation.notice.wait_for_text("A · current settings")
    assert not page.answers
    await person.conversation.notice.wait_for_text("Continue requests the others")
