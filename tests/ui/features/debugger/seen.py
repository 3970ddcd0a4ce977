"""Experiments with many calls."""

from __future__ import annotations

import json

from playground.domain.parts import Text, ToolCall, ToolResult
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn
from playground.domain.usage import Timing
from playground.engine.session.session import Experiment, Session
from tests.support.editors import no_gateway

WEATHER = ToolDefinition(
    name="get_weather",
    description="The weather now",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)


def session(turns: tuple[Turn, ...] = ()) -> Session:
    """A session that cannot ask anybody."""
    result = Experiment(no_gateway, profile_id="p", model="m").main
    result.change(tools=(WEATHER,))
    if turns:
        result.history.transcript = Transcript().append(*turns)
    return result


def round_of(number: int, *cities: str, start: float = 0.0, took: float = 1.0, answered: float = 0.5) -> list[Turn]:
    """An assistant turn that calls for these cities, beginning ``start`` seconds, and an answer to each call."""
    calls = tuple(
        ToolCall(id=f"c{number}-{place}", name="get_weather", arguments=json.dumps({"city": city}))
        for place, city in enumerate(cities)
    )
    step = took / (len(calls) + 1)
    outcome = Outcome(
        ending=Ending.COMPLETE,
        model="m",
        finish_reason="tool_calls",
        timing=Timing(started_at=1000 + start, headers=step / 2, first_content=step, end=took),
        call_times=tuple((step * (place + 1), step * (place + 2)) for place in range(len(calls))),
    )
    created = [Turn(id=f"a{number}", role=Role.ASSISTANT, parts=calls, outcome=outcome)]
    for call in calls:
        result = ToolResult(call_id=call.id, text="sunny", by="table", seconds=answered)
        created.append(Turn(id=f"t-{call.id}", role=Role.TOOL, parts=(result,)))
    return created


def answer(number: int, *, start: float, took: float = 1.0) -> Turn:
    """An assistant turn of text, beginning ``start`` seconds."""
    timing = Timing(started_at=1000 + start, headers=took / 4, first_content=took / 2, end=took)
    outcome = Outcome(ending=Ending.COMPLETE, model="m", finish_reason="stop", timing=timing)
    return Turn(id=f"a{number}", role=Role.ASSISTANT, parts=(Text(text="It is sunny."),), outcome=outcome)


def loop_of(rounds: int) -> tuple[Turn, ...]:
    """A loop with two calls a round."""
    turns: list[Turn] = [Turn(id="u", role=Role.USER, parts=(Text(text="Weather?"),))]
    for number in range(rounds):
        turns += round_of(number, "Lisbon", f"City {number}", start=number * 2.0)
    return (*turns, answer(rounds, start=rounds * 2.0))
