"""A stream repeats itself: from one event to the next, mostly a single string differs. Only that string is read then.

That is exact, not a guess. An event with the same bytes before and after the string is the same value with another
string in it, as long as the string stands between its own quotes and nothing around it holds a backslash. Whatever
else comes is read as a whole. Nothing here knows a protocol.
"""

from __future__ import annotations

import re
from typing import Final

from playground.jsonkit import foreign
from playground.jsonkit.values import JSONObject
from playground.protocols.sse import Edges, Frame

#: So many events learnt in vain, one after the other, and a stream is taken for one that does not repeat itself.
PATIENCE: Final = 32

_LEAD: Final = re.compile(rb"(?:event: [^\r\n]*\r?\n)?data: ")
_INSIDE: Final = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*')

#: The object in a value that holds the string that changes, and its key; None where there is no such string.
ChangingString = tuple[JSONObject, str] | None


class Repeats:
    """The event learnt last. ``edges`` are its bytes before and after the string, for the parser to look for.

    They are None while nothing is learnt, and after so much was learnt in vain that it was given up.
    """

    def __init__(self) -> None:
        self.edges: Edges | None = None
        self._frame = Frame(None, "", b"")
        self._around = ("", "")  # the frame's data before and after the string
        self._value: JSONObject = {}
        self._holder: JSONObject = {}
        self._key = ""
        self._in_vain = 0

    @property
    def patient(self) -> bool:
        """Whether it is worth learning more."""
        return self._in_vain < PATIENCE

    @property
    def event(self) -> str | None:
        """The name of the event learnt last."""
        return self._frame.event

    def learn(self, frame: Frame, value: JSONObject, place: ChangingString) -> None:
        """Take ``frame``, which was read as ``value``, for what comes again, where that can be told for certain."""
        if place is None or "error" in value:
            return
        holder, key = place
        named = f'"{key}"'
        head, found, rest = frame.data.partition(named)
        opening = rest[: rest.find('"') + 1]
        if not found or opening not in (':"', ': "'):
            return
        inside = _INSIDE.match(rest, len(opening))
        before = head + named + opening
        after = rest[inside.end() :] if inside else ""
        lead = _LEAD.match(frame.raw)
        if named in after or "\\" in before or "\\" in after or not after or lead is None:
            return
        block = frame.raw.rstrip(b"\r\n")
        if block[lead.end() :] != frame.data.encode("utf-8", "replace"):
            return
        self._in_vain += 1
        if not self.patient:
            self.edges = None
            return
        self.edges = (lead.group() + before.encode(), after.encode())
        self._frame, self._around = frame, (before, after)
        self._value, self._holder, self._key = value, holder, key

    def text(self, between: bytes) -> str | None:
        """The string that ``between`` stands for in an event; None where that takes a whole reading."""
        self._in_vain = 0
        text = between.decode("utf-8", "replace")
        if "\\" in text or '"' in text or not text.isprintable():
            if "\\u" in text:
                return None  # perhaps half of a surrogate pair
            try:
                text = foreign.parse(f'"{text}"')
            except ValueError:
                return None  # more than a string, or none
        return text

    def value(self, text: str) -> JSONObject:
        """The value of an event with ``text`` for its string. It is lent until the next call."""
        self._holder[self._key] = text
        return self._value

    def whole(self, between: bytes) -> Frame:
        """The event with ``between`` in place of the string, as the parser would have given it."""
        before, after = self._around
        data = f"{before}{between.decode('utf-8', 'replace')}{after}"
        return Frame(self.event, data, b"")
