"""JSON text as a tree that knows where each thing stands: a whole one, or one that is still arriving.

``parse`` reads a whole text and ends at its first fault, so that an edit can leave everything else as it is.
``PartialJson`` takes a text piece by piece: a fragment costs what the fragment is long, whatever came before it, and
what is not JSON is a problem at its place; where a reader can tell what was meant, reading goes on. Both are one reader
and one grammar, that of `parse_json`. Nothing recurses: a text may be nested as deeply as it likes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final, Literal, NoReturn, TypeAlias

from playground.jsonkit import problems
from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON, Path

Kind: TypeAlias = Literal["object", "array", "string", "number", "true", "false", "null", "invalid"]

PREVIEW: Final = 200  # characters of a value that are shown in a row
DEEPEST: Final = 400  # steps of a path that are told
MOST_PROBLEMS: Final = 100  # of one text; more would say the same again
_HEAD: Final = 6 * PREVIEW  # characters of a text as it is written that are kept for its row
_INSIDE: Final = r'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))'
#: A whole string, the beginning of a word at least, or a mark.
_NEXT: Final = re.compile(rf'[ \t\r\n]*+(?:"({_INSIDE}*+)"|([A-Za-z0-9_+.\-]+)|([^ \t\r\n]))')
_STRING, _BEGUN_WORD = 1, 2  # groups of it
_RUN: Final = re.compile(f"{_INSIDE}++")
_WORD: Final = re.compile(r"[A-Za-z0-9_+.\-]+")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_HALF: Final = re.compile("[\ud800-\udbff]\\Z")  # of a pair whose other half is still to come
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_CONSTANTS: Final[dict[str, tuple[Kind, JSON]]] = {
    "true": ("true", True),
    "false": ("false", False),
    "null": ("null", None),
}
_MEANT: Final = {"True": "true", "False": "false", "None": "null"}
_BY_LETTER: Final[dict[str, Kind]] = {
    "t": "true",
    "f": "false",
    "n": "null",
    "T": "true",
    "F": "false",
    "N": "null",
}
_UNREADABLE_DIGITS: Final = 4000  # Python refuses to turn longer ones into an int


@dataclass(frozen=True, slots=True)
class TextProblem:
    """What is wrong with the text itself: the offset in characters, and the path of the value it stands in."""

    offset: int
    message: str
    path: Path


class Node:
    """One value of the tree and its span ``[start, end)``. It grows while it is open; ``end`` is -1 until then, and
    ``complete`` says it all came.

    ``key`` is the name in an object, the index in an array, None at the root; ``[key_start, key_end)`` is the span of a
    name, its quotes included, and empty at ``start`` where there is none. ``value`` is set for plain values once they
    are complete; ``problem`` says in words what is wrong with this very node, or is empty.
    """

    __slots__ = (
        "_head",
        "children",
        "complete",
        "end",
        "key",
        "key_end",
        "key_start",
        "kind",
        "number",
        "parent",
        "problem",
        "start",
        "value",
    )

    def __init__(self, number: int, parent: Node | None, key: str | int | None, kind: Kind, start: int) -> None:
        self.number = number
        self.parent = parent
        self.key = key
        self.key_start = self.key_end = start
        self.kind: Kind = kind
        self.start = start
        self.end = -1
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
        if len(self._head) < _HEAD:
            self._head = (self._head + raw)[:_HEAD]

    def last(self, key: str) -> int | None:
        """The position of the member that counts for ``key``: the last one, as everywhere in Python."""
        return next((n for n in range(len(self.children) - 1, -1, -1) if self.children[n].key == key), None)


def parse(text: str) -> Node:
    """The tree of a whole text. Raises JsonTextError at the first place that is not JSON."""
    return _WholeJson(text).read()


def find(root: Node, path: Path) -> Node | None:
    """The value at ``path``; None where there is none. Of a doubled key the last one counts."""
    node: Node | None = root
    for step in path:
        node = _step(node, step) if node is not None else None
    return node


def _step(node: Node, step: str | int) -> Node | None:
    position: int | None = None
    if isinstance(step, str) and node.kind == "object":
        position = node.last(step)
    elif isinstance(step, int) and node.kind == "array" and 0 <= step < len(node.children):
        position = step
    return None if position is None else node.children[position]


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
        self._key_start = self._key_end = 0
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
        at, base, size = 0, self.length, len(fragment)
        self.length += size
        while at < size:
            state = self._state
            if state in ("string", "name"):
                at = self._string(fragment, at, base)
            elif state == "word":
                at = self._word(fragment, at, base)
            elif state != "broken":
                at = self._between(fragment, at, base)
            else:
                break

    def finish(self) -> None:
        """Nothing more will come: what is open now is cut off. Calling it again does nothing."""
        if self.ended:
            return
        if self._state == "word" and len(self._open) == 1:
            self._end_word("".join(self._raw), self.length)  # inside brackets there should have been more
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

    # Between strings and words: what stands there says what comes next.

    def _between(self, fragment: str, at: int, base: int) -> int:
        found = _NEXT.match(fragment, at)
        if found is None:
            return len(fragment)  # nothing but spaces
        group, end, state = found.lastindex or 0, found.end(), self._state
        at = found.start(group) - (group == _STRING)
        mark, offset = fragment[at], base + at
        if mark == "," and state == "comma":
            self._comma = offset
            self._state = "key" if self._open[-1].kind == "object" else "value"
        elif mark == ":" and state == "colon":
            self._state = "value"
        elif state == "done":
            self._break(offset, problems.TEXT_AFTER_END)
        elif mark in "}]":
            self._close(mark, offset)
        elif state == "comma":
            self._missing_comma(mark, offset)
            return at
        elif state == "colon":
            self._break(offset, problems.NO_COLON)
        elif state != "value" and self._open[-1].kind == "object":
            if mark != '"':
                self._break(offset, problems.NO_NAME)
            self._key_start = offset
            if group == _STRING:
                self._key, self._key_end, self._state = decoded(found[group]), base + end, "colon"
            elif mark == '"':
                self._raw, self._state = [], "name"
        elif group == _STRING:
            self._add("string", offset).value = decoded(found[group])
            self._end(base + end)
        elif group == _BEGUN_WORD:
            node = self._add("number" if mark in "-0123456789" else _BY_LETTER.get(mark, "invalid"), offset)
            node.show(found[group])
            if end < len(fragment):
                self._end_word(found[group], base + end)
            else:
                self._raw, self._state = [found[group]], "word"
        elif mark == '"':
            self._add("string", offset)
            self._raw, self._state = [], "string"
        elif mark in "{[":
            self._add("object" if mark == "{" else "array", offset)
            self._names.append({})
            self._state = "first"
        else:
            self._break(offset, problems.NO_VALUE)
        return end

    def _missing_comma(self, mark: str, offset: int) -> None:
        """Go on as if it were there, where what follows could only follow a comma."""
        inside_object = self._open[-1].kind == "object"
        if mark == '"' or (mark in "{[" and not inside_object):
            self._problem(offset, problems.NO_COMMA)
            self._state = "key" if inside_object else "value"
        else:
            self._break(offset, problems.NO_COMMA)

    def _add(self, kind: Kind, offset: int) -> Node:
        """A value that begins here, in its place."""
        number = len(self.nodes)
        if not self._open:
            self.root = node = Node(number, None, None, kind, offset)
        else:
            parent = self._open[-1]
            if parent.kind == "object":
                node = Node(number, parent, self._key, kind, offset)
                node.key_start, node.key_end = self._key_start, self._key_end
                self._note_name(self._key, node)
            else:
                node = Node(number, parent, len(parent.children), kind, offset)
            parent.children.append(node)
        self.nodes.append(node)
        self._open.append(node)
        self._comma = -1
        return node

    def _note_name(self, key: str, node: Node) -> None:
        names = self._names[-1]
        if key in names:
            node.problem = "this name is already there; the last one counts"
            path = node.path if len(self._open) < DEEPEST else self.path
            self._note(self._key_start, f"“{key[:80]}” is there twice; the last one counts", path)
        names[key] = node

    def _close(self, mark: str, offset: int) -> None:
        kind = "object" if mark == "}" else "array"
        node = self._open[-1] if self._open else None
        if node is None:
            self._break(offset, problems.NO_VALUE)
        elif node.kind != kind:
            self._break(offset, f"“{'}' if node.kind == 'object' else ']'}” is missing here")
        elif self._state == "colon" or (self._state == "value" and kind == "object"):
            self._break(offset, problems.NO_MEMBER)
        else:
            if self._comma >= 0:
                self._problem(self._comma, problems.COMMA_TOO_MANY)
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
            self._problem(base + at, problems.CONTROL_CHARACTER)
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
        self._problem(base + at - len(self._escape), problems.ODD_ESCAPE)
        self._take("\\" + self._escape)
        self._escape = ""
        return at

    def _take(self, raw: str) -> None:
        self._raw.append(raw)
        if self._state == "string":
            self._open[-1].show(raw)

    def _end_string(self, end: int) -> None:
        text = decoded("".join(self._raw))
        if self._state == "name":
            self._key, self._key_end, self._state = text, end, "colon"
            return
        self._open[-1].value = text
        self._end(end)

    # Inside a number or a word.

    def _word(self, fragment: str, at: int, base: int) -> int:
        run = _WORD.match(fragment, at)
        if run is not None:
            self._raw.append(run[0])
            self._open[-1].show(run[0])
            at = run.end()
        if at < len(fragment):
            self._end_word("".join(self._raw), base + at)
        return at

    def _end_word(self, word: str, end: int) -> None:
        node = self._open[-1]
        if _NUMBER.fullmatch(word):
            node.value = _number(word)
        elif (known := _CONSTANTS.get(word)) is not None:
            node.kind, node.value = known
        else:
            self._odd_word(node, word)
        self._end(end)

    def _odd_word(self, node: Node, word: str) -> None:
        meant = _MEANT.get(word)
        shown = cut(word, 40)
        node.problem = f"“{shown}” is not JSON"
        if meant is not None:
            node.kind, node.value = _CONSTANTS[meant]
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


class _WholeJson(PartialJson):
    """A text that is all there: the first fault ends it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def read(self) -> Node:
        """The tree."""
        self.read_fragment(self._text)
        if self._state == "word":
            self._end_word("".join(self._raw), self.length)
        if self.root is None or not self.root.complete:
            raise self._cut_off()
        return self.root

    def _cut_off(self) -> JsonTextError:
        """What does not come any more."""
        at, inside = self.length, self._open[-1].kind if self._open else ""
        if self._state in ("string", "name"):
            at, what = (self._key_start if self._state == "name" else self._open[-1].start), problems.NO_CLOSING_QUOTE
        elif self._state in ("comma", "colon"):
            what = problems.NO_BRACKET if self._state == "comma" else problems.NO_COLON
        elif self._state != "value" and inside == "object":
            what = problems.NO_NAME
        else:
            what = problems.NO_VALUE if inside else problems.NOTHING
        return JsonTextError(self._text, at, what)

    def _problem(self, offset: int, message: str) -> NoReturn:
        raise JsonTextError(self._text, offset, message)


def decoded(raw: str) -> str:
    """What stands between the quotes of a JSON string; an escape that is cut at the end is left out."""
    if "\\" not in raw:
        return raw
    for less in range(7):
        try:
            return str(json.loads(f'"{raw[: len(raw) - less]}"', strict=False))
        except ValueError:
            continue
    return raw


def _number(word: str) -> JSON:
    whole = len(word) <= _UNREADABLE_DIGITS and word.removeprefix("-").isdigit()
    return int(word) if whole else float(word)
