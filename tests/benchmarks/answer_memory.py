"""Measure the peak memory of receiving an answer, with events that piled up and, at worst, one read an event."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys

from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.wire_readers import calls, receive
from tests.benchmarks.wire_server import WireServer, body

COUNT, SHORT_COUNT = 100_000, 30_000
PACES = {"blocks": "events that piled up", "singly": "one read an event"}
BASE_MB, TIMES_BYTES = 100, 4  # beyond the process before the answer


def run(short: bool) -> list[Figure]:
    """Return the growth of the process by an answer, in MB, with the budget for its bytes."""
    count = SHORT_COUNT if short else COUNT
    figures = []
    for pace, words in PACES.items():
        with WireServer("chat", 200, pace) as first, WireServer("chat", count, pace) as server:
            command = [sys.executable, "-m", "tests.benchmarks.answer_memory", first.url, server.url]
            ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        received = len(body("chat", count, pace)) / 1e6
        limit = round(BASE_MB + TIMES_BYTES * received)
        figures.append(at_most(f"peak memory added, {words}", json.loads(ended.stdout), "MB", limit))
        figures.append(Figure(f"received, {words}", received, "MB"))
    return figures


async def _measure(first: str, url: str) -> float:
    """Receive a short stream, which imports all modules, then the long one; return the growth of the peak in MB."""
    async with calls("chat", first) as make:
        await receive(make())
    before = _peak()
    async with calls("chat", url) as make:
        call = make()
        answer = await receive(call)
        assert answer.failure is None
    return (_peak() - before) / 1e6


def _peak() -> int:
    """Return the most bytes that this process has had in memory."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_measure(*sys.argv[1:3]))))
