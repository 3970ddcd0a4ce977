"""Remove a secret from all that is stored of one experiment: turns, settings, drafts, pictures, exchanges."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from playground.engine.cassettes.cassette import CassetteError
from playground.engine.io.database import transaction
from playground.engine.library.store.migrations import first_number, last_number
from playground.engine.library.store.reading import tape_reads
from playground.engine.library.store.rows import index_title, index_turn, unindex_title, unindex_turn
from playground.engine.library.store.tape_rows import read_tape, write_tape
from playground.gateway.redact import Redactor

#: Columns of text by table, and the condition for the rows of the experiment with a given number.
_TEXTS: Final = (
    ("settings", ("json",), "experiment = ?"),
    ("drafts", ("json",), "experiment = ?"),
    ("images", ("url",), "hash IN (SELECT hash FROM image_uses WHERE experiment = ?)"),
    ("tapes", ("head",), "experiment = ? AND data IS NULL"),
)
_NOTHING: Final = Redactor(())


def remove_secret(connection: sqlite3.Connection, experiment_id: str, redactor: Redactor) -> int:
    """Rewrite the rows of an experiment that hold the secret; return how many did. Raises sqlite3.Error.

    Pages that are freed by it keep nothing, and neither do the index and the write-ahead log.
    """
    row = connection.execute("SELECT number FROM experiments WHERE id = ?", (experiment_id,)).fetchone()
    if row is None:
        return 0
    with transaction(connection):
        count = _clean_title(connection, row[0], redactor) + _clean_turns(connection, row[0], redactor)
        for table, columns, condition in _TEXTS:
            count += _clean_texts(connection, table, columns, (condition, (row[0],)), redactor)
        count += _clean_tapes(connection, experiment_id, row[0], redactor)
    if count:
        for index in ("words", "titles"):
            connection.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")  # noqa: S608 - our own names
        connection.executescript("PRAGMA incremental_vacuum")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return count


def _clean_texts(
    connection: sqlite3.Connection,
    table: str,
    columns: Iterable[str],
    where: tuple[str, tuple[object, ...]],
    redactor: Redactor,
) -> int:
    """Redact columns of text in the rows of a table for which a condition holds; return how many rows changed."""
    names = tuple(columns)
    condition, values = where
    query = f"SELECT rowid, {', '.join(names)} FROM {table} WHERE {condition}"  # noqa: S608 - our own names
    count = 0
    for rowid, *texts in connection.execute(query, values).fetchall():
        clean = [redactor.text(text) if isinstance(text, str) else text for text in texts]
        if clean != texts:
            sets = ", ".join(f"{name} = ?" for name in names)
            connection.execute(f"UPDATE {table} SET {sets} WHERE rowid = ?", (*clean, rowid))  # noqa: S608 - our own names
            count += 1
    return count


def _clean_title(connection: sqlite3.Connection, number: int, redactor: Redactor) -> int:
    unindex_title(connection, number)
    columns = ("title", "summary", "model")
    count = _clean_texts(connection, "experiments", columns, ("number = ?", (number,)), redactor)
    index_title(connection, number)
    return count


def _clean_turns(connection: sqlite3.Connection, experiment: int, redactor: Redactor) -> int:
    span = first_number(experiment), last_number(experiment)
    count = 0
    for number, text in connection.execute(
        "SELECT number, json FROM turns WHERE number BETWEEN ? AND ?", span
    ).fetchall():
        if isinstance(text, str) and redactor.text(text) != text:
            indexed = unindex_turn(connection, number)
            count += _clean_texts(connection, "turns", ("json",), ("number = ?", (number,)), redactor)
            if indexed:
                index_turn(connection, number)
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
            count += _clean_texts(connection, "tapes", ("head",), ("rowid = ?", (rowid,)), redactor)
            continue
        values = (clean_head, len(clean_data), clean_data, rowid)
        connection.execute("UPDATE tapes SET head = ?, size = ?, data = ? WHERE rowid = ?", values)
        connection.execute("DELETE FROM tape_reads WHERE experiment = ? AND tape = ?", (number, tape_id))
        count += 1
    return count
