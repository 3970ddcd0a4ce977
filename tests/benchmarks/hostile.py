"""The table of hostile shapes: played into the real window and asked of the checker; does anything wait?

A gap is the CPU time of the window's thread between two turns of its loop, as it would be on the machine the limits
were set on (``tests.hostile.gaps``): what else this machine does is not in it. The decoders are told per byte.
"""

from __future__ import annotations

import asyncio
import time

from playground.domain.accumulator import Accumulator
from playground.engine.questions import checking
from playground.engine.questions.kinds import Question
from playground.protocols.protocol import get_protocol
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Window, play
from tests.hostile.gaps import LIMIT, PASSES, Gaps
from tests.hostile.in_window import best_of, warm_up
from tests.hostile.looks import LOOKS, looked_at
from tests.hostile.shapes import CHECKS, STREAMS, WINDOW, StreamShape


def run(short: bool) -> list[Figure]:
    """The figures; the short form plays each once, and shorter streams."""
    out = [_decoded(shape, 500 if short else 5_000) for shape in STREAMS]
    return out + play(Hostile(1 if short else PASSES).measure)


def _decoded(shape: StreamShape, count: int) -> Figure:
    body = shape.make(count)
    best = float("inf")
    for _ in range(3):
        decoder, answer = get_protocol(shape.protocol).decoder("text/event-stream"), Accumulator()
        start = time.process_time()
        for at in range(0, len(body), shape.read):
            answer.add_events(decoder.decode_bytes(body[at : at + shape.read]))
        answer.add_events(decoder.close())
        best = min(best, time.process_time() - start)
    return Figure(f"decoded: {shape.name}", best / len(body) * 1e9, "ns/B")


class Hostile:
    """One measurement; each shape is taken up to so many times, and the best is told."""

    def __init__(self, passes: int) -> None:
        self._passes = passes

    async def measure(self, window: Window) -> list[Figure]:
        """Ask and play all of them; the figures."""
        out = []
        await warm_up(window.app)
        for check in CHECKS:
            gaps = [await self._asked(check.question()) for _ in range(self._passes)]
            out.append(at_most(f"checked: {check.name}", min(gaps) * 1000, "ms", LIMIT * 1000))
        for shape in WINDOW:
            played = await best_of(window.app, shape, passes=self._passes)
            out.append(at_most(f"played: {shape.name}", played.gap * 1000, "ms", shape.limit * 1000))
        for look in LOOKS:
            gap = await looked_at(window.app, look, LIMIT, self._passes)
            out.append(at_most(f"looked at: {look.name}", gap * 1000, "ms", LIMIT * 1000))
        return out

    async def _asked(self, question: Question[object]) -> float:
        async with Gaps() as gaps:
            await asyncio.sleep(0.01)
            await checking.answer(question)
        return gaps.seconds
