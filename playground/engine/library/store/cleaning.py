"""Takes a secret out of what was stored before anybody knew that it is one, and nothing else.

``look`` reads some rows after others, on a connection that only reads, and says what would have to stand in them;
``put`` writes it, where a row is still as it was; ``settle`` leaves no copy in pages that are not used any more.
Columns are compared to the byte: what is damaged, or of a later version, stays so but for the secret.
"""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from playground.engine.cassettes.cassette import CassetteError
from playground.engine.gateways.tape_secrets import cleaned
from playground.engine.io.database import is_damage
from playground.engine.library.store.rows import index_title, index_turn, unindex_title, unindex_turn
from playground.engine.library.store.tape_rows import read_tape, write_tape
from playground.engine.library.store.unread import Unread
from playground.gateway.redact import Redactor
from playground.jsonkit.values import JSON

_STEP: Final = 2 * 1024 * 1024  # bytes of columns looked at in one go
_FEW: Final = 200  # and rows
_UNPACKED: Final = 8  # bytes that one of a packed body is taken for
#: The tables that have texts of people, and which columns those are.
_TEXTS: Final = {
    "experiments": ("title", "summary", "model"),
    "settings": ("json",),
    "drafts": ("json",),
    "turns": ("json",),
    "pasts": ("json",),
    "images": ("url",),
    "state": ("value",),
    "unread": ("row",),
    "tapes": ("head", "data"),
}
_TABLES: Final = tuple(_TEXTS)


class ScanPosition(NamedTuple):
    """Where to go on: after the row ``rowid`` of the table of that number."""

    table: int = 0
    rowid: int = -(1 << 63)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A row with a secret in it: some columns as they are in the file, and as they are to be."""

    table: str
    rowid: int
    before: dict[str, bytes]
    after: dict[str, Any]
    reads: int | None = None  # the last of the reads that were written one by one and are in ``after`` now


def look(
    connection: sqlite3.Connection, redactor: Redactor, place: ScanPosition
) -> tuple[list[Cleaned], ScanPosition | None]:
    """The rows with a secret among the next ones, and where to go on; None at the end. A damaged table is passed."""
    found: list[Cleaned] = []
    looked = rows = 0
    while looked < _STEP and rows < _FEW:
        if place.table == len(_TABLES):
            return found, None
        table = _TABLES[place.table]
        try:
            row = _next(connection, table, place.rowid)
            if row is None:
                place = ScanPosition(place.table + 1)
                continue
            rowid, columns = row
            looked, rows = looked + sum(map(len, columns.values())), rows + 1
            packed = columns.pop("data", b"")
            looked += _UNPACKED * len(packed)
            one = _tape(connection, rowid, columns["head"], packed, redactor) if packed else None
            one = one or _texts(table, rowid, columns, redactor)
        except sqlite3.DatabaseError as error:
            if not is_damage(error) and not _is_missing(error):
                raise
            place = ScanPosition(place.table + 1)
            continue
        if one is not None:
            found.append(one)
        place = ScanPosition(place.table, rowid)
    return found, place


def _is_missing(error: sqlite3.DatabaseError) -> bool:
    """Whether the file is older than the table."""
    return "no such table" in str(error)


def _next(connection: sqlite3.Connection, table: str, after: int) -> tuple[int, dict[str, bytes]] | None:
    names = _TEXTS[table]
    values = ", ".join(f"CAST({name} AS BLOB)" for name in names)
    query = f"SELECT rowid, {values} FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT 1"  # noqa: S608 - our own names
    row = connection.execute(query, (after,)).fetchone()
    if row is None:
        return None
    return row[0], {name: value for name, value in zip(names, row[1:], strict=True) if value is not None}


def _texts(table: str, rowid: int, columns: dict[str, bytes], redactor: Redactor) -> Cleaned | None:
    clean = partial(_unread, redactor) if table == "unread" else redactor.data
    after = {name: found for name, value in columns.items() if (found := clean(value)) != value}
    return Cleaned(table, rowid, {name: columns[name] for name in after}, after) if after else None


def _unread(redactor: Redactor, row: bytes) -> bytes:
    """A row that was set aside, also where it holds bytes that are no text."""
    try:
        columns = json.loads(row)
        found = {name: _exactly(redactor, value) for name, value in columns.items()}
    except (ValueError, AttributeError, RecursionError):
        return redactor.data(row)
    return row if found == columns else json.dumps(found).encode()


def _exactly(redactor: Redactor, value: JSON) -> JSON:
    if isinstance(value, str):
        return redactor.data(value.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    if isinstance(value, dict):
        return {
            kind: base64.b64encode(redactor.data(base64.b64decode(data))).decode() if kind in ("text", "blob") else data
            for kind, data in value.items()
        }
    return value


def _tape(
    connection: sqlite3.Connection, rowid: int, head_as_is: bytes, packed: bytes, redactor: Redactor
) -> Cleaned | None:
    """An exchange that has the secret, also where its events cut it; None for all others."""
    query = """SELECT more.rowid, more.data FROM tape_reads AS more JOIN tapes
        ON tapes.experiment = more.experiment AND tapes.id = more.tape WHERE tapes.rowid = ? ORDER BY more.rowid"""
    more = connection.execute(query, (rowid,)).fetchall()
    try:
        exchange = read_tape(head_as_is.decode(), packed, (data for _, data in more))
        found = cleaned(exchange, redactor)
        if found is None:
            return None
        head, data = write_tape(found, redactor)
    except (CassetteError, KeyError, UnicodeDecodeError, TypeError):
        return None  # damaged: nobody can read it, and its text is looked at
    before = {"head": head_as_is, "data": packed}
    after = {"head": head.encode(), "data": data, "size": len(data)}
    return Cleaned("tapes", rowid, before, after, more[-1][0] if more else None)


def put(connection: sqlite3.Connection, rows: Iterable[Cleaned]) -> int:
    """Write them, those that nobody has written since. Returns how many there were. To be done in a transaction."""
    return sum(_put(connection, one) for one in rows)


def _put(connection: sqlite3.Connection, one: Cleaned) -> bool:
    same = " AND ".join(f"CAST({name} AS BLOB) = ?" for name in one.before)
    query = f"SELECT 1 FROM {one.table} WHERE rowid = ? AND {same}"  # noqa: S608 - our own names
    if connection.execute(query, (one.rowid, *one.before.values())).fetchone() is None:
        return False
    if one.table == "unread":
        one = _with_hash(connection, one)
    # A text stays a text, and what was none because it is damaged stays none.
    sets = ", ".join(
        f"{name} = ?" if name in ("data", "size") else f"{name} = iif(typeof({name}) = 'blob', ?, CAST(? AS TEXT))"
        for name in one.after
    )
    values = [value for name, value in one.after.items() for _ in range(1 if name in ("data", "size") else 2)]
    indexed = one.table == "turns" and unindex_turn(connection, one.rowid)
    if one.table == "experiments":
        unindex_title(connection, one.rowid)
    connection.execute(f"UPDATE {one.table} SET {sets} WHERE rowid = ?", (*values, one.rowid))  # noqa: S608 - our own names
    if indexed:
        index_turn(connection, one.rowid)
    if one.table == "experiments":
        index_title(connection, one.rowid)
    if one.reads is not None:
        query = """DELETE FROM tape_reads WHERE rowid <= ? AND (experiment, tape) =
            (SELECT experiment, id FROM tapes WHERE rowid = ?)"""
        connection.execute(query, (one.reads, one.rowid))
    return True


def _with_hash(connection: sqlite3.Connection, one: Cleaned) -> Cleaned:
    """A row that was set aside is told by what stands in it."""
    query = "SELECT experiment, source, fields FROM unread WHERE number = ?"
    experiment, table, fields = connection.execute(query, (one.rowid,)).fetchone()
    key = Unread(experiment, table, one.after["row"].decode(), tuple(fields.split())).hash
    connection.execute("DELETE FROM unread WHERE hash = ? AND number <> ?", (key, one.rowid))
    return replace(one, after={**one.after, "hash": key.encode()})


def settle(connection: sqlite3.Connection) -> None:
    """Leave nothing of what was taken out in the index, in pages that are not used, or in the log that is written
    ahead. To be done outside a transaction, and while nobody reads.
    """
    for index in ("words", "titles"):
        connection.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")  # noqa: S608 - our own names
    connection.executescript("PRAGMA incremental_vacuum")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
