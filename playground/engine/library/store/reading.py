"""Reading what the file holds: the list, one experiment, its tapes. Works on any connection and changes nothing."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Final, cast

from playground.domain.transcript import Transcript, Turn
from playground.engine.cassettes.cassette import CassetteError
from playground.engine.library.experiment_summary import Deleted, ExperimentSummary
from playground.engine.library.store.past_rows import has_past, read_past
from playground.engine.library.store.retention import SIZE
from playground.engine.library.store.schema import first_number, last_number, version_of
from playground.engine.library.store.tape_rows import read_head, read_tape
from playground.engine.library.store.texts import bring_pictures
from playground.engine.library.store.trouble import StoreError
from playground.engine.library.store.unread import REPLACED, Unreadable, found_again
from playground.engine.session.history import Places
from playground.engine.session.snapshot import LATEST, Snapshot, check_tree, circular, decode, read_as
from playground.gateway.tape import Exchange
from playground.jsonkit.values import JSON, JSONObject

#: The columns of the list are the fields of a summary.
_COLUMNS = tuple(one.name for one in fields(ExperimentSummary))
SUMMARY = ", ".join(_COLUMNS)
_FLAGS = ("pinned", "archived", "has_error", "has_tools")

_TYPES = (str, str, str, str, str, int, int, float, float, int, int)
_TIMES = ("created_at", "changed_at")
_TEXTS = ("title", "summary", "model", "protocol")

_PARENT: Final = re.compile(r'"parent" ?: ?"([^"\\]*)"')


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A row of a turn: its number, the id or two that it says it has, its JSON object as far as it is one, its text."""

    number: int
    ids: tuple[str, ...]
    value: JSONObject | None
    text: str


def mended(
    experiment_id: str, number: int, parts: Mapping[str, JSONObject], rows: Sequence[TurnRow], lost: Unreadable
) -> Snapshot:
    """The experiment without what cannot be read in it. ``parts`` are its fields by the table that they stand in.

    Raises ValueError where nothing can be read.
    """
    found = _fields(experiment_id, number, parts, lost)
    turns, above = _turns(rows, lost)
    head = _first_there(found.head, turns, above)
    if head is None:
        head = next(reversed(turns), None)
    ends = {name: _first_there(end, turns, above) for name, end in found.heads.items()}
    heads = {name: end for name, end in ends.items() if end is not None or found.heads[name] is None}
    return found.model_copy(update={"turns": tuple(turns.values()), "head": head, "heads": heads})


def _fields(experiment_id: str, number: int, parts: Mapping[str, JSONObject], lost: Unreadable) -> Snapshot:
    """All of it but its turns."""
    kept: JSONObject = {"id": experiment_id}
    for table, part in parts.items():
        rest = {name: value for name, value in part.items() if name not in ("id", "turns")}
        head = rest.pop("head", None)
        odd = () if _decodes(rest) else tuple(name for name, value in rest.items() if not _decodes({name: value}))
        if head is not None and not isinstance(head, str):
            odd += ("head",)
        if odd:
            lost.note(table, number, *odd)
        kept.update({name: value for name, value in rest.items() if name not in odd})
        if isinstance(head, str):
            kept["head"] = head
    head = kept.pop("head", None)
    return decode(kept).model_copy(update={"head": head})


def _decodes(found: JSONObject) -> bool:
    try:
        decode({"id": "x", **found})
    except ValueError:
        return False
    return True


def _turns(rows: Sequence[TurnRow], lost: Unreadable) -> tuple[dict[str, Turn], dict[str, str | None]]:
    """Those that can be read, in a tree; and above which turn each of the others stood."""
    turns: dict[str, Turn] = {}
    above: dict[str, str | None] = {}
    numbers: dict[str, int] = {}
    before: dict[str, str | None] = {}  # the turn before each, by number
    last: str | None = None
    ids = {key for row in rows for key in row.ids}
    for row in rows:
        turn = _turn(row.value)
        if turn is not None and turn.id not in turns:
            turns[turn.id], numbers[turn.id], before[turn.id] = turn, row.number, last
            last = turn.id
        elif turn is None or turns[turn.id] != turn:
            if row.value is not None:  # else it is noted already
                lost.note("turns", row.number)
            parent = _parent(row, ids, last)
            above.update({key: parent for key in row.ids if key not in above})
    for key, turn in turns.items():
        if turn.parent is None or turn.parent in turns:
            continue
        parent = _first_there(turn.parent, turns, above) if turn.parent in above else before[key]
        if turn.parent not in above:
            lost.note("turns", numbers[key], "parent")
        turns[key] = turn.model_copy(update={"parent": parent})
    for key in circular({turn.id: turn.parent for turn in turns.values()}):
        lost.note("turns", numbers[key], "parent")
        turns[key] = turns[key].model_copy(update={"parent": None})
    return turns, above


def _turn(value: JSON) -> Turn | None:
    try:
        turn = read_as(Turn, value, "a turn")
        check_tree((turn.model_copy(update={"parent": None}),), None)
    except ValueError:
        return None
    return turn


def _parent(row: TurnRow, ids: set[str], last: str | None) -> str | None:
    """What a turn that cannot be read followed: as it says itself, else the one before it."""
    if row.value is not None and "role" in row.value:
        parent = row.value.get("parent")
        if parent is None or parent in ids:
            return parent
    said = [one for one in _PARENT.findall(row.text) if one in ids and one not in row.ids]
    return said[-1] if said else last


def _first_there(key: str | None, turns: Mapping[str, Turn], above: Mapping[str, str | None]) -> str | None:
    """The turn of that id, else the nearest above it that is there."""
    seen: set[str] = set()
    while key is not None and key not in turns and key not in seen:
        seen.add(key)
        key = above.get(key)
    return key if key in turns else None


def summary_from_row(row: tuple[JSON, ...], lost: Unreadable | None = None) -> ExperimentSummary:
    """The summary from the number of an experiment and the columns in ``SUMMARY``. One that is not what it should be is
    empty, and noted in ``lost``.
    """
    number, *columns = row
    id_, title, summary, model, protocol, pinned, archived, created_at, changed_at, has_error, has_tools = columns
    whole = tuple(map(type, columns)) == _TYPES and REPLACED not in f"{id_}{title}{summary}{model}{protocol}"
    if whole and 0 <= created_at <= LATEST and 0 <= changed_at <= LATEST:  # the usual way: there are thousands
        flags = bool(pinned), bool(archived), created_at, changed_at, bool(has_error), bool(has_tools)
        return ExperimentSummary(id_, title, summary, model, protocol, *flags)
    found = dict(zip(_COLUMNS, columns, strict=True))
    odd = [name for name, kind in zip(_COLUMNS, _TYPES, strict=True) if not _fits(name, kind, found[name])]
    if odd:
        found.update({name: kind() for name, kind in zip(_COLUMNS, _TYPES, strict=True) if name in odd})
        if "id" in odd:
            found["id"] = found_again(cast("int", number))
    if lost is not None:
        if odd:
            lost.note("experiments", cast("int", number), *odd)
        for name in _TEXTS:
            lost.look("experiments", cast("int", number), name, cast("str", found[name]))
    return ExperimentSummary(**{**found, **{name: bool(found[name]) for name in _FLAGS}})


def _fits(name: str, kind: type, value: JSON) -> bool:
    if type(value) is not kind:
        return False
    if name in _TIMES:
        return 0 <= cast("float", value) <= LATEST
    return not (name == "id" and REPLACED in cast("str", value))


def experiments(connection: sqlite3.Connection, lost: Unreadable | None = None) -> list[ExperimentSummary]:
    """Every experiment that is not deleted, newest first."""
    order = "ORDER BY created_at DESC, number DESC"
    rows = connection.execute(f"SELECT number, {SUMMARY} FROM experiments WHERE deleted_at IS NULL {order}")  # noqa: S608 - our own names
    return [summary_from_row(row, lost) for row in rows.fetchall()]


def deleted(connection: sqlite3.Connection, lost: Unreadable | None = None) -> list[Deleted]:
    """What is in the trash, deleted last first. A moment that cannot be read is now."""
    query = (
        f"SELECT deleted_at, number, {SUMMARY} FROM experiments WHERE deleted_at IS NOT NULL ORDER BY deleted_at DESC"  # noqa: S608 - our own names
    )
    out: list[Deleted] = []
    for moment, *row in connection.execute(query).fetchall():
        readable = isinstance(moment, float) and moment <= LATEST
        if not readable and lost is not None:
            lost.note("experiments", row[0], "deleted_at")
        out.append(Deleted(summary_from_row(tuple(row), lost), moment if readable else time.time()))
    return out


def trash_size(connection: sqlite3.Connection) -> int:
    """About how many bytes of the file the trash takes: turns, settings and what went over the wire."""
    total = 0
    for (number,) in connection.execute("SELECT number FROM experiments WHERE deleted_at IS NOT NULL").fetchall():
        span = first_number(number), last_number(number)
        queries: list[tuple[str, tuple[int, ...]]] = [
            ("SELECT sum(length(json)) FROM turns WHERE number BETWEEN ? AND ?", span),
            ("SELECT sum(length(json)) FROM settings WHERE experiment = ?", (number,)),
            ("SELECT sum(length(json)) FROM drafts WHERE experiment = ?", (number,)),
            (f"SELECT sum(length(head) + iif(data IS NULL, 0, {SIZE})) FROM tapes WHERE experiment = ?", (number,)),  # noqa: S608
        ]
        total += sum(connection.execute(query, values).fetchone()[0] or 0 for query, values in queries)
    return total


def load(connection: sqlite3.Connection, experiment_id: str, lost: Unreadable | None = None) -> Snapshot:
    """One experiment. Raises KeyError for an unknown id, StoreError for one that this version cannot read.

    Of what is damaged as much is taken as can be: a turn that is lost leaves those after it in place. What is not taken
    is noted in ``lost``.
    """
    query = f"SELECT number, {SUMMARY} FROM experiments WHERE id = ?"  # noqa: S608 - our own names
    row = connection.execute(query, (experiment_id,)).fetchone()
    if row is None:
        raise KeyError(experiment_id)
    lost = lost or Unreadable(connection)
    experiment = summary_from_row(row, lost)
    number = lost.experiment = row[0]
    settings, drafts = (_beside(table, number, lost) for table in ("settings", "drafts"))
    pictures: dict[str, str] = {}
    if drafts is not None and isinstance(drafts.get("draft"), dict):
        bring_pictures(drafts["draft"], pictures, lost)
    if drafts is not None:
        bring_pictures({"calls": drafts.get("calls")}, pictures, lost)
    span = first_number(number), last_number(number)
    query = "SELECT number, id, json FROM turns WHERE number BETWEEN ? AND ? ORDER BY number"
    rows = [_row(at, key, text, lost) for at, key, text in connection.execute(query, span).fetchall()]
    for one in rows:
        if one.value is not None:
            bring_pictures(one.value, pictures, lost)
    if settings is None and rows:  # its settings are lost: at least something of it is shown
        settings = {"head": next(iter(rows[-1].ids), None)}
    columns = {name: getattr(experiment, name) for name in ("pinned", "archived", "created_at", "changed_at")}
    parts = {"settings": settings or {}, "drafts": drafts or {}, "experiments": columns}
    try:
        whole = {name: value for part in parts.values() for name, value in part.items()}
        return decode({**whole, "id": experiment_id, "turns": [one.value for one in rows]})
    except ValueError as error:
        try:
            return mended(experiment_id, number, parts, rows, lost)
        except ValueError:
            raise StoreError(f"This experiment cannot be read: {error}") from None


def _beside(table: str, number: int, lost: Unreadable) -> JSONObject | None:
    """The row that an experiment has in a table; None where it has none, or none that can be read."""
    query = f"SELECT json FROM {table} WHERE experiment = ?"  # noqa: S608 - our own names
    row = lost.connection.execute(query, (number,)).fetchone()
    return lost.object(table, number, row[0]) if row is not None else None


def recall(connection: sqlite3.Connection, name: str, lost: Unreadable) -> str:
    """A word on the window's state; empty where there is none."""
    row = connection.execute("SELECT rowid, value FROM state WHERE name = ?", (name,)).fetchone()
    if row is None:
        return ""
    if not isinstance(row[1], str):
        lost.note("state", row[0])
        return ""
    lost.look("state", row[0], "value", row[1])
    return row[1]


def _row(number: int, turn_id: object, text: object, lost: Unreadable) -> TurnRow:
    value = lost.object("turns", number, text)
    said = value.get("id") if value is not None else None
    ids = tuple(key for key in (said, turn_id) if isinstance(key, str))
    return TurnRow(number, ids, value, text if isinstance(text, str) else "")


def past(
    connection: sqlite3.Connection, experiment_id: str, now: Transcript, lost: Unreadable | None = None
) -> list[Places]:
    """What undo goes back to in an experiment whose turns are ``now``, newest first, as far as it can be read."""
    if not has_past(connection):
        return []
    query = "SELECT number, json FROM pasts JOIN experiments ON number = experiment WHERE id = ?"
    row = connection.execute(query, (experiment_id,)).fetchone()
    if row is None:
        return []
    lost = lost or Unreadable(connection)
    lost.experiment = row[0]
    pictures: dict[str, str] = {}
    found, all_ = read_past(row[1], now, partial(bring_pictures, known=pictures, lost=lost))
    if not all_:
        lost.note("pasts", row[0], *(["json"] if found else []))
    return found


def tape_heads(connection: sqlite3.Connection, experiment_id: str, lost: Unreadable | None = None) -> list[Exchange]:
    """The exchanges of an experiment without their bodies, oldest first. One that is damaged is noted in ``lost``."""
    rows = connection.execute(
        "SELECT number, tapes.rowid, head FROM tapes JOIN experiments ON number = experiment WHERE experiments.id = ?"
        " ORDER BY started_at, tapes.rowid",
        (experiment_id,),
    )
    lost = lost or Unreadable(connection)
    found: list[Exchange] = []
    for number, rowid, head in rows.fetchall():
        lost.experiment = number
        try:
            found.append(read_head(head))
        except CassetteError:
            lost.note("tapes", rowid)
        else:
            lost.look("tapes", rowid, "head", head)
    return found


def tape(connection: sqlite3.Connection, experiment_id: str, exchange_id: str) -> Exchange | None:
    """One exchange with its bodies; None where they are no longer kept."""
    row = connection.execute(
        "SELECT head, data FROM tapes JOIN experiments ON number = experiment"
        " WHERE experiments.id = ? AND tapes.id = ?",
        (experiment_id, exchange_id),
    ).fetchone()
    if row is None or row[1] is None:
        return None
    try:
        return read_tape(row[0], row[1], tape_reads(connection, experiment_id, exchange_id))
    except CassetteError as error:
        raise StoreError(str(error)) from None


def tape_reads(connection: sqlite3.Connection, experiment_id: str, exchange_id: str) -> list[bytes]:
    """The reads that were written one by one: of an exchange under way, or of one that was when the process ended."""
    if version_of(connection) < 2:
        return []  # a file that could only be opened for reading
    rows = connection.execute(
        "SELECT data FROM tape_reads JOIN experiments ON number = experiment WHERE experiments.id = ? AND tape = ?"
        " ORDER BY tape_reads.rowid",
        (experiment_id, exchange_id),
    )
    return [data for (data,) in rows]
