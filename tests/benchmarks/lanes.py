"""Eight experiments stream at once, 200 tokens a second each, one of them in view: does the loop keep up?"""

from __future__ import annotations

from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Pulse, Window, play

LANES, RATE, SECONDS, SHORT_SECONDS = 8, 200, 15, 4


def run(short: bool) -> list[Figure]:
    """The figures of one run."""
    seconds = SHORT_SECONDS if short else SECONDS

    async def stream(window: Window) -> Pulse:
        sessions = [window.new(f"paced-{RATE}-{RATE * seconds}") for _ in range(LANES)]
        await window.settle()
        with Pulse() as pulse:
            await window.run(*sessions)
        return pulse

    pulse = play(stream)
    return [
        at_most("event loop, p99 gap", pulse.p99_ms, "ms", 16),
        Figure("event loop, longest gap", pulse.longest_ms, "ms"),
        Figure("CPU of the process", pulse.cpu_share, "% core"),
    ]
