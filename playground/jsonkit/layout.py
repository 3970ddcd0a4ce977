"""JSON as text: a value or a text laid out, one member or item a line, and places found by tokens.

What reads a text works on half a document as well as on a whole one, never recurses, and keeps numbers, escapes, order
and doubled keys as they are written: laying out must not change what was sent.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from playground.jsonkit.values import JSON, Path

TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
#: As ``TOKEN``, of a long string only its beginning; ``end`` is the quote that ends one.
_BEGUN = re.compile(r'"[^"\\]{0,2000}+(?:\\.[^"\\]{0,200}+){0,500}+(?P<end>")?|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
_INSIDE = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_LONG = 200  # characters from which on a string may have been begun only
_STEP = 100_000  # characters of a string that are read at once: the interpreter belongs to nobody else meanwhile
_LINE_END = re.compile("\n")
INDENT = 2
INDENTED = json.JSONEncoder(ensure_ascii=False, indent=INDENT)
_HALVES = re.compile("[\ud800-\udfff]")  # of surrogate pairs, which no encoding has
DEEPEST_INDENT = 40  # levels; deeper ones are not set in further, or 100,000 brackets would fill the memory
KEPT_OF_LONG_STRING = 120

Spelling: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Layout:
    """JSON laid out: the text, how many characters of the source it stands for, whether long strings were shortened."""

    text: str
    read: int
    shortened: bool


def lay_out(
    text: str, longest: int = 0, most: int = 0, lines: int = 0, string: Spelling = str, word: Spelling = str
) -> Layout:
    """The same tokens, one member a line, until about ``most`` characters or ``lines`` are made (0: to the end).

    Strings above ``longest`` characters are shortened and say so (0: never). ``string`` spells a string with its
    quotes, ``word`` any other token.
    """
    out: list[str] = []
    depth = made = ended = 0
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
        made += len(piece)
        ended += "\n" in piece
        if (most and made >= most) or (lines and ended >= lines):
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
    """The text of a value: names and plain values as ``on_line`` spells them, and so what ``stays_on_line``.

    That is asked of an object or list that is not empty, and of how many levels around it were laid out. ``indent``
    stands before the line of ``value``. Raises what the two raise, and RecursionError.
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
    """A value in two spaces a level; letters as they are, unless there are some that no encoding has."""
    text = json.dumps(value, indent=INDENT, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # halves of surrogate pairs stay escapes
        return json.dumps(value, indent=INDENT)
    return text


def indented_pieces(value: JSON) -> Iterator[str]:
    """Yield the text of `indented` piece by piece, so that a large value needs no second copy of its whole text."""
    for piece in INDENTED.iterencode(value):
        yield _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", piece)


def indented_front(value: JSON, most: int) -> str:
    """What `json.dumps` writes with that indent, up to where it is more than ``most`` characters.

    What is deep in a value takes lines of mostly spaces: 240 brackets around 240 KB make 60 MB.
    """
    out: list[str] = []
    made = 0
    for piece in INDENTED.iterencode(value):
        out.append(piece)
        made += len(piece)
        if made > most:
            break
    return "".join(out)


def tokens(text: str) -> Iterator[tuple[int, int]]:
    """Where each token begins and ends. No string, however long, is read in one go."""
    at: int | None = 0
    while at is not None:
        begun, at = at, None
        for match in _BEGUN.finditer(text, begun):
            start, end = match.span()
            if end - start > _LONG and text[start] == '"' and match["end"] is None:
                at = _string_end(text, end)
                yield start, at
                break
            yield start, end


def _string_end(text: str, at: int) -> int:
    """Where the string ends in which ``at`` is, its quote included."""
    while at < len(text):
        found = _INSIDE.match(text, at, at + _STEP)
        end = found.end() if found is not None else at
        if end < len(text) and text[end] == '"':
            return end + 1
        if end == at:  # a backslash with nothing behind it
            break
        at = end
    return at


def locate(text: str, path: Path) -> tuple[int, int] | None:
    """Line and column of the value at ``path``, or of its nearest parent that exists; None in an empty text."""
    return locate_all(text, [path]).get(path)


def locate_all(text: str, paths: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    """``locate`` for many paths, the text being read once; empty for an empty text."""
    wanted = dict.fromkeys(paths)
    parents = {path[:depth] for path in wanted for depth in range(len(path) + 1)}
    deepest = max(map(len, parents), default=-1)
    frames: list[_Frame] = []
    found: dict[Path, int] = {}
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
            here = tuple([one.key for one in frames]) if len(frames) <= deepest else None
            if here in parents:
                found.setdefault(here, start)
            if mark in "{[":
                frames.append(_Frame(mark == "{"))
    ends = [match.end() for match in _LINE_END.finditer(text)]
    out: dict[Path, tuple[int, int]] = {}
    for path in wanted:
        at = next((found[path[:depth]] for depth in range(len(path), -1, -1) if path[:depth] in found), None)
        if at is not None:
            line = bisect_right(ends, at)
            out[path] = line + 1, at - (ends[line - 1] if line else 0) + 1
    return out


class _Frame:
    """One open bracket, and which of its members is being read."""

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
    left_out = len(token) - KEPT_OF_LONG_STRING
    return f'{token[:KEPT_OF_LONG_STRING]}… {left_out:,} more characters …"'
