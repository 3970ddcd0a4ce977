"""The panels of an evaluation: its checks, those of one case, the settings of a run; answers are deleted."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox

from playground.domain.checks.asked import Judge
from playground.domain.checks.figures import Latency
from playground.domain.checks.texts import Contains
from playground.engine.gateways.gateways import DEMO_ID
from playground.engine.session.plan import Keep, Order
from tests.flows.conftest import Person, flow
from tests.flows.pages.evaluate import AT_ONCE, EvaluatePage, change_plan, plan_of
from tests.flows.pages.steps import answer_question


@flow(AT_ONCE)
async def test_checks_are_edited_and_a_judge_offers_models(person: Person) -> None:
    page = await EvaluatePage.open_sample(person)
    checks = await page.open_checks()
    before = plan_of(person).checks
    await checks.add("Not contains")
    assert plan_of(person).checks == (*before, Contains(negated=True))
    await person.keys("sorry")
    assert plan_of(person).checks[-1] == Contains(text="sorry", negated=True)
    card = checks.cards[-1]
    await person.until(lambda: not card.problem, "no problem")
    await card.choose("Duplicate")
    await card.choose("Move up")
    assert [type(check) for check in plan_of(person).checks] == [Contains, Contains, Latency, Contains]
    await person.until(lambda: checks.cards[1].widget is card.widget and card.is_open, "the card one place above")
    await card.choose("Delete")
    await person.do(person.session.history.undo)
    await person.until(lambda: len(plan_of(person).checks) != 3, "undo")
    await change_plan(person, checks=before)

    # A judge offers the models of its gateway
    await checks.add("Judge")
    await person.until(lambda: checks.cards[-1].find(QComboBox, "Gateway"), "the form of the judge")
    card = checks.cards[-1]
    assert len(card.entries("Gateway")) == 2
    await card.choose_model("demo-chat")
    await card.choose_in("Gateway", card.entries("Gateway")[1])
    profile_id = person.session.settings.profile_id
    assert plan_of(person).checks[-1] == Judge(model="demo-chat", profile_id=profile_id)
    await person.until(lambda: "rubric" in card.problem, "what is missing")
    await card.toggle()
    await person.until(lambda: not card.is_open, "the form to close")
    await page.wait_until_ready()
    await page.begin()
    await person.until(lambda: card.is_open, "the form of the check that has a problem")


@flow(AT_ONCE)
async def test_case_has_checks_of_its_own_and_cards_show_pass_rates(person: Person) -> None:
    page = await EvaluatePage.open_sample(person)
    checks = await page.open_checks()
    checks_before = plan_of(person).checks
    assert not checks.can_add_own
    await page.choose_case(0)
    await checks.add_own("Contains")
    await person.keys("{{expected}}")
    assert plan_of(person).cases[0].checks == (Contains(text="{{expected}}"),)
    await page.choose_case(1)
    await person.until(lambda: not checks.own_cards, "the checks of the second case")
    await checks.cards[1].choose("For selected case only")
    assert [type(check) for check in plan_of(person).checks] == [Contains]
    assert plan_of(person).cases[1].checks == (Latency(),)
    await page.choose_no_case()
    await person.until(lambda: len(checks.of_single_cases) == 2, "the checks of single cases")
    await person.press("Latency ≤ 5 s to the last token:", checks.widget)
    await person.until(lambda: len(checks.own_cards) == 1 and checks.own_cards[0].title == "Latency", "its case")
    await checks.own_cards[0].choose("For all cases")
    await person.until(lambda: plan_of(person).checks[-1:] == (Latency(),), "the check of all cases")
    assert not plan_of(person).cases[1].checks

    # The share of answers that passed is on each card
    await change_plan(person, checks=checks_before)
    await change_plan(person, checks=(*plan_of(person).checks, Contains(text="{{nobody}}")))
    await page.run()
    await person.until(
        lambda: all("of 48 answers passed" in card.rate_details for card in checks.cards[:2]), "the rates"
    )
    assert checks.cards[0].rate.endswith("%")
    await person.until(lambda: checks.cards[2].rate == "for no case", "a check of no case")


@flow(AT_ONCE)
async def test_run_settings_are_estimated_and_answers_deleted_after_question(person: Person) -> None:
    page = await EvaluatePage.open_sample(person)
    await page.run()
    run = await page.open_run_settings()
    await person.until(lambda: run.saved.startswith("48"), "the answers")
    await person.until(lambda: not run.can_press("Delete outdated answers…"), "no stale answers")
    await change_plan(person, repeats=1)
    await person.until(lambda: "24 outdated" in run.saved, "stale answers")
    await run.push("Delete outdated answers…")
    await answer_question(person, "Cancel")
    assert "24 outdated" in run.saved
    await run.push("Delete outdated answers…")
    await answer_question(person, "Delete outdated answers")
    await person.until(lambda: "outdated" not in run.saved and page.complete, "none stale")
    assert run.saved.startswith("24")
    await run.push("Delete all answers…")
    await answer_question(person, "Delete all answers")
    await person.until(lambda: run.saved.startswith("0 "), "no answers")
    await person.until(lambda: not run.can_press("Delete all answers…"), "a disabled button")
    await page.run()
    assert not run.can_press("Delete recorded calls…")
    await run.choose("Tool servers", "recorded")
    await person.until(lambda: run.can_press("Delete recorded calls…"), "the button of recorded answers")
    assert plan_of(person).record
    await run.push("Delete recorded calls…")
    await person.conversation.notice.wait_for_text("No tool calls are recorded yet.")

    # Settings of the run
    page = await EvaluatePage.open_sample(person)
    run = await page.open_run_settings()
    await person.until(lambda: run.estimate.startswith("≈ 48 requests"), "an estimate")
    await run.type_into("Repeats", "3")
    await person.until(lambda: plan_of(person).repeats == 3, "three repeats")
    await person.until(lambda: run.estimate.startswith("≈ 72 requests"), "another estimate")
    await run.type_into("Parallel requests", "9999")
    await person.until(lambda: run.problem("Parallel requests") == "from 1 to 256", "the problem of a number")
    for field, entry in (("Order", "shuffled"), ("Streaming", "On"), ("Save events", "all")):
        await run.choose(field, entry)
    plan = plan_of(person)
    assert (plan.order, plan.streamed, plan.keep) == (Order.SHUFFLED, True, Keep.ALL)
    await run.type_into("Requests", "0")
    assert plan_of(person).budget.requests == 0
    await person.until(lambda: "nothing" in run.problem("Requests"), "the problem of the budget")
    await person.until(lambda: run.problems, "what keeps it from being run")
    assert run.problem("Parallel requests") == "from 1 to 256", "also once the plan was looked at"
    await run.type_into("Cost", "0.5")
    assert plan_of(person).budget.money == 0.5
    assert not run.problem("Cost"), "all its models cost nothing, by the gateway's list"
    person.app.gateways.forget_models(DEMO_ID)
    await run.type_into("Cost", "0.6")
    await person.until(lambda: "No price for" in run.problem("Cost"), "the problem of the money")
