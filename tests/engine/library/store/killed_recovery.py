"""Kill processes that restore a damaged store: ``python -m tests…store.killed_recovery PATH ROUNDS``.

Each round damages the store at PATH, which has backups, and opens it in a process that is killed at a random moment.
Then the store is opened to the end, and everything that the backup holds is looked for. Prints the outcome as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from playground.engine.library.store import Mode, Store
from playground.engine.library.store.backups import list_backups
from playground.engine.library.store.recovery import read_marker
from tests.engine.library.store.test_store import simple
from tests.support.eventually import eventually

EXPERIMENTS = 20
TEXTS = [f"turn {number} " + "word " * 200 for number in range(10)]


async def fill(path: Path) -> None:
    """Make a store of some experiments, with a backup."""
    store = Store(path)
    await store.open()
    for number in range(EXPERIMENTS):
        store.save(simple(f"e{number}", *TEXTS))
    await store.close()
    await store.open()
    await eventually(lambda: bool(list_backups(path)), "a backup")
    await store.close()


async def open_and_close(path: Path) -> tuple[str, list[str], float]:
    """Return what the store reports, the experiments that it has whole, and the seconds that opening took."""
    store = Store(path)
    began = time.monotonic()
    status = await store.open()
    seconds = time.monotonic() - began
    words = status.words if status.mode is Mode.READY else f"{status.mode}: {status.words}"
    complete = []
    for experiment in await store.experiments():
        loaded = await store.load(experiment.id)
        if [turn.text for turn in loaded.turns] == TEXTS:
            complete.append(experiment.id)
    await store.close()
    return words, sorted(complete), seconds


def open_until_killed(path: Path, seconds: float) -> None:
    """Open the store in a process that is killed after so many seconds."""
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(Store(path).open())
        finally:
            time.sleep(60)
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def damage(path: Path, chance: random.Random) -> bytes:
    """Overwrite some pages of the store; return its bytes then."""
    data = bytearray(path.read_bytes())
    for _ in range(8):
        offset = chance.randrange(len(data) // 4096) * 4096
        data[offset : offset + 4096] = chance.randbytes(4096)
    data[4096 : 2 * 4096] = bytes(4096)
    data[:4096] = chance.randbytes(4096)
    path.write_bytes(data)
    return bytes(data)


def main(path: Path, rounds: int) -> None:
    """Do all rounds and print the outcome."""
    path.parent.mkdir(parents=True, exist_ok=True)
    asyncio.run(fill(path))
    chance = random.Random(rounds)
    wrong: list[str] = []
    slowest, interrupted = 0.0, 0
    everything = sorted(f"e{number}" for number in range(EXPERIMENTS))
    longest = 0.05  # seconds until a process is killed at the latest
    for number in range(rounds):
        damaged = damage(path, chance)
        damaged_files = set(path.parent.glob("experiments.damaged-*.db"))
        open_until_killed(path, chance.uniform(0, longest))
        marker = read_marker(path)
        interrupted += (marker is None or not marker.restored) and any(path.parent.glob(".*.tmp"))
        words, complete, seconds = asyncio.run(open_and_close(path))
        slowest = max(slowest, seconds)
        if complete != everything:
            wrong.append(f"round {number}: {len(complete)} experiments are whole; {words}")
        if "restored from the backup" not in words:
            wrong.append(f"round {number}: the notice is “{words}”")
        aside = set(path.parent.glob("experiments.damaged-*.db")) - damaged_files
        if [item.read_bytes() for item in aside] != [damaged] or not all(item.name in words for item in aside):
            wrong.append(f"round {number}: the damaged file is not kept as it was: {aside}; {words}")
        words, complete, _ = asyncio.run(open_and_close(path))
        if words or complete != everything:
            wrong.append(f"round {number}: the next start has {len(complete)} experiments and says “{words}”")
        for item in aside:
            item.unlink()
    print(json.dumps({"wrong": wrong[:10], "slowest": slowest, "interrupted": interrupted}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
