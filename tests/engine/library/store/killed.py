"""Kills a process that streams into a store, time and again: ``python -m tests…store.killed PATH URL ROUNDS``.

Each round is a process forked from this one: it opens the store as the one before left it, streams answers of the demo
gateway at URL into new experiments, notes what ``flush`` acknowledged, and gets SIGKILL at a random moment. Then all
that was acknowledged is looked for in the file. Rounds go on until there was one turn acknowledged for each of ROUNDS.
The last line printed is the outcome as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from playground.domain.parts import Part
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.gateways.gateways import Gateways
from playground.engine.gateways.profiles import ProfileStore
from playground.engine.gateways.secrets import Keys
from playground.engine.library.store import Mode, Store
from playground.engine.library.workspace import Workspace
from playground.engine.session.snapshot import decode, encode_experiment, snapshot

PACES = ("", " !tps=1500")
LONGEST = 0.17  # seconds that a process lives at most; longer after each round that acknowledged nothing
ENOUGH = 240.0  # seconds after which no further round begins


async def stream(path: Path, url: str, log: Path) -> None:
    """Stream, flush, write down, for ever."""
    gateways = Gateways(ProfileStore(path.with_name("gateways.json")), Keys(), lambda: url)
    workspace = Workspace(gateways, Store(path))
    status = await workspace.start()
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    if status is None or status.mode is not Mode.READY or status.words:
        os.write(handle, json.dumps({"opened": str(status)}).encode() + b"\n")
    while True:
        session = workspace.new()
        for number in range(3):
            session.turns.add_turn(make_turn(Role.USER, f"Number {number}{PACES[number % 2]}"))
            run = asyncio.get_running_loop().create_task(session.run())
            while not run.done():
                received = [turn for turn in session.transcript.path if turn.id not in session.growing]
                texts = {key: choice.freeze() for key, choice in session.growing.items()}
                await workspace.flush()
                growing = [[key, _length(parts)] for key, parts in texts.items()]
                line = json.dumps([session.id, [[turn.id, len(turn.text)] for turn in received] + growing])
                os.write(handle, line.encode() + b"\n")
                await asyncio.sleep(0.002)
            await run


def _length(parts: tuple[Part, ...]) -> int:
    """Letters in what a gateway has written so far; it sends no tool calls here."""
    return sum(len(part.text) for part in parts if part.kind in ("text", "reasoning"))


async def warm(url: str, folder: Path) -> None:
    """One answer received here, so that no round spends its time on what is done once a process."""
    gateways = Gateways(ProfileStore(folder / "none.json"), Keys(), lambda: url)
    session = Workspace(gateways).current
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    await session.run()
    decode(encode_experiment(snapshot(session)))
    await gateways.aclose()


def start(path: Path, url: str, log: Path) -> int:
    """A process that streams into the store at ``path`` until it is killed."""
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(stream(path, url, log))
        finally:
            os._exit(1)
    return child


def end(child: int) -> None:
    """Kill it."""
    os.kill(child, signal.SIGKILL)
    ended = os.waitpid(child, 0)[1]
    if not os.WIFSIGNALED(ended):
        raise SystemExit("a round ended by itself")


def look(path: Path, log: Path) -> tuple[int, list[str]]:
    """How many turns were acknowledged, and what is wrong with the file."""
    wrong: list[str] = []
    acknowledged: dict[tuple[str, str], int] = {}
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else ():
        entry: Any = json.loads(line)
        if isinstance(entry, dict):
            wrong.append(str(entry))
        else:
            acknowledged.update({(entry[0], turn): length for turn, length in entry[1]})
    with closing(sqlite3.connect(path)) as connection:
        check = connection.execute("PRAGMA quick_check").fetchall()
        if check != [("ok",)]:
            wrong.append(f"quick_check: {check[:3]}")
        tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'turns'").fetchone()
        rows = connection.execute(
            "SELECT experiments.id, turns.id, json FROM turns"
            " JOIN experiments ON experiments.number = turns.number >> 24"
            if tables[0]
            else "SELECT 1, 2, 3 WHERE 0"
        )
        stored = {(experiment, turn): text for experiment, turn, text in rows}
    for key, length in acknowledged.items():
        turn = json.loads(stored[key]) if key in stored else None
        got = sum(len(part["text"]) for part in turn["parts"] if part["kind"] in ("text", "reasoning")) if turn else -1
        if got < length:
            wrong.append(f"{key}: {length} characters were acknowledged, {got} are there")
    return len(acknowledged), wrong


def main(path: Path, url: str, rounds: int) -> None:
    """All rounds; prints the outcome."""
    asyncio.run(warm(url, path.parent))
    chance = random.Random(path.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    longest, acknowledged, number, wrong, began = LONGEST, 0, 0, list[str](), time.monotonic()
    while (number < rounds or acknowledged <= rounds) and time.monotonic() - began < ENOUGH:
        log = path.with_name(f"round-{number}.log")
        number += 1
        child = start(path, url, log)
        time.sleep(chance.uniform(0.005, longest))  # which may be before the store is open
        end(child)
        count, snapshots = look(path, log) if path.exists() else (0, [])
        longest *= 1.0 if count else 1.2
        acknowledged += count
        wrong += [f"round {number}: {words}" for words in snapshots]

    async def last() -> dict[str, Any]:
        store = Store(path)
        status = await store.open()
        snapshots = [await store.load(experiment.id) for experiment in await store.experiments()]
        await store.close()
        endings = [turn.outcome.ending for snapshot in snapshots for turn in snapshot.turns if turn.outcome is not None]
        return {
            "mode": status.mode,
            "words": status.words,
            "interrupted": endings.count(Ending.INTERRUPTED),
            "complete": endings.count(Ending.COMPLETE),
        }

    print(json.dumps({"rounds": number, "acknowledged": acknowledged, "wrong": wrong[:10], **asyncio.run(last())}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
