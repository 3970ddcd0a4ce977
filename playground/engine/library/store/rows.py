"""Writing one experiment: only the rows that are different are touched. Works on the writer's connection alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from playground.domain.encoding import encode
from playground.domain.transcript import Turn
from playground.engine.library.experiment_summary import ExperimentSummary, summarize_snapshot
from playground.engine.library.store.migrations import MOST_PLACES, SHIFT
from playground.engine.library.store.reading import COLUMNS, number_of, parse_object, parse_turn, turn_numbers
from playground.engine.library.store.texts import Clean, Pictures, as_text
from playground.engine.session.drafts import Draft
from playground.engine.session.snapshot import Snapshot, encode_experiment
from playground.gateway.redact import Redactor

#: Fields with rows of their own, or with columns of the list.
APART: Final = frozenset({"turns", "draft", "calls", "editing", "created_at", "changed_at", "pinned", "archived"})

#: Values of ``turns.indexed``: still received, in the full-text index, longer than the index takes.
_NOT_YET, _INDEXED, _TOO_LONG = 0, 1, 2
#: Characters of the longest turn in the full-text index. SQLite takes a turn's JSON apart in several copies and
#: collects its words in memory: a turn of 64 million characters took 1.7 GB. No answer of a model is as long as this.
MOST_INDEXED: Final = 4_000_000

_UNINDEX = """INSERT INTO words (words, rowid, text, reasoning, arguments)
    SELECT 'delete', number, text, reasoning, arguments FROM said
    WHERE number = ? AND (SELECT indexed FROM turns WHERE turns.number = said.number) = 1"""
_INDEX = """INSERT INTO words (rowid, text, reasoning, arguments)
    SELECT number, text, reasoning, arguments FROM said WHERE number = ?"""
_UNTITLE = """INSERT INTO titles (titles, rowid, title, model)
    SELECT 'delete', number, title, model FROM experiments WHERE number = ?"""
_TITLE = "INSERT INTO titles (rowid, title, model) SELECT number, title, model FROM experiments WHERE number = ?"


@dataclass
class StoredRows:
    """The rows of one experiment in the file, for the next write.

    ``turns`` holds a turn, or its text if it was read back. ``places`` has removed turns as well: undo brings them back
    to where they were.
    """

    number: int
    experiment: ExperimentSummary | None = None
    settings: tuple[object, ...] | None = None
    draft: tuple[object, ...] | None = None
    turns: dict[str, Turn | str] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)


class ExperimentRows:
    """Writes experiments on one connection. What it returns is true once the transaction is committed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._pictures = Pictures()

    def write(
        self, snapshot: Snapshot, growing: Collection[str], redactor: Redactor, stored: StoredRows | None
    ) -> StoredRows:
        """Make the file hold ``snapshot``; turns of ``growing`` are not indexed yet. Raises sqlite3.Error, ValueError.

        ``stored`` is the result of the last write; without it, the file is read.
        """
        experiment, clean = summarize_snapshot(snapshot, redactor.front), redactor.text
        self._pictures.clean = clean
        stored = stored or self._read(snapshot.id)
        number = stored.number if stored is not None else self._begin(experiment, clean)
        now = StoredRows(number, experiment, _settings(snapshot), (snapshot.draft, snapshot.calls, snapshot.editing))
        if stored is not None and stored.experiment != experiment:
            self._describe(number, experiment, clean)
        if stored is None or stored.settings != now.settings:
            apart = {"turns": (), "draft": Draft(), "calls": (), "editing": ()}
            members = encode_experiment(snapshot.model_copy(update=apart))
            value = {name: item for name, item in members.items() if name not in APART}
            self._put("settings", number, as_text(value, clean))
        if stored is None or stored.draft != now.draft:
            draft = encode(snapshot.draft)
            self._pictures.stow(draft, number, self._connection)
            calls, editing = [encode(call) for call in snapshot.calls], [encode(edit) for edit in snapshot.editing]
            self._pictures.stow({"calls": calls}, number, self._connection)
            value = {"draft": draft, "calls": calls, "editing": editing}
            self._put("drafts", number, as_text(value, clean))
        self._write_turns(snapshot.turns, growing, clean, stored or StoredRows(number), now)
        return now

    def _read(self, experiment_id: str) -> StoredRows | None:
        experiment = number_of(self._connection, experiment_id)
        if experiment is None:
            return None
        stored = StoredRows(experiment)
        query = "SELECT number, id, json FROM turns WHERE number BETWEEN ? AND ? ORDER BY number"
        rows = self._connection.execute(query, turn_numbers(experiment))
        for number, turn_id, text in rows:
            key = turn_id if turn_id not in stored.turns else f"{turn_id} {number}"  # two damaged rows of one id
            stored.turns[key] = text
            stored.places[key] = number & MOST_PLACES
        return stored

    # The line of the list

    def _begin(self, experiment: ExperimentSummary, clean: Clean) -> int:
        marks = ", ".join("?" * len(COLUMNS))
        statement = f"INSERT INTO experiments ({', '.join(COLUMNS)}) VALUES ({marks})"  # noqa: S608 - our own names
        number = self._connection.execute(statement, _values(experiment, clean)).lastrowid
        if number is None:
            raise sqlite3.InternalError("no number was given")
        self._connection.execute(_TITLE, (number,))
        return number

    def _describe(self, number: int, experiment: ExperimentSummary, clean: Clean) -> None:
        self._connection.execute(_UNTITLE, (number,))
        names = ", ".join(f"{name} = ?" for name in COLUMNS)
        statement = f"UPDATE experiments SET {names} WHERE number = ?"  # noqa: S608 - our own names
        self._connection.execute(statement, (*_values(experiment, clean), number))
        self._connection.execute(_TITLE, (number,))

    def _put(self, table: str, number: int, text: str) -> None:
        statement = f"INSERT INTO {table} VALUES (?, ?) ON CONFLICT (experiment) DO UPDATE SET json = excluded.json"  # noqa: S608 - our own names
        self._connection.execute(statement, (number, text))

    # Turns

    def _write_turns(
        self, turns: tuple[Turn, ...], growing: Collection[str], clean: Clean, stored: StoredRows, now: StoredRows
    ) -> None:
        places = _placed(turns, stored.places)
        removed = stored.turns.keys() - {turn.id for turn in turns}
        if places is None:  # turns change places: all are written again, behind those of before
            removed = set(stored.turns)
            begin = max(stored.places.values()) + 1
            places = {turn.id: place for place, turn in enumerate(turns, begin)}
            before = dict[str, Turn | str]()
        else:
            before = stored.turns
        for turn_id in removed:
            self._remove(now.number, stored.places[turn_id], stored.turns[turn_id])
        now.places = {**stored.places, **places}
        for turn in turns:
            now.turns[turn.id] = turn
            if before.get(turn.id) is turn:
                continue
            value = encode(turn)
            self._pictures.stow(value, now.number, self._connection)
            text = as_text(value, clean)
            if before.get(turn.id) != text:
                self._write_turn(now.number << SHIFT | places[turn.id], turn.id, text, turn.id in growing)

    def _write_turn(self, number: int, turn_id: str, text: str, growing: bool) -> None:
        execute = self._connection.execute
        indexed = _NOT_YET if growing else _INDEXED if len(text) <= MOST_INDEXED else _TOO_LONG
        execute(_UNINDEX, (number,))
        execute(
            "INSERT INTO turns VALUES (?, ?, ?, ?) ON CONFLICT (number) DO UPDATE"
            " SET id = excluded.id, json = excluded.json, indexed = excluded.indexed",
            (number, turn_id, text, indexed),
        )
        if indexed == _INDEXED:
            execute(_INDEX, (number,))

    def _remove(self, experiment: int, place: int, turn: Turn | str) -> None:
        """Delete the row of a turn; one that cannot be read stays in the file as it is."""
        if not isinstance(turn, Turn) and parse_turn(parse_object(turn)) is None:
            return
        number = experiment << SHIFT | place
        self._connection.execute(_UNINDEX, (number,))
        self._connection.execute("DELETE FROM turns WHERE number = ?", (number,))


def index_rest(connection: sqlite3.Connection) -> None:
    """Index the turns that were being received when the process ended."""
    for number, length in connection.execute("SELECT number, length(json) FROM turns WHERE indexed = 0").fetchall():
        if length <= MOST_INDEXED:
            connection.execute(_INDEX, (number,))
        indexed = _INDEXED if length <= MOST_INDEXED else _TOO_LONG
        connection.execute("UPDATE turns SET indexed = ? WHERE number = ?", (indexed, number))


def rebuild_index(connection: sqlite3.Connection) -> None:
    """Replace the full-text index by a new one, made from the turns and titles."""
    connection.execute("UPDATE turns SET indexed = iif(length(json) <= ?, ?, ?)", (MOST_INDEXED, _INDEXED, _TOO_LONG))
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    connection.execute(
        "INSERT INTO words (rowid, text, reasoning, arguments) SELECT said.* FROM said"
        " JOIN turns USING (number) WHERE turns.indexed = ?",
        (_INDEXED,),
    )
    connection.execute("INSERT INTO titles (titles) VALUES ('rebuild')")


def purge(connection: sqlite3.Connection, before: float) -> list[str]:
    """Delete for good what was moved to the trash before that time, and unused pictures. Returns the ids."""
    query = "SELECT number, id FROM experiments WHERE deleted_at < ?"
    return _delete(connection, connection.execute(query, (before,)).fetchall())


def erase(connection: sqlite3.Connection, experiment_ids: Iterable[str]) -> list[str]:
    """Delete experiments for good, as far as they are in the trash. Returns the ids."""
    query = "SELECT number, id FROM experiments WHERE deleted_at IS NOT NULL AND id = ?"
    return _delete(connection, [row for key in experiment_ids for row in connection.execute(query, (key,))])


def _delete(connection: sqlite3.Connection, rows: list[tuple[int, str]]) -> list[str]:
    for experiment, _ in rows:
        span = turn_numbers(experiment)
        for row in connection.execute("SELECT number FROM turns WHERE number BETWEEN ? AND ?", span).fetchall():
            connection.execute(_UNINDEX, row)
        connection.execute("DELETE FROM turns WHERE number BETWEEN ? AND ?", span)
        connection.execute(_UNTITLE, (experiment,))
        connection.execute("DELETE FROM experiments WHERE number = ?", (experiment,))
    if rows:
        connection.execute("DELETE FROM images WHERE hash NOT IN (SELECT hash FROM image_uses)")
    return [experiment_id for _, experiment_id in rows]


def _settings(snapshot: Snapshot) -> tuple[object, ...]:
    return tuple(value for name, value in snapshot if name not in APART)


def _values(experiment: ExperimentSummary, clean: Clean) -> tuple[object, ...]:
    values = [getattr(experiment, name) for name in COLUMNS]
    return tuple(clean(_without_surrogates(value)) if isinstance(value, str) else value for value in values)


def _without_surrogates(text: str) -> str:
    """Return the text without halves of surrogate pairs, which no column takes."""
    return text.encode("utf-8", "replace").decode()


def _placed(turns: tuple[Turn, ...], places: dict[str, int]) -> dict[str, int] | None:
    """The place of each turn, new ones behind all there ever were; None where the known ones are out of order."""
    top = max(places.values(), default=0)
    out: dict[str, int] = {}
    last = 0
    for turn in turns:
        place = places.get(turn.id)
        if place is None:
            place = top = max(top, last) + 1
        if place <= last:
            return None
        out[turn.id] = last = place
    return out
