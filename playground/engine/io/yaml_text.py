"""YAML as JSON values (YAML 1.2, core schema), with the line of each value. Tags are refused; no object is created.

PyYAML resolves scalars by YAML 1.1, where ``no`` is false, ``1:30`` is ninety and ``2024-01-01`` a date, so only its
parser is used, and scalars are resolved here. ruamel.yaml is no replacement: it is 25 times slower than PyYAML's C
parser, still makes dates, reads ``1_000`` as a number, and has no limits on depth and on what aliases expand to.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from playground.jsonkit.values import JSON, Path

MAX_VALUES: Final = 2_000_000  # of a document, with aliases expanded
MAX_DEPTH: Final = 200
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,400}\Z")
_OCTAL_OR_HEX: Final = re.compile(r"0(?:o[0-7]{1,400}|x[0-9a-fA-F]{1,400})\Z")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_TAG_PREFIX: Final = "tag:yaml.org,2002:"
_OTHER_TAGS: Final = frozenset({"null", "bool", "int", "float", "map", "seq"})
_TEXT_TAG: Final = "str"
_MERGE: Final = "<<"


class YamlError(ValueError):
    """A text is not readable as YAML; the text says why, and at which ``line`` (from 1, or 0 if unknown)."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line


@dataclass(frozen=True)
class YamlText:
    """The value of a text, and the lines of its parts."""

    value: JSON
    _first_line: int
    _lines: dict[int, dict[str | int, int]]  # of the items of a container, by the container's identity

    def line(self, path: Path = ()) -> int:
        """Return the line, from 1, in which the value at a path begins."""
        value, line = self.value, self._first_line
        for step in path:
            line = self._lines[id(value)][step]
            value = value[step]
        return line


def read_yaml(text: str) -> YamlText:
    """Return the value of the only document in ``text``. Raises YamlError."""
    import yaml

    reader = _Reader()
    try:
        reader.read(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(str(error.problem or error.context or "cannot be read"), mark.line + 1 if mark else 0) from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise YamlError(" ".join(str(error).split())[:200]) from None
    root = reader.root.value
    return YamlText(root[0] if root else None, reader.root.lines.get(0, 1), reader.lines)


@dataclass
class _Container:
    """A list or an object that is being read. ``size`` counts its values, ``height`` its levels."""

    value: Any
    line: int = 1
    anchor: str | None = None
    key: str | None = None  # of the next value of an object
    is_merge: bool = False  # the next value is that of a merge key
    size: int = 1
    height: int = 1
    merged: list[JSON] = field(default_factory=list)
    lines: dict[str | int, int] = field(default_factory=dict)

    @property
    def expects_key(self) -> bool:
        return isinstance(self.value, dict) and self.key is None and not self.is_merge


class _Reader:
    """Builds values from the parser's events without recursion. ``root`` is a list of the documents."""

    def __init__(self) -> None:
        self.root = _Container([])
        self.lines: dict[int, dict[str | int, int]] = {}
        self._open = [self.root]
        self._anchors: dict[str, tuple[JSON, int, int]] = {}  # the value, its size and its height

    def read(self, events: Iterable[Any]) -> None:
        documents = 0
        for event in events:
            line = event.start_mark.line + 1 if event.start_mark is not None else 0
            match type(event).__name__:
                case "ScalarEvent":
                    self._scalar(event, line)
                case "SequenceStartEvent":
                    self._begin([], event, line)
                case "MappingStartEvent":
                    self._begin({}, event, line)
                case "SequenceEndEvent" | "MappingEndEvent":
                    self._end()
                case "AliasEvent":
                    self._alias(event.anchor, line)
                case "DocumentStartEvent":
                    documents += 1
                    if documents > 1:
                        raise YamlError("a second document begins", line)

    def _scalar(self, event: Any, line: int) -> None:
        tag = _tag_name(event.tag, line)
        text: str = event.value
        is_plain = event.style in (None, "")
        container = self._open[-1]
        if container.expects_key:
            if text == _MERGE and is_plain:
                container.is_merge = True
            elif text in container.value:
                raise YamlError(f"“{text[:60]}” is there twice", line)
            else:
                container.key = text
            return
        value = _resolve(text, line) if is_plain and tag != _TEXT_TAG else text
        if event.anchor is not None:
            self._anchors[event.anchor] = value, 1, 1
        self._add(value, 1, 1, line)

    def _begin(self, value: JSON, event: Any, line: int) -> None:
        _tag_name(event.tag, line)
        if self._open[-1].expects_key:
            raise YamlError("a name must be a text", line)
        if len(self._open) > MAX_DEPTH:
            raise YamlError("it is nested too deeply", line)
        if event.anchor is not None:
            self._anchors.pop(event.anchor, None)
        self._open.append(_Container(value, line, event.anchor))

    def _end(self) -> None:
        container = self._open.pop()
        for members in container.merged:
            for name, value in members.items():
                container.value.setdefault(name, value)
        self.lines[id(container.value)] = container.lines
        if container.anchor is not None:
            self._anchors[container.anchor] = container.value, container.size, container.height
        self._add(container.value, container.size, container.height, container.line)

    def _alias(self, anchor: str, line: int) -> None:
        if anchor not in self._anchors:
            if any(container.anchor == anchor for container in self._open):
                raise YamlError("it refers to itself", line)
            raise YamlError(f"“*{anchor[:60]}” refers to nothing", line)
        if self._open[-1].expects_key:
            raise YamlError("a name must be a text", line)
        self._add(*self._anchors[anchor], line)

    def _add(self, value: JSON, size: int, height: int, line: int) -> None:
        container = self._open[-1]
        container.size += size
        container.height = max(container.height, height + 1)
        if container.size > MAX_VALUES:
            raise YamlError(f"it expands to more than {MAX_VALUES:,} values", line)
        if len(self._open) - 1 + height > MAX_DEPTH:
            raise YamlError("it is nested too deeply", line)
        if container.is_merge:
            merged = value if isinstance(value, list) else [value]
            if not all(isinstance(members, dict) for members in merged):
                raise YamlError("“<<” must be followed by an object", line)
            container.merged += merged
            container.is_merge = False
        elif container.key is not None:
            container.lines[container.key] = line
            container.value[container.key] = value
            container.key = None
        else:
            container.lines[len(container.value)] = line
            container.value.append(value)


def _tag_name(tag: str | None, line: int) -> str:
    """Return the name of a standard tag; empty without a tag. Raises YamlError for other tags."""
    if tag is None or tag == "!":
        return _TEXT_TAG if tag else ""
    name = tag.removeprefix(_TAG_PREFIX)
    if name not in _OTHER_TAGS and name != _TEXT_TAG:
        raise YamlError(f"the tag {tag[:60]} is not read here", line)
    return name


def _resolve(text: str, line: int) -> JSON:
    """Return the value of a scalar without quotes."""
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.match(text):
        return int(text)
    if _OCTAL_OR_HEX.match(text):
        return int(text, 0)
    if _FLOAT.match(text):
        number = float(text)
        if not math.isfinite(number):
            raise YamlError("a number is too large", line)
        return number
    return text
