"""What undo goes back to, as a row: each state as what is different in it from the one after it.

Turns never change, so a state is a few of them, the ids of those that are not there, and where lanes end. The newest
states are kept, as many as fit; what was set besides the turns is not among them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable
from typing import Final

from playground.domain.encoding import encode
from playground.domain.transcript import Transcript, Turn
from playground.engine.library.store.texts import Clean, as_text
from playground.engine.session.history import MAIN, Kept, Places
from playground.engine.session.snapshot import check_tree, read_as
from playground.jsonkit.values import JSON, JSONObject

MOST_STATES: Final = 20
LONGEST: Final = 2_000_000  # characters of all of them

#: The text of a state beside the one after it, as long as both are known.
Texts = list[tuple[Places, Transcript, str]]


def past_text(
    kept: Kept,
    now: Transcript,
    known: Texts,
    clean: Clean,
    stow: Callable[[JSONObject], None],
    growing: Collection[str] = (),
) -> tuple[str, Texts]:
    """The row for what was kept, and what there is to give as ``known`` the next time. ``stow`` takes pictures out.

    Turns that are ``growing`` are the same in every state: those that ``now`` has them at.
    """
    texts: Texts = []
    length, newer = 0, now
    for older in kept.states[:MOST_STATES]:
        text = next((text for old, new, text in known if old is older and new is newer), None)
        if text is None:
            text = as_text(_difference(older, newer, stow, growing), clean)
        length += len(text) + 1
        if length > LONGEST:
            break
        texts.append((older, newer, text))
        newer = older[MAIN]
    return f"[{','.join(text for *_, text in texts)}]", texts


def _difference(
    places: Places, newer: Transcript, stow: Callable[[JSONObject], None], growing: Collection[str]
) -> JSONObject:
    older = places[MAIN]
    turns: list[JSON] = []
    for at, (key, turn) in enumerate(older.turns.items()):
        other = newer.turns.get(key)
        if other is not turn and other != turn and not (other is not None and key in growing):
            value = encode(turn)
            stow(value)
            turns.append([at, value])
    out: JSONObject = {"head": older.head, "turns": turns}
    if len(places) > 1:
        out["heads"] = {name: place.head for name, place in places.items() if name != MAIN}
    if gone := [key for key in newer.turns if key not in older.turns]:
        out["gone"] = gone
    back = {key: at for at, key in enumerate(older.turns) if key not in newer.turns}
    if _placed([key for key in newer.turns if key in older.turns], back) != list(older.turns):
        out["order"] = list(older.turns)
    return out


def _placed(ids: list[str], back: dict[str, int]) -> list[str]:
    """The ids with others in between, given by their places in the result."""
    for key, at in sorted(back.items(), key=lambda item: item[1]):
        ids.insert(at, key)
    return ids


def read_past(text: str, now: Transcript, bring: Callable[[JSONObject], None]) -> tuple[list[Places], bool]:
    """The states that undo goes back to from ``now``, newest first, and whether those are all that there are: behind
    one that cannot be read none can.

    ``bring`` puts pictures back into a turn.
    """
    try:
        rows = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list):
        return [], False
    out: list[Places] = []
    for row in rows[:MOST_STATES]:
        try:
            state = _state(row, now, bring)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            return out, False
        out.append(state)
        now = state[MAIN]
    return out, True


def _state(row: JSONObject, newer: Transcript, bring: Callable[[JSONObject], None]) -> Places:
    for _, value in row["turns"]:
        bring(value)
    given = {at: read_as(Turn, value, "a turn") for at, value in row["turns"]}
    changed = {turn.id: turn for turn in given.values()}
    gone = set(row.get("gone", ()))
    turns = {**newer.turns, **changed}
    for key in gone:
        del turns[key]
    back = {turn.id: at for at, turn in given.items() if turn.id not in newer.turns}
    if back or "order" in row:
        order = row["order"] if "order" in row else _placed([key for key in turns if key not in back], back)
        turns = {key: turns[key] for key in order}
    heads = {**row.get("heads", {}), MAIN: row["head"]}
    _check(turns, changed, heads.values())
    return {name: Transcript(turns, head) for name, head in heads.items()}


def _check(turns: dict[str, Turn], changed: dict[str, Turn], heads: Iterable[str | None]) -> None:
    """Raise ValueError where turns are no tree. They were one but for those that are ``changed``, and for what is gone:
    looking at every way to the top again, in every state, would take seconds.
    """
    if any(head is not None and head not in turns for head in heads):
        raise ValueError("a head is not there")
    if any(turn.parent is not None and turn.parent not in turns for turn in turns.values()):
        raise ValueError("a turn follows one that is not there")
    for key, turn in changed.items():
        check_tree((turn.model_copy(update={"parent": None}),), None)
        seen: set[str] = set()
        at: str | None = key
        while at is not None:
            if at in seen:
                raise ValueError("a turn follows itself")
            seen.add(at)
            at = turns[at].parent


def has_past(connection: sqlite3.Connection) -> bool:
    """Whether the file has a place for it; one that could only be opened for reading may be older."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'pasts'").fetchone() is not None
