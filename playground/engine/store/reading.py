"""Reading what the file holds: the list, one experiment, its tapes. Works on any connection and changes nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import fields

from playground.domain.transcript import Transcript, Turn
from playground.domain.values import JSON, JSONObject
from playground.engine.cassette import CassetteError
from playground.engine.entry import Deleted, Entry
from playground.engine.snapshot import Snapshot, check_tree, circular, decode, read_as
from playground.engine.store.past_rows import has_past, read_past
from playground.engine.store.schema import first_number, last_number, version_of
from playground.engine.store.tape_rows import read_head, read_tape
from playground.engine.store.texts import bring_pictures
from playground.engine.store.trouble import StoreError
from playground.gateway.tape import Exchange

#: The columns of the list are the fields of an entry.
ENTRY = ", ".join(one.name for one in fields(Entry))


def entry_from_row(row: tuple[JSON, ...]) -> Entry:
    """An entry from the columns named in ``ENTRY``."""
    id_, title, summary, model, protocol, pinned, archived, created_at, changed_at, has_error, has_tools = row
    flags = bool(pinned), bool(archived)
    times = float(created_at), float(changed_at)
    return Entry(id_, title, summary, model, protocol, *flags, *times, bool(has_error), bool(has_tools))


def entries(connection: sqlite3.Connection) -> list[Entry]:
    """Every experiment that is not deleted, newest first."""
    order = "ORDER BY created_at DESC, number DESC"
    rows = connection.execute(f"SELECT {ENTRY} FROM experiments WHERE deleted_at IS NULL {order}")  # noqa: S608 - our own names
    return [entry_from_row(row) for row in rows]


def deleted(connection: sqlite3.Connection) -> list[Deleted]:
    """What is in the trash, deleted last first."""
    query = f"SELECT deleted_at, {ENTRY} FROM experiments WHERE deleted_at IS NOT NULL ORDER BY deleted_at DESC"  # noqa: S608 - our own names
    return [Deleted(entry_from_row(row[1:]), float(row[0])) for row in connection.execute(query)]


def trash_size(connection: sqlite3.Connection) -> int:
    """About how many bytes of the file the trash takes: turns, settings and what went over the wire."""
    total = 0
    for (number,) in connection.execute("SELECT number FROM experiments WHERE deleted_at IS NOT NULL").fetchall():
        span = first_number(number), last_number(number)
        queries: list[tuple[str, tuple[int, ...]]] = [
            ("SELECT sum(length(json)) FROM turns WHERE number BETWEEN ? AND ?", span),
            ("SELECT sum(length(json)) FROM settings WHERE experiment = ?", (number,)),
            ("SELECT sum(length(json)) FROM drafts WHERE experiment = ?", (number,)),
            ("SELECT sum(length(head) + iif(data IS NULL, 0, size)) FROM tapes WHERE experiment = ?", (number,)),
        ]
        total += sum(connection.execute(query, values).fetchone()[0] or 0 for query, values in queries)
    return total


def load(connection: sqlite3.Connection, experiment_id: str) -> Snapshot:
    """One experiment. Raises KeyError for an unknown id, StoreError for one that this version cannot read.

    Of what is damaged as much is taken as can be: a turn that is lost leaves those after it in place.
    """
    row = connection.execute(
        "SELECT number, pinned, archived, created_at, changed_at, json FROM experiments"
        " LEFT JOIN settings ON experiment = number WHERE id = ?",
        (experiment_id,),
    ).fetchone()
    if row is None:
        raise KeyError(experiment_id)
    number, pinned, archived, created_at, changed_at, text = row
    settings = _object(text)
    kept = connection.execute("SELECT json FROM drafts WHERE experiment = ?", (number,)).fetchone()
    drafts = _object(kept[0] if kept is not None else None)
    pictures: dict[str, str] = {}
    if isinstance(drafts.get("draft"), dict):
        bring_pictures(drafts["draft"], connection, pictures)
    span = first_number(number), last_number(number)
    turns = []
    for (turn_text,) in connection.execute("SELECT json FROM turns WHERE number BETWEEN ? AND ? ORDER BY number", span):
        value = _object(turn_text)
        bring_pictures(value, connection, pictures)
        turns.append(value)
    if text is None and turns:  # its settings are lost: at least something of it is shown
        settings = {"head": turns[-1].get("id")}
    columns = {"pinned": bool(pinned), "archived": bool(archived), "created_at": created_at, "changed_at": changed_at}
    whole = {**settings, **drafts, **columns, "id": experiment_id, "turns": turns}
    try:
        return decode(whole)
    except ValueError as error:
        try:
            return _mended(whole)
        except ValueError:
            raise StoreError(f"This experiment cannot be read: {error}") from None


def past(connection: sqlite3.Connection, experiment_id: str, now: Transcript) -> list[Transcript]:
    """What undo goes back to in an experiment whose turns are ``now``, newest first, as far as it can be read."""
    if not has_past(connection):
        return []
    query = "SELECT json FROM pasts JOIN experiments ON number = experiment WHERE id = ?"
    row = connection.execute(query, (experiment_id,)).fetchone()
    pictures: dict[str, str] = {}
    return read_past(row[0], now, lambda turn: bring_pictures(turn, connection, pictures)) if row is not None else []


def tape_heads(connection: sqlite3.Connection, experiment_id: str) -> list[Exchange]:
    """The exchanges of an experiment without their bodies, oldest first."""
    rows = connection.execute(
        "SELECT head FROM tapes JOIN experiments ON number = experiment WHERE experiments.id = ?"
        " ORDER BY started_at, tapes.rowid",
        (experiment_id,),
    )
    return list(_heads(head for (head,) in rows))


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


def _heads(texts: Iterable[str]) -> Iterable[Exchange]:
    for text in texts:
        try:
            yield read_head(text)
        except CassetteError:
            continue  # damaged; the others are not


def _object(text: str | None) -> JSONObject:
    try:
        value = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _readable(name: str, value: JSON) -> bool:
    try:
        decode({"id": "x", name: value})
    except ValueError:
        return False
    return True


def _mended(whole: JSONObject) -> Snapshot:
    """The experiment without what cannot be read in it. Raises ValueError where nothing can."""
    turns: dict[str, Turn] = {}
    for value in whole["turns"]:
        try:
            turn = read_as(Turn, value, "a turn")
            check_tree((turn.model_copy(update={"parent": None}),), None)
        except ValueError:
            continue
        turns.setdefault(turn.id, turn)
    alone = {key: turn for key, turn in turns.items() if turn.parent is not None and turn.parent not in turns}
    turns.update({key: turn.model_copy(update={"parent": None}) for key, turn in alone.items()})
    for key in circular({turn.id: turn.parent for turn in turns.values()}):
        turns[key] = turns[key].model_copy(update={"parent": None})
    head = whole.get("head")
    if head not in turns:
        head = next(reversed(turns), None)
    bare = {**whole, "turns": [], "head": None}
    try:
        found = decode(bare)
    except ValueError:
        found = decode({name: value for name, value in bare.items() if _readable(name, value)})
    return found.model_copy(update={"turns": tuple(turns.values()), "head": head})
