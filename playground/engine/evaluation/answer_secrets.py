"""Remove a secret from the stored answers of an evaluation."""

from __future__ import annotations

import sqlite3
import zlib
from typing import Final

from playground.engine.io.database import transaction
from playground.gateway.redact import Redactor

_MAX_SIZE: Final = 512 * 1024 * 1024  # bytes of one column after it was unpacked
#: Table, key columns, columns with text or packed JSON, and the condition for the rows of an evaluation.
_COLUMNS: Final = (
    ("answers", ("number",), ("gist", "failure", "verdicts"), "evaluation = ?"),
    (
        "kept",
        ("answer",),
        ("turns", "judgements", "frames"),
        "answer IN (SELECT number FROM answers WHERE evaluation = ?)",
    ),
    ("recorded", ("evaluation", "server", "tool", "arguments"), ("answer",), "evaluation = ?"),
)


def remove_secret(connection: sqlite3.Connection, evaluation: str, redactor: Redactor) -> int:
    """Redact the answers of an evaluation; return how many rows had the secret. Raises sqlite3.Error."""
    count = 0
    with transaction(connection):
        for table, keys, names, condition in _COLUMNS:
            query = f"SELECT {', '.join((*keys, *names))} FROM {table} WHERE {condition}"  # noqa: S608 - our own names
            sets, where = (", ".join(f"{name} = ?" for name in names), " AND ".join(f"{key} = ?" for key in keys))
            for row in connection.execute(query, (evaluation,)).fetchall():
                key, values = row[: len(keys)], row[len(keys) :]
                clean = tuple(_redacted(value, redactor) for value in values)
                if clean != values:
                    connection.execute(f"UPDATE {table} SET {sets} WHERE {where}", (*clean, *key))  # noqa: S608
                    count += 1
    if count:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return count


def _redacted(value: str | bytes | None, redactor: Redactor) -> str | bytes | None:
    """Return a column without the secret: text, packed JSON or null; the same value if it has none."""
    if isinstance(value, str):
        return redactor.text(value)
    if value is None:
        return None
    try:
        text = zlib.decompressobj().decompress(value, _MAX_SIZE).decode()
    except (zlib.error, UnicodeDecodeError):
        return value  # damaged: it cannot be shown either
    clean = redactor.text(text)
    return value if clean == text else zlib.compress(clean.encode(), 1)
