"""Answers of an evaluation: their turns, verdicts of checks and of a judge, requests, ratings, the blind test."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableView

from playground.domain.checks.asked import Judge, You
from playground.domain.checks.texts import Contains
from playground.engine.evaluation.provider import Answer
from playground.engine.gateways.gateways import DEMO_ID
from playground.engine.session.plan import Keep
from tests.engine.evaluation.evaluations import planned, variant
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.evaluate import AT_ONCE, AnswerDetails, BlindTest, EvaluatePage, change_plan, plan_of

TEXT = "What is {{city}} like? !fast"


async def evaluate(person: Person, text: str = TEXT, **fields: Any) -> EvaluatePage:
    """The page of an evaluation that has been run to its end."""
    await person.until(lambda: person.app.gateways.listed(DEMO_ID), "the models")
    await person.do(lambda: person.session.change(model="demo-chat"))
    await person.do(lambda: planned(person.session, text, **fields))
    page = await EvaluatePage.open(person)
    await page.run()
    return page


async def load_answers(person: Person) -> list[Answer]:
    """The answers that are saved."""
    return await person.app.workspace.answers.load(person.session.main.id)


async def wait_for_text(details: AnswerDetails | BlindTest, text: str) -> None:
    """Wait until a label begins with this text."""
    await details.wait_until(lambda: any(words.startswith(text) for words in details.texts), text)


@flow(AT_ONCE)
async def test_answer_shows_its_turns_checks_and_judge(person: Person) -> None:
    judge = Judge(model="demo-chat", rubric="It is friendly.")
    checks = Contains(text="{{city}}"), Contains(text="API key"), judge
    page = await evaluate(person, checks=checks, repeats=2, keep=Keep.ALL)
    details = await page.choose_answer(0, "Lisbon")
    assert details.tabs[0] == "Answers 2"
    answers = {(answer.case, answer.repeat): answer for answer in await load_answers(person)}
    assert answers["c0", 1].preview[:20] in details.text
    await person.until(lambda: [word for word, _ in details.checks][:2] == ["passed", "failed"], "the verdicts")
    assert "API key" in details.checks[1][1]

    await details.open_check(2)
    await person.until(lambda: details.tab == "Checks", "the check")
    await wait_for_text(details, "Judged by demo-chat")
    await person.until(lambda: "It is friendly." in details.text, "what the judge was asked")

    await details.open_tab("Request")
    await person.until(lambda: "What is Lisbon like? !fast" in details.text, "the request")
    await person.until(lambda: "1 of 2" in details.texts, "the first answer")
    await details.press("Next repeat")
    await person.until(lambda: "2 of 2" in details.texts, "the second answer")


@flow(AT_ONCE)
async def test_answer_shows_its_frames_if_saved_and_becomes_a_conversation(person: Person) -> None:
    page = await evaluate(person, checks=(Contains(text="Lisbon"),), keep=Keep.FAILED)
    details = await page.choose_answer(1, "Oslo")
    await details.open_tab("Request")
    await person.until(lambda: "What is Oslo like?" in details.text, "the request")
    await details.open_tab("Timeline")
    await person.until(lambda: details.find(QTableView, "Events"), "the frames")

    await details.open_tab("Answers")
    details = await page.choose_answer(0, "Lisbon")
    await details.open_tab("Timeline")
    await wait_for_text(details, "The events of this answer were not saved")
    await details.press("Save events of all answers from now on")
    await person.until(lambda: plan_of(person).keep is Keep.ALL, "the setting")
    before = {answer.case: answer for answer in await load_answers(person)}
    await details.press("Run this cell again")
    await person.until(lambda: details.find(QTableView, "Events"), "the frames of another answer")
    after = {answer.case: answer for answer in await load_answers(person)}
    assert after["c0"].created_at > before["c0"].created_at
    assert len(after) == page.answers == 3

    # It becomes a conversation
    evaluated = person.session
    answer = next(answer for answer in after.values() if answer.case == "c0")
    saved = await person.app.workspace.answers.details(evaluated.main.id, answer)
    await details.open_tab("Answers")
    await details.press("Open as conversation")
    await person.until(lambda: person.session is not evaluated, "another experiment")
    await person.until(person.pane.composer.isVisible, "the conversation")
    assert person.path == saved.turns
    assert person.session.title == "Lisbon · A"
    assert len(person.session.exchanges) == 1
    await person.run("And tomorrow? !fast")
    await person.idle(len(saved.turns) + 2)


@flow(AT_ONCE)
async def test_answers_refused_for_one_field_are_asked_again_without_it(person: Person) -> None:
    parameters = person.session.settings.current.with_value("seed", 7)
    await person.do(lambda: person.session.set_parameters(parameters))
    page = await evaluate(person, "Say {{city}} !fast !refuse=seed")
    assert page.failed == page.answers > 1
    details = await page.choose_answer(0)
    await person.until(lambda: details.has_button("Always leave it out for this model"), "its card")
    assert not details.has_button("Leave out “seed” and retry"), "not for one answer alone"
    await person.until(lambda: details.errors, "the error")
    assert not details.checks
    assert not details.can_be_rated
    notice = person.conversation.notice
    await notice.wait_for_text(f"{page.answers} answers were refused: the gateway does not take “seed”.")
    await notice.press("Leave out “seed” and continue")
    await page.wait_until(lambda: page.complete and not page.failed, "answers")
    (rule,) = person.app.gateways.get(DEMO_ID).adaptations
    assert (rule.words, rule.model) == ("seed left out", "demo-chat")
    assert person.session.settings.current.set_fields["seed"] == 7


def test_thumb_and_note_are_a_verdict_after_restart(stage: Stage) -> None:
    async def first(person: Person) -> None:
        page = await evaluate(person, checks=())
        details = await page.choose_answer(0, "Lisbon")
        await details.press("This answer is bad")
        await person.until(lambda: [type(check) for check in plan_of(person).checks] == [You], "the check")
        await person.until(lambda: [word for word, _ in details.checks] == ["failed"], "the verdict")
        await person.type_into(details.note, "too long")
        await person.until(lambda: details.checks == [("failed", "too long")], "the note")
        details = await page.choose_answer(1, "Oslo")
        await person.until(lambda: not details.rated_bad, "another answer")
        assert not details.note.text()

    async def second(person: Person) -> None:
        await person.until(lambda: person.session.settings.evaluation is not None, "the experiment")
        page = await EvaluatePage.open(person)
        details = await page.choose_answer(0, "Lisbon")
        await person.until(lambda: details.rated_bad, "the thumb")
        await person.until(lambda: details.note.text() == "too long", "the note")

    stage.play(first, AT_ONCE)
    stage.play(second, AT_ONCE)


@flow(AT_ONCE)
async def test_blind_test_names_nobody_until_all_pairs_are_judged(person: Person) -> None:
    page = await evaluate(person)
    blind = await BlindTest.open(page)
    await wait_for_text(blind, "A blind test needs two variants")
    await change_plan(person, variants=(variant("other", model="demo-reasoner"),))
    await wait_for_text(blind, "No case was answered by both yet")
    await page.begin()
    await page.wait_until_complete()
    question = ""
    for number in range(3):
        await person.until(lambda: blind.question not in ("", question), "a pair")  # noqa: B023 - awaited at once
        question = blind.question
        assert blind.count == f"{number} of 3 pairs"
        assert not {"demo-chat", "demo-reasoner", "other", "Reasoning"} & blind.words
        await person.key(Qt.Key.Key_1)
    await person.until(lambda: blind.votes, "who won")
    assert "A · current settings" in blind.votes
    assert "other" in blind.votes

    votes = await person.app.workspace.answers.votes(person.session.main.id)
    assert len(votes) == 3
    await person.key(Qt.Key.Key_Backspace)
    await person.until(lambda: blind.question, "the pair before")
    await person.key(Qt.Key.Key_Equal)
    await person.until(lambda: blind.votes, "who won")
    assert "Both good: 1" in blind.votes
