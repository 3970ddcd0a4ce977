"""An experiment as a line of the list, without its turns; and the words that the line is made of."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playground.domain.roles import Role
from playground.domain.transcript import Ending, Transcript, Turn
from playground.engine.session.run_state import RunState

if TYPE_CHECKING:
    from playground.engine.session.session import Session
    from playground.engine.session.snapshot import Snapshot

UNTITLED = "New experiment"
_LONGEST = 48  # characters of a title made of first words
_LOOKED_AT = 4096  # characters of the text that has them: a secret at the title's end is known as a whole
_INK = re.compile(r"\S")
_STATE_WORDS = {RunState.RETRYING: "waiting to retry", RunState.ANSWERING: "waiting for a tool"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One experiment of the list. Times are Unix times in seconds; ``summary`` is one line of state."""

    id: str
    title: str
    summary: str
    model: str
    protocol: str
    pinned: bool
    archived: bool
    created_at: float
    changed_at: float
    has_error: bool
    has_tools: bool


@dataclass(frozen=True, slots=True)
class Deleted:
    """An experiment in the trash, and when it was deleted: a Unix time in seconds."""

    entry: Entry
    at: float


#: Gives the first so many characters of a text, without the secrets in it.
Front = Callable[[str, int], str]


def plain_front(text: str, most: int) -> str:
    """The first characters of a text that holds no secrets."""
    return text[:most]


def title_of(transcript: Transcript, given: str, front: Front = plain_front) -> str:
    """The title given, else the first words of the first user turn. Cut by ``front``, which knows the secrets."""
    if given:
        return front(given, len(given))
    for turn in transcript.path:
        if turn.role is Role.USER and (words := _first_words(turn.text)):
            fits = len(words) <= _LONGEST
            return front(words, _LONGEST) if fits else front(words, _LONGEST - 1).rstrip() + "…"
    return UNTITLED


def _first_words(text: str) -> str:
    """The words of a text in one line, more of them than a title has, however long the text is."""
    ink = _INK.search(text)
    if ink is None:
        return ""
    end = ink.start() + _LOOKED_AT
    words = " ".join(text[ink.start() : end].split())
    if end >= len(text):
        return words
    return words.rpartition(" ")[0] or words  # the last one is cut


def summary_of(transcript: Transcript, model: str, state: RunState = RunState.IDLE) -> str:
    """One line of state: model, then what stands out."""
    path = transcript.path
    facts = [model or "no model"]
    if state is not RunState.IDLE:
        facts.append(_STATE_WORDS.get(state, "running"))
    elif waiting := transcript.unanswered():
        facts.append(f"{len(waiting)} call{'s' * (len(waiting) > 1)} · waiting for you")
    elif path and path[-1].outcome and path[-1].outcome.failure:
        failure = path[-1].outcome.failure
        facts.append(str(failure.status) if failure.status else "failed")
    elif path and path[-1].outcome and path[-1].outcome.holes:
        facts.append("part unread")
    elif path and path[-1].outcome and path[-1].outcome.ending is Ending.INTERRUPTED:
        facts.append("interrupted")
    elif path:
        facts.append(f"{len(path)} turn{'s' * (len(path) > 1)}")
    return " · ".join(facts)


def has_error(turn: Turn) -> bool:
    """Whether a gateway or the way to it failed in this turn."""
    return turn.outcome is not None and turn.outcome.failure is not None


def has_tools(turn: Turn) -> bool:
    """Whether a tool is called or answered in this turn."""
    return any(part.kind in ("tool_call", "tool_result") for part in turn.parts)


def entry_of(session: Session) -> Entry:
    """The line of an open experiment, as it is now."""
    turns = session.transcript.turns.values()
    return Entry(
        id=session.id,
        title=session.title,
        summary=session.summary,
        model=session.model,
        protocol=session.protocol,
        pinned=session.pinned,
        archived=session.archived,
        created_at=session.created_at,
        changed_at=session.changed_at,
        has_error=any(map(has_error, turns)),
        has_tools=bool(session.tools) or any(map(has_tools, turns)),
    )


def entry_from(found: Snapshot, front: Front = plain_front) -> Entry:
    """The line of an experiment as it is kept; its title is cut by ``front``."""
    transcript = found.transcript
    return Entry(
        id=found.id,
        title=title_of(transcript, found.title, front),
        summary=summary_of(transcript, found.model),
        model=found.model,
        protocol=found.protocol,
        pinned=found.pinned,
        archived=found.archived,
        created_at=found.created_at,
        changed_at=found.changed_at,
        has_error=any(map(has_error, found.turns)),
        has_tools=bool(found.tools) or any(map(has_tools, found.turns)),
    )
