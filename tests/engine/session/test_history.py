"""Undo of settings, branches and turns that are received meanwhile."""

from __future__ import annotations

from playground.domain.accumulator import GrowingChoice
from playground.domain.parts import Text
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn
from playground.engine.session.history import TYPING
from playground.engine.session.session import Experiment, Session
from tests.support.editors import no_gateway


def arrived(turn_id: str, parent: str | None, text: str = "done") -> Turn:
    outcome = Outcome(ending=Ending.COMPLETE)
    return Turn(id=turn_id, role=Role.ASSISTANT, parent=parent, parts=(Text(text=text),), outcome=outcome)


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def set_up() -> tuple[Session, Clock]:
    session, clock = Experiment(no_gateway, profile_id="p", model="m").main, Clock()
    session.history.stack.clock = clock
    return session, clock


def temperature(session: Session) -> object:
    return session.settings.current.to_wire().get("temperature")


def test_values_typed_without_a_pause_are_one_step() -> None:
    session, clock = set_up()
    for value in (0.1, 0.12, 0.125):
        clock.now += 1
        session.set_parameters(session.settings.current.with_value("temperature", value))
    clock.now += 1
    session.set_parameters(session.settings.current.with_value("top_p", 0.2))
    clock.now += TYPING
    session.set_parameters(session.settings.current.with_value("top_p", 0.9))
    session.undo()
    assert session.settings.current.to_wire().get("top_p") == 0.2
    session.undo()
    assert (session.settings.current.to_wire().get("top_p"), temperature(session)) == (None, 0.125)
    session.undo()
    assert temperature(session) is None
    assert not session.undo()


def test_settings_changed_at_once_are_one_step_unless_a_turn_comes_between() -> None:
    session, _ = set_up()
    session.change(profile_id="q")
    session.change(model="n")
    session.undo()
    assert (session.settings.profile_id, session.settings.model) == ("p", "m")
    assert not session.undo()
    session.redo()
    assert (session.settings.profile_id, session.settings.model) == ("q", "n")
    session.turns.add_turn(make_turn(Role.USER, "one"))
    session.change(model="o")
    session.undo()
    assert (session.settings.model, len(session.transcript.path)) == ("n", 1)


def test_unsent_text_is_undone_with_its_value() -> None:
    session, _ = set_up()
    session.set_unsent("extra_body", '{"a"')
    session.change(extra_body={"a": 1})
    session.set_unsent("extra_body", "")
    session.undo()
    assert (session.settings.extra_body, session.settings.unsent) == ({}, {})


def test_undo_of_a_setting_changed_during_an_answer_keeps_the_answer() -> None:
    session, clock = set_up()
    session.turns.add_turn(make_turn(Role.USER, "?"))
    (turn_id,) = session.turns.begin_turns(session.transcript.head, [GrowingChoice(0)])
    session.change(model="n")
    clock.now += 10
    session.turns.end_turns([arrived(turn_id, session.transcript.path[0].id)])
    session.undo()
    assert (session.settings.model, session.transcript.path[-1].text) == ("m", "done")


def test_branch_is_deleted_with_all_below_and_comes_back_with_undo() -> None:
    session, _ = set_up()
    first = session.turns.add_turn(make_turn(Role.USER, "?"))
    alternatives = [arrived(name, first) for name in ("a", "b")]
    below = [arrived("a1", "a"), arrived("a2", "a1")]
    turns = {turn.id: turn for turn in (session.transcript.turns[first], *alternatives, *below)}
    session.turns.rewrite(Transcript(turns, "a2"))
    assert session.delete_branch("a") == 3
    assert [turn.id for turn in session.transcript.path] == [first, "b"]
    session.undo()
    assert session.transcript == Transcript(turns, "a2")
    assert session.delete_branch(first) == 5
    assert session.transcript.path == ()
    session.undo()
    (growing,) = session.turns.begin_turns(first, [GrowingChoice(0)])
    assert session.delete_branch(first) == 0, "a run receives a turn of it"
    assert growing in session.transcript.turns
