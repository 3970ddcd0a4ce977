"""Going back and forth while turns arrive: what is laid over the past, and what it costs."""

from __future__ import annotations

import time

from playground.domain.accumulator import GrowingChoice
from playground.domain.parts import Text
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn
from playground.engine.history import UNDO_DEPTH, History
from playground.engine.run import RunRefusedError
from playground.engine.session import Session
from playground.gateway.client import GatewayClient


def arrived(turn_id: str, parent: str | None, text: str = "done") -> Turn:
    outcome = Outcome(ending=Ending.COMPLETE)
    return Turn(id=turn_id, role=Role.ASSISTANT, parent=parent, parts=(Text(text=text),), outcome=outcome)


def growing(turn_id: str, parent: str | None) -> Turn:
    return Turn(id=turn_id, role=Role.ASSISTANT, parent=parent)


def test_what_a_lane_brings_belongs_to_the_states_kept_meanwhile_and_to_no_earlier_one() -> None:
    history = History()
    start = Transcript().append(make_turn(Role.USER, "?"))
    history.keep(start)
    history.begin("lane")
    now = Transcript({**start.turns, "a": growing("a", start.head)}, "a")
    history.brought("lane", growing("a", start.head))
    history.keep(now)  # an edit, half-way through the first turn
    history.brought("lane", arrived("a", start.head))
    history.brought("lane", growing("b", "a"))
    history.brought("lane", arrived("b", "a"))
    history.end("lane")
    edited = history.undo(now)
    assert edited is not None
    assert [turn.text for turn in edited.path] == ["?", "done", "done"]
    assert history.undo(edited) is start


def test_a_lane_that_keeps_a_state_itself_is_taken_back_by_it() -> None:
    history = History()
    start = Transcript().append(make_turn(Role.USER, "?"))
    history.begin("lane")
    history.keep(start, by="lane")
    history.brought("lane", arrived("a", start.head))
    history.end("lane")
    assert history.undo(Transcript({**start.turns, "a": arrived("a", start.head)}, "a")) is start


def test_a_turn_taken_away_while_it_came_is_whole_where_it_still_stands() -> None:
    history = History()
    before = Transcript({"a": growing("a", None)}, "a")
    history.begin("lane")
    history.brought("lane", growing("a", None))
    history.keep(before)
    history.brought("lane", arrived("a", None))
    history.end("lane")
    back = history.undo(Transcript())
    assert back is not None
    assert back.path[0].text == "done"


def test_nothing_is_held_once_no_state_needs_it() -> None:
    history = History()
    for number in range(5):
        history.begin(f"lane {number}")
        history.brought(f"lane {number}", arrived(str(number), None))
        history.end(f"lane {number}")
    assert history._brought == {}


async def nowhere(_profile_id: str) -> GatewayClient:
    raise RunRefusedError("These tests send nothing.")


def long_session(turns: int, kept: int) -> Session:
    session = Session(nowhere, profile_id="p", model="m")
    made = (make_turn(Role.USER if n % 2 else Role.ASSISTANT, "text") for n in range(turns))
    session.transcript = Transcript().append(*made)
    turn_id = session.begin_turn(session.transcript.head, GrowingChoice(0))
    session.growing[turn_id] = GrowingChoice(0)
    for _ in range(kept):
        session.history.keep(session.transcript)
    return session


def cost_of_ending(kept: int) -> float:
    """CPU seconds to end the turn that grows in a conversation of 10,000; the best of five."""
    best = float("inf")
    for _ in range(5):
        session = long_session(10_000, kept)
        turn = arrived(next(iter(session.growing)), None)
        began = time.process_time()
        session.end_turn(turn)
        best = min(best, time.process_time() - began)
    return best


def test_ending_a_turn_costs_the_same_however_much_can_be_undone() -> None:
    alone, with_history = cost_of_ending(0), cost_of_ending(UNDO_DEPTH)
    assert with_history < 4 * alone + 0.002, f"{alone * 1e3:.2f} ms alone, {with_history * 1e3:.2f} ms with a history"
