"""Words on a lane: its differences, its place, its metrics and the best of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from playground.domain.costs import Cost
from playground.domain.parts import Text, ToolCall
from playground.domain.prices import Asked, Price
from playground.domain.request import ReasoningReturn
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn, new_id
from playground.domain.usage import Timing, Usage
from playground.engine.compare.lanes import Lanes
from playground.engine.compare.metrics import LaneMetrics, best, lane_metrics
from playground.engine.compare.words import AS_SET, difference_words, place_words, set_here
from playground.engine.session.session import Session
from tests.engine.session.test_session import make_session


@pytest.fixture
def pair() -> tuple[Lanes, Session, Session]:
    session = make_session(make_turn(Role.SYSTEM, "Be brief."), make_turn(Role.USER, "?"))
    lanes = Lanes(session)
    return lanes, session, lanes.add()


def words(lane: Session) -> list[str]:
    return difference_words(lane, lambda key: f"gateway {key}")


def test_lane_without_a_difference_is_as_set(pair: tuple[Lanes, Session, Session]) -> None:
    _, session, lane = pair
    assert (words(session), words(lane)) == ([AS_SET], [AS_SET])
    session.change(extra_body={"a": 1})
    assert words(lane) == [AS_SET]
    session.set_parameters(session.settings.current.with_value("temperature", 0.5))
    lane.switch_protocol("messages")
    assert words(lane) == ["Messages API"], "equal parameters of another protocol are no difference"


def test_words_name_every_difference(pair: tuple[Lanes, Session, Session]) -> None:
    lanes, _, lane = pair
    lane.change(profile_id="q", tools=(ToolDefinition(name="f", parameters={}),), extra_body={"a": 1})
    current = lane.settings.current
    lane.set_parameters(current.with_value("temperature", 1).with_value("stream", None).with_value("stop", ("a\nb",)))
    lane.change(extra_headers={"X-A": "1"}, reasoning_return=ReasoningReturn())
    lanes.set_system(lane, "Be long.")
    assert words(lane) == [
        "gateway q",
        "temperature 1",
        'stop sequences ["a\\nb"]',
        "stream at default",
        "1 other tool",
        "another system message",
        "other extra body",
        "other extra headers",
        "another rule for reasoning sent back",
    ]


def answer(first: float, end: float, tokens: int | None, *calls: str, price: Price | None = None) -> Turn:
    usage = Usage(prompt=100, completion=tokens) if tokens is not None else None
    timing = Timing(started_at=1e9, first_content=first, end=end)
    outcome = Outcome(
        ending=Ending.COMPLETE,
        finish_reason="stop",
        timing=timing,
        usage=usage,
        exchange=new_id(),
        asked=Asked(price=price),
    )
    tool_calls = tuple(ToolCall(id=name, name=name, arguments="{}") for name in calls)
    return Turn(id=new_id(), role=Role.ASSISTANT, parts=(Text(text="!"), *tool_calls), outcome=outcome)


def test_figures_are_of_answers_since_the_last_question(pair: tuple[Lanes, Session, Session]) -> None:
    _, _, lane = pair
    price = Price(input=1.0, output=2.0)
    for turn in (answer(9, 10, 5), make_turn(Role.USER, "again"), answer(0.5, 2.5, 100, price=price)):
        lane.turns.add_turn(turn)
    metrics = lane_metrics(lane, lambda _profile, _model: None)
    assert (metrics.first, metrics.rate, metrics.tokens, metrics.calls, metrics.requests) == (0.5, 50, 100, 0, 1)
    assert metrics.price == pytest.approx((100 * 1.0 + 100 * 2.0) / 1e6)
    assert metrics.words[:3] == ["first token 0.50 s", "50 tok/s", "100 tok"]
    assert metrics.totals == ["1 request, 2.50 s in all", "100 tokens in", "100 tokens out"]
    lane.turns.add_turn(make_turn(Role.USER, "once more"))
    assert lane_metrics(lane, lambda _profile, _model: None) == LaneMetrics()
    lane.turns.add_turn(answer(1, 1, None, "f", "g"))
    metrics = lane_metrics(lane, lambda _profile, _model: None)
    assert (metrics.rate, metrics.tokens, metrics.costs, metrics.calls, metrics.whole) == (None, None, (), 2, False)
    assert metrics.words == ["first token 1.00 s", "2 calls"]
    failed = answer(1, 1, None)
    assert failed.outcome is not None
    lane.turns.add_turn(
        failed.model_copy(update={"outcome": failed.outcome.model_copy(update={"ending": Ending.CUT_OFF})})
    )
    assert lane_metrics(lane, lambda _profile, _model: None).words[0] == "cut off"


def test_figures_have_their_difference_from_the_first_whole_lane() -> None:
    first = LaneMetrics(first=0.31, rate=92, tokens=214, costs=(Cost(0.0004, "$"),), requests=1, whole=True)
    two = LaneMetrics(first=0.42, rate=61.4, tokens=214, costs=(Cost(0.0002, "$"),), calls=1, requests=1, whole=True)
    assert two.words_compared(first) == [
        "first token 0.42 s (+0.11 s)",
        "61 tok/s (−31)",
        "214 tok (±0)",
        "$0.0002 (−$0.0002)",
        "1 call (+1)",
    ]
    assert first.words_compared(two)[-1] == "0 calls (−1)"
    assert replace(two, whole=False).words_compared(first) == two.words_compared(None) == two.words
    assert two.words_compared(replace(first, whole=False)) == two.words
    assert replace(two, costs=(Cost(1, "€"),)).words_compared(first)[3] == "€1.00"


def test_best_lane_is_named_among_whole_answers() -> None:
    first = LaneMetrics(first=1, rate=10, tokens=5, costs=(Cost(1, "$"),), whole=True)
    two = LaneMetrics(first=2, rate=20, tokens=5, costs=(Cost(2, "$"),), whole=True)
    failed = LaneMetrics(first=0.1, rate=99, tokens=1, costs=(Cost(0, "$"),))
    assert best([first, two, failed]) == [["soonest first token", "cheapest"], ["most tokens per second"], []]
    euro = LaneMetrics(costs=(Cost(1, "€"),), whole=True)
    assert best([first, euro]) == [[], []]
    assert best([first, first]) == [[], []]
    assert best([first, failed]) == [[], []]


def test_place_of_a_lane_has_gateway_protocol_and_settings(pair: tuple[Lanes, Session, Session]) -> None:
    _, session, lane = pair

    def words_of(lane_session: Session) -> str:
        return " · ".join(place_words(lane_session, lambda key: f"gateway {key}"))

    place = f"gateway {session.settings.profile_id} · Chat Completions API"
    assert (words_of(session), words_of(lane)) == (f"{place} · current settings", f"{place} · same as A")
    lane.change(model="another")
    assert words_of(lane) == f"{place} · otherwise same as A"
    assert set_here(lane) == 0, "streaming is what every experiment begins with"
    lane.set_parameters(lane.settings.current.with_value("temperature", 1).with_value("top_p", 0.5))
    assert words_of(lane) == f"{place} · temperature 1, top p 0.5"
    assert (set_here(session), set_here(lane)) == (0, 2)
    lane.switch_protocol("messages")
    assert words_of(lane).startswith(f"gateway {session.settings.profile_id} · Messages API · ")
