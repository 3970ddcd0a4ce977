"""Memory that the tape of a received stream takes, with arrivals as they pile up and, at worst, one read a frame."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.wire_readers import calls, receive
from tests.benchmarks.wire_server import WireServer

COUNT = 100_000
SHORT = 30_000
MEGABYTES = 40
_STATM = Path("/proc/self/statm")


def run(short: bool) -> list[Figure]:
    """Megabytes (10^6 bytes) for 100,000 frames: the exchange, held to the goal; and what the process
    grew by, which has the folded answer and the allocator's rounding in it, too.
    """
    count = SHORT if short else COUNT
    found = []
    for pace, words in (("blocks", "frames that piled up"), ("singly", "one read a frame")):
        with WireServer("chat", 200, pace) as first, WireServer("chat", count, pace) as server:
            traced = _apart(first, server, "traced")
            found.append(at_most(f"tape, {words}", traced["bytes"] * COUNT / count / 1e6, "MB", MEGABYTES))
            if _STATM.exists():
                grown = _apart(first, server, "resident")["bytes"]
                found.append(Figure(f"the process grew by, {words}", grown * COUNT / count / 1e6, "MB"))
            found.append(Figure(f"reads, {words}", traced["reads"], "reads"))
    return found


def _apart(first: WireServer, server: WireServer, way: str) -> dict[str, int]:
    command = [sys.executable, "-m", "tests.benchmarks.tape", first.url, server.url, way]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, int] = json.loads(ended.stdout)
    return found


async def _measure(first: str, url: str, way: str) -> dict[str, int]:
    """Receive a short stream, so that all is imported and warm; then the long one."""
    async with calls("chat", first) as make:
        await receive(make())
    async with calls("chat", url) as make:
        call = make()
        gc.collect()
        if way == "traced":
            tracemalloc.start()
            await receive(call)  # the answer is dropped: what stays is the exchange
            gc.collect()
            taken = tracemalloc.get_traced_memory()[0]
        else:
            before = _resident()
            answer = await receive(call)
            gc.collect()
            taken = _resident() - before
            del answer
        return {"bytes": taken, "reads": len(call.exchange.reads)}


def _resident() -> int:
    """Bytes of memory that the process has in use, as the kernel counts them."""
    return int(_STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_measure(*sys.argv[1:4]))))
