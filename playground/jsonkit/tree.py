"""JSON text as a tree with positions, of a complete text or of one that is being received.

``parse`` reads a complete text and raises at the first error. ``PartialJson`` reads fragments: the cost of a fragment
depends on its own length only, and errors become problems with positions; where the intention is clear, reading
continues. Both share one grammar, that of `parse_json`. Nothing recurses, so nesting has no limit.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final, Literal, NoReturn, TypeAlias

from playground.jsonkit import problems
from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.texts import cut
from playground.jsonkit.tokens import NUMBER
from playground.jsonkit.values import JSON, Path

Kind: TypeAlias = Literal["object", "array", "string", "number", "true", "false", "null", "invalid"]

PREVIEW: Final = 200  # characters of a value that are shown in a row
DEEPEST: Final = 400  # steps of a reported path
MOST_PROBLEMS: Final = 100  # reported for one text
_HEAD: Final = 6 * PREVIEW  # characters of the source of a string that its preview needs
_INSIDE: Final = r'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))'
#: A whole string, the beginning of a word at least, or a mark.
_NEXT: Final = re.compile(rf'[ \t\r\n]*+(?:"({_INSIDE}*+)"|([A-Za-z0-9_+.\-]+)|([^ \t\r\n]))')
_STRING, _BEGUN_WORD = 1, 2  # groups of it
_RUN: Final = re.compile(f"{_INSIDE}++")
_WORD: Final = re.compile(r"[A-Za-z0-9_+.\-]+")
_HALF: Final = re.compile("[\ud800-\udbff]\\Z")  # whose low surrogate has not been received yet
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_CONSTANTS: Final[dict[str, tuple[Kind, JSON]]] = {
    "true": ("true", True),
    "false": ("false", False),
    "null": ("null", None),
}
_PYTHON_CONSTANTS: Final = {"True": "true", "False": "false", "None": "null"}
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
    """A syntax error: its offset in characters, its message, and the path of the value around it."""

    offset: int
    message: str
    path: Path


class Node:
    """A value and its span ``[start, end)``. ``end`` is -1 until the node is ``complete``.

    ``key`` is the name in an object, the index in an array, None at the root; ``[key_start, key_end)`` is the span of a
    name with its quotes, and empty at ``start`` where there is no name. ``value`` is set for complete scalars;
    ``problem`` is the error of this node in words, or empty.
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
        """The keys and indexes from the root to this node."""
        steps: list[str | int] = []
        node: Node | None = self
        while node is not None and node.key is not None:
            steps.append(node.key)
            node = node.parent
        return tuple(reversed(steps))

    @property
    def preview(self) -> str:
        """The value on one line of at most 200 characters; the number of children of a container."""
        if self.kind in ("object", "array"):
            count = len(self.children)
            what = ("member" if self.kind == "object" else "item") + ("" if count == 1 else "s")
            return f"{count} {what}"
        if self.kind == "string":
            text = self.value if self.complete and isinstance(self.value, str) else _HALF.sub("", decoded(self._head))
            return " ".join(text[:PREVIEW].splitlines())
        return self._head[:PREVIEW]

    def show(self, raw: str) -> None:
        """Add source text, of which only the part for the preview is stored."""
        if len(self._head) < _HEAD:
            self._head = (self._head + raw)[:_HEAD]

    def last(self, key: str) -> int | None:
        """Return the position of the last member named ``key``, which is the one that counts."""
        return next((n for n in range(len(self.children) - 1, -1, -1) if self.children[n].key == key), None)


def parse(text: str) -> Node:
    """Return the tree of a complete text. Raises JsonTextError at the first error."""
    return _WholeJson(text).read()


def find(root: Node, path: Path) -> Node | None:
    """Return the node at ``path``; None if there is none. Of a duplicate key the last one counts."""
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
    """Reader of a text in fragments. ``nodes`` only grows; only the nodes in ``open`` can change.

    ``finished``: numbers of the complete nodes, in the order of completion. ``sound``: valid JSON so far (duplicate
    names are valid); ``broken``: reading ended at an error.
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
        self._raw: list[str] = []  # of the current string, name or word
        self._escape = ""
        self._key = ""
        self._key_start = self._key_end = 0
        self._comma = -1  # offset of the last comma while nothing follows it

    @property
    def open(self) -> tuple[Node, ...]:
        """The nodes that can change, outermost first."""
        return tuple(self._open)

    @property
    def path(self) -> Path:
        """The path of the current value, cut at ``DEEPEST`` steps."""
        return self._open[min(len(self._open), DEEPEST) - 1].path if self._open else ()

    @property
    def complete(self) -> bool:
        """Return whether the root value is complete."""
        return self.root is not None and self.root.complete

    def read_fragment(self, fragment: str) -> None:
        """Read the next fragment."""
        index, base, size = 0, self.length, len(fragment)
        self.length += size
        while index < size:
            state = self._state
            if state in ("string", "name"):
                index = self._string(fragment, index, base)
            elif state == "word":
                index = self._word(fragment, index, base)
            elif state != "broken":
                index = self._between(fragment, index, base)
            else:
                break

    def finish(self) -> None:
        """End the text: open nodes are cut off. Further calls do nothing."""
        if self.ended:
            return
        if self._state == "word" and len(self._open) == 1:
            self._end_word("".join(self._raw), self.length)  # inside brackets it may be cut off
        self.ended = True

    def value(self) -> JSON:
        """Return the value so far, with a cut string as received. Incomplete words and invalid values are null."""
        values: dict[int, JSON] = {}
        for node in self.nodes:
            value: JSON = {} if node.kind == "object" else [] if node.kind == "array" else self._plain(node)
            values[node.number] = value
            if node.parent is None:
                continue
            container = values[node.parent.number]
            if isinstance(container, dict):
                container[node.key] = value
            else:
                container.append(value)
        return values[0] if self.nodes else {}

    def _plain(self, node: Node) -> JSON:
        if node.kind == "string" and not node.complete:
            return decoded("".join(self._raw)) if self._state == "string" and node is self._open[-1] else ""
        return node.value

    # Between strings and words, where each character decides the next state.

    def _between(self, fragment: str, index: int, base: int) -> int:
        match = _NEXT.match(fragment, index)
        if match is None:
            return len(fragment)  # only spaces
        group, end, state = match.lastindex or 0, match.end(), self._state
        index = match.start(group) - (group == _STRING)
        mark, offset = fragment[index], base + index
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
            return index
        elif state == "colon":
            self._break(offset, problems.NO_COLON)
        elif state != "value" and self._open[-1].kind == "object":
            if mark != '"':
                self._break(offset, problems.NO_NAME)
            self._key_start = offset
            if group == _STRING:
                self._key, self._key_end, self._state = decoded(match[group]), base + end, "colon"
            elif mark == '"':
                self._raw, self._state = [], "name"
        elif group == _STRING:
            self._add("string", offset).value = decoded(match[group])
            self._end(base + end)
        elif group == _BEGUN_WORD:
            node = self._add("number" if mark in "-0123456789" else _BY_LETTER.get(mark, "invalid"), offset)
            node.show(match[group])
            if end < len(fragment):
                self._end_word(match[group], base + end)
            else:
                self._raw, self._state = [match[group]], "word"
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
        """Continue as if the comma were there, if the next character can only follow a comma."""
        inside_object = self._open[-1].kind == "object"
        if mark == '"' or (mark in "{[" and not inside_object):
            self._problem(offset, problems.NO_COMMA)
            self._state = "key" if inside_object else "value"
        else:
            self._break(offset, problems.NO_COMMA)

    def _add(self, kind: Kind, offset: int) -> Node:
        """Add a node that begins at ``offset``."""
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

    def _string(self, fragment: str, index: int, base: int) -> int:
        if self._escape:
            return self._escaped(fragment, index, base)
        run = _RUN.match(fragment, index)
        if run:
            self._take(run[0])
            return run.end()
        mark = fragment[index]
        if mark == "\\":
            self._escape = mark
        elif mark == '"':
            self._end_string(base + index + 1)
        else:
            self._problem(base + index, problems.CONTROL_CHARACTER)
            self._take(json.dumps(mark)[1:-1])
        return index + 1

    def _escaped(self, fragment: str, index: int, base: int) -> int:
        mark = fragment[index]
        escape = self._escape + mark
        if len(escape) == 2:
            if mark == "u":
                self._escape = escape
                return index + 1
            if mark in '"\\/bfnrt':
                self._take(escape)
                self._escape = ""
                return index + 1
        elif mark in _HEX:
            self._escape = escape if len(escape) < 6 else ""
            if not self._escape:
                self._take(escape)
            return index + 1
        self._problem(base + index - len(self._escape), problems.ODD_ESCAPE)
        self._take("\\" + self._escape)
        self._escape = ""
        return index

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

    def _word(self, fragment: str, index: int, base: int) -> int:
        run = _WORD.match(fragment, index)
        if run is not None:
            self._raw.append(run[0])
            self._open[-1].show(run[0])
            index = run.end()
        if index < len(fragment):
            self._end_word("".join(self._raw), base + index)
        return index

    def _end_word(self, word: str, end: int) -> None:
        node = self._open[-1]
        if NUMBER.fullmatch(word):
            node.value = _number(word)
        elif (constant := _CONSTANTS.get(word)) is not None:
            node.kind, node.value = constant
        else:
            self._invalid_word(node, word)
        self._end(end)

    def _invalid_word(self, node: Node, word: str) -> None:
        constant = _PYTHON_CONSTANTS.get(word)
        node.problem = f"“{cut(word, 40)}” is not JSON"
        if constant is not None:
            node.kind, node.value = _CONSTANTS[constant]
            node.problem += f"; it is written {constant}"
        else:
            node.kind = "invalid"
        self._problem(node.start, node.problem)

    # Errors.

    def _problem(self, offset: int, message: str) -> None:
        self.sound = False
        self._note(offset, message, None)

    def _note(self, offset: int, message: str, path: Path | None) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            if path is None:
                path = self.path
            self.problems.append(TextProblem(offset, message, path))

    def _break(self, offset: int, message: str) -> None:
        """Add an error after which reading cannot continue."""
        self._problem(offset, message)
        self._state, self.broken = "broken", True


class _WholeJson(PartialJson):
    """Reader of a complete text; the first error is raised."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def read(self) -> Node:
        """Return the root. Raises JsonTextError."""
        self.read_fragment(self._text)
        if self._state == "word":
            self._end_word("".join(self._raw), self.length)
        if self.root is None or not self.root.complete:
            raise self._cut_off()
        return self.root

    def _cut_off(self) -> JsonTextError:
        """Return the error of a text that ends too early."""
        offset, inside = self.length, self._open[-1].kind if self._open else ""
        if self._state in ("string", "name"):
            offset = self._key_start if self._state == "name" else self._open[-1].start
            what = problems.NO_CLOSING_QUOTE
        elif self._state in ("comma", "colon"):
            what = problems.NO_BRACKET if self._state == "comma" else problems.NO_COLON
        elif self._state != "value" and inside == "object":
            what = problems.NO_NAME
        else:
            what = problems.NO_VALUE if inside else problems.NOTHING
        return JsonTextError(self._text, offset, what)

    def _problem(self, offset: int, message: str) -> NoReturn:
        raise JsonTextError(self._text, offset, message)


def decoded(raw: str) -> str:
    """Decode the source between the quotes of a string; an incomplete escape at the end is left out."""
    if "\\" not in raw:
        return raw
    for less in range(7):
        try:
            return str(json.loads(f'"{raw[: len(raw) - less]}"', strict=False))
        except ValueError:
            continue
    return raw


def _number(word: str) -> JSON:
    is_integer = len(word) <= _UNREADABLE_DIGITS and word.removeprefix("-").isdigit()
    return int(word) if is_integer else float(word)
