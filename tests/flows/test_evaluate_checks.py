"""A person sets what an evaluation is: its checks, those of one case, how it is run; and lets answers go."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QMessageBox, QWidget

from playground.domain.checks.asked import Judge
from playground.domain.checks.figures import Latency
from playground.domain.checks.texts import Contains
from playground.engine.gateways.offered import DEMO_ID
from playground.engine.session.plan import Keep, Order
from playground.ui.features.evaluate.look import Look
from playground.ui.features.evaluate.panels.checks import ChecksPanel
from playground.ui.features.evaluate.panels.judge_row import JudgeRow
from playground.ui.features.evaluate.panels.run import RunPanel
from playground.ui.features.evaluate.parts import CHECKS, RUN
from tests.flows.conftest import Person, Stage
from tests.flows.test_evaluate import AT_ONCE, control, open_evaluation, run_all

P = TypeVar("P", bound=QWidget)


async def panel(person: Person, name: str, kind: type[P]) -> P:
    page = control(person).page
    assert page is not None
    await person.do(lambda: page.show_panel(name))
    found = page.panel(name)
    assert isinstance(found, kind)
    await person.until(found.isVisible, name)
    return found


async def settled(person: Person, look: Look) -> None:
    """Wait until what is set was looked at."""
    await person.until(lambda: look.inquiry.plan == look.plan, "a look at the plan")


def test_a_check_is_added_edited_and_taken_back(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        look = await open_evaluation(person)
        checks = await panel(person, CHECKS, ChecksPanel)
        before = look.plan.checks
        await person.choose(checks.add_button, "Not contains")
        assert look.plan.checks == (*before, Contains(negated=True))
        await person.keys("sorry")
        assert look.plan.checks[-1] == Contains(text="sorry", negated=True)
        await settled(person, look)
        assert not any(problem.place == "checks" for problem in look.problems)
        card = checks.of_all.cards[-1]
        await person.do(card.actions_by_name["copy"].trigger)
        await person.do(card.actions_by_name["up"].trigger)
        kinds = [type(check) for check in look.plan.checks]
        assert kinds == [Contains, Contains, Latency, Contains]
        assert card.form is not None
        assert checks.of_all.cards[1] is card
        assert card.form.isVisible()
        await person.do(card.actions_by_name["delete"].trigger)
        await person.do(person.session.history.undo)
        await person.until(lambda: len(look.plan.checks) != 3, "undo")

    stage.play(scene, AT_ONCE)


def test_how_often_checks_are_passed_stands_on_their_cards(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        look = await open_evaluation(person)
        checks = await panel(person, CHECKS, ChecksPanel)
        await person.do(lambda: look.change(checks=(*look.plan.checks, Contains(text="{{nobody}}"))))
        await run_all(person)
        rates = [card.rate for card in checks.of_all.cards]
        await person.until(lambda: all("of 48 answers passed" in rate.toolTip() for rate in rates[:2]), "the rates")
        assert rates[0].text().endswith("%")
        await person.until(lambda: rates[2].text() == "for no case", "a check that is for no case")

    stage.play(scene, AT_ONCE)


def test_a_case_has_checks_of_its_own(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        look = await open_evaluation(person)
        checks = await panel(person, CHECKS, ChecksPanel)
        first, second, *_ = look.plan.cases
        assert not checks.add_own.isVisible()
        await person.do(lambda: look.choose(first))
        await person.choose(checks.add_own, "Contains")
        await person.keys("{{expected}}")
        assert look.plan.cases[0].checks == (Contains(text="{{expected}}"),)
        await person.do(lambda: look.choose(second))
        assert not checks.own.cards
        await person.do(checks.of_all.cards[1].actions_by_name["elsewhere"].trigger)
        assert [type(check) for check in look.plan.checks] == [Contains]
        assert look.plan.cases[1].checks == (Latency(),)
        await person.do(lambda: look.choose(None))
        await person.until(lambda: len(checks.others.lines) == 2, "the checks of single cases")
        await person.press("Latency ≤ 5 s to the last token:", checks)
        assert look.case is not None
        assert look.case.id == second.id
        await person.do(checks.own.cards[0].actions_by_name["elsewhere"].trigger)
        await person.until(lambda: look.plan.checks[-1:] == (Latency(),), "the check of all cases")
        assert not look.plan.cases[1].checks

    stage.play(scene, AT_ONCE)


def test_the_models_of_a_judge_are_listed(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        look = await open_evaluation(person)
        checks = await panel(person, CHECKS, ChecksPanel)
        await person.choose(checks.add_button, "Judge")
        card = checks.of_all.cards[-1]
        assert card.form is not None
        row = card.form.rows["model"]
        assert isinstance(row, JudgeRow)
        await person.until(lambda: "demo-chat" in row.picker.ids, "the demo gateway's models")
        assert row.gateway.count() == 2
        await person.do(lambda: row.picker.chosen.emit("demo-chat"))
        await person.do(lambda: row.gateway.setCurrentIndex(1))
        await person.do(lambda: row.gateway.activated.emit(1))
        assert look.plan.checks[-1] == Judge(model="demo-chat", profile_id=person.session.settings.profile_id)
        await person.until(lambda: "rubric" in card.problem.text(), "what is missing")
        card.title.setChecked(False)
        await person.do(control(person).run)
        await person.until(lambda: card.form is not None and card.form.isVisible(), "the check that is to be mended")

    stage.play(scene, AT_ONCE)


def test_how_it_is_run_is_set_and_what_it_will_take_is_said(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        look = await open_evaluation(person)
        run = await panel(person, RUN, RunPanel)
        await person.until(lambda: run.estimate.text().startswith("≈ 48 requests"), "an estimate")
        await person.type_into(run.rows["repeats"].main_field(), "3")
        await person.until(lambda: look.plan.repeats == 3, "three repeats")
        await person.until(lambda: run.estimate.text().startswith("≈ 72 requests"), "another estimate")
        await person.type_into(run.rows["at_once"].main_field(), "9999")
        assert run.rows["at_once"].problem == "from 1 to 256"
        await settled(person, look)
        assert run.rows["at_once"].problem == "from 1 to 256"
        for name, index in (("order", 2), ("streamed", 1), ("keep", 1)):
            field = run.rows[name].main_field()
            await person.do(lambda field=field, index=index: field.activated.emit(index))  # type: ignore[misc]
        plan = look.plan
        assert (plan.order, plan.streamed, plan.keep) == (Order.SHUFFLED, True, Keep.ALL)
        await person.do(lambda: run.ensureWidgetVisible(run.rows["money"]))
        await person.type_into(run.rows["requests"].main_field(), "0")
        assert look.plan.budget.requests == 0
        assert "nothing" in run.rows["requests"].flag_label.text()
        await person.until(lambda: bool(run.problems.lines), "what keeps it from being run")
        await person.type_into(run.rows["money"].main_field(), "0.5")
        assert look.plan.budget.money == 0.5
        assert not run.rows["money"].flag_label.text(), "all its models cost nothing, by the gateway's list"
        person.app.gateways.forget_models(DEMO_ID)
        await person.type_into(run.rows["money"].main_field(), "0.6")
        assert "No price is known" in run.rows["money"].flag_label.text()

    stage.play(scene, AT_ONCE)


def test_answers_are_let_go_when_a_person_agrees(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        look = await open_evaluation(person)
        await run_all(person)
        run = await panel(person, RUN, RunPanel)
        await person.until(lambda: run.kept.text().startswith("48"), "the answers")
        assert not run.forget_stale.isEnabled()
        await person.do(lambda: look.change(repeats=1))
        await person.until(lambda: "24 stale" in run.kept.text(), "stale answers")
        await person.do(run.forget_stale.click)
        box = await person.seen(QMessageBox, inside=person.app.window)
        await person.press("Cancel", box)
        await person.until(lambda: not person.find(QMessageBox), "no question")
        assert len(look.stale) == 24
        await person.do(run.forget_stale.click)
        await person.press("Forget stale answers", await person.seen(QMessageBox, inside=person.app.window))
        await person.until(lambda: look.ready and not look.stale and look.results.count == 24, "none stale")
        await person.do(run.forget_all.click)
        await person.press("Forget all answers", await person.seen(QMessageBox, inside=person.app.window))
        await person.until(lambda: not look.results.count, "no answers")
        assert not run.forget_all.isEnabled()
        await person.do(control(person).run)
        await person.until(lambda: look.results.count == 24 and not look.under_way, "answers anew")
        assert not run.forget_recorded.isVisible()
        await person.do(lambda: run.rows["record"].edited.emit("record", True))
        await person.until(run.forget_recorded.isVisible, "the button for what was recorded")
        assert look.plan.record
        said: list[str] = []
        look.refused.connect(said.append)
        await person.do(run.forget_recorded.click)
        await person.until(lambda: said == ["No answer of a tool server is recorded yet."], "the word on it")

    stage.play(scene, AT_ONCE)
