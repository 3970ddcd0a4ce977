"""Measure the event loop while answers stream into long conversations: one lane at two rates, and six lanes."""

from __future__ import annotations

from playground.engine.compare.lanes import Lanes
from playground.ui.widgets import loop
from tests.benchmarks.experiment import long_transcript
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Pulse, Window, play

SECONDS, SHORT_SECONDS = 20, 4
TURNS = 200
#: Tokens a second, and the budgets: p99 gap and longest gap in ms, per cent of a core.
RATES = {200: (20, 100, None), 1_000: (33, 150, 70)}
LANES, LANE_TURNS, LANE_RATE, LANE_P99, LANE_LONGEST = 6, 50, 200, 33, 150


def run(short: bool) -> list[Figure]:
    """Return gaps and CPU of each stream."""
    seconds = SHORT_SECONDS if short else SECONDS

    async def measure(window: Window) -> list[Figure]:
        figures: list[Figure] = []
        for rate, (p99, longest, cpu) in RATES.items():
            pulse = await _stream(window, rate, seconds)
            figures += _gaps(f"{rate} tokens/s", pulse, p99, longest)
            figures.append(_cpu(f"{rate} tokens/s", pulse, cpu))
        pulse = await _stream_lanes(window, seconds)
        return [*figures, *_gaps("six lanes", pulse, LANE_P99, LANE_LONGEST), _cpu("six lanes", pulse, None)]

    return play(measure)


async def _stream(window: Window, rate: int, seconds: int) -> Pulse:
    session = window.new(f"paced-{rate}-{rate * seconds}", long_transcript(TURNS))
    await window.settle()
    with Pulse() as pulse:
        await window.run(session)
    return pulse


async def _stream_lanes(window: Window, seconds: int) -> Pulse:
    session = window.new(f"paced-{LANE_RATE}-{LANE_RATE * seconds}", long_transcript(LANE_TURNS))
    lanes = Lanes(session)
    for _ in range(1, LANES):
        lanes.add()
    window.app.window.action("compare.open").trigger()
    await window.settle()
    with Pulse() as pulse:
        await loop.spawn(lanes.run(), name="measured lanes")
    for lane in lanes.all:
        outcome = lane.transcript.path[-1].outcome
        assert outcome is not None, "the run left no outcome"
        assert outcome.finish_reason == "stop", outcome
    return pulse


def _gaps(words: str, pulse: Pulse, p99: float, longest: float) -> list[Figure]:
    return [
        at_most(f"{words}, p99 gap", pulse.p99_ms, "ms", p99),
        at_most(f"{words}, longest gap", pulse.longest_ms, "ms", longest),
    ]


def _cpu(words: str, pulse: Pulse, limit: float | None) -> Figure:
    name = f"{words}, CPU of the process"
    return Figure(name, pulse.cpu_share, "% core") if limit is None else at_most(name, pulse.cpu_share, "% core", limit)
