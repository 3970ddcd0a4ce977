"""Rows that could not be read, wholly or in part: set aside in a table of their own, to the byte, before anything is
written over them.

Whoever reads notes them in ``Unreadable``, and the writer is handed what was noted. Nothing is judged twice: a row that
is damaged in the same way as before is there once.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from playground.gateway.redact import Redactor
from playground.jsonkit.nesting import loads
from playground.jsonkit.texts import listed
from playground.jsonkit.values import JSON, JSONObject

REPLACED: Final = "\ufffd"  # what stands for bytes that are no text, and may have been written by somebody
_LARGEST: Final = 64 * 1024 * 1024  # bytes of a body that are unpacked for people
_BODIES: Final = frozenset({"data", "size"})  # let go by the rule for old tapes, whatever else is in the row

#: What rows are to people: one, several. Of ``experiments`` the column is meant that a line of the list shows.
_NAMES: Final = {
    "turns": ("turn", "turns"),
    "tapes": ("exchange", "exchanges"),
    "images": ("picture", "pictures"),
    "settings": ("row of settings", "rows of settings"),
    "drafts": ("draft", "drafts"),
    "pasts": ("list of undo steps", "lists of undo steps"),
    "experiments": ("line of the list", "lines of the list"),
    "state": ("note of what was looked at", "notes of what was looked at"),
}

#: How many rows of a table could not be read, by the table and whether something of each could.
Tally = dict[tuple[str, bool], int]


@dataclass(frozen=True, slots=True)
class Unread:
    """A row as it is in the file. ``experiment`` is the number of the one it belongs to; ``fields`` are those that
    could not be read of a row that otherwise could, none where nothing of it could. ``row`` is a JSON object: columns
    by name, each null, a number or a text, or an object where JSON has no word for it (``exact``).
    """

    experiment: int | None
    table: str
    row: str
    fields: tuple[str, ...] = ()
    at: float = 0.0

    @property
    def hash(self) -> str:
        """The same for the same damage, whatever became of bodies, and of what else a line of the list says."""
        columns = json.loads(self.row)
        names = self.fields if self.table == "experiments" else columns.keys() - _BODIES
        kept = {name: columns[name] for name in columns if name in names}
        return hashlib.sha256(json.dumps([self.experiment, self.table, kept]).encode()).hexdigest()


class Unreadable:
    """Notes what could not be read on one connection, while an experiment or the list is."""

    def __init__(self, connection: sqlite3.Connection, experiment: int | None = None) -> None:
        self.connection = connection
        self.experiment = experiment
        self._found: dict[tuple[str, int], Unread] = {}

    @property
    def found(self) -> list[Unread]:
        """What was noted, each row once."""
        return list(self._found.values())

    def note(self, table: str, rowid: int, *fields: str) -> None:
        """The row could not be read, or only the ``fields`` of it."""
        key = table, rowid
        if (known := self._found.get(key)) is not None:
            both = tuple(dict.fromkeys((*known.fields, *fields))) if known.fields and fields else ()
            self._found[key] = replace(known, fields=both)
        elif (row := exact(self.connection, table, rowid)) is not None:
            self._found[key] = Unread(rowid if table == "experiments" else self.experiment, table, row, fields)

    def look(self, table: str, rowid: int, column: str, text: str) -> None:
        """Note the row where ``text``, which was read from that column, is not what stands there."""
        if REPLACED in text:
            query = f"SELECT CAST({column} AS BLOB) FROM {table} WHERE rowid = ?"  # noqa: S608 - our own names
            (data,) = self.connection.execute(query, (rowid,)).fetchone()
            if not _is_text(data):
                self.note(table, rowid, column)

    def object(self, table: str, rowid: int, text: object, column: str = "json") -> JSONObject | None:
        """The JSON object in a column; None, and noted, where there is none."""
        try:
            value = loads(text) if isinstance(text, str) else None
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or not isinstance(text, str):
            self.note(table, rowid)
            return None
        self.look(table, rowid, column, text)
        return value


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def exact(connection: sqlite3.Connection, table: str, rowid: int) -> str | None:
    """A row as JSON, to the byte; None where it is gone.

    A text that is no UTF-8 is ``{"text": base64}``, a blob ``{"blob": base64}``, an infinite number ``{"real": its
    name}``.
    """
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    values = ", ".join(f"typeof({name}), iif(typeof({name}) = 'text', CAST({name} AS BLOB), {name})" for name in names)
    row = connection.execute(f"SELECT {values} FROM {table} WHERE rowid = ?", (rowid,)).fetchone()  # noqa: S608 - our own names
    if row is None:
        return None
    return json.dumps({name: _exact(*row[2 * at : 2 * at + 2]) for at, name in enumerate(names)})


def _exact(kind: str, value: Any) -> JSON:
    if kind == "text" and _is_text(value):
        return bytes(value).decode()
    if isinstance(value, bytes):
        return {kind: base64.b64encode(value).decode()}
    if kind == "real" and value in (float("inf"), float("-inf")):
        return {"real": str(value)}
    return value


# ---- in the table ----------------------------------------------------------------------------------------------------


def set_aside(connection: sqlite3.Connection, rows: Iterable[Unread]) -> None:
    """Keep them, those that are not there yet, and give a line of the list whose id cannot be read another one."""
    for one in rows:
        connection.execute(
            "INSERT OR IGNORE INTO unread (experiment, source, row, fields, hash, at) SELECT ?1, ?2, ?3, ?4, ?5, ?6"
            " WHERE ?1 IS NULL OR ?1 IN (SELECT number FROM experiments)",  # it may have gone for good meanwhile
            (one.experiment, one.table, one.row, " ".join(one.fields), one.hash, time.time()),
        )
        if one.table == "experiments" and "id" in one.fields and one.experiment is not None:
            named = found_again(one.experiment), one.experiment
            connection.execute("UPDATE OR IGNORE experiments SET id = ? WHERE number = ?", named)


def found_again(experiment: int) -> str:
    """The id of an experiment whose own cannot be read."""
    return f"recovered-{experiment}"


def _has_table(connection: sqlite3.Connection) -> bool:
    """Whether the file has a place for them; one that could only be opened for reading may be older."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'unread'").fetchone() is not None


def all_unread(connection: sqlite3.Connection, met: Iterable[Unread], experiment_id: str | None = None) -> list[Unread]:
    """What is set aside, first noticed first, and what was ``met`` and is not yet: all of it, or an experiment's."""
    if experiment_id is None:
        there = {None, *(number for (number,) in connection.execute("SELECT number FROM experiments"))}
    else:
        query = "SELECT number FROM experiments WHERE id = ?"
        there = {number for (number,) in connection.execute(query, (experiment_id,))}
    found: dict[str, Unread] = {}
    if _has_table(connection):
        rows = connection.execute("SELECT experiment, source, row, fields, at, hash FROM unread ORDER BY number")
        for experiment, table, row, fields, at, key in rows:
            if experiment in there:
                found[key] = Unread(experiment, table, row, tuple(fields.split()), at)
    for one in met:
        if one.experiment in there:
            found.setdefault(one.hash, one)
    return list(found.values())


def tally(rows: Iterable[Unread]) -> Tally:
    """How many there are of which kind."""
    out: Tally = {}
    for one in rows:
        key = one.table, bool(one.fields)
        out[key] = out.get(key, 0) + 1
    return out


# ---- for people ------------------------------------------------------------------------------------------------------


def unread_words(found: Mapping[tuple[str, bool], int]) -> str:
    """What could not be read: "1 turn could not be read". Empty where everything could.

    Steps to undo are made of turns: that they go with one goes without saying.
    """
    if ("turns", False) in found:
        found = {key: number for key, number in found.items() if key[0] != "pasts"}
    whole = [_counted(table, number) for (table, part), number in found.items() if not part]
    parts = [_counted(table, number) for (table, part), number in found.items() if part]
    if not whole:
        return f"{listed(parts)} could only be read in part" if parts else ""
    more = f", and {listed(parts)} only in part" if parts else ""
    return f"{listed(whole)} could not be read{more}"


def told(found: Mapping[tuple[str, bool], int], *, kept: bool) -> str:
    """The same as statements to show, with what became of it; ``kept`` where the store can be written."""
    words = unread_words(found)
    if not words:
        return ""
    several = not words.startswith("1 ") or " and " in words
    where = "set aside in the store" if kept else "left in the store"
    return f"{words}. {'They are' if several else 'It is'} {where}."


def _counted(table: str, number: int) -> str:
    one, several = _NAMES.get(table, (f"row of {table}", f"rows of {table}"))
    return f"{number} {one if number == 1 else several}"


def as_file(rows: Iterable[Unread], redactor: Redactor) -> bytes:
    """What was set aside, to look at: JSON with every text readable and secrets taken out. The store has the bytes."""
    out: list[JSON] = []
    for one in rows:
        columns = {name: _plainly(value) for name, value in json.loads(one.row).items()}
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(one.at)) if one.at else None
        value: JSONObject = {"table": one.table, "unread": list(one.fields) or "all of it", "noticed": when}
        out.append({**value, "row": {name: _clean(column, redactor) for name, column in columns.items()}})
    return json.dumps({"gateway-playground": "rows that could not be read", "rows": out}, indent=2).encode()


def _plainly(value: JSON) -> JSON:
    """Bytes as the text that stands in them; bodies unpacked, where they can be."""
    if not isinstance(value, dict) or not isinstance(coded := next(iter(value.values()), None), str):
        return value
    try:
        data = base64.b64decode(coded, validate=True)
    except (ValueError, binascii.Error):
        return value
    if "blob" in value:
        with contextlib.suppress(zlib.error):
            data = zlib.decompressobj().decompress(data, _LARGEST)
    return data.decode("utf-8", "backslashreplace")


def _clean(value: JSON, redactor: Redactor) -> JSON:
    return redactor.text(value) if isinstance(value, str) else value
