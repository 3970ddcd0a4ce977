"""Writing one experiment: only the rows that are different are touched. Works on the writer's connection alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Final

from playground.domain.encoding import encode
from playground.domain.transcript import Turn
from playground.engine.library.experiment_summary import ExperimentSummary, summarize_snapshot
from playground.engine.library.store.past_rows import Texts, past_text
from playground.engine.library.store.schema import MOST_PLACES, first_number, last_number
from playground.engine.library.store.texts import Clean, Pictures, as_text
from playground.engine.session.drafts import Draft
from playground.engine.session.history import Kept
from playground.engine.session.snapshot import Snapshot, encode_experiment
from playground.gateway.redact import Redactor

#: Fields that stand in rows of their own, or in columns that the list is made of.
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
#: The columns of the list are the fields of a summary.
_COLUMNS = tuple(one.name for one in fields(ExperimentSummary))


@dataclass
class Known:
    """What the file holds of one experiment, as far as it matters for the next write.

    ``turns`` are the rows, as the turn itself or, read back, as its text. ``places`` has those that were taken out as
    well: undo brings them back to where they were.
    """

    number: int
    experiment: ExperimentSummary | None = None
    settings: tuple[object, ...] | None = None
    draft: tuple[object, ...] | None = None
    turns: dict[str, Turn | str] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    past: object = None  # the stamp of what undo goes back to
    past_texts: Texts = field(default_factory=list)


class ExperimentRows:
    """Writes experiments on one connection. What it returns is true once the transaction is committed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._pictures = Pictures()

    def write(
        self,
        found: Snapshot,
        growing: Collection[str],
        redactor: Redactor,
        known: Known | None,
        past: Kept | None = None,
    ) -> Known:
        """Make the file hold ``found``. Turns of ``growing`` are not searched yet. Raises sqlite3.Error and ValueError.

        ``known`` is what the last write returned; without it, the file is looked at. ``past``: what undo goes back to.
        """
        experiment, clean = summarize_snapshot(found, redactor.front), redactor.text
        self._pictures.clean = clean
        known = known or self._read(found.id)
        number = known.number if known is not None else self._begin(experiment, clean)
        now = Known(number, experiment, _settings(found), (found.draft, found.calls, found.editing))
        if known is not None and known.experiment != experiment:
            self._describe(number, experiment, clean)
        if known is None or known.settings != now.settings:
            apart = {"turns": (), "draft": Draft(), "calls": (), "editing": ()}
            rest = encode_experiment(found.model_copy(update=apart))
            value = {name: item for name, item in rest.items() if name not in APART}
            self._put("settings", number, as_text(value, clean))
        if known is None or known.draft != now.draft:
            draft = encode(found.draft)
            self._pictures.stow(draft, number, self._connection)
            calls, editing = [encode(call) for call in found.calls], [encode(edit) for edit in found.editing]
            self._pictures.stow({"calls": calls}, number, self._connection)
            value = {"draft": draft, "calls": calls, "editing": editing}
            self._put("drafts", number, as_text(value, clean))
        self._write_turns(found.turns, growing, clean, known or Known(number), now)
        self._write_past(found, growing, past, clean, known, now)
        return now

    def _write_past(
        self,
        found: Snapshot,
        growing: Collection[str],
        past: Kept | None,
        clean: Clean,
        known: Known | None,
        now: Known,
    ) -> None:
        if known is not None:
            now.past, now.past_texts = known.past, known.past_texts
        if past is None or past.stamp is now.past:
            return
        stow = partial(self._pictures.stow, experiment=now.number, connection=self._connection)
        text, now.past_texts = past_text(past, found.transcript, now.past_texts, clean, stow, growing)
        now.past = past.stamp
        self._put("pasts", now.number, text)

    def _read(self, experiment_id: str) -> Known | None:
        row = self._connection.execute("SELECT number FROM experiments WHERE id = ?", (experiment_id,)).fetchone()
        if row is None:
            return None
        known = Known(row[0])
        span = first_number(known.number), last_number(known.number)
        rows = self._connection.execute(
            "SELECT number, id, json FROM turns WHERE number BETWEEN ? AND ? ORDER BY number", span
        )
        for number, turn_id, text in rows:
            key = turn_id if turn_id not in known.turns else f"{turn_id} {number}"  # of two that are damaged
            known.turns[key] = text
            known.places[key] = number & MOST_PLACES
        return known

    # The line of the list

    def _begin(self, experiment: ExperimentSummary, clean: Clean) -> int:
        marks = ", ".join("?" * len(_COLUMNS))
        statement = f"INSERT INTO experiments ({', '.join(_COLUMNS)}) VALUES ({marks})"  # noqa: S608 - our own names
        number = self._connection.execute(statement, _values(experiment, clean)).lastrowid
        if number is None:
            raise sqlite3.InternalError("no number was given")
        self._connection.execute(_TITLE, (number,))
        return number

    def _describe(self, number: int, experiment: ExperimentSummary, clean: Clean) -> None:
        self._connection.execute(_UNTITLE, (number,))
        names = ", ".join(f"{name} = ?" for name in _COLUMNS)
        statement = f"UPDATE experiments SET {names} WHERE number = ?"  # noqa: S608 - our own names
        self._connection.execute(statement, (*_values(experiment, clean), number))
        self._connection.execute(_TITLE, (number,))

    def _put(self, table: str, number: int, text: str) -> None:
        statement = f"INSERT INTO {table} VALUES (?, ?) ON CONFLICT (experiment) DO UPDATE SET json = excluded.json"  # noqa: S608 - our own names
        self._connection.execute(statement, (number, text))

    # Turns

    def _write_turns(
        self, turns: tuple[Turn, ...], growing: Collection[str], clean: Clean, known: Known, now: Known
    ) -> None:
        places = _placed(turns, known.places)
        if places is None:  # they change places with one another: all are written anew
            for turn_id in known.turns:
                self._remove(now.number, known.places[turn_id])
            known = Known(now.number)
            places = {turn.id: place for place, turn in enumerate(turns, 1)}
        for turn_id in known.turns.keys() - {turn.id for turn in turns}:
            self._remove(now.number, known.places[turn_id])
        now.places = {**known.places, **places}
        for turn in turns:
            before = known.turns.get(turn.id)
            now.turns[turn.id] = turn
            if before is turn:
                continue
            value = encode(turn)
            self._pictures.stow(value, now.number, self._connection)
            text = as_text(value, clean)
            if before != text:
                self._write_turn(first_number(now.number) | places[turn.id], turn.id, text, turn.id in growing)

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

    def _remove(self, experiment: int, place: int) -> None:
        number = first_number(experiment) | place
        self._connection.execute(_UNINDEX, (number,))
        self._connection.execute("DELETE FROM turns WHERE number = ?", (number,))


def unindex_turn(connection: sqlite3.Connection, number: int) -> bool:
    """Remove a turn from the full-text index, before its row changes. Returns True if it was in the index."""
    connection.execute(_UNINDEX, (number,))
    found = connection.execute("SELECT indexed FROM turns WHERE number = ?", (number,)).fetchone()
    return bool(found[0] == _INDEXED)


def index_turn(connection: sqlite3.Connection, number: int) -> None:
    """Add a turn to the full-text index again, after its row has changed."""
    connection.execute(_INDEX, (number,))


def unindex_title(connection: sqlite3.Connection, number: int) -> None:
    """Before the title of an experiment is another one."""
    connection.execute(_UNTITLE, (number,))


def index_title(connection: sqlite3.Connection, number: int) -> None:
    """After that."""
    connection.execute(_TITLE, (number,))


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
    """Let go for good what was deleted before that moment, and pictures that nothing uses any more. Returns the ids."""
    query = "SELECT number, id FROM experiments WHERE deleted_at < ?"
    return _let_go(connection, connection.execute(query, (before,)).fetchall())


def erase(connection: sqlite3.Connection, experiment_ids: Iterable[str]) -> list[str]:
    """Let these go for good, as far as they were deleted, in the same way."""
    query = "SELECT number, id FROM experiments WHERE deleted_at IS NOT NULL AND id = ?"
    return _let_go(connection, [row for key in experiment_ids for row in connection.execute(query, (key,))])


def _let_go(connection: sqlite3.Connection, found: list[tuple[int, str]]) -> list[str]:
    for experiment, _ in found:
        span = first_number(experiment), last_number(experiment)
        for row in connection.execute("SELECT number FROM turns WHERE number BETWEEN ? AND ?", span).fetchall():
            connection.execute(_UNINDEX, row)
        connection.execute("DELETE FROM turns WHERE number BETWEEN ? AND ?", span)
        connection.execute(_UNTITLE, (experiment,))
        connection.execute("DELETE FROM experiments WHERE number = ?", (experiment,))
    if found:
        connection.execute("DELETE FROM images WHERE hash NOT IN (SELECT hash FROM image_uses)")
    return [experiment_id for _, experiment_id in found]


def _settings(found: Snapshot) -> tuple[object, ...]:
    return tuple(value for name, value in found if name not in APART)


def _values(experiment: ExperimentSummary, clean: Clean) -> tuple[object, ...]:
    found = [getattr(experiment, name) for name in _COLUMNS]
    return tuple(clean(_whole(item)) if isinstance(item, str) else item for item in found)


def _whole(text: str) -> str:
    """``text`` without halves of surrogate pairs, which no column takes."""
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
