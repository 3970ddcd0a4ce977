"""JSON with one member or item a line, made from a value or a text, and the position of a path in a text.

Functions that read a text accept an incomplete one, never recurse, and keep numbers, escapes, order and duplicate keys
as they are written: the layout must not change the content.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from playground.jsonkit.tokens import tokens
from playground.jsonkit.values import JSON, Path

_LINE_END = re.compile("\n")
INDENT = 2
INDENTED = json.JSONEncoder(ensure_ascii=False, indent=INDENT)
_SURROGATE = re.compile("[\ud800-\udfff]")
DEEPEST_INDENT = 40  # levels; deeper ones get no more indentation, or 100,000 brackets would fill the memory
KEPT_OF_LONG_STRING = 120

Spelling: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Layout:
    """An indented JSON text, the number of characters of the source in it, and whether long strings were shortened."""

    text: str
    read: int
    shortened: bool


def lay_out(
    text: str, longest: int = 0, most: int = 0, lines: int = 0, string: Spelling = str, word: Spelling = str
) -> Layout:
    """Lay out a text, one member a line, up to about ``most`` characters or ``lines`` (0: to the end).

    Strings above ``longest`` characters are shortened and say so (0: never). ``string`` spells a string with its
    quotes, ``word`` any other token.
    """
    out: list[str] = []
    depth = length = line_count = 0
    opened = shortened = False
    for start, end in tokens(text):
        token = text[start:end]
        if token in ("}", "]"):
            depth = max(depth - 1, 0)
            piece = token if opened else _line(depth) + token
        else:
            piece = _line(depth) if opened else ""
            if token == ",":
                piece += "," + _line(depth)
            elif token == ":":
                piece += ": "
            elif token.startswith('"'):
                cut = bool(longest) and len(token) > longest
                shortened = shortened or cut
                piece += string(_shortened(token) if cut else token)
            else:
                piece += word(token)
        opened = token in ("{", "[")
        depth += opened
        out.append(piece)
        length += len(piece)
        line_count += "\n" in piece
        if (most and length >= most) or (lines and line_count >= lines):
            return Layout("".join(out), end, shortened)
    return Layout("".join(out), len(text), shortened)


def lay_out_value(
    value: JSON,
    on_line: Callable[[JSON], str],
    stays_on_line: Callable[[JSON, int], bool],
    *,
    unit: str = " " * INDENT,
    colon: str = ": ",
    newline: str = "\n",
    indent: str = "",
) -> str:
    """Lay out a value: ``on_line`` writes names, scalars, and each object or list for which ``stays_on_line`` is true.

    ``stays_on_line`` gets an object or list that is not empty and the number of levels around it. ``indent`` precedes
    the line of ``value``. Raises what the two callables raise, and RecursionError.
    """
    out: list[str] = []

    def write(value: JSON, level: int) -> None:
        if not isinstance(value, dict | list) or not value or stays_on_line(value, level):
            out.append(on_line(value))
            return
        outer = newline + indent + unit * level
        items = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        before = "{" if isinstance(value, dict) else "["
        for name, item in items:
            out.append(before + outer + unit + ("" if name is None else on_line(str(name)) + colon))
            write(item, level + 1)
            before = ","
        out.append(outer + ("}" if isinstance(value, dict) else "]"))

    write(value, 0)
    return "".join(out)


def indented(value: JSON) -> str:
    """Encode a value with two spaces a level; characters are escaped only where there are lone surrogates."""
    text = json.dumps(value, indent=INDENT, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=INDENT)
    return text


def indented_pieces(value: JSON) -> Iterator[str]:
    """Yield the text of `indented` in pieces, so that a large value needs no second copy of its text."""
    for piece in INDENTED.iterencode(value):
        yield _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", piece)


def indented_front(value: JSON, most: int) -> str:
    """Encode a value with indentation, and end at the first piece beyond ``most`` characters.

    Lines deep in a value are mostly spaces: 240 brackets around 240 KB make 60 MB.
    """
    out: list[str] = []
    length = 0
    for piece in INDENTED.iterencode(value):
        out.append(piece)
        length += len(piece)
        if length > most:
            break
    return "".join(out)


def locate(text: str, path: Path) -> tuple[int, int] | None:
    """Return line and column of the value at ``path``, or of its nearest parent; None in an empty text."""
    return locate_all(text, [path]).get(path)


def locate_all(text: str, paths: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    """Return line and column for many paths in one pass over the text; empty for an empty text."""
    targets = dict.fromkeys(paths)
    parents = {path[:depth] for path in targets for depth in range(len(path) + 1)}
    deepest = max(map(len, parents), default=-1)
    frames: list[_Frame] = []
    offsets: dict[Path, int] = {}
    for start, end in tokens(text):
        mark = text[start]
        frame = frames[-1] if frames else None
        if mark == ",":
            if frame:
                frame.next()
        elif mark in "}]":
            if frames:
                frames.pop()
        elif mark == ":":
            continue
        elif frame and frame.wants_key:
            frame.name(text[start:end])
        else:
            current = tuple([outer.key for outer in frames]) if len(frames) <= deepest else None
            if current in parents:
                offsets.setdefault(current, start)
            if mark in "{[":
                frames.append(_Frame(mark == "{"))
    ends = [match.end() for match in _LINE_END.finditer(text)]
    out: dict[Path, tuple[int, int]] = {}
    for path in targets:
        offset = next((offsets[path[:depth]] for depth in range(len(path), -1, -1) if path[:depth] in offsets), None)
        if offset is not None:
            line = bisect_right(ends, offset)
            out[path] = line + 1, offset - (ends[line - 1] if line else 0) + 1
    return out


class _Frame:
    """An open bracket and the key of its current member."""

    __slots__ = ("is_object", "key", "wants_key")

    def __init__(self, is_object: bool) -> None:
        self.is_object = is_object
        self.wants_key = is_object
        self.key: str | int = "" if is_object else 0

    def next(self) -> None:
        if self.is_object:
            self.wants_key = True
        else:
            self.key = int(self.key) + 1

    def name(self, token: str) -> None:
        self.wants_key = False
        try:
            self.key = str(json.loads(token))
        except ValueError:
            self.key = token


def _line(depth: int) -> str:
    return "\n" + " " * (INDENT * min(depth, DEEPEST_INDENT))


def _shortened(token: str) -> str:
    omitted = len(token) - KEPT_OF_LONG_STRING
    return f'{token[:KEPT_OF_LONG_STRING]}… {omitted:,} more characters …"'
