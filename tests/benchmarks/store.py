"""Measure the list of 2,000 experiments with 100,000 turns, and a search after each letter typed."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
import time
from pathlib import Path
from random import Random

from playground.domain.parts import Part, Reasoning, Text, ToolCall
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, new_id
from playground.engine.library.store import Store
from playground.engine.session.snapshot import Snapshot
from tests.benchmarks.registry import Figure, at_most

EXPERIMENTS, SHORT_EXPERIMENTS, TURNS = 2000, 200, 50
PASSES = 3
LONGEST_MS = 300
QUERIES = ("weathe", "gateway hea", "budget retry lat", "zyx")


def run(short: bool) -> list[Figure]:
    """Return milliseconds of opening the list, and of the slowest search."""
    return asyncio.run(_measure(SHORT_EXPERIMENTS if short else EXPERIMENTS))


async def _measure(count: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "experiments.db"
        await _fill(path, count)
        opened = []
        for _ in range(PASSES):
            began = time.perf_counter()
            store = Store(path)
            await store.open()
            rows = await store.experiments()
            opened.append(time.perf_counter() - began)
            assert len(rows) == count, "the list is incomplete"
            await store.close()
        store = Store(path)
        await store.open()
        results = [await _search(store, text[:end]) for text in QUERIES for end in range(1, len(text) + 1)]
        await store.close()
        size = path.stat().st_size / 1e6
    return [
        at_most("store opened and listed", min(opened) * 1000, "ms", LONGEST_MS),
        at_most("search, slowest", max(results) * 1000, "ms", LONGEST_MS),
        Figure("the file", size, "MB"),
    ]


async def _search(store: Store, text: str) -> float:
    """Return the seconds of one search, the best of all passes."""
    times = []
    for _ in range(PASSES):
        began = time.perf_counter()
        await store.find(text)
        times.append(time.perf_counter() - began)
    return min(times)


async def _fill(path: Path, count: int) -> None:
    """Write experiments with short and long turns, reasoning and calls."""
    random = Random(3)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(random.choices(letters, k=random.randint(2, 9))) for _ in range(20_000)]
    vocabulary = ["gateway", "weather", "header", "budget", "retry", "latency", *words]
    weights = list(itertools.accumulate(1 / (n + 1) for n in range(len(vocabulary))))

    def text(least: int, most: int) -> str:
        return " ".join(random.choices(vocabulary, cum_weights=weights, k=random.randint(least, most)))

    store = Store(path)
    await store.open()
    for number in range(count):
        turns: list[Turn] = []
        while len(turns) < TURNS:
            parts: list[Part] = [Text(text=text(20, 120))]
            if random.random() < 0.3:
                parts.insert(0, Reasoning(text=text(10, 60)))
            if random.random() < 0.2:
                parts.append(ToolCall(id=new_id(), name="get_weather", arguments=f'{{"city": "{text(1, 1)}"}}'))
            outcome = Outcome(ending=Ending.COMPLETE, model="demo-chat")
            turns += [
                make_turn(Role.USER, text(3, 30)),
                Turn(id=new_id(), role=Role.ASSISTANT, parts=tuple(parts), outcome=outcome),
            ]
        transcript = Transcript().append(*turns)
        saved = tuple(transcript.turns.values())
        store.save(Snapshot(id=new_id(), model="demo-chat", created_at=1e9 + number, turns=saved, head=transcript.head))
        if number % 50 == 0:
            await store.flush()
    await store.close()
