"""YAML as the JSON it stands for (YAML 1.2, core schema), with the line of each place. Nothing is ever run or made.

PyYAML reads YAML 1.1, where ``no`` is false, ``1:30`` is ninety and ``2024-01-01`` a date; those who write for OpenAPI
or promptfoo mean texts. So its parser is used, and what scalars are is decided here. Tags are refused, and so is what
refers to itself, or would be far larger than the text once its references are followed. It is imported on first use.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from playground.jsonkit.values import JSON, Path

MOST: Final = 2_000_000  # values that a document may have, those it refers to counted wherever they stand
DEEPEST: Final = 200
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,400}\Z")
_BASED: Final = re.compile(r"0(?:o[0-7]{1,400}|x[0-9a-fA-F]{1,400})\Z")
_NUMBER: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_PREFIX: Final = "tag:yaml.org,2002:"
_KINDS: Final = frozenset({"null", "bool", "int", "float", "map", "seq"})
_TEXT: Final = "str"
_MERGE: Final = "<<"


class YamlError(ValueError):
    """A text is no YAML that stands for JSON; the text says why, and at which ``line`` (from 1, where it is known)."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line


@dataclass(frozen=True)
class YamlText:
    """What a text stands for, and where."""

    value: JSON
    _first: int
    _lines: dict[int, dict[str | int, int]]  # of what stands in a list or an object, by its identity

    def line(self, path: Path = ()) -> int:
        """The line, from 1, in which the value at a path begins."""
        at, line = self.value, self._first
        for step in path:
            line = self._lines[id(at)][step]
            at = at[step]
        return line


def read_yaml(text: str) -> YamlText:
    """What the first and only document in ``text`` stands for. Raises YamlError."""
    import yaml

    reader = _Reader()
    try:
        reader.read(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(str(error.problem or error.context or "cannot be read"), mark.line + 1 if mark else 0) from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise YamlError(" ".join(str(error).split())[:200]) from None
    return YamlText(reader.value, reader.first, reader.lines)


@dataclass
class _Open:
    """A list or an object that is being read: its values so far, how much and how deep it is."""

    value: Any
    line: int
    anchor: str | None
    key: str | None = None
    size: int = 1
    height: int = 1
    merged: list[JSON] = field(default_factory=list)
    lines: dict[str | int, int] = field(default_factory=dict)


class _Reader:
    """Makes values of the parser's events, one after the other: nothing here is as deep as the text."""

    def __init__(self) -> None:
        self.value: JSON = None
        self.first = 1
        self.lines: dict[int, dict[str | int, int]] = {}
        self._open: list[_Open] = []
        self._known: dict[str, tuple[JSON, int, int]] = {}  # by anchor: the value, its size and its height

    def read(self, events: Iterable[Any]) -> None:
        documents = 0
        for event in events:
            kind = type(event).__name__
            line = event.start_mark.line + 1 if event.start_mark is not None else 0
            if kind == "ScalarEvent":
                self._scalar(event, line)
            elif kind == "SequenceStartEvent":
                self._begin([], event, line)
            elif kind == "MappingStartEvent":
                self._begin({}, event, line)
            elif kind in ("SequenceEndEvent", "MappingEndEvent"):
                self._end()
            elif kind == "AliasEvent":
                self._alias(event.anchor, line)
            elif kind == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    raise YamlError("a second document begins here", line)

    def _scalar(self, event: Any, line: int) -> None:
        kind = _kind(event.tag, line)
        text: str = event.value
        inside = self._open[-1] if self._open else None
        if inside is not None and isinstance(inside.value, dict) and inside.key is None:
            inside.key = _MERGE if text == _MERGE and event.style in (None, "") else text
            if inside.key in inside.value and inside.key != _MERGE:
                raise YamlError(f"“{text[:60]}” stands there twice", line)
            if text == _MERGE and event.style not in (None, ""):
                inside.key = "\0" + text  # a name, after all
            return
        plain = event.style in (None, "") and kind != _TEXT
        value = _plain(text, line) if plain else text
        if event.anchor is not None:
            self._known[event.anchor] = value, 1, 1
        self._put(value, 1, 1, line)

    def _begin(self, value: JSON, event: Any, line: int) -> None:
        _kind(event.tag, line)
        inside = self._open[-1] if self._open else None
        if inside is not None and isinstance(inside.value, dict) and inside.key is None:
            raise YamlError("a name must be a text", line)
        if len(self._open) >= DEEPEST:
            raise YamlError("it is nested too deeply", line)
        if event.anchor is not None:
            self._known.pop(event.anchor, None)
        self._open.append(_Open(value, line, event.anchor))

    def _end(self) -> None:
        done = self._open.pop()
        for more in done.merged:
            for name, value in more.items():
                done.value.setdefault(name, value)
        self.lines[id(done.value)] = done.lines
        if done.anchor is not None:
            self._known[done.anchor] = done.value, done.size, done.height
        self._put(done.value, done.size, done.height, done.line)

    def _alias(self, anchor: str, line: int) -> None:
        if anchor not in self._known:
            if any(one.anchor == anchor for one in self._open):
                raise YamlError("it refers to itself", line)
            raise YamlError(f"“*{anchor[:60]}” refers to nothing", line)
        value, size, height = self._known[anchor]
        inside = self._open[-1] if self._open else None
        if inside is not None and isinstance(inside.value, dict) and inside.key is None:
            raise YamlError("a name must be a text", line)
        self._put(value, size, height, line)

    def _put(self, value: JSON, size: int, height: int, line: int) -> None:
        if not self._open:
            self.value, self.first = value, line
            return
        inside = self._open[-1]
        inside.size += size
        inside.height = max(inside.height, height + 1)
        if inside.size > MOST:
            raise YamlError(f"it stands for more than {MOST:,} values", line)
        if len(self._open) + height > DEEPEST:
            raise YamlError("it is nested too deeply", line)
        if isinstance(inside.value, list):
            inside.lines[len(inside.value)] = line
            inside.value.append(value)
        elif inside.key == _MERGE:
            merged = value if isinstance(value, list) else [value]
            if not all(isinstance(one, dict) for one in merged):
                raise YamlError("“<<” must be followed by an object", line)
            inside.merged += merged
            inside.key = None
        else:
            key = (inside.key or "").removeprefix("\0")
            inside.lines[key] = line
            inside.value[key] = value
            inside.key = None


def _kind(tag: str | None, line: int) -> str:
    """What a tag says that something is; empty without one."""
    if tag is None or tag == "!":
        return _TEXT if tag else ""
    kind = tag.removeprefix(_PREFIX)
    if kind not in _KINDS and kind != _TEXT:
        raise YamlError(f"the tag {tag[:60]} is not read here", line)
    return kind


def _plain(text: str, line: int) -> JSON:
    """What a text without quotes is."""
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _WHOLE.match(text):
        return int(text)
    if _BASED.match(text):
        return int(text, 0)
    if _NUMBER.match(text):
        number = float(text)
        if not math.isfinite(number):
            raise YamlError("a number is too large", line)
        return number
    return text
