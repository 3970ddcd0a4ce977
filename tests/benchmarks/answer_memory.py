"""Measure the peak memory of receiving an answer and making its parts.

Its events have piled up, arrive one read an event, or are parts of one letter each, which need the most memory.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.wire_readers import calls, receive
from tests.benchmarks.wire_server import WireServer, body

COUNT, SHORT_COUNT = 100_000, 30_000
LETTERS = 200_000
BASE_MB, TIMES_BYTES = 100, 4  # beyond the process before the answer


def run(short: bool) -> list[Figure]:
    """Return the growth of the process by an answer, in MB, with the budget for its bytes."""
    count = SHORT_COUNT if short else COUNT
    shapes = (
        ("events that piled up", "chat", count, "blocks"),
        ("one read an event", "chat", count, "singly"),
        ("parts of one letter", "letters", LETTERS, "blocks"),
    )
    figures = []
    for words, kind, events, pace in shapes:
        with WireServer(kind, 200, pace) as first, WireServer(kind, events, pace) as server:
            command = [sys.executable, "-m", "tests.benchmarks.answer_memory", first.url, server.url]
            ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        received = len(body(kind, events, pace)) / 1e6
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
        parts = answer.choice(0).freeze()
        assert parts
    return (_peak() - before) / 1e6


def _peak() -> int:
    """Return the most bytes that this process has had in memory."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage counts the parent process before exec
        return int(status.read_text(encoding="ascii").partition("VmHWM:")[2].split()[0]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_measure(*sys.argv[1:3]))))
