"""JSON text as a tree that knows where each thing stands, so that an edit can leave everything else as it is.

The grammar is that of `parse_json`. Nothing here recurses: a text may be nested as deeply as it likes. Nothing is
converted either until somebody asks for a value, so that a number of 5,000 digits is only text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from playground.jsonkit import faults
from playground.jsonkit.faults import JsonTextError
from playground.jsonkit.values import JSON, Path

Kind: TypeAlias = Literal["object", "array", "string", "number", "true", "false", "null"]

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_STRING_PART: Final = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS: Final[tuple[Literal["true", "false", "null"], ...]] = ("true", "false", "null")
_CLOSING: Final = {"object": "}", "array": "]"}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JsonNode:
    """One value and its span ``[start, end)``; ``members`` are an object's, ``items`` an array's."""

    kind: Kind
    start: int
    end: int
    members: tuple[Member, ...] = ()
    items: tuple[JsonNode, ...] = ()

    @property
    def children(self) -> tuple[JsonNode, ...]:
        """The values inside, in the order of the text."""
        return tuple(member.value for member in self.members) if self.members else self.items

    def last(self, key: str) -> int | None:
        """The position of the member that counts for ``key``: the last one, as everywhere in Python."""
        return next((n for n in range(len(self.members) - 1, -1, -1) if self.members[n].key == key), None)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Member:
    """One ``"key": value`` of an object; ``key`` is decoded, its span includes the quotes."""

    key: str
    key_start: int
    key_end: int
    value: JsonNode


@dataclass(slots=True)
class _Frame:
    """A bracket that is still open, and what it holds so far."""

    kind: Literal["object", "array"]
    start: int
    members: list[Member]
    items: list[JsonNode]
    key: str = ""
    key_start: int = 0
    key_end: int = 0

    def take(self, node: JsonNode) -> None:
        if self.kind == "object":
            self.members.append(Member(self.key, self.key_start, self.key_end, node))
        else:
            self.items.append(node)


def parse(text: str) -> JsonNode:
    """The tree of a text. Raises JsonTextError at the first place that is not JSON."""
    return _Reader(text).read()


def find(root: JsonNode, path: Path) -> JsonNode | None:
    """The value at ``path``; None where there is none. Of a doubled key the last one counts."""
    node: JsonNode | None = root
    for step in path:
        node = _step(node, step) if node is not None else None
    return node


def scalar(text: str, node: JsonNode) -> JSON:
    """The value of a node that is no container. Raises ValueError for an int that Python refuses to read."""
    return json.loads(text[node.start : node.end])


def _step(node: JsonNode, step: str | int) -> JsonNode | None:
    if isinstance(step, str):
        position = node.last(step)
        return None if position is None else node.members[position].value
    return node.items[step] if node.kind == "array" and 0 <= step < len(node.items) else None


class _Reader:
    """One pass over a text with the open brackets on a list."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._frames: list[_Frame] = []

    def read(self) -> JsonNode:
        node: JsonNode | None = None
        while True:
            if node is None:
                node = self._value()
            elif self._frames:
                node = self._after(self._frames[-1], node)
            else:
                self._skip()
                if self._at < len(self._text):
                    raise self._error(faults.TEXT_AFTER_END)
                return node

    def _value(self) -> JsonNode | None:
        """The value that begins here, or None when a bracket was opened and its first value comes next."""
        self._skip()
        text, start = self._text, self._at
        mark = text[start : start + 1]
        if mark in ("{", "["):
            self._at += 1
            frame = _Frame("object" if mark == "{" else "array", start, [], [])
            self._frames.append(frame)
            self._skip()
            if self._mark() == _CLOSING[frame.kind]:
                return self._close(frame)
            if frame.kind == "object":
                self._key(frame)
            return None
        if mark == '"':
            self._at = self._string_end()
            return JsonNode("string", start, self._at)
        number = NUMBER.match(text, start)
        if number:
            self._at = number.end()
            return JsonNode("number", start, self._at)
        for word in _WORDS:
            if text.startswith(word, start):
                self._at += len(word)
                return JsonNode(word, start, self._at)
        raise self._error(faults.NO_VALUE if text.strip() else faults.NOTHING)

    def _after(self, frame: _Frame, node: JsonNode) -> JsonNode | None:
        """What follows a value inside brackets: the closing bracket, or a comma and the next value."""
        frame.take(node)
        self._skip()
        mark = self._mark()
        if mark == _CLOSING[frame.kind]:
            return self._close(frame)
        if mark != ",":
            raise self._error("a closing bracket is missing" if not mark else faults.NO_COMMA)
        comma = self._at
        self._at += 1
        self._skip()
        if self._mark() == _CLOSING[frame.kind]:
            self._at = comma
            raise self._error(faults.COMMA_TOO_MANY)
        if frame.kind == "object":
            self._key(frame)
        return None

    def _key(self, frame: _Frame) -> None:
        if self._mark() != '"':
            raise self._error(faults.NO_NAME)
        frame.key_start = self._at
        frame.key_end = self._at = self._string_end()
        frame.key = str(json.loads(self._text[frame.key_start : frame.key_end]))
        self._skip()
        if self._mark() != ":":
            raise self._error(faults.NO_COLON)
        self._at += 1

    def _close(self, frame: _Frame) -> JsonNode:
        self._at += 1
        self._frames.pop()
        return JsonNode(frame.kind, frame.start, self._at, tuple(frame.members), tuple(frame.items))

    def _string_end(self) -> int:
        whole = _STRING.match(self._text, self._at)
        if whole:
            return whole.end()
        start = self._at
        part = _STRING_PART.match(self._text, start)
        self._at = part.end() if part else start
        mark = self._mark()
        if not mark:
            self._at = start
            raise self._error(faults.NO_CLOSING_QUOTE)
        if mark == "\\":
            raise self._error(faults.ODD_ESCAPE)
        raise self._error(faults.CONTROL_CHARACTER)

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        if space:
            self._at = space.end()

    def _mark(self) -> str:
        return self._text[self._at : self._at + 1]

    def _error(self, reason: str) -> JsonTextError:
        return JsonTextError(self._text, self._at, reason)
