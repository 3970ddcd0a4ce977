"""Remove a secret from all that is stored of one experiment: turns, settings, drafts, pictures, exchanges."""

from __future__ import annotations

import sqlite3
from typing import Final

from playground.engine.cassettes.cassette import CassetteError
from playground.engine.io.database import transaction
from playground.engine.library.store.migrations import MOST_PLACES, SHIFT
from playground.engine.library.store.reading import number_of, tape_reads
from playground.engine.library.store.rows import rebuild_index
from playground.engine.library.store.tape_rows import read_tape, write_tape
from playground.gateway.redact import Redactor

#: Columns of text by table, and the condition for the rows of the experiment with a given number.
_TEXTS: Final = (
    ("experiments", ("title", "summary", "model"), "number = ?"),
    ("turns", ("json",), f"number BETWEEN ?1 << {SHIFT} AND ?1 << {SHIFT} | {MOST_PLACES}"),
    ("settings", ("json",), "experiment = ?"),
    ("drafts", ("json",), "experiment = ?"),
    ("images", ("url",), "hash IN (SELECT hash FROM image_uses WHERE experiment = ?)"),
    ("tapes", ("head",), "experiment = ? AND data IS NULL"),
)
_NOTHING: Final = Redactor(())


def remove_secret(connection: sqlite3.Connection, experiment_id: str, redactor: Redactor) -> int:
    """Rewrite the rows of an experiment that hold the secret and the full-text index; return how many did.

    Raises sqlite3.Error. Pages that are freed by it keep nothing, and neither do the index and the write-ahead log.
    """
    number = number_of(connection, experiment_id)
    if number is None:
        return 0
    with transaction(connection):
        count = sum(
            _clean_texts(connection, table, columns, (condition, number), redactor)
            for table, columns, condition in _TEXTS
        )
        count += _clean_tapes(connection, experiment_id, number, redactor)
        if count:
            rebuild_index(connection)
    if count:
        connection.executescript("PRAGMA incremental_vacuum")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return count


def _clean_texts(
    connection: sqlite3.Connection,
    table: str,
    columns: tuple[str, ...],
    where: tuple[str, int],
    redactor: Redactor,
) -> int:
    """Redact columns of text where a condition holds for a value; return how many rows changed."""
    condition, value = where
    query = f"SELECT rowid, {', '.join(columns)} FROM {table} WHERE {condition}"  # noqa: S608 - our own names
    count = 0
    for rowid, *texts in connection.execute(query, (value,)).fetchall():
        clean = [redactor.text(text) if isinstance(text, str) else text for text in texts]
        if clean != texts:
            sets = ", ".join(f"{name} = ?" for name in columns)
            connection.execute(f"UPDATE {table} SET {sets} WHERE rowid = ?", (*clean, rowid))  # noqa: S608 - our own names
            count += 1
    return count


def _clean_tapes(connection: sqlite3.Connection, experiment_id: str, number: int, redactor: Redactor) -> int:
    """Redact exchanges with bodies, also where reads or events split the secret; return how many changed."""
    query = "SELECT rowid, id, head, data FROM tapes WHERE experiment = ? AND data IS NOT NULL"
    count = 0
    for rowid, tape_id, head, data in connection.execute(query, (number,)).fetchall():
        try:
            exchange = read_tape(head, data, tape_reads(connection, experiment_id, tape_id))
            if write_tape(exchange, redactor) == write_tape(exchange, _NOTHING):
                continue
            clean_head, clean_data = write_tape(exchange, redactor)
        except CassetteError:  # damaged: its bodies cannot be shown either
            count += _clean_texts(connection, "tapes", ("head",), ("rowid = ?", rowid), redactor)
            continue
        values = (clean_head, len(clean_data), clean_data, rowid)
        connection.execute("UPDATE tapes SET head = ?, size = ?, data = ? WHERE rowid = ?", values)
        connection.execute("DELETE FROM tape_reads WHERE experiment = ? AND tape = ?", (number, tape_id))
        count += 1
    return count
