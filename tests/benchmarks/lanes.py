"""Six lanes stream at once in Compare, 200 tokens a second each, in conversations of 50 turns: does the loop hold?"""

from __future__ import annotations

import time

from playground.engine.compare.lanes import Lanes
from playground.engine.session.session import Session
from playground.ui.widgets import loop
from tests.benchmarks.experiment import long_transcript
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Pulse, Window, play

LANES, TURNS, RATE, SECONDS, SHORT_SECONDS = 6, 50, 200, 15, 4


def run(short: bool) -> list[Figure]:
    """The figures of one run."""
    seconds = SHORT_SECONDS if short else SECONDS
    model = f"paced-{RATE}-{RATE * seconds}"

    async def alone(window: Window) -> float:
        """Seconds of CPU for one conversation of the same kind."""
        session = window.new(model, long_transcript(TURNS))
        await window.settle()
        began = time.process_time()
        await window.run(session)
        return time.process_time() - began

    async def stream(window: Window) -> tuple[float, Pulse]:
        before = await alone(window)
        session = window.new(model, long_transcript(TURNS))
        lanes = Lanes(session)
        for _ in range(1, LANES):
            lanes.add()
        window.app.window.action("compare.open").trigger()
        await window.settle()
        with Pulse() as pulse:
            await loop.spawn(lanes.run(), name="measured lanes")
        for lane in lanes.all:
            _check(lane)
        return before, pulse

    before, pulse = play(stream)
    return [
        at_most("event loop, p99 gap", pulse.p99_ms, "ms", 16),
        at_most("event loop, longest gap", pulse.longest_ms, "ms", 50),
        at_most("CPU of the process", pulse.cpu_share, "% core", 80),
        at_most("a token in a lane, of one in the conversation", pulse.cpu / LANES / before, "x", 1.15),
    ]


def _check(lane: Session) -> None:
    outcome = lane.transcript.path[-1].outcome
    assert outcome is not None, "the run left no outcome"
    assert outcome.finish_reason == "stop", outcome
