"""Which frame carried which characters of an answer: the accumulator's rules, with lengths in place of texts.

Parts are numbered as in the finished turn, where empty ones are left out. It grows with the answer, in a few arrays.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from typing import Final, NamedTuple

from playground.domain.events import (
    Event,
    ExtraDelta,
    PartStart,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    UnknownPart,
)

#: Events that say something about the parts of an answer.
PLACED: Final = frozenset({TextDelta, ReasoningDelta, RefusalDelta, ToolCallDelta, UnknownPart, ExtraDelta, PartStart})


class Position(NamedTuple):
    """Characters of one part of one completion, from ``start`` up to and without ``end``.

    ``part`` is the position in the finished turn's parts. Of a tool call the characters are those of its arguments.
    """

    choice: int
    part: int
    start: int
    end: int


class PartInfo(NamedTuple):
    """One part so far: ``kind`` as in ``playground.domain.parts``, its length in characters, its first frame."""

    kind: str
    length: int
    frame: int


class _Part:
    __slots__ = ("choice", "held", "kind", "length", "number", "pieces", "serial")

    def __init__(self, kind: str, choice: int, serial: int) -> None:
        self.kind = kind
        self.serial = serial  # among the parts of all choices
        self.choice = choice
        self.number = -1  # while there is nothing in it
        self.length = 0
        self.pieces = array("I")
        self.held: list[tuple[int, int]] = []  # of a call: pieces with characters given out later, and how many


class _Choice:
    __slots__ = ("calls", "last", "parts")

    def __init__(self) -> None:
        self.parts: list[_Part] = []
        self.calls: dict[int, _Part] = {}
        self.last: _Part | None = None  # the one that a fragment of its kind goes on with


class FrameTextIndex:
    """``take`` events with the number of their frame, in order; then ask."""

    def __init__(self) -> None:
        self._choices: dict[int, _Choice] = {}
        self._parts: list[_Part] = []
        # One piece is what one frame added to one part.
        self._frame = array("I")
        self._part = array("I")
        self._start = array("I")
        self._end = array("I")

    def take(self, event: Event, frame: int) -> None:
        """One of the events in ``PLACED``."""
        kind = type(event)
        if kind is TextDelta:
            self._text(event.choice, "text", len(event.text), frame)  # type: ignore[union-attr]  # known from ``kind``
        elif isinstance(event, ToolCallDelta):
            self._call(event, frame)
        elif isinstance(event, ReasoningDelta):
            said = event.text or event.signature or event.redacted or event.details
            self._text(event.choice, "reasoning", len(event.text), frame, bare=bool(said))
        elif isinstance(event, RefusalDelta):
            self._text(event.choice, "refusal", len(event.text), frame)
        elif isinstance(event, UnknownPart):
            self._add(self._new("unknown", event.choice), 0, frame)
            self._choice(event.choice).last = None
        elif isinstance(event, ExtraDelta):
            self._extra(event, frame)
        elif isinstance(event, PartStart):
            self._choice(event.choice).last = None

    def choices(self) -> tuple[int, ...]:
        """The completions that have parts, in ascending order."""
        return tuple(sorted(index for index, choice in self._choices.items() if choice.parts))

    def parts(self, choice: int) -> tuple[PartInfo, ...]:
        """The parts of a completion so far; none for one that has not begun."""
        known = self._choices.get(choice)
        parts = known.parts if known else ()
        return tuple(PartInfo(part.kind, part.length, self._frame[part.pieces[0]]) for part in parts)

    def span_of(self, frame: int) -> tuple[Position, ...]:
        """What a frame carried; a position without characters says that it touched the part otherwise."""
        found = []
        at = bisect_left(self._frame, frame)
        while at < len(self._frame) and self._frame[at] == frame:
            part = self._parts[self._part[at]]
            found.append(Position(part.choice, part.number, self._start[at], self._end[at]))
            at += 1
        return tuple(found)

    def frames_of(self, choice: int, part: int, start: int, end: int) -> list[int]:
        """The frames that carried the characters from ``start`` up to and without ``end``, ascending."""
        known = self._find(choice, part)
        start, end = max(start, 0), min(end, known.length) if known else 0
        if known is None or start >= end:
            return []
        first, last = self._piece_at(known, start), self._piece_at(known, end - 1)
        pieces = known.pieces[first : last + 1]
        return [self._frame[piece] for piece in pieces if self._start[piece] < self._end[piece]]

    def _find(self, choice: int, part: int) -> _Part | None:
        known = self._choices.get(choice)
        return known.parts[part] if known is not None and 0 <= part < len(known.parts) else None

    def _piece_at(self, part: _Part, position: int) -> int:
        return bisect_right(part.pieces, position, key=self._start.__getitem__) - 1

    def _choice(self, index: int) -> _Choice:
        found = self._choices.get(index)
        if found is None:
            found = self._choices[index] = _Choice()
        return found

    def _new(self, kind: str, choice: int) -> _Part:
        part = _Part(kind, choice, len(self._parts))
        self._parts.append(part)
        return part

    def _text(self, index: int, kind: str, length: int, frame: int, *, bare: bool = False) -> None:
        """``bare`` says that the part has something in it even without characters."""
        choice = self._choices.get(index) or self._choice(index)
        part = choice.last
        if part is None or part.kind != kind:
            part = choice.last = self._new(kind, index)
        if length or bare:
            self._add(part, length, frame)

    def _call(self, event: ToolCallDelta, frame: int) -> None:
        choice = self._choice(event.choice)
        part = choice.calls.get(event.call)
        if part is None:
            part = choice.calls[event.call] = self._new("tool_call", event.choice)
            choice.last = None
        if event.late:
            self._give_out(part)
        if not event.only_late:
            self._add(part, len(event.arguments) - event.late, frame)
        if event.held:
            part.held.append((part.pieces[-1], event.held))

    def _give_out(self, part: _Part) -> None:
        """Put characters that were held back where they came. They are the first of their part."""
        came = dict(part.held)
        part.held.clear()
        for piece in part.pieces:
            self._start[piece] = part.length
            part.length += came.get(piece, 0)
            self._end[piece] = part.length

    def _extra(self, event: ExtraDelta, frame: int) -> None:
        if event.owner == "tool_call":
            part = self._choice(event.choice).calls.get(event.call)
            if part is not None:
                self._add(part, 0, frame)
        elif event.owner != "message":
            self._text(event.choice, event.owner, 0, frame, bare=True)

    def _add(self, part: _Part, length: int, frame: int) -> None:
        if part.number < 0:
            parts = self._choice(part.choice).parts
            part.number = len(parts)
            parts.append(part)
        start, end = part.length, part.length + length
        part.length = end
        piece = part.pieces[-1] if part.pieces else -1
        if piece >= 0 and self._frame[piece] == frame:
            self._end[piece] = end
            return
        part.pieces.append(len(self._frame))
        self._frame.append(frame)
        self._part.append(part.serial)
        self._start.append(start)
        self._end.append(end)
