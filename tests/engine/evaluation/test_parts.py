"""Estimates, blind tests, cases of a conversation and verdicts by hand."""

from __future__ import annotations

import pytest

from playground.domain.checks.asked import Judge
from playground.domain.costs import no_price
from playground.domain.parts import ToolCall, ToolResult
from playground.domain.prices import Price
from playground.domain.transcript import Role, Turn, make_turn
from playground.engine.evaluation.blind import Vote, blind_pairs, count_votes
from playground.engine.evaluation.runner import estimate
from playground.engine.evaluation.variants import case_of, step_of, step_plan
from playground.engine.session.drafts import OpenEdit
from playground.engine.session.session import Session
from tests.engine.evaluation.evaluations import Evaluations, planned
from tests.engine.evaluation.test_results import results
from tests.engine.session.test_session import make_session


async def test_estimate_counts_requests_and_learns_from_answers(evaluations: Evaluations, session: Session) -> None:
    planned(session, repeats=2, checks=(Judge(rubric="kind", model="demo-chat"),))
    runner = await evaluations.load(session)

    def entered(_profile_id: str, _model: str) -> Price:
        return Price(input=1000.0, output=2000.0, currency="€")

    before = estimate(runner.resolved, runner.answers, runner.missing, entered)
    assert (before.requests, before.answered, before.tokens) == (12, False, 0)
    assert 6 * 5 <= before.prompt <= 6 * 30
    assert before.words.startswith("≈ 12 requests · ≈ ")
    assert before.words.endswith("answers not counted")
    assert "€" in before.words
    planned(session, repeats=1, checks=())
    await evaluations.run(session)
    runner = await evaluations.load(planned(session, repeats=3, checks=()))
    after = estimate(runner.resolved, runner.answers, runner.missing, no_price)
    assert (after.requests, after.answered) == (6, True)
    assert after.tokens > 100
    assert after.seconds is not None
    assert estimate(runner.resolved, runner.answers, [], no_price).words == "nothing is missing"


def test_pairs_are_drawn_reproducibly_with_random_sides() -> None:
    evaluated = results(lambda case, place, _: (None if case == 3 and place else True, 1.0), cases=30, repeats=2)
    first, another = evaluated.resolved.columns
    drawn = blind_pairs(evaluated, first, another)
    assert drawn == blind_pairs(evaluated, first, another)
    assert len(drawn) == 58
    assert 10 < sum(item.is_swapped for item in drawn) < 48
    for item in drawn:
        left_answer, right = item.sides
        assert {left_answer.key, right.key} == {item.first.key, item.second.key}
        assert item.vote(is_left=True) == (Vote.FIRST if left_answer is item.first else Vote.SECOND)
        assert item.vote(is_left=False) == (Vote.FIRST if right is item.first else Vote.SECOND)
    assert [item.case.id for item in drawn] != sorted(item.case.id for item in drawn)


def test_tally_names_the_winner_and_its_certainty() -> None:
    evaluated = results(lambda *_: (True, 1.0), cases=20)
    first, another = evaluated.resolved.columns
    drawn = blind_pairs(evaluated, first, another)
    assert count_votes(drawn, {}, first, another).words == "No pair has decided yet."
    votes: dict[tuple[str, str, int], str] = {item.pair: Vote.SECOND for item in drawn[:12]}
    votes |= {drawn[12].pair: Vote.FIRST, drawn[13].pair: Vote.BOTH, drawn[14].pair: Vote.NEITHER}
    counted = count_votes(drawn, votes, first, another)
    assert (counted.second, counted.first, counted.both, counted.neither, counted.remaining) == (12, 1, 1, 1, 5)
    assert counted.share == 12 / 13
    assert counted.words == "B · B was better than A · current settings in 92 % of 13 pairs (p = 0.003)."
    few = count_votes(drawn, {drawn[0].pair: Vote.FIRST}, first, another)
    assert few.words == "From 1 pairs it cannot be told whether A · current settings or B · B is better (p = 1.00)."


def session_with(*turns: Turn) -> Session:
    session = make_session()
    for turn in turns:
        session.turns.add_turn(turn)
    return session


SYSTEM, FIRST, SECOND, THIRD = (
    make_turn(Role.SYSTEM, "Be brief."),
    *(make_turn(Role.USER, text) for text in ("One", "Two", "Three")),
)


def test_turn_becomes_a_case_with_all_turns_above() -> None:
    answers = (make_turn(Role.ASSISTANT, text) for text in "12")
    session = session_with(SYSTEM, FIRST, next(answers), SECOND, next(answers), THIRD)
    path = session.transcript.path
    case = case_of(session, path[4].id)
    assert ([turn.text for turn in case.turns], case.expected, case.whole) == (["One", "1", "Two"], "2", False)
    assert [turn.text for turn in case_of(session, path[3].id).turns] == ["One", "1", "Two"]
    with pytest.raises(ValueError, match="no question above"):
        case_of(session, path[0].id)
    with pytest.raises(KeyError):
        case_of(session, "gone")


def test_case_has_the_text_of_an_open_editor() -> None:
    session = session_with(make_turn(Role.USER, "Say one"), make_turn(Role.ASSISTANT, "1"))
    question, answer = session.transcript.path
    session.editors.set_editing(OpenEdit(turn=question.id, text="Say two"))
    (case,) = step_plan(session, answer.id).cases
    assert [turn.text for turn in case.turns] == ["Say two"]
    assert session.transcript.path == (question, answer)


def test_step_follows_the_focus() -> None:
    assert step_of(make_session()) == ""
    call = ToolCall(id="1", name="f", arguments="{}")
    session = session_with(FIRST, make_turn(Role.ASSISTANT, "1"), SECOND, make_turn(Role.ASSISTANT, "", call))
    user, first, _, second = session.transcript.path
    assert step_of(session) == second.id
    assert step_of(session, first.id) == first.id
    assert step_of(session, user.id) == step_of(session, "gone") == second.id, "what has the focus is no answer"
    session.turns.add_turn(make_turn(Role.TOOL, "", ToolResult(call_id="1", text="21")))
    session.turns.add_turn(THIRD)
    last = session.transcript.path[-1].id
    assert step_of(session) == last, "the next request"
    assert [turn.text for turn in case_of(session, last).turns][-1] == "Three"


async def test_step_is_asked_again_unchanged(evaluations: Evaluations, session: Session) -> None:
    """Any earlier turns: two turns of the user in a row, a call with its result."""
    call = ToolCall(id="1", name="f", arguments="{}")
    for turn in (
        make_turn(Role.USER, "One"),
        make_turn(Role.USER, "Two !fast"),
        make_turn(Role.ASSISTANT, "", call),
        make_turn(Role.TOOL, "", ToolResult(call_id="1", text="21")),
    ):
        session.turns.add_turn(turn)
    await session.run()
    last = session.transcript.path[-1]
    session.change(evaluation=step_plan(session, last.id, repeats=2))
    runner = await evaluations.run(session)
    assert runner.progress.done == 2
    for item in runner.answers.values():
        assert item.metrics.requests == 1
        saved = await evaluations.store.details(session.id, item)
        assert [turn.role for turn in saved.turns] == [turn.role for turn in session.transcript.path]
