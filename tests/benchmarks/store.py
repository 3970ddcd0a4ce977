"""100,000 turns in 2,000 experiments: how long the list takes to open, and the answers to a search as it is typed.

Held against the plain thing in the same run: SQLite reading the rows of the list, and a full-text table of its own with
the same texts, asked the same words. Wall time; the least of some repetitions, since other work only ever adds to it.
"""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

from playground.domain.parts import Part, Reasoning, Text, ToolCall
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, new_id
from playground.engine.library.store import Store, reading, search
from playground.engine.library.store.connecting import connect
from playground.engine.session.snapshot import Snapshot
from tests.benchmarks.registry import Figure, at_most

EXPERIMENTS, TURNS = 2000, 50
SHORT = 200  # experiments
REPEATS = 5
#: The plain query ends after 200 rows, which may all be of a few experiments; ours goes on until it has 100 of those.
TIMES_MEDIAN = 5
TIMES_WORST = 2
TIMES_LIST = 3
_TYPED = ("weathe", "gateway hea", "budget retry lat", "zyx")


def run(short: bool) -> list[Figure]:
    """Milliseconds, and the ratios that are held to a goal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "experiments.db"
        count = SHORT if short else EXPERIMENTS
        vocabulary = _vocabulary()
        began = time.perf_counter()
        asyncio.run(_fill(path, count, vocabulary))
        written = time.perf_counter() - began
        with closing(connect(path)) as connection:
            _copy(connection)
        found = [*_list(path, count), *_search(path, vocabulary)]
        found.append(Figure("written", count * TURNS / written, "turns/s"))
        found.append(Figure("the file", path.stat().st_size / 1e6, "MB"))
        return found


def _vocabulary() -> list[str]:
    random = Random(7)
    words = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(2, 9))) for _ in range(20_000)]
    return ["gateway", "weather", "header", "budget", "retry", "latency", *words]


async def _fill(path: Path, count: int, vocabulary: list[str]) -> None:
    """As a person would have left it: short and long turns, reasoning, calls, failures."""
    random = Random(3)
    weights = list(itertools.accumulate(1 / (n + 1) for n in range(len(vocabulary))))

    def words(least: int, most: int) -> str:
        return " ".join(random.choices(vocabulary, cum_weights=weights, k=random.randint(least, most)))

    store = Store(path)
    await store.open()
    for number in range(count):
        turns: list[Turn] = []
        while len(turns) < TURNS:
            parts: list[Part] = [Text(text=words(20, 120))]
            if random.random() < 0.3:
                parts.insert(0, Reasoning(text=words(10, 60)))
            if random.random() < 0.2:
                parts.append(ToolCall(id=new_id(), name="get_weather", arguments=f'{{"city": "{words(1, 1)}"}}'))
            outcome = Outcome(ending=Ending.COMPLETE, model="demo-chat")
            turns += [
                make_turn(Role.USER, words(3, 30)),
                Turn(id=new_id(), role=Role.ASSISTANT, parts=tuple(parts), outcome=outcome),
            ]
        transcript = Transcript().append(*turns)
        kept = tuple(transcript.turns.values())
        store.save(Snapshot(id=new_id(), model="demo-chat", created_at=1e9 + number, turns=kept, head=transcript.head))
        if number % 50 == 0:
            await store.flush()
    await store.close()


def _copy(connection: sqlite3.Connection) -> None:
    """The plain full-text table, and the plain list."""
    connection.execute(
        "CREATE VIRTUAL TABLE plain USING fts5 (text, reasoning, arguments, tokenize='unicode61 remove_diacritics 2')"
    )
    connection.execute("INSERT INTO plain (rowid, text, reasoning, arguments) SELECT * FROM said")


def _list(path: Path, count: int) -> list[Figure]:
    columns = "id, title, summary, model, protocol, pinned, archived, created_at, changed_at, has_error, has_tools"

    def ours() -> int:
        with closing(connect(path, "mode=ro")) as connection:
            return len(reading.experiments(connection))

    def plain() -> int:
        with closing(connect(path, "mode=ro")) as connection:
            rows = connection.execute(f"SELECT {columns} FROM experiments ORDER BY created_at DESC").fetchall()
            return len(rows)

    async def opened() -> None:
        store = Store(path)
        await store.open()
        await store.experiments()
        await store.close()

    if ours() != count or plain() != count:
        raise RuntimeError("the list is not whole")
    mine, theirs = _milliseconds(ours), _milliseconds(plain)
    whole = _milliseconds(lambda: asyncio.run(opened()), 3)
    return [
        at_most("list / plain query of the same rows", mine / theirs, "times", TIMES_LIST),
        Figure("list", mine, "ms"),
        Figure("store opened, checked, listed, closed", whole, "ms"),
    ]


def _search(path: Path, vocabulary: list[str]) -> list[Figure]:
    typed = {text[:length] for text in (*_TYPED, *vocabulary[6:12]) for length in range(1, len(text) + 1)}
    queries = sorted(text for text in typed if search.words_in(text))
    mine, theirs = [], []
    with closing(connect(path, "mode=ro")) as connection:
        for text in queries:
            asked = " AND ".join(f'"{word}"*' for word in text.split())

            def plain(asked: str = asked) -> int:
                rows = connection.execute(
                    "SELECT rowid, snippet(plain, 0, '[', ']', '…', 12), snippet(plain, 1, '[', ']', '…', 12),"
                    " snippet(plain, 2, '[', ']', '…', 12) FROM plain WHERE plain MATCH ?"
                    " ORDER BY rowid DESC LIMIT 200",
                    (asked,),
                )
                return len(rows.fetchall())

            def ours(text: str = text) -> int:
                return len(search.find(connection, text))

            mine.append(_milliseconds(ours))
            theirs.append(_milliseconds(plain))
    ratios = [ours / plain for ours, plain in zip(mine, theirs, strict=True)]
    return [
        at_most(
            "search / plain full-text query, median",
            statistics.median(mine) / statistics.median(theirs),
            "times",
            TIMES_MEDIAN,
        ),
        at_most("search / plain full-text query, worst", max(mine) / max(theirs), "times", TIMES_WORST),
        Figure("search, median of as many as are typed", statistics.median(mine), "ms"),
        Figure("search, worst", max(mine), "ms"),
        Figure("plain, median", statistics.median(theirs), "ms"),
        Figure("plain, worst", max(theirs), "ms"),
        Figure("largest ratio of one query", max(ratios), "times"),
    ]


def _milliseconds(work: Callable[[], object], repeats: int = REPEATS) -> float:
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best * 1000
