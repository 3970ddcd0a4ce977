"""A store as each version of the schema had it, made from the text of that time, which is never changed again."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

VERSION_1 = """
CREATE TABLE experiments (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        summary TEXT NOT NULL,
        model TEXT NOT NULL,
        protocol TEXT NOT NULL,
        pinned INTEGER NOT NULL,
        archived INTEGER NOT NULL,
        created_at REAL NOT NULL,
        changed_at REAL NOT NULL,
        has_error INTEGER NOT NULL,
        has_tools INTEGER NOT NULL,
        deleted_at REAL);
CREATE TABLE settings (
        experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
        json TEXT NOT NULL);
CREATE TABLE drafts (
        experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
        json TEXT NOT NULL);
CREATE TABLE turns (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        json TEXT NOT NULL,
        indexed INTEGER NOT NULL);
CREATE INDEX turns_unindexed ON turns (number) WHERE indexed = 0;
CREATE TABLE tapes (
        experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
        id TEXT NOT NULL,
        started_at REAL NOT NULL,
        head TEXT NOT NULL,
        size INTEGER NOT NULL,
        data BLOB,
        PRIMARY KEY (experiment, id));
CREATE INDEX tapes_by_age ON tapes (started_at, size) WHERE data IS NOT NULL;
CREATE TABLE images (hash TEXT PRIMARY KEY, url TEXT NOT NULL);
CREATE TABLE image_uses (
        experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
        hash TEXT NOT NULL REFERENCES images,
        PRIMARY KEY (experiment, hash)) WITHOUT ROWID;
CREATE INDEX image_uses_by_hash ON image_uses (hash);
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE VIEW said AS SELECT number,
    (SELECT group_concat(json_extract(value, '$.text'), char(10))
        FROM json_each(CASE WHEN json_valid(turns.json) THEN turns.json ELSE '{}' END, '$.parts')
        WHERE json_extract(value, '$.kind') IN ('text', 'refusal', 'tool_result')) AS text,
    (SELECT group_concat(json_extract(value, '$.text'), char(10))
        FROM json_each(CASE WHEN json_valid(turns.json) THEN turns.json ELSE '{}' END, '$.parts')
        WHERE json_extract(value, '$.kind') IN ('reasoning')) AS reasoning,
    (SELECT group_concat(json_extract(value, '$.name') || ' ' || json_extract(value, '$.arguments'), char(10))
        FROM json_each(CASE WHEN json_valid(turns.json) THEN turns.json ELSE '{}' END, '$.parts')
        WHERE json_extract(value, '$.kind') IN ('tool_call')) AS arguments FROM turns;
CREATE VIRTUAL TABLE words USING fts5 (text, reasoning, arguments, content='said', content_rowid='number',
        tokenize='unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE titles USING fts5 (title, model, content='experiments', content_rowid='number',
        tokenize='unicode61 remove_diacritics 2');
PRAGMA application_id = 1733323873;
PRAGMA user_version = 1;
"""

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


def version_1(path: Path) -> None:
    """One experiment of two turns with its exchange; the second turn was being received when the process ended."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number = 1 << 24
    packed = zlib.compress(b'"{}"\n[[0.3,"A house "],[0.4,"on water."]]\n')
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1)
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


VERSION_2 = """
CREATE TABLE tape_reads (
        experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
        tape TEXT NOT NULL,
        data BLOB NOT NULL);
CREATE INDEX tape_reads_by_tape ON tape_reads (experiment, tape);
PRAGMA user_version = 2;
"""


def version_2(path: Path) -> None:
    """The same, the exchange under way as well when the process ended."""
    version_1(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_2)
        head = json.dumps({**TAPE, "complete": False})
        connection.execute("UPDATE tapes SET head = ?, data = ?", (head, zlib.compress(b'"{}"\n')))
        for line in (b'[[0.3,"A house "]]\n', b'[[0.4,"on water."]]\n'):
            connection.execute("INSERT INTO tape_reads VALUES (1, 'x1', ?)", (zlib.compress(line),))
        connection.commit()


VERSION_3 = """
CREATE TABLE pasts (
        experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
        json TEXT NOT NULL);
PRAGMA user_version = 3;
"""


def version_3(path: Path) -> None:
    """The same, with the state before the answer to go back to."""
    version_2(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_3)
        state = {"head": "t1", "turns": [], "gone": ["t2"]}
        connection.execute("INSERT INTO pasts VALUES (1, ?)", (json.dumps([state]),))
        connection.commit()


VERSION_4 = """
CREATE TABLE unread (
        number INTEGER PRIMARY KEY,
        experiment INTEGER REFERENCES experiments ON DELETE CASCADE,
        source TEXT NOT NULL,
        row TEXT NOT NULL,
        fields TEXT NOT NULL,
        hash TEXT NOT NULL UNIQUE,
        at REAL NOT NULL);
CREATE INDEX unread_by_experiment ON unread (experiment);
DROP VIEW said;
CREATE VIEW said AS SELECT number,
    (SELECT group_concat(json_extract(iif(type = 'object', value, '{}'), '$.text'), char(10))
        FROM json_each(CASE WHEN typeof(turns.json) = 'text' AND json_valid(turns.json) THEN turns.json ELSE '{}' END,
            '$.parts')
        WHERE json_extract(iif(type = 'object', value, '{}'), '$.kind') IN ('text', 'refusal', 'tool_result')) AS text,
    (SELECT group_concat(json_extract(iif(type = 'object', value, '{}'), '$.text'), char(10))
        FROM json_each(CASE WHEN typeof(turns.json) = 'text' AND json_valid(turns.json) THEN turns.json ELSE '{}' END,
            '$.parts')
        WHERE json_extract(iif(type = 'object', value, '{}'), '$.kind') IN ('reasoning')) AS reasoning,
    (SELECT group_concat(json_extract(iif(type = 'object', value, '{}'), '$.name') || ' ' ||
        json_extract(iif(type = 'object', value, '{}'), '$.arguments'), char(10))
        FROM json_each(CASE WHEN typeof(turns.json) = 'text' AND json_valid(turns.json) THEN turns.json ELSE '{}' END,
            '$.parts')
        WHERE json_extract(iif(type = 'object', value, '{}'), '$.kind') IN ('tool_call')) AS arguments FROM turns;
PRAGMA user_version = 4;
"""


def version_4(path: Path) -> None:
    """The same, with a turn that could not be read set aside."""
    version_3(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_4)
        row = json.dumps({"number": 16777219, "id": "t3", "json": "{cut", "indexed": 1})
        connection.execute("INSERT INTO unread VALUES (1, 1, 'turns', ?, '', 'abc', 1.7e9)", (row,))
        connection.commit()


BUILDERS: dict[int, Callable[[Path], None]] = {1: version_1, 2: version_2, 3: version_3, 4: version_4}
