"""Limit the size of the file: drop bodies of old exchanges. Headers, times and failures stay."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from typing import Final

GIBIBYTE: Final = 1024 * 1024 * 1024
#: Bytes of a tape; one that says it is larger than any can be is damaged, and must not displace all others.
SIZE: Final = "iif(typeof(size) = 'integer' AND size BETWEEN 0 AND 1 << 31, size, length(data))"
_PAGES: Final = 16384  # given back at once
_FEW: Final = 256  # pages that may lie unused: they are soon written again


@dataclass(frozen=True, slots=True)
class KeepTapes:
    """How long bodies are kept: ``days`` since the request, and ``bytes`` of all together, packed. None: no bound."""

    days: float | None = 90
    bytes: int | None = GIBIBYTE


def prune(connection: sqlite3.Connection, rule: KeepTapes) -> None:
    """Drop bodies that are older than the rule allows, then the oldest, until the others fit."""
    if rule.days is not None:
        oldest = time.time() - rule.days * 86400
        connection.execute("UPDATE tapes SET data = NULL WHERE started_at < ? AND data IS NOT NULL", (oldest,))
    if rule.bytes is not None:
        connection.execute(
            f"""UPDATE tapes SET data = NULL WHERE data IS NOT NULL AND rowid IN (SELECT number FROM (
                SELECT rowid AS number, sum({SIZE}) OVER (ORDER BY started_at DESC, rowid DESC) AS taken
                FROM tapes WHERE data IS NOT NULL) WHERE taken > ?)""",  # noqa: S608 - our own words
            (rule.bytes,),
        )
    connection.execute(
        """DELETE FROM tape_reads WHERE EXISTS (SELECT 1 FROM tapes WHERE tapes.experiment = tape_reads.experiment
            AND tapes.id = tape_reads.tape AND tapes.data IS NULL)"""
    )


def give_back(connection: sqlite3.Connection) -> None:
    """Return unused pages to the file system. Not inside a transaction."""
    if connection.execute("PRAGMA freelist_count").fetchone()[0] > _FEW:
        # As a script: a single statement of this kind is ended after its first page.
        connection.executescript(f"PRAGMA incremental_vacuum({_PAGES})")


def copy_tapes(connection: sqlite3.Connection, source: str, target: str) -> None:
    """Copy the exchanges of one experiment to another."""
    connection.execute(
        """INSERT OR IGNORE INTO tapes SELECT new.number, tapes.id, started_at, head, size, data
            FROM tapes JOIN experiments AS old ON old.number = tapes.experiment, experiments AS new
            WHERE old.id = ? AND new.id = ? ORDER BY tapes.rowid""",
        (source, target),
    )
    connection.execute(
        """INSERT INTO tape_reads SELECT new.number, tape, data
            FROM tape_reads JOIN experiments AS old ON old.number = tape_reads.experiment, experiments AS new
            WHERE old.id = ? AND new.id = ? AND NOT EXISTS (SELECT 1 FROM tape_reads AS had
                WHERE had.experiment = new.number AND had.tape = tape_reads.tape)
            ORDER BY tape_reads.rowid""",
        (source, target),
    )
