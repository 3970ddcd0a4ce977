"""An experiment of which something cannot be read: what can be is put together, and what is left out is noted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from playground.domain.transcript import Turn
from playground.engine.library.store.unread import Unreadable
from playground.engine.session.snapshot import Snapshot, check_tree, circular, decode, read_as
from playground.jsonkit.values import JSON, JSONObject

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
    return found.model_copy(update={"turns": tuple(turns.values()), "head": head})


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
