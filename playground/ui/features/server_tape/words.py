"""What a frame on the tape of tool servers is called, and what of it stands in a line. No Qt."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from playground.domain.durations import duration_words
from playground.domain.sizes import size_words
from playground.engine.tool_servers.tape import Entry

FRONT: Final = 600  # characters of a message that a line is made from
_PARTS: Final = ("params", "result", "error")


def kind(entry: Entry) -> str:
    """What it is, in a word or two."""
    frame = entry.frame
    if frame.notice:
        return "connection"
    if frame.error:
        return "error"
    if frame.id:
        return "answer" if _is_answer(entry) else "request"
    return "notification" if frame.method else "message"


def _is_answer(entry: Entry) -> bool:
    """Whether it answers; also where its request is not known any more."""
    return bool(entry.request) or not entry.frame.method


def name(entry: Entry) -> str:
    """What it is called: its method, or that of what it answers."""
    if entry.frame.notice:
        return "connection"
    if not entry.method:
        return kind(entry)
    return f"{kind(entry)} · {entry.method}" if kind(entry) in ("answer", "error") else entry.method


def arrow(entry: Entry) -> str:
    """Which way it went."""
    if entry.frame.notice:
        return "•"
    return "→" if entry.frame.sent else "←"


def way(entry: Entry) -> str:
    """The same in words."""
    if entry.frame.notice:
        return f"about {entry.server}"
    return f"{'to' if entry.frame.sent else 'from'} {entry.server}"


def clock(entry: Entry) -> str:
    """When, on the clock of this computer, to a thousandth of a second."""
    return datetime.fromtimestamp(entry.frame.at, UTC).astimezone().strftime("%H:%M:%S.%f")[:-3]


def took(entry: Entry) -> str:
    """What an answer took; empty for anything else."""
    return duration_words(entry.seconds) if entry.seconds is not None else ""


def said(front: str) -> str:
    """What a message says, without what all of them have: its parameters, its result or its error."""
    places = {part: front.find(f'"{part}"') for part in _PARTS}
    first = min((place for place in places.values() if place >= 0), default=-1)
    if first < 0:
        return front
    colon = front.find(":", first)
    return front[colon + 1 :].strip() if colon > 0 else front


def about(entry: Entry) -> str:
    """All there is to say of it besides what it says, in one line."""
    frame = entry.frame
    facts = [name(entry), way(entry), clock(entry)]
    if frame.id:
        facts.insert(2, f"id {frame.id}")
    if entry.seconds is not None:
        facts.append(f"after {took(entry)}")
    if frame.text:
        facts.append(size_words(frame.size))
    if frame.text and frame.text.rstrip()[-1:] not in ("}", "]") and len(frame.text) < frame.size:
        facts.append("only its beginning is kept")
    return " · ".join(facts)
