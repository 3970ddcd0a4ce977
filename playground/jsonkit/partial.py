"""Arguments as a tree while their JSON is still arriving: what is there so far, and exactly where it is wrong.

A fragment costs what the fragment is long, whatever came before it. Nothing is ever raised: what is not JSON is a
problem at its place, and where a reader can tell what was meant, reading goes on. Nothing recurses.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from playground.jsonkit import faults, tree
from playground.jsonkit.values import JSON, Path

Kind: TypeAlias = tree.Kind | Literal["invalid"]

PREVIEW: Final = 200  # characters of a value that are shown in a row
DEEPEST: Final = 400  # steps of a path that are told
MOST_PROBLEMS: Final = 100  # of one text; more would say the same again
_RUN: Final = re.compile(r'[^"\\\x00-\x1f]+')
_SPACE: Final = re.compile(r"[ \t\r\n]+")
_WORD: Final = re.compile(r"[A-Za-z0-9_+.\-]+")
_HALF: Final = re.compile("[\ud800-\udbff]\\Z")  # of a pair whose other half is still to come
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_WORDS: Final[dict[str, Kind]] = {"true": "true", "false": "false", "null": "null"}
_BY_LETTER: Final[dict[str, Kind]] = {
    "t": "true",
    "f": "false",
    "n": "null",
    "T": "true",
    "F": "false",
    "N": "null",
}
_MEANT: Final[dict[str, Kind]] = {"True": "true", "False": "false", "None": "null"}
_CONSTANTS: Final[dict[Kind, JSON]] = {"true": True, "false": False, "null": None}
_UNREADABLE_DIGITS: Final = 4000  # Python refuses to turn longer ones into an int


@dataclass(frozen=True, slots=True)
class TextProblem:
    """What is wrong with the text itself: the offset in characters, and the path of the value it stands in."""

    offset: int
    message: str
    path: Path


class Node:
    """One value of the tree. It grows while it is open; ``end`` is None until then, ``complete`` says it all came.

    ``key`` is the name in an object, the index in an array, None at the root. ``value`` is set for plain values once
    they are complete; ``problem`` says in words what is wrong with this very node, or is empty.
    """

    __slots__ = ("_head", "children", "complete", "end", "key", "kind", "number", "parent", "problem", "start", "value")

    def __init__(self, number: int, parent: Node | None, key: str | int | None, kind: Kind, start: int) -> None:
        self.number = number
        self.parent = parent
        self.key = key
        self.kind: Kind = kind
        self.start = start
        self.end: int | None = None
        self.complete = False
        self.value: JSON = None
        self.problem = ""
        self.children: list[Node] = []
        self._head = ""

    @property
    def path(self) -> Path:
        """The keys and indexes that lead here."""
        steps: list[str | int] = []
        node: Node | None = self
        while node is not None and node.key is not None:
            steps.append(node.key)
            node = node.parent
        return tuple(reversed(steps))

    @property
    def preview(self) -> str:
        """The value in a row: at most 200 characters, one line; containers say how much they hold."""
        if self.kind in ("object", "array"):
            count = len(self.children)
            what = ("member" if self.kind == "object" else "item") + ("" if count == 1 else "s")
            return f"{count} {what}"
        if self.kind == "string":
            text = self.value if self.complete and isinstance(self.value, str) else _HALF.sub("", decoded(self._head))
            return " ".join(text[:PREVIEW].splitlines())
        return self._head[:PREVIEW]

    def show(self, raw: str) -> None:
        """Take more of the text as it stands; only as much is kept as a row shows."""
        if len(self._head) < 6 * PREVIEW:
            self._head += raw[: 6 * PREVIEW]


class PartialJson:
    """Reads a text piece by piece. ``nodes`` only ever grows; only the nodes in ``open`` can still change.

    ``finished`` holds the numbers of the nodes that are complete, in the order in which they became so. ``sound``:
    nothing but JSON so far (a doubled name is JSON); ``broken``: past some place nothing could be told any more.
    """

    def __init__(self) -> None:
        self.root: Node | None = None
        self.nodes: list[Node] = []
        self.finished: list[int] = []
        self.problems: list[TextProblem] = []
        self.length = 0
        self.ended = False
        self.broken = False
        self.sound = True
        self._open: list[Node] = []
        self._names: list[dict[str, Node]] = []  # for each open container; empty for arrays
        self._state = "value"  # value first key colon comma string name word done broken
        self._raw: list[str] = []  # of the string, name or word that is being read
        self._escape = ""
        self._key = ""
        self._key_start = 0
        self._comma = -1  # where the last comma stands while nothing follows it yet

    @property
    def open(self) -> tuple[Node, ...]:
        """The nodes that can still change, outermost first."""
        return tuple(self._open)

    @property
    def path(self) -> Path:
        """Where reading stands, or, very deep inside, a value around it: nobody looks for a place so deep."""
        return self._open[min(len(self._open), DEEPEST) - 1].path if self._open else ()

    @property
    def complete(self) -> bool:
        """Whether one whole value has been read."""
        return self.root is not None and self.root.complete

    def read_fragment(self, fragment: str) -> None:
        """Read some more."""
        at, base = 0, self.length
        self.length += len(fragment)
        while at < len(fragment) and self._state != "broken":
            if self._state in ("string", "name"):
                at = self._string(fragment, at, base)
            elif self._state == "word":
                at = self._word(fragment, at, base)
            else:
                at = self._between(fragment, at, base)

    def finish(self) -> None:
        """Nothing more will come: what is open now is cut off. Calling it again does nothing."""
        if self.ended:
            return
        if self._state == "word" and len(self._open) == 1:
            self._end_word(self.length)  # inside brackets there should have been more
        self.ended = True

    def value(self) -> JSON:
        """What is there so far; a cut string as far as it came. An unfinished word or a value that is none is null."""
        held: dict[int, JSON] = {}
        for node in self.nodes:
            made: JSON = {} if node.kind == "object" else [] if node.kind == "array" else self._plain(node)
            held[node.number] = made
            if node.parent is None:
                continue
            box = held[node.parent.number]
            if isinstance(box, dict):
                box[node.key] = made
            else:
                box.append(made)
        return held[0] if self.nodes else {}

    def _plain(self, node: Node) -> JSON:
        if node.kind == "string" and not node.complete:
            return decoded("".join(self._raw)) if self._state == "string" and node is self._open[-1] else ""
        return node.value

    # One character after the other, outside strings and words.

    def _between(self, fragment: str, at: int, base: int) -> int:
        space = _SPACE.match(fragment, at)
        if space:
            return space.end()
        mark, offset, state = fragment[at], base + at, self._state
        if state == "done":
            self._problem(offset, faults.TEXT_AFTER_END)
            self._state = "broken"
        elif mark in "}]":
            self._close(mark, offset)
        elif state == "comma":
            if mark == ",":
                self._comma = offset
                self._state = "key" if self._open[-1].kind == "object" else "value"
            else:
                self._missing_comma(mark, offset)
                return at
        elif state == "colon":
            if mark != ":":
                self._break(offset, faults.NO_COLON)
            self._state = "value" if mark == ":" else self._state
        elif state in ("key", "first") and self._open[-1].kind == "object":
            if mark != '"':
                self._break(offset, faults.NO_NAME)
            else:
                self._state, self._raw, self._key_start = "name", [], offset
        else:
            return self._begin(fragment, at, offset)
        return at + 1

    def _missing_comma(self, mark: str, offset: int) -> None:
        """Go on as if it were there, where what follows could only follow a comma."""
        inside_object = self._open[-1].kind == "object"
        if mark == '"' or (mark in "{[" and not inside_object):
            self._problem(offset, faults.NO_COMMA)
            self._state = "key" if inside_object else "value"
        else:
            self._break(offset, faults.NO_COMMA)

    def _begin(self, fragment: str, at: int, offset: int) -> int:
        mark = fragment[at]
        if mark in "{[":
            self._add("object" if mark == "{" else "array", offset)
            self._names.append({})
            self._state = "first"
        elif mark == '"':
            self._add("string", offset)
            self._state, self._raw = "string", []
        elif _WORD.match(mark):
            self._add("number" if mark in "-0123456789" else _BY_LETTER.get(mark, "invalid"), offset)
            self._state, self._raw = "word", []
            return at
        else:
            self._break(offset, faults.NO_VALUE)
        return at + 1

    def _add(self, kind: Kind, offset: int) -> None:
        parent = self._open[-1] if self._open else None
        key: str | int | None = None
        if parent is not None:
            key = self._key if parent.kind == "object" else len(parent.children)
        node = Node(len(self.nodes), parent, key, kind, offset)
        self.nodes.append(node)
        self._comma = -1
        if parent is None:
            self.root = node
        else:
            parent.children.append(node)
            if isinstance(key, str):
                self._note_name(parent, key, node)
        self._open.append(node)

    def _note_name(self, parent: Node, key: str, node: Node) -> None:
        names = self._names[-1]
        if key in names:
            node.problem = "this name is already there; the last one counts"
            path = node.path if len(self._open) < DEEPEST else self.path
            self._note(self._key_start, f"“{key[:80]}” is there twice; the last one counts", path)
        names[key] = node

    def _close(self, mark: str, offset: int) -> None:
        kind = "object" if mark == "}" else "array"
        node = self._open[-1] if self._open else None
        if node is None or node.kind != kind:
            wanted = "a value" if node is None else "“}”" if node.kind == "object" else "“]”"
            self._break(offset, f"{wanted} is missing here")
        elif self._state == "colon" or (self._state == "value" and kind == "object"):
            self._break(offset, "the value of this name is missing")
        else:
            if self._comma >= 0:
                self._problem(self._comma, faults.COMMA_TOO_MANY)
                self._comma = -1
            self._names.pop()
            self._end(offset + 1)

    def _end(self, end: int) -> None:
        node = self._open.pop()
        node.end, node.complete = end, True
        self.finished.append(node.number)
        self._state = "comma" if self._open else "done"

    # Inside a string or a name.

    def _string(self, fragment: str, at: int, base: int) -> int:
        if self._escape:
            return self._escaped(fragment, at, base)
        run = _RUN.match(fragment, at)
        if run:
            self._take(run[0])
            return run.end()
        mark = fragment[at]
        if mark == "\\":
            self._escape = mark
        elif mark == '"':
            self._end_string(base + at + 1)
        else:
            self._problem(base + at, faults.CONTROL_CHARACTER)
            self._take(json.dumps(mark)[1:-1])
        return at + 1

    def _escaped(self, fragment: str, at: int, base: int) -> int:
        mark = fragment[at]
        whole = self._escape + mark
        if len(whole) == 2:
            if mark == "u":
                self._escape = whole
                return at + 1
            if mark in '"\\/bfnrt':
                self._take(whole)
                self._escape = ""
                return at + 1
        elif mark in _HEX:
            self._escape = whole if len(whole) < 6 else ""
            if not self._escape:
                self._take(whole)
            return at + 1
        self._problem(base + at - len(self._escape), faults.ODD_ESCAPE)
        self._take("\\" + self._escape)
        self._escape = ""
        return at

    def _take(self, raw: str) -> None:
        self._raw.append(raw)
        if self._state == "string":
            self._open[-1].show(raw)

    def _end_string(self, end: int) -> None:
        text = decoded("".join(self._raw))
        self._raw = []
        if self._state == "name":
            self._key, self._state = text, "colon"
            return
        self._open[-1].value = text
        self._end(end)

    # Inside a number or a word.

    def _word(self, fragment: str, at: int, base: int) -> int:
        run = _WORD.match(fragment, at)
        if run is None:
            self._end_word(base + at)
            return at
        self._raw.append(run[0])
        self._open[-1].show(run[0])
        return run.end()

    def _end_word(self, end: int) -> None:
        node, word = self._open[-1], "".join(self._raw)
        known = _WORDS.get(word)
        if known is not None:
            node.kind, node.value = known, _CONSTANTS[known]
        elif tree.NUMBER.fullmatch(word):
            node.value = _number(word)
        else:
            self._odd_word(node, word)
        self._raw = []
        self._end(end)

    def _odd_word(self, node: Node, word: str) -> None:
        meant = _MEANT.get(word)
        shown = word if len(word) <= 40 else word[:37] + "…"
        node.problem = f"“{shown}” is not JSON"
        if meant is not None:
            node.kind, node.value = meant, _CONSTANTS[meant]
            node.problem += f"; it is written {meant}"
        else:
            node.kind = "invalid"
        self._problem(node.start, node.problem)

    # What is wrong.

    def _problem(self, offset: int, message: str) -> None:
        self.sound = False
        self._note(offset, message, None)

    def _note(self, offset: int, message: str, path: Path | None) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            if path is None:
                path = self.path
            self.problems.append(TextProblem(offset, message, path))

    def _break(self, offset: int, message: str) -> None:
        """Past this place nothing can be told any more."""
        self._problem(offset, message)
        self._state, self.broken = "broken", True


def decoded(raw: str) -> str:
    """What stands between the quotes of a JSON string; an escape that is cut at the end is left out."""
    if "\\" not in raw:
        return raw
    for cut in range(7):
        try:
            return str(json.loads(f'"{raw[: len(raw) - cut]}"', strict=False))
        except ValueError:
            continue
    return raw


def _number(word: str) -> JSON:
    if len(word) > _UNREADABLE_DIGITS:
        return float(word)
    return json.loads(word)
