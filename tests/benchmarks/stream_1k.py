"""1,000 tokens a second for 20 s into an experiment of 200 turns: is the window ever late, and what does it cost?"""

from __future__ import annotations

from tests.benchmarks.experiment import long_transcript
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Pulse, Window, play

RATE, SECONDS, SHORT_SECONDS, TURNS = 1_000, 20, 4, 200


def run(short: bool) -> list[Figure]:
    """The figures of one run."""
    seconds = SHORT_SECONDS if short else SECONDS

    async def stream(window: Window) -> Pulse:
        session = window.new(f"paced-{RATE}-{RATE * seconds}", long_transcript(TURNS))
        await window.settle()
        with Pulse() as pulse:
            await window.run(session)
        return pulse

    pulse = play(stream)
    return [
        at_most("event loop, p99 gap", pulse.p99_ms, "ms", 16),
        at_most("event loop, longest gap", pulse.longest_ms, "ms", 50),
        at_most("CPU of the process", pulse.cpu_share, "% core", 60),
    ]
