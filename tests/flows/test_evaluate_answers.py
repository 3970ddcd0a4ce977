"""A person looks at answers: their turns, what checks and a judge say, the wire, a thumb, a blind test."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from playground.demo.server import DemoConfig
from playground.domain.checks.asked import Judge, You
from playground.domain.checks.texts import Contains
from playground.domain.parts import Reasoning
from playground.engine.evaluation.answering import Answer
from playground.engine.evaluation.refused import refused_alike
from playground.engine.gateways.offered import DEMO_ID
from playground.engine.session.plan import Keep
from playground.ui.features.evaluate.blind import BUTTONS, BlindView
from playground.ui.features.evaluate.detail import CHECKS, REQUEST, TIMELINE, Detail
from playground.ui.features.evaluate.look import Look
from tests.engine.evaluation.evaluations import planned, variant
from tests.flows.conftest import Person, Stage
from tests.flows.test_evaluate import control

AT_ONCE = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=0)
TEXT = "What is {{city}} like? !fast"


async def _evaluated(person: Person, text: str = TEXT, **fields: Any) -> Look:
    """An evaluation of the experiment looked at, run to its end."""
    await person.until(lambda: person.app.window.bar.model.ids, "the models")
    await person.do(lambda: person.session.change(model="demo-chat"))
    await person.do(lambda: planned(person.session, text, **fields))
    await person.do(person.app.window.action("evaluate.open").trigger)
    found = control(person)
    await person.until(lambda: found.look is not None and found.look.ready, "the plan")
    look = found.look
    assert look is not None
    await _run(person, look)
    return look


async def _run(person: Person, look: Look) -> None:
    """All that is missing."""
    await person.do(control(person).run)
    await person.until(lambda: look.results.count and not look.results.missing and not look.under_way, "all answers")


async def _said(person: Person, words: str, inside: QWidget) -> None:
    """Wait until that is read somewhere."""
    labels = partial(person.find, QLabel, "", inside)
    await person.until(lambda: any(label.text().startswith(words) for label in labels()), words)


async def _look_at(person: Person, look: Look, case: int = 0, repeat: int = 1) -> Detail:
    """An answer of the experiment as it is set."""
    await person.do(lambda: look.choose(look.inquiry.cases[case], look.inquiry.columns[0], repeat))
    page = control(person).page
    assert page is not None
    detail = page.detail
    assert isinstance(detail, Detail)
    await person.until(lambda: detail.shown is not None and detail.shown is look.answer, "the answer")
    return detail


def _answer(look: Look) -> Answer:
    assert look.answer is not None
    return look.answer


def test_an_answer_is_seen_with_its_turns_and_what_every_check_says(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        judge = Judge(model="demo-chat", rubric="It is friendly.")
        checks = Contains(text="{{city}}"), Contains(text="API key"), judge
        look = await _evaluated(person, checks=checks, repeats=2, keep=Keep.ALL)
        detail = await _look_at(person, look)
        assert detail.tabs.tabText(0) == "Answers 2"
        assert detail.pane is not None
        path = detail.pane.session.transcript.path
        assert path[0].text == "What is Lisbon like? !fast"
        assert path[-1].text.startswith(_answer(look).gist[:20])
        marks = [one.mark[2] for one in detail.verdicts.rows]
        assert marks[:2] == ["passed", "failed"]
        assert "API key" in detail.verdicts.rows[1].reason

        await person.do(lambda: detail.verdicts.looked_at.emit(2))
        assert detail.tabs.currentIndex() == CHECKS
        judged = detail.verdicts.rows[2].judgement
        assert judged is not None
        await _said(person, f"Asked {judged.model}", detail)
        turns = detail.checks.pane
        assert turns is not None
        assert "It is friendly." in "".join(turn.text for turn in turns.session.transcript.path)

        await person.press("The repeat after", detail)
        await person.until(lambda: look.repeat == 2 and detail.shown is look.answer, "the second answer")

    stage.play(scene, AT_ONCE)


def test_what_went_over_the_wire_is_there_where_it_was_kept_and_said_to_be_missing_elsewhere(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        look = await _evaluated(person, checks=(Contains(text="Lisbon"),), keep=Keep.FAILED)
        failed = await _look_at(person, look, case=1)
        await person.do(lambda: failed.tabs.setCurrentIndex(REQUEST))
        wire = failed.wire
        await person.until(lambda: "Oslo" in wire.request.pane.text.toPlainText(), "the request")
        await person.do(lambda: failed.tabs.setCurrentIndex(TIMELINE))
        await person.until(lambda: wire.timeline.page.isVisible(), "the frames")

        passed = await _look_at(person, look, case=0)
        await _said(person, "What went over the wire for this answer was not kept", passed)
        await person.press("Keep frames of all answers from now on", passed)
        await person.until(lambda: look.plan.keep is Keep.ALL and look.inquiry.plan.keep is Keep.ALL, "the setting")
        before = _answer(look)
        await person.press("Run this cell again", passed)
        await person.until(lambda: look.answer is not None and look.answer.at > before.at, "another answer")
        await person.until(lambda: bool(passed.kept.exchanges), "its exchanges")
        assert look.results.count == 3

    stage.play(scene, AT_ONCE)


def test_an_answer_that_failed_says_why_and_is_asked_again_from_its_card(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        look = await _evaluated(person, "Say {{city}} !400")
        detail = await _look_at(person, look)
        assert _answer(look).failure
        await person.until(lambda: detail.pane is not None and person.find(QPushButton, inside=detail.pane), "its card")
        assert not detail.verdicts.rows
        assert not detail.thumbs.isVisible()

    stage.play(scene, AT_ONCE)


def test_many_that_were_refused_for_one_field_are_asked_again_without_it(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        parameters = person.session.settings.current.with_value("seed", 7)
        await person.do(lambda: person.session.set_parameters(parameters))
        look = await _evaluated(person, "Say {{city}} !fast !refuse=seed")
        assert look.results.failed == look.results.count > 1
        one, *others = look.results.answers.values()
        found = refused_alike(look.inquiry, [replace(one, failure="Unknown parameter: 'seed'."), *others])
        assert found is not None
        assert (len(found.answers), found.more) == (len(others), 1)
        assert found.words.endswith("1 more was refused otherwise: that comes next.")
        detail = await _look_at(person, look)
        await person.until(lambda: detail.pane is not None and person.find(QPushButton, inside=detail.pane), "its card")
        assert not person.find(QPushButton, "Leave out “seed” and retry", detail.pane), "not for one answer alone"
        assert person.find(QPushButton, "Always leave it out for this model", detail.pane)
        notice = person.pane.notice
        await _said(person, f"{look.results.count} answers were refused: the gateway does not take “seed”.", notice)
        await person.press("Leave out “seed” and continue", notice)
        await person.until(lambda: look.results.count and not look.results.failed and not look.under_way, "answers")
        assert not look.results.missing
        (rule,) = person.app.gateways.get(DEMO_ID).adaptations
        assert (rule.words, rule.model) == ("seed left out", "demo-chat")
        assert person.session.settings.current.held["seed"] == 7

    stage.play(scene, AT_ONCE)


def test_a_thumb_with_a_note_is_a_verdict_and_is_there_another_day(stage: Stage) -> None:
    async def first(person: Person) -> None:
        look = await _evaluated(person, checks=())
        detail = await _look_at(person, look)
        await person.press("This answer is bad", detail)
        await person.until(lambda: any(isinstance(one, You) for one in look.inquiry.plan.checks), "the check")
        await person.until(lambda: [one.mark[2] for one in detail.verdicts.rows] == ["failed"], "the verdict")
        await person.type_into(detail.thumbs.note, "too long")
        await person.until(lambda: any(one.reason == "too long" for one in _answer(look).verdicts.values()), "the note")
        await _look_at(person, look, case=1)
        assert not detail.thumbs.note.text()
        assert not detail.thumbs.down.isChecked()

    async def second(person: Person) -> None:
        await person.until(lambda: person.session.settings.evaluation is not None, "the experiment")
        await person.do(person.app.window.action("evaluate.open").trigger)
        found = control(person)
        await person.until(lambda: found.look is not None and found.look.ready, "the plan")
        assert found.look is not None
        detail = await _look_at(person, found.look)
        assert detail.thumbs.down.isChecked()
        assert detail.thumbs.note.text() == "too long"

    stage.play(first, AT_ONCE)
    stage.play(second, AT_ONCE)


def test_an_answer_becomes_a_conversation_that_goes_on(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        look = await _evaluated(person, keep=Keep.ALL)
        evaluated = person.session
        detail = await _look_at(person, look)
        kept = detail.kept.turns
        await person.press("Open as conversation", detail)
        await person.until(lambda: person.session is not evaluated, "another experiment")
        await person.until(person.pane.composer.isVisible, "the conversation")
        assert person.path == kept
        assert person.session.title == "Lisbon · A"
        assert len(person.session.exchanges) == 1
        await person.run("And tomorrow? !fast")
        assert len(person.path) == len(kept) + 2

    stage.play(scene, AT_ONCE)


def test_a_blind_test_names_nobody_until_all_is_said(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        look = await _evaluated(person)
        await person.press("Blind", control(person).page)
        view = await person.seen(BlindView)
        await _said(person, "A blind test needs two variants", view)
        other = variant("other", model="demo-reasoner")
        await person.do(lambda: look.change(variants=(other,)))
        await _said(person, "No case was answered by both yet", view)
        await _run(person, look)
        for number in range(3):
            await person.until(lambda: view.ready, "a pair")
            assert view.count.text() == f"{number} of 3 pairs"
            turns = [turn for pane in view.panes for turn in pane.session.transcript.path]
            assert all(turn.outcome is None for turn in turns)
            assert not any(isinstance(part, Reasoning) for turn in turns for part in turn.parts)
            await person.key(Qt.Key(ord(BUTTONS[0][0])))
        await person.until(lambda: view.words.isVisible(), "who won")
        assert "A · as set" in view.counts.text()
        assert "other" in view.counts.text()

        votes = await look.store.votes(look.inquiry.id)
        assert len(votes) == 3
        await person.key(Qt.Key.Key_Backspace)
        await person.until(lambda: view.ready, "the pair before")
        await person.key(Qt.Key.Key_Equal)
        await person.until(lambda: view.words.isVisible(), "who won")
        assert "Both good: 1" in view.counts.text()

    stage.play(scene, AT_ONCE)
