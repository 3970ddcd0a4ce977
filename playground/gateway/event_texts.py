"""The texts in the events of a stream, found in the bytes: whose each is, and where it stands, however odd the event.

A stream repeats itself. ``Shape`` finds the texts of a line that differs from an earlier one in its texts alone, and
does not read it; ``once`` leaves out of a read what its events have in common, for those who look for something in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import Final, NamedTuple

#: The numbers of what a text belongs to (a choice, a call, a block), and the name of the member.
Lane = tuple[tuple[int, ...], str]

#: Members that name something and are whole each time, so that the next one does not go on with them.
_WHOLE: Final = frozenset(
    {"id", "object", "model", "type", "role", "system_fingerprint", "service_tier", "provider", "obfuscation", "format"}
)
_ENDS: Final = frozenset({"finish_reason", "stop_reason"})
_TOKEN: Final = re.compile(rb'"((?:[^"\\]++|\\.)*+)(?:"(\s*+:)?|\\?\Z)|([{}\[\],])|([^\s{}\[\],":]++)', re.DOTALL)
_UNIT: Final = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_SHORT: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEEPEST: Final = 64  # objects and lists in one another; no event has more, and what is inside is not looked at
_MOST_STRINGS: Final = 256  # in a line of which more is learnt than its texts
_END_MARKER: Final = b"[DONE]"
_FRONT: Final = 16  # bytes of a line in which the end marker stands
_EVENT_END: Final = b"\n\n"
#: Stands for what was left out; after the first of its quotation marks a text ends, as far as ``redact`` can tell.
_GAP: Final = b'"\n"'
#: The same where the next text follows at once. It stands in what ``once`` gives, and nowhere else.
BETWEEN: Final = b'"\n\0"'
_LEAST_READ: Final = 4096  # bytes of a read that is worth it
_MOST_UNLIKE: Final = 16  # pieces in which two events differ
_LEAST_COMMON: Final = 16  # bytes that are worth leaving out


class Units:
    """The characters of a text as it is spelled in JSON."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def __bool__(self) -> bool:
        return bool(self._raw)

    def __len__(self) -> int:
        return len(self.text)

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


def _character(unit: str) -> str:
    if len(unit) == 1:
        return unit
    return (
        chr(int.from_bytes(bytes.fromhex(unit[2:])))
        if unit[1] == "u" and len(unit) == 6
        else _SHORT.get(unit[1], unit[1])
    )


class Member(NamedTuple):
    """One text: whose it is, where it begins in the line; with ``ends``, what it belongs to is over."""

    lane: Lane
    begin: int
    units: Units
    ends: bool = False


class String(NamedTuple):
    """One string in a line that is no name: whose it is, and where it begins in the line."""

    lane: Lane
    begin: int
    raw: bytes

    @property
    def ends(self) -> bool:
        """Whether it says that what it belongs to is over."""
        name = self.lane[1]
        return name in _ENDS or (name == "type" and self.raw.endswith(b"_stop"))

    @property
    def is_whole(self) -> bool:
        """Whether the next one does not go on with it."""
        return self.lane[1] in _WHOLE


class Shape:
    """A line but for its texts, cut at the quotation marks: every other piece is a string.

    The next event mostly differs in some of its texts alone. Such a line has the same texts in the same places.
    """

    __slots__ = ("_count", "_fixed", "_kept", "_lanes")

    def __init__(self, line: bytes, strings: Sequence[String]) -> None:
        self._count = 0  # pieces
        self._lanes: dict[int, Lane | None] = {}  # of the pieces that may differ; None where nothing goes on with it
        pieces = line.split(b'"')
        if not 0 < len(strings) < _MOST_STRINGS or _odd(line) or any(string.ends for string in strings):
            return
        begins = accumulate(map(len, pieces), lambda begin, size: begin + size + 1, initial=0)
        number_of = {begin: number for number, begin in enumerate(begins)}
        for string in strings:
            if string.lane[1] != "type":  # what it says may be an end
                self._lanes[number_of[string.begin]] = None if string.is_whole else string.lane
        if not self._lanes or len(pieces) % 2 == 0:
            return
        self._count = len(pieces)
        self._fixed = itemgetter(*(number for number in range(self._count) if number not in self._lanes))
        self._kept = self._fixed(pieces)

    def _pieces(self, line: bytes) -> list[bytes] | None:
        """Those of a line of this shape; None for one that is another."""
        pieces = line.split(b'"')
        if len(pieces) != self._count or self._fixed(pieces) != self._kept or _odd(line):
            return None
        return pieces

    def members(self, line: bytes) -> list[Member] | None:
        """The texts of a line of this shape; None for one that is another."""
        pieces = self._pieces(line)
        if pieces is None:
            return None
        return [
            Member(lane, sum(map(len, pieces[:number])) + number, Units(pieces[number]))
            for number, lane in self._lanes.items()
            if lane is not None
        ]

    def next_text(self, data: bytes, quote: int) -> bytes | None:
        """How the text goes on that ends at ``quote`` in ``data``, when its line and the next with any text are both
        of this shape: b"" where nothing goes on with it; None where that cannot be said at once.
        """
        begin = data.rfind(b"\n", 0, quote) + 1
        at = data.find(b"\n", quote) + 1
        if not self._count or not at:
            return None
        number = data.count(b'"', begin, quote)
        if number not in self._lanes:
            return None
        pieces = self._pieces(data[begin:at])
        if pieces is None or not _is_plain(pieces[number]):
            return None
        if self._lanes[number] is None:
            return b""
        while (end := data.find(b"\n", at) + 1) and data.find(b'"', at, end) < 0:
            if data.find(_END_MARKER, at, end) >= 0:
                return None
            at = end
        pieces = self._pieces(data[at:end]) if end else None
        return pieces[number] if pieces is not None and _is_plain(pieces[number]) else None


def _odd(line: bytes) -> bool:
    """Whether a quotation mark in it may stand inside a text, or what it says is no event."""
    return b'\\"' in line or _END_MARKER in line[:_FRONT]


def _is_plain(text: bytes) -> bool:
    """Whether something is in it, with nothing escaped and no line break."""
    return bool(text) and b"\\" not in text and b"\r" not in text


class _Container:
    __slots__ = ("index", "is_list", "name", "place", "position")

    def __init__(self, is_list: bool, name: str, place: int | None) -> None:
        self.is_list = is_list
        self.name = name  # of the member being read; of a list its own
        self.place = place  # in the list that holds it
        self.position = 0
        self.index: int | None = None


def strings_of(line: bytes) -> list[String]:
    """The strings in a line that are no names, in order."""
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
    return [String((_numbers(path), name), begin, raw) for path, name, begin, raw in found]


def _numbers(path: list[_Container]) -> tuple[int, ...]:
    return tuple(number for one in path if (number := one.place if one.index is None else one.index) is not None)


def members_of(line: bytes, strings: Sequence[String]) -> list[Member]:
    """The texts in a line, in order, and what ends one; ``strings`` are the strings in it."""
    if _END_MARKER in line[:_FRONT]:
        return [Member(((), ""), 0, Units(b""), ends=True)]
    return [
        Member(string.lane, string.begin, Units(string.raw), string.ends)
        for string in strings
        if string.ends or not string.is_whole
    ]


def once(data: bytes) -> bytes:
    """What there is in ``data`` between two quotation marks, or beside one, all of it at least once.

    What two events of a stream have in common stands in nearly all others, too, and is most of their bytes. Whatever
    has no quotation mark inside is in ``data`` when it is in this, and at its end when it is at the end of this. Where
    events differ in one piece alone, ``BETWEEN`` stands between those pieces of two that follow each other.
    """
    begin = data.find(_EVENT_END) + len(_EVENT_END)
    middle = data.find(_EVENT_END, begin) + len(_EVENT_END)
    end = data.find(_EVENT_END, middle) + len(_EVENT_END)
    if len(data) < _LEAST_READ or not begin < middle < end:
        return data
    one, other = data[begin:middle].split(b'"'), data[middle:end].split(b'"')
    unlike = [number for number, (here, there) in enumerate(zip(one, other, strict=False)) if here != there]
    if len(one) != len(other) or not 0 < len(unlike) <= _MOST_UNLIKE:
        return data
    first, last = unlike[0], unlike[-1]
    # From the last text of one event to the first of the next; both ends of what is left out are quotation marks.
    common = [[*one[last + 1 : -1], one[-1] + other[0], *other[1:first]]] if last < len(one) - 1 and first else []
    common += [one[here + 1 : there] for here, there in pairwise(unlike)]
    left_out = [b'"%b"' % b'"'.join(pieces) for pieces in common if sum(map(len, pieces)) >= _LEAST_COMMON]
    tells = first == last and b"\0" not in data and not any(map(_odd, left_out))
    for marked in left_out:
        data = _pattern(marked).sub(BETWEEN if tells else _GAP, data)
    return b"".join((*left_out, data))


@lru_cache(maxsize=8)
def _pattern(data: bytes) -> re.Pattern[bytes]:
    # Of many long pieces ``re`` leaves out each in half the time that ``bytes.replace`` takes.
    return re.compile(re.escape(data))


def next_between(said: bytes, quote: int) -> bytes:
    """How the text goes on that ends at ``quote`` in what ``once`` gave; b"" where that cannot be said."""
    begin = said.rfind(b'"', 0, quote) + 1
    at = quote + len(BETWEEN)
    if not said.startswith(BETWEEN, quote) or not said.endswith(BETWEEN, 0, begin):
        return b""
    text = said[at : said.find(b'"', at)]
    return text if _is_plain(said[begin:quote]) and _is_plain(text) else b""
