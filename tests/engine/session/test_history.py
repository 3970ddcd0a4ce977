"""Going back and forth while turns arrive: what is laid over the past, and what it costs."""

from __future__ import annotations

import time

from playground.domain.accumulator import GrowingChoice
from playground.domain.debugging import Debugging
from playground.domain.parts import Text
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn
from playground.engine.session.history import TYPING, UNDO_DEPTH, History
from playground.engine.session.session import Session
from playground.engine.session.settings import ExperimentSettings
from tests.support.editors import no_gateway


def arrived(turn_id: str, parent: str | None, text: str = "done") -> Turn:
    outcome = Outcome(ending=Ending.COMPLETE)
    return Turn(id=turn_id, role=Role.ASSISTANT, parent=parent, parts=(Text(text=text),), outcome=outcome)


def growing(turn_id: str, parent: str | None) -> Turn:
    return Turn(id=turn_id, role=Role.ASSISTANT, parent=parent)


def test_what_a_lane_brings_belongs_to_the_states_kept_meanwhile_and_to_no_earlier_one() -> None:
    history = History(ExperimentSettings())
    start = Transcript().append(make_turn(Role.USER, "?"))
    history.transcript = start
    history.keep()
    history.begin("lane")
    history.transcript = Transcript({**start.turns, "a": growing("a", start.head)}, "a")
    history.brought("lane", growing("a", start.head))
    history.keep()  # an edit, half-way through the first turn
    history.brought("lane", arrived("a", start.head))
    history.brought("lane", growing("b", "a"))
    history.brought("lane", arrived("b", "a"))
    history.end("lane")
    assert history.undo()
    assert [turn.text for turn in history.transcript.path] == ["?", "done", "done"]
    assert history.undo()
    assert history.transcript is start


def test_a_lane_that_keeps_a_state_itself_is_taken_back_by_it() -> None:
    history = History(ExperimentSettings())
    start = Transcript().append(make_turn(Role.USER, "?"))
    history.transcript = start
    history.begin("lane")
    history.keep(by="lane")
    history.brought("lane", arrived("a", start.head))
    history.end("lane")
    history.transcript = Transcript({**start.turns, "a": arrived("a", start.head)}, "a")
    assert history.undo()
    assert history.transcript is start


def test_a_turn_taken_away_while_it_came_is_whole_where_it_still_stands() -> None:
    history = History(ExperimentSettings())
    history.transcript = Transcript({"a": growing("a", None)}, "a")
    history.begin("lane")
    history.brought("lane", growing("a", None))
    history.keep()
    history.transcript = Transcript()
    history.brought("lane", arrived("a", None))
    history.end("lane")
    assert history.undo()
    assert history.transcript.path[0].text == "done"


def long_session(turns: int, kept: int) -> Session:
    session = Session(no_gateway, profile_id="p", model="m")
    made = (make_turn(Role.USER if n % 2 else Role.ASSISTANT, "text") for n in range(turns))
    session.history.transcript = Transcript().append(*made)
    (turn_id,) = session.turns.begin_turns(session.transcript.head, [GrowingChoice(0)])
    session.growing[turn_id] = GrowingChoice(0)
    for _ in range(kept):
        session.history.keep()
    return session


def cost_of_ending(kept: int) -> float:
    """CPU seconds to end the turn that grows in a conversation of 10,000; the best of five."""
    best = float("inf")
    for _ in range(5):
        session = long_session(10_000, kept)
        turn = arrived(next(iter(session.growing)), None)
        began = time.process_time()
        session.turns.end_turns([turn])
        best = min(best, time.process_time() - began)
    return best


def test_ending_a_turn_costs_the_same_however_much_can_be_undone() -> None:
    alone, with_history = cost_of_ending(0), cost_of_ending(UNDO_DEPTH)
    assert with_history < 4 * alone + 0.002, f"{alone * 1e3:.2f} ms alone, {with_history * 1e3:.2f} ms with a history"


# What is set is an edit, too


class Clock:
    """Seconds that go on when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def set_up() -> tuple[Session, Clock]:
    session, clock = Session(no_gateway, profile_id="p", model="m"), Clock()
    session.history._states.clock = clock
    return session, clock


def temperature(session: Session) -> object:
    return session.settings.current.to_wire().get("temperature")


def test_each_setting_is_a_step_among_those_of_turns() -> None:
    session, clock = set_up()
    session.turns.add_turn(make_turn(Role.USER, "one"))
    clock.now += 10
    session.set_parameters(session.settings.current.with_value("temperature", 0.5))
    clock.now += 10
    session.change(tools=(ToolDefinition(name="look"),))
    clock.now += 10
    session.change(debugging=Debugging(step_limit=3))
    clock.now += 10
    session.change(title="A title")
    session.turns.add_turn(make_turn(Role.USER, "two"))

    def stands() -> tuple[int, object, int, int, str]:
        rules = session.debugger.debugging
        return (
            len(session.transcript.path),
            temperature(session),
            len(session.settings.tools),
            rules.step_limit,
            session.title,
        )

    usual = Debugging().step_limit
    states = [stands()]
    while session.undo():
        states.append(stands())
    assert states == [
        (2, 0.5, 1, 3, "A title"),
        (1, 0.5, 1, 3, "A title"),
        (1, 0.5, 1, 3, "one"),
        (1, 0.5, 1, usual, "one"),
        (1, 0.5, 0, usual, "one"),
        (1, None, 0, usual, "one"),
        (0, None, 0, usual, "New experiment"),
    ]
    while session.redo():
        states.append(stands())
    assert states[7:] == list(reversed(states[:6]))


def test_what_is_typed_is_one_step_and_a_pause_begins_another() -> None:
    session, clock = set_up()
    for value in (0.1, 0.12, 0.125):
        clock.now += 1
        session.set_parameters(session.settings.current.with_value("temperature", value))
    clock.now += TYPING
    session.set_parameters(session.settings.current.with_value("temperature", 0.9))
    session.undo()
    assert temperature(session) == 0.125
    session.undo()
    assert temperature(session) is None
    assert not session.undo()


def test_another_parameter_is_another_step() -> None:
    session, clock = set_up()
    session.set_parameters(session.settings.current.with_value("temperature", 0.1))
    clock.now += 1
    session.set_parameters(session.settings.current.with_value("top_p", 0.2))
    session.undo()
    assert session.settings.current.to_wire().get("top_p") is None
    assert temperature(session) == 0.1


def test_what_is_set_at_once_is_one_step() -> None:
    session, _ = set_up()
    session.change(profile_id="q")
    session.change(model="n")
    session.undo()
    assert (session.settings.profile_id, session.settings.model) == ("p", "m")
    assert not session.undo()
    session.redo()
    assert (session.settings.profile_id, session.settings.model) == ("q", "n")


def test_a_turn_between_two_settings_keeps_them_apart() -> None:
    session, _ = set_up()
    session.change(model="n")
    session.turns.add_turn(make_turn(Role.USER, "one"))
    session.change(model="o")
    session.undo()
    assert (session.settings.model, len(session.transcript.path)) == ("n", 1)
    session.undo()
    session.undo()
    assert (session.settings.model, len(session.transcript.path)) == ("m", 0)


def test_text_that_cannot_be_sent_yet_goes_back_with_what_it_becomes() -> None:
    session, _ = set_up()
    session.set_unsent("extra_body", '{"a"')
    session.change(extra_body={"a": 1})
    session.set_unsent("extra_body", "")
    session.undo()
    assert (session.settings.extra_body, session.settings.unsent) == ({}, {})


def test_a_setting_changed_while_an_answer_comes_loses_none_of_it() -> None:
    session, clock = set_up()
    session.turns.add_turn(make_turn(Role.USER, "?"))
    (turn_id,) = session.turns.begin_turns(session.transcript.head, [GrowingChoice(0)])
    session.change(model="n")
    clock.now += 10
    session.turns.end_turns([arrived(turn_id, session.transcript.path[0].id)])
    session.undo()
    assert (session.settings.model, session.transcript.path[-1].text) == ("m", "done")


def test_a_branch_is_deleted_whole_and_comes_back_whole() -> None:
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


def test_what_is_being_received_is_not_deleted_under_its_run() -> None:
    session, _ = set_up()
    first = session.turns.add_turn(make_turn(Role.USER, "?"))
    (turn_id,) = session.turns.begin_turns(first, [GrowingChoice(0)])
    assert session.delete_branch(first) == 0
    assert turn_id in session.transcript.turns
