"""Finds the texts of one line of an event stream in its bytes: which field each belongs to, and where it is.

The line need not be valid JSON: a secret must be found in the events of a faulty gateway, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, NamedTuple

#: The field that a text continues: list positions or ``index`` members on the way to it, and its member name.
Lane = tuple[tuple[int, ...], str]

#: Members that are complete in each event; the next event does not continue them.
_COMPLETE: Final = frozenset(
    {"id", "object", "model", "type", "role", "system_fingerprint", "service_tier", "provider", "obfuscation", "format"}
)
_END_MEMBERS: Final = frozenset({"finish_reason", "stop_reason"})
_TOKEN: Final = re.compile(rb'"((?:[^"\\]++|\\.)*+)(?:"(\s*+:)?|\\?\Z)|([{}\[\],])|([^\s{}\[\],":]++)', re.DOTALL)
_UNIT: Final = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_SHORT_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_MOST_LEVELS: Final = 64  # nested objects and lists; texts in deeper ones are not followed
_END_MARKER: Final = b"[DONE]"
_MARKER_WITHIN: Final = 16  # bytes at the beginning of a line


class EventText(NamedTuple):
    """One JSON string in a line: its field, its first byte in the line, and its bytes as escaped.

    With ``ends``, the message or content block of that field is complete.
    """

    lane: Lane
    begin: int
    raw: bytes
    ends: bool = False

    def decode(self) -> tuple[str, Sequence[int]]:
        """Return the text, and for each of its characters, and for its end, the position in the line."""
        if self.raw.isascii() and b"\\" not in self.raw:
            return self.raw.decode("ascii"), range(self.begin, self.begin + len(self.raw) + 1)
        units = _UNIT.findall(self.raw.decode("utf-8", "surrogateescape"))
        sizes = (len(unit.encode("utf-8", "surrogateescape")) for unit in units)
        return "".join(map(_decode_unit, units)), list(accumulate(sizes, initial=self.begin))


def _decode_unit(unit: str) -> str:
    if len(unit) == 1:
        return unit
    if len(unit) == 6:
        return chr(int.from_bytes(bytes.fromhex(unit[2:])))
    return _SHORT_ESCAPES.get(unit[1], unit[1])


class _Container:
    """An object or list that is open while a line is read."""

    __slots__ = ("index", "is_list", "name", "place", "position")

    def __init__(self, is_list: bool, name: str, place: int | None) -> None:
        self.is_list = is_list
        self.name = name  # of the current member; of a list its own
        self.place = place  # position in the enclosing list
        self.position = 0
        self.index: int | None = None  # value of its member ``index``


def event_texts(line: bytes) -> list[EventText]:
    """Return the texts that a later event may continue, and those that end a message, in order."""
    if _END_MARKER in line[:_MARKER_WITHIN]:
        return [EventText(((), ""), 0, b"", ends=True)]
    # The index of a container may follow its texts: lanes are resolved when the whole line is read.
    strings: list[tuple[list[_Container], str, int, bytes, bool]] = []
    stack: list[_Container] = []
    top_name = ""  # of a member outside of all objects
    for token in _TOKEN.finditer(line):
        text, colon, mark, bare = token.groups()
        top = stack[-1] if stack else None
        if text is not None and colon is None:
            name = top.name if top is not None else top_name
            if (ends := _ends(name, text)) or name not in _COMPLETE:
                strings.append((stack[:], name, token.start(1), text, ends))
        elif text is not None and top is None:
            top_name = text.decode("utf-8", "replace")
        elif text is not None:
            if top is not None and not top.is_list:
                top.name = text.decode("utf-8", "replace")
        elif mark in (b"{", b"["):
            if len(stack) == _MOST_LEVELS:
                break
            place = top.position if top is not None and top.is_list else None
            stack.append(_Container(mark == b"[", top.name if top is not None else "", place))
        elif mark == b",":
            if top is not None and top.is_list:
                top.position += 1
        elif mark is not None:
            del stack[-1:]
        elif top is not None and top.name == "index" and bare.isdigit() and len(bare) < 7:
            top.index = int(bare)
    return [EventText((_numbers(path), name), begin, raw, ends) for path, name, begin, raw, ends in strings]


def _numbers(path: list[_Container]) -> tuple[int, ...]:
    """Return the indexes of the containers in a path, their list positions where they have none."""
    numbers = [container.place if container.index is None else container.index for container in path]
    return tuple([number for number in numbers if number is not None])


def _ends(name: str, raw: bytes) -> bool:
    """Return whether a member says that its message or content block is complete."""
    return name in _END_MEMBERS or (name == "type" and raw.endswith(b"_stop"))
