"""Read the store: the list, one experiment, its exchanges. Works on any connection and changes nothing.

A row that cannot be read is left out and counted, so that one damaged row hides nothing else.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from playground.domain.transcript import Turn
from playground.engine.cassettes.cassette import CassetteError
from playground.engine.io.database import connect
from playground.engine.library.experiment_summary import Deleted, ExperimentSummary
from playground.engine.library.store.migrations import MOST_PLACES, SHIFT, version_of
from playground.engine.library.store.tape_rows import SIZE, read_head, read_tape
from playground.engine.library.store.texts import bring_pictures
from playground.engine.library.store.trouble import StoreError
from playground.engine.session.snapshot import LATEST, Snapshot, check_tree, decode, read_as
from playground.gateway.tape import Exchange
from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSON, JSONObject

T = TypeVar("T")

#: The columns of the list are the fields of a summary.
COLUMNS: Final = tuple(field.name for field in fields(ExperimentSummary))
SUMMARY: Final = ", ".join(COLUMNS)
_TYPES: Final = (str, str, str, str, str, int, int, float, float, int, int)
_FLAGS: Final = ("pinned", "archived", "has_error", "has_tools")
_UNNAMED: Final = "damaged-"  # begins the id of an experiment whose own cannot be read


class Reader:
    """A thread with a connection that reads the file at ``path``; the first task opens it."""

    def __init__(self, path: Path, options: str) -> None:
        self._path, self._options = path, options
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "store reader")

    def do(self, work: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Run ``work`` on the thread, after the tasks before it."""
        return self._thread.submit(self._do, work)

    def interrupt(self) -> None:
        """End the statement that runs now with sqlite3.OperationalError."""
        if self._connection is not None:
            self._connection.interrupt()

    def close(self) -> None:
        """Interrupt the task that runs now, drop those after it, and close the file."""
        self.interrupt()
        self._thread.shutdown(wait=True, cancel_futures=True)
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = connect(self._path, self._options)
        return work(self._connection)


class LoadedExperiment(NamedTuple):
    """An experiment, and how many of its rows could not be read."""

    snapshot: Snapshot
    corrupt_rows: int


def number_of(connection: sqlite3.Connection, experiment_id: str) -> int | None:
    """Return the number of an experiment in the file; None for an unknown id."""
    row = connection.execute("SELECT number FROM experiments WHERE id = ?", (experiment_id,)).fetchone()
    return row[0] if row is not None else None


def turn_numbers(experiment: int) -> tuple[int, int]:
    """Return the first and the last number that a turn of an experiment can have."""
    return experiment << SHIFT, experiment << SHIFT | MOST_PLACES


def summary_from_row(row: tuple[JSON, ...]) -> ExperimentSummary:
    """Return the summary from the number of an experiment and its ``SUMMARY`` columns; a damaged one becomes empty."""
    number, *columns = row
    values = dict(zip(COLUMNS, columns, strict=True))
    for name, kind in zip(COLUMNS, _TYPES, strict=True):
        value = values[name]
        if type(value) is not kind or (isinstance(value, float) and not 0 <= value <= LATEST):
            values[name] = kind() if name != "id" else f"{_UNNAMED}{number}"
    return ExperimentSummary(**{**values, **{name: bool(values[name]) for name in _FLAGS}})


def experiments(connection: sqlite3.Connection) -> list[ExperimentSummary]:
    """Return every experiment that is not deleted, newest first."""
    order = "ORDER BY created_at DESC, number DESC"
    rows = connection.execute(f"SELECT number, {SUMMARY} FROM experiments WHERE deleted_at IS NULL {order}")  # noqa: S608 - our own names
    return [summary_from_row(row) for row in rows.fetchall()]


def deleted(connection: sqlite3.Connection) -> list[Deleted]:
    """Return the trash, deleted last first. A time that cannot be read is now."""
    query = (
        f"SELECT deleted_at, number, {SUMMARY} FROM experiments WHERE deleted_at IS NOT NULL ORDER BY deleted_at DESC"  # noqa: S608 - our own names
    )
    return [
        Deleted(summary_from_row(tuple(row)), moment if isinstance(moment, float) and moment <= LATEST else time.time())
        for moment, *row in connection.execute(query).fetchall()
    ]


def trash_size(connection: sqlite3.Connection) -> int:
    """Return about how many bytes of the file the trash takes: turns, settings and exchanges."""
    total = 0
    for (number,) in connection.execute("SELECT number FROM experiments WHERE deleted_at IS NOT NULL").fetchall():
        span = turn_numbers(number)
        queries: list[tuple[str, tuple[int, ...]]] = [
            ("SELECT sum(length(json)) FROM turns WHERE number BETWEEN ? AND ?", span),
            ("SELECT sum(length(json)) FROM settings WHERE experiment = ?", (number,)),
            ("SELECT sum(length(json)) FROM drafts WHERE experiment = ?", (number,)),
            (f"SELECT sum(length(head) + iif(data IS NULL, 0, {SIZE})) FROM tapes WHERE experiment = ?", (number,)),  # noqa: S608
        ]
        total += sum(connection.execute(query, values).fetchone()[0] or 0 for query, values in queries)
    return total


def load(connection: sqlite3.Connection, experiment_id: str) -> LoadedExperiment:
    """Return one experiment. Raises KeyError for an unknown id, StoreError for one that this version cannot read."""
    query = f"SELECT number, {SUMMARY} FROM experiments WHERE id = ?"  # noqa: S608 - our own names
    row = connection.execute(query, (experiment_id,)).fetchone()
    if row is None:
        if experiment_id.startswith(_UNNAMED):
            raise StoreError("This experiment is damaged and unreadable. A backup in the preferences may contain it.")
        raise KeyError(experiment_id)
    number, summary = row[0], summary_from_row(row)
    pictures: dict[str, str] = {}
    settings, drafts = (_json_row(connection, table, number) for table in ("settings", "drafts"))
    if drafts is not None:
        for part in (drafts.get("draft"), {"calls": drafts.get("calls")}):
            if isinstance(part, dict):
                bring_pictures(part, pictures, connection)
    span = turn_numbers(number)
    query = "SELECT json FROM turns WHERE number BETWEEN ? AND ? ORDER BY number"
    turns = [parse_object(text) for (text,) in connection.execute(query, span).fetchall()]
    for turn in turns:
        if turn is not None:
            bring_pictures(turn, pictures, connection)
    columns = {name: getattr(summary, name) for name in ("pinned", "archived", "created_at", "changed_at")}
    try:
        if settings is None or drafts is None:
            raise ValueError("a row cannot be read")
        snapshot = decode({**settings, **drafts, **columns, "id": experiment_id, "turns": [*turns]})
        return LoadedExperiment(snapshot, 0)
    except ValueError as error:
        try:
            return _load_readable({"id": experiment_id, **columns}, (settings, drafts), turns)
        except ValueError:
            raise StoreError(f"This experiment cannot be read: {error}") from None


def _json_row(connection: sqlite3.Connection, table: str, number: int) -> JSONObject | None:
    """Return the JSON object of an experiment in a table: empty without a row, None if it cannot be read."""
    query = f"SELECT json FROM {table} WHERE experiment = ?"  # noqa: S608 - our own names
    row = connection.execute(query, (number,)).fetchone()
    return parse_object(row[0]) if row is not None else {}


def parse_object(text: object) -> JSONObject | None:
    """Return the JSON object in a column; None if there is none."""
    try:
        value = loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parse_turn(value: JSONObject | None) -> Turn | None:
    """Return the turn in a JSON object; None if this version cannot read it."""
    if value is None:
        return None
    try:
        turn = read_as(Turn, value, "a turn")
        check_tree((turn.model_copy(update={"parent": None}),), None)
    except ValueError:
        return None
    return turn


def _load_readable(
    columns: JSONObject, parts: tuple[JSONObject | None, ...], rows: list[JSONObject | None]
) -> LoadedExperiment:
    """Return what can be read of a damaged experiment. Raises ValueError.

    A turn whose parent cannot be read follows the turn before it in the file.
    """
    corrupt, values = 0, dict(columns)
    for part in parts:
        readable = {name: value for name, value in (part or {}).items() if name == "head" or _decodes({name: value})}
        corrupt += part is None or len(readable) < len(part)
        values.update(readable)
    turns: dict[str, Turn] = {}
    previous: str | None = None
    for row in rows:
        turn = parse_turn(row)
        if turn is None or turn.id in turns:
            corrupt += 1
            continue
        if turn.parent is not None and turn.parent not in turns:
            turn = turn.model_copy(update={"parent": previous})
        turns[turn.id] = turn
        previous = turn.id
    head = values.pop("head", None)
    snapshot = decode(values)
    heads = {name: end for name, end in snapshot.heads.items() if end is None or end in turns}
    update = {"turns": tuple(turns.values()), "head": head if head in turns else previous, "heads": heads}
    return LoadedExperiment(snapshot.model_copy(update=update), corrupt)


def _decodes(values: Mapping[str, JSON]) -> bool:
    try:
        decode({"id": "x", **values})
    except ValueError:
        return False
    return True


def recall(connection: sqlite3.Connection, name: str) -> str:
    """Return a word on the window's state; empty if there is none."""
    row = connection.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    return row[0] if row is not None and isinstance(row[0], str) else ""


def tape_heads(connection: sqlite3.Connection, experiment_id: str) -> tuple[list[Exchange], int]:
    """Return the exchanges of an experiment without their bodies, oldest first, and how many cannot be read."""
    rows = connection.execute(
        "SELECT head FROM tapes JOIN experiments ON number = experiment WHERE experiments.id = ?"
        " ORDER BY started_at, tapes.rowid",
        (experiment_id,),
    )
    exchanges: list[Exchange] = []
    corrupt = 0
    for (head,) in rows.fetchall():
        try:
            exchanges.append(read_head(head))
        except CassetteError:
            corrupt += 1
    return exchanges, corrupt


def tape(connection: sqlite3.Connection, experiment_id: str, exchange_id: str) -> Exchange | None:
    """Return one exchange with its bodies; None if they are no longer kept. Raises StoreError."""
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
    """Return the reads that were written while the exchange was under way, in order."""
    if version_of(connection) < 2:
        return []  # a file that could only be opened for reading
    rows = connection.execute(
        "SELECT data FROM tape_reads JOIN experiments ON number = experiment WHERE experiments.id = ? AND tape = ?"
        " ORDER BY tape_reads.rowid",
        (experiment_id, exchange_id),
    )
    return [data for (data,) in rows]
