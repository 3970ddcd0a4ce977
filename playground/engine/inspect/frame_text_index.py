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
    __slots__ = ("choice", "frame", "held", "kind", "length", "number", "pieces", "place", "serial")

    def __init__(self, kind: str, choice: int, serial: int) -> None:
        self.kind = kind
        self.serial = serial  # among the parts of all choices
        self.choice = choice
        self.number = -1  # while there is nothing in it
        self.frame = -1  # the first one
        self.length = 0
        self.place: tuple[int, ...] | None = None
        self.pieces = array("I")
        self.held: list[tuple[int, int]] = []  # of a call: pieces with characters given out later, and how many


class _Choice:
    __slots__ = ("calls", "last", "parts", "place", "places")

    def __init__(self) -> None:
        self.place: tuple[int, ...] | None = None  # of the next part, see ``PartStart``
        self.places: dict[tuple[int, ...], _Part] = {}
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
            has_content = event.text or event.signature or event.redacted or event.details
            self._text(event.choice, "reasoning", len(event.text), frame, bare=bool(has_content))
        elif isinstance(event, RefusalDelta):
            self._text(event.choice, "refusal", len(event.text), frame)
        elif isinstance(event, UnknownPart):
            choice = self._choice(event.choice)
            part = choice.last if choice.last is not None and choice.last.kind == "unknown" else None
            self._add(part or self._new("unknown", event.choice), 0, frame)
            choice.last = None
        elif isinstance(event, ExtraDelta):
            self._extra(event, frame)
        elif isinstance(event, PartStart):
            self._go_to(self._choice(event.choice), event)

    def choices(self) -> tuple[int, ...]:
        """The completions that have parts, in ascending order."""
        return tuple(sorted(index for index, choice in self._choices.items() if choice.parts))

    def parts(self, choice: int) -> tuple[PartInfo, ...]:
        """The parts of a completion so far; none for one that has not begun."""
        entry = self._choices.get(choice)
        parts = entry.parts if entry else ()
        return tuple(PartInfo(part.kind, part.length, part.frame) for part in parts)

    def span_of(self, frame: int) -> tuple[Position, ...]:
        """Return the positions that a frame carried; an empty one if it changed a part without adding characters."""
        positions = []
        piece = bisect_left(self._frame, frame)
        while piece < len(self._frame) and self._frame[piece] == frame:
            part = self._parts[self._part[piece]]
            positions.append(Position(part.choice, part.number, self._start[piece], self._end[piece]))
            piece += 1
        return tuple(positions)

    def frames_of(self, choice: int, part: int, start: int, end: int) -> list[int]:
        """The frames that carried the characters from ``start`` up to and without ``end``, ascending."""
        target = self._find(choice, part)
        start, end = max(start, 0), min(end, target.length) if target else 0
        if target is None or start >= end:
            return []
        first, last = self._piece_at(target, start), self._piece_at(target, end - 1)
        pieces = target.pieces[first : last + 1]
        return [self._frame[piece] for piece in pieces if self._start[piece] < self._end[piece]]

    def _find(self, choice: int, part: int) -> _Part | None:
        entry = self._choices.get(choice)
        return entry.parts[part] if entry is not None and 0 <= part < len(entry.parts) else None

    def _piece_at(self, part: _Part, position: int) -> int:
        return bisect_right(part.pieces, position, key=self._start.__getitem__) - 1

    def _choice(self, index: int) -> _Choice:
        choice = self._choices.get(index)
        if choice is None:
            choice = self._choices[index] = _Choice()
        return choice

    def _new(self, kind: str, choice: int) -> _Part:
        part = _Part(kind, choice, len(self._parts))
        self._parts.append(part)
        entry = self._choice(choice)
        if entry.place is not None:
            part.place = entry.place
            entry.places[entry.place] = part
            entry.place = None
        return part

    @staticmethod
    def _go_to(choice: _Choice, event: PartStart) -> None:
        """Continue the part at a place, or open one with the next fragment."""
        choice.last = choice.places.get(event.place) if event.place is not None else None
        choice.place = event.place if choice.last is None else None
        if event.clear and choice.last is not None:
            choice.last.length, choice.last.pieces = 0, array("I")

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
        held_counts = dict(part.held)
        part.held.clear()
        for piece in part.pieces:
            self._start[piece] = part.length
            part.length += held_counts.get(piece, 0)
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
            part.number, part.frame = len(parts), frame
            while part.place is not None and part.number and (parts[part.number - 1].place or ()) > part.place:
                part.number -= 1
            parts.insert(part.number, part)
            for number, moved in enumerate(parts[part.number + 1 :], part.number + 1):
                moved.number = number
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
