"""Rows of an experiment that is not in view yet are those it would have had at once, whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import Coroutine

from playground.domain.transcript import Role, Transcript, make_turn
from playground.engine.session.session import Session
from playground.ui.features.conversation.aside import KEPT, Aside
from playground.ui.features.conversation.heights import Heights, guesser
from playground.ui.features.conversation.rows import Rows
from tests.benchmarks.experiment import long_transcript
from tests.support.editors import no_gateway

GUESS = guesser(700, 1.0)


def new(transcript: Transcript) -> Session:
    session = Session(no_gateway, profile_id="p", model="m")
    session.history.transcript = transcript
    return session


def turns_of_the_loop(work: Coroutine[None, None, None]) -> int:
    """Send it to its end."""
    for number in range(1000):
        try:
            work.send(None)
        except StopIteration:
            return number
    raise AssertionError("it does not end")


def test_rows_made_in_steps_are_those_made_at_once() -> None:
    transcript = long_transcript(7_000)
    session, aside = new(transcript), Aside()
    assert turns_of_the_loop(aside.make(session, GUESS)) >= 4, "each step is a turn of the loop"
    rows, heights = aside.take(session)
    at_once, others = Rows(), Heights()
    others.set_rows(at_once.follow(transcript), GUESS, ())
    assert rows.rows == at_once.rows
    before = list(rows.rows)
    assert all(one is other for one, other in zip(rows.follow(transcript), before, strict=True))
    assert (heights.rows, heights.index, heights.total) == (before, others.index, others.total)
    assert aside.take(session)[0].rows == [], "who took them has them"


def test_few_turns_take_no_turn_of_the_loop() -> None:
    session, aside = new(long_transcript(40)), Aside()
    assert turns_of_the_loop(aside.make(session, GUESS)) == 0
    assert aside.take(session)[0].rows == []


def test_what_is_shown_while_its_rows_are_made_is_left_alone() -> None:
    transcript = long_transcript(5_000)
    session, aside = new(transcript), Aside()
    making = aside.make(session, GUESS)
    making.send(None)
    rows, _ = aside.take(session)
    shown = rows.follow(transcript)
    session.history.transcript = transcript.append(make_turn(Role.USER, "More."))
    turns_of_the_loop(making)
    assert rows.rows == shown
    assert len(aside.take(session)[0].follow(session.transcript)) == len(shown) + 1


def test_those_left_last_are_kept() -> None:
    aside, sessions = Aside(), [new(Transcript()) for _ in range(KEPT + 1)]
    kept = [(Rows(), Heights()) for _ in sessions]
    for session, (rows, heights) in zip(sessions, kept, strict=True):
        aside.keep(session, rows, heights)
    assert aside.take(sessions[0]) != kept[0]
    assert [aside.take(session) for session in sessions[1:]] == kept[1:]
