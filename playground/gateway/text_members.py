"""The texts in one line of JSON, with their places in the line and a name for what they go on with from event to event.

It is no parser: it never raises, and takes what is there, whatever surrounds it. It knows no protocol: pieces of one
text stand under the same name, in the same of several numbered things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

#: The numbers of what a text belongs to (a choice, a call, a block), and the name of the member.
Lane = tuple[tuple[int, ...], str]

#: Members that name something and are whole each time, so that the next one does not go on with them.
_WHOLE: Final = frozenset(
    {"id", "object", "model", "type", "role", "system_fingerprint", "service_tier", "provider", "obfuscation", "format"}
)
_ENDS: Final = frozenset({"finish_reason", "stop_reason"})
_TOKEN: Final = re.compile(rb'"((?:[^"\\]++|\\.)*+)(?:"(\s*+:)?|\\?\Z)|([{}\[\],])|([^\s{}\[\],":]++)', re.DOTALL)
_TEXT: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_UNIT: Final = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_SHORT: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEEPEST: Final = 64  # objects and lists in one another; no event has more, and what is inside is not looked at
_END_MARKER: Final = b"[DONE]"


class Units:
    """The characters of a text as it is spelled in JSON."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def __bool__(self) -> bool:
        return bool(self._raw)

    def __len__(self) -> int:
        return len(self.text)

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return len(self._raw)

    @cached_property
    def text(self) -> str:
        """What it says."""
        if b"\\" not in self._raw:
            return self._raw.decode("utf-8", "surrogateescape")
        return "".join(map(_character, self._units))

    @cached_property
    def _units(self) -> list[str]:
        return _UNIT.findall(self._raw.decode("utf-8", "surrogateescape"))

    def offset(self, count: int) -> int:
        """How many bytes the first ``count`` characters take."""
        first = self.text[:count] if b"\\" not in self._raw else "".join(self._units[:count])
        return len(first.encode("utf-8", "surrogateescape"))


class Member(NamedTuple):
    """One text: whose it is, where it begins in the line; with ``ends``, what it belongs to is over."""

    lane: Lane
    begin: int
    units: Units
    ends: bool = False


class Shape:
    """A line with a single text that grows, and what is around it. The next event mostly differs in that text alone."""

    __slots__ = ("_after", "_before", "_lane")

    def __init__(self, line: bytes, members: list[Member]) -> None:
        self._lane: Lane | None = None
        self._before = self._after = b""
        if len(members) == 1 and not members[0].ends:
            (member,) = members
            self._lane = member.lane
            self._before = line[: member.begin]
            self._after = line[member.begin + member.units.size :]

    def members(self, line: bytes) -> list[Member] | None:
        """The texts of a line of this shape; None for one that is another."""
        before, after = self._before, self._after
        if self._lane is None or len(line) < len(before) + len(after):
            return None
        if not line.startswith(before) or not line.endswith(after):
            return None
        raw = line[len(before) : len(line) - len(after)]
        return [Member(self._lane, len(before), Units(raw))] if _TEXT.fullmatch(raw) else None

    def next_text(self, data: bytes, quote: int) -> int:
        """Where the text goes on that ends at ``quote`` in ``data``, when its line and the next with any text are both
        of this shape; -1 where that cannot be said at once.
        """
        before, after = self._before, self._after
        begin = data.rfind(b"\n", 0, quote) + 1
        if self._lane is None or not after.endswith(b"\n") or not data.startswith(after, quote):
            return -1
        if not data.startswith(before, begin) or not _is_plain(data, begin + len(before), quote):
            return -1
        at = quote + len(after)
        while (end := data.find(b"\n", at) + 1) and data.find(b'"', at, end) < 0:
            if data.find(_END_MARKER, at, end) >= 0:
                return -1
            at = end
        text = at + len(before)
        if not end or not data.startswith(before, at) or not data.endswith(after, text, end):
            return -1
        return text if _is_plain(data, text, end - len(after)) else -1


def _is_plain(data: bytes, start: int, end: int) -> bool:
    """Whether those bytes are a text with something in it, with nothing escaped and no line break."""
    return start < end and all(data.find(mark, start, end) < 0 for mark in (b'"', b"\\", b"\r", b"\n"))


class _Container:
    __slots__ = ("index", "is_list", "name", "place", "position")

    def __init__(self, is_list: bool, name: str, place: int | None) -> None:
        self.is_list = is_list
        self.name = name  # of the member being read; of a list its own
        self.place = place  # in the list that holds it
        self.position = 0
        self.index: int | None = None


def members_of(line: bytes) -> Iterator[Member]:
    """The texts in a line, in order."""
    if _END_MARKER in line[:16]:
        yield Member(((), ""), 0, Units(b""), ends=True)
        return
    found: list[tuple[list[_Container], str, int, bytes]] = []
    stack: list[_Container] = []
    loose = ""  # the name before a text that is alone in its line
    for token in _TOKEN.finditer(line):
        text, colon, mark, bare = token.groups()
        top = stack[-1] if stack else None
        if text is not None:
            if colon is None:
                found.append((stack[:], top.name if top is not None else loose, token.start(1), text))
            elif top is None:
                loose = text.decode("utf-8", "replace")
            elif not top.is_list:
                top.name = text.decode("utf-8", "replace")
        elif mark in (b"{", b"["):
            if len(stack) == _DEEPEST:
                break
            place = top.position if top is not None and top.is_list else None
            stack.append(_Container(mark == b"[", top.name if top is not None else "", place))
        elif mark == b",":
            if top is not None and top.is_list:
                top.position += 1
        elif mark is not None:
            if stack:
                stack.pop()
        elif top is not None and top.name == "index" and bare.isdigit() and len(bare) < 7:
            top.index = int(bare)
    for path, name, begin, raw in found:
        numbers = tuple(number for one in path if (number := one.place if one.index is None else one.index) is not None)
        if name in _ENDS or (name == "type" and raw.endswith(b"_stop")):
            yield Member((numbers, name), begin, Units(raw), ends=True)
        elif name not in _WHOLE:
            yield Member((numbers, name), begin, Units(raw))


def _character(unit: str) -> str:
    if len(unit) == 1:
        return unit
    return (
        chr(int.from_bytes(bytes.fromhex(unit[2:])))
        if unit[1] == "u" and len(unit) == 6
        else _SHORT.get(unit[1], unit[1])
    )
