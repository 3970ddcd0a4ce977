"""Stores of each version of the schema, made by the statements of that time, which are never changed again."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

TURNS = (
    {"id": "t1", "role": "user", "parts": [{"kind": "text", "text": "What is a ship?"}], "members": {}},
    {
        "id": "t2",
        "role": "assistant",
        "parts": [{"kind": "reasoning", "text": "Hm."}, {"kind": "text", "text": "A house on water."}],
        "parent": "t1",
        "outcome": {"ending": "complete", "exchange": "x1"},
    },
)
TAPE = {
    "id": "x1",
    "protocol": "chat",
    "method": "POST",
    "url": "http://127.0.0.1:1/v1/chat/completions",
    "request": {"headers": [["authorization", "Bearer ••••"]]},
    "started_at": 1700000000.0,
    "connected": 0.1,
    "sent": 0.2,
    "answered": 0.3,
    "ended": 0.5,
    "response": {"status": 200, "reason": "OK", "http_version": "HTTP/1.1", "headers": [], "wire_bytes": 17},
    "complete": True,
    "failure": None,
    "bytes": 19,
}


def script(version: int) -> str:
    return Path(__file__).with_name(f"version_{version}.sql").read_text(encoding="utf-8")


def version_1(path: Path) -> None:
    """Make a store with an experiment of two turns and an exchange; the process ended while the second turn came."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number = 1 << 24
    packed = zlib.compress(b'"{}"\n[[0.3,"A house "],[0.4,"on water."]]\n')
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script(1))
        connection.execute(
            "INSERT INTO experiments VALUES (1, 'first', 'What is a ship?', 'm · 2 turns', 'm', 'chat', 0, 0, 1.7e9,"
            " 1.7e9, 0, 0, NULL)"
        )
        connection.execute("INSERT INTO titles (rowid, title, model) VALUES (1, 'What is a ship?', 'm')")
        settings = {"id": "first", "protocol": "chat", "model": "m", "parameters": {"chat": {"n": 1}}, "head": "t2"}
        connection.execute("INSERT INTO settings VALUES (1, ?)", (json.dumps(settings),))
        connection.execute("INSERT INTO drafts VALUES (1, ?)", (json.dumps({"draft": {"text": "And"}, "calls": []}),))
        for place, turn in enumerate(TURNS, 1):
            row = (number | place, turn["id"], json.dumps(turn), place == 1)
            connection.execute("INSERT INTO turns VALUES (?, ?, ?, ?)", row)
        connection.execute(
            "INSERT INTO words (rowid, text) SELECT number, text FROM said WHERE number = ?", (number | 1,)
        )
        row_of_tape = (1, "x1", time.time(), json.dumps(TAPE), len(packed), packed)
        connection.execute("INSERT INTO tapes VALUES (?, ?, ?, ?, ?, ?)", row_of_tape)
        connection.commit()


def version_2(path: Path) -> None:
    """Make a store whose exchange was under way as well when the process ended."""
    version_1(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script(2))
        head = json.dumps({**TAPE, "complete": False})
        connection.execute("UPDATE tapes SET head = ?, data = ?", (head, zlib.compress(b'"{}"\n')))
        for line in (b'[[0.3,"A house "]]\n', b'[[0.4,"on water."]]\n'):
            connection.execute("INSERT INTO tape_reads VALUES (1, 'x1', ?)", (zlib.compress(line),))
        connection.commit()


def version_3(path: Path) -> None:
    """Make a store with the state before the answer to go back to."""
    version_2(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script(3))
        state = {"head": "t1", "turns": [], "gone": ["t2"]}
        connection.execute("INSERT INTO pasts VALUES (1, ?)", (json.dumps([state]),))
        connection.commit()


def version_4(path: Path) -> None:
    """Make a store with a turn that could not be read set aside."""
    version_3(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script(4))
        row = json.dumps({"number": 16777219, "id": "t3", "json": "{cut", "indexed": 1})
        connection.execute("INSERT INTO unread VALUES (1, 1, 'turns', ?, '', 'abc', 1.7e9)", (row,))
        connection.commit()


BUILDERS: dict[int, Callable[[Path], None]] = {1: version_1, 2: version_2, 3: version_3, 4: version_4}
