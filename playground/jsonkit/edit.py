"""Edits of JSON text that change as few bytes as possible, so that a form and a text editor can share one text.

Every function takes a text and returns a text. New members and items take the style of their neighbours (indentation,
line ends, spacing of colons and commas); the rest stays byte for byte, including order, duplicate keys and the notation
of numbers. All functions raise JsonTextError for a text that is not JSON and for a path that the edit does not fit.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from playground.jsonkit.layout import lay_out_value
from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.tree import Node, find, parse
from playground.jsonkit.values import JSON, Path, same


def set_value(text: str, path: Path, value: JSON) -> str:
    """Return the text with ``value`` at ``path``, which must exist.

    A container is merged: members and items that stay are not changed. An equal value returns an equal text.
    """
    edit = _Edit(text)
    try:
        edit.merge(edit.node_at(path), value, edit.node_at(path[:-1]) if path else None)
    except RecursionError:
        raise JsonTextError(text, 0, "this value is nested too deeply") from None
    return edit.result()


def insert_member(text: str, path: Path, key: str, value: JSON, index: int | None = None) -> str:
    """Return the text with a new member in the object at ``path``, at position ``index`` (None: the last)."""
    edit = _Edit(text)
    node = edit.node_at(path, "object")
    if node.last(key) is not None:
        raise edit.error(node, f"“{key}” is already there")
    changes = _Changes(node)
    changes.insert(index, edit.style.member(node, key, value))
    edit.apply(changes)
    return edit.result()


def insert_item(text: str, path: Path, value: JSON, index: int | None = None) -> str:
    """Return the text with a new item in the array at ``path``, at position ``index`` (None: the last)."""
    edit = _Edit(text)
    node = edit.node_at(path, "array")
    changes = _Changes(node)
    changes.insert(index, edit.style.value_in(node, value))
    edit.apply(changes)
    return edit.result()


def remove_member(text: str, path: Path) -> str:
    """Return the text without the member or item at ``path``; of a duplicate key all members are removed."""
    edit = _Edit(text)
    node, positions = edit.child(path)
    changes = _Changes(node)
    changes.removed.update(positions)
    edit.apply(changes)
    return edit.result()


def rename_key(text: str, path: Path, new_key: str) -> str:
    """Return the text with another name for the member at ``path``; an error if the object has that name already."""
    edit = _Edit(text)
    node, positions = edit.child(path)
    if node.kind != "object":
        raise edit.error(node, "an item of an array has no name")
    if new_key == path[-1]:
        return text
    if node.last(new_key) is not None:
        raise edit.error(node, f"“{new_key}” is already there")
    for number in positions:
        member = node.children[number]
        edit.replace(member.key_start, member.key_end, edit.style.on_line(new_key))
    return edit.result()


def move(text: str, path: Path, to: int) -> str:
    """Return the text with the member or item at ``path`` moved to position ``to`` among its siblings."""
    edit = _Edit(text)
    node, positions = edit.child(path)
    if len(positions) > 1:
        raise edit.error(node, f"“{path[-1]}” is there {len(positions)} times; take the others out first")
    spans = _spans(node)
    to = min(max(to, 0), len(spans) - 1)
    position = positions[0]
    if to == position:
        return text
    start, end = spans[position]
    changes = _Changes(node)
    changes.removed.add(position)
    changes.insert(to if to < position else to + 1, text[start:end])
    edit.apply(changes)
    return edit.result()


def put(text: str, path: Path, value: JSON) -> str:
    """Return the text with ``value`` at ``path``; missing objects on the way are created."""
    root = parse(text)
    depth = len(path)
    while depth and find(root, path[:depth]) is None:
        depth -= 1
    if depth == len(path):
        return set_value(text, path, value)
    step = path[depth]
    for inner in reversed(path[depth + 1 :]):
        value = {inner: value} if isinstance(inner, str) else [value]
    if isinstance(step, str):
        return insert_member(text, path[:depth], step, value)
    return insert_item(text, path[:depth], value, step)


def drop(text: str, path: Path) -> str:
    """Return the text without the value at ``path``; unchanged if there is none."""
    return remove_member(text, path) if path and find(parse(text), path) is not None else text


@dataclass(slots=True)
class _Changes:
    """Changes to the children of a container; positions refer to the text before the edit."""

    node: Node
    removed: set[int] = field(default_factory=set)
    inserted: dict[int, list[str]] = field(default_factory=dict)

    def insert(self, index: int | None, text: str) -> None:
        """Insert a child before the current child ``index``; None or too large: after the last."""
        count = len(self.node.children)
        self.inserted.setdefault(count if index is None else min(max(index, 0), count), []).append(text)


class _Edit:
    """A text, its tree and the replacements collected so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = parse(text)
        self.style: Style = style_of(text, self.root)
        self._pieces: list[tuple[int, int, str]] = []

    def result(self) -> str:
        out: list[str] = []
        copied = 0
        for start, end, new in sorted(self._pieces, key=lambda piece: piece[:2]):
            out += (self.text[copied:start], new)
            copied = end
        out.append(self.text[copied:])
        return "".join(out)

    def replace(self, start: int, end: int, new: str) -> None:
        if self.text[start:end] != new:
            self._pieces.append((start, end, new))

    def error(self, node: Node, reason: str) -> JsonTextError:
        return JsonTextError(self.text, node.start, reason)

    def node_at(self, path: Path, kind: str = "") -> Node:
        """Return the node at ``path``, which must exist and be of ``kind``."""
        node = self.root
        for step in path:
            inner = find(node, (step,))
            if inner is None:
                raise self.error(node, f"there is no “{step}”")
            node = inner
        if kind and node.kind != kind:
            raise self.error(node, f"this is not an {kind}")
        return node

    def child(self, path: Path) -> tuple[Node, list[int]]:
        """Return the container of ``path`` and the positions in it (several for a duplicate key)."""
        if not path:
            raise self.error(self.root, "the whole text is not inside anything")
        self.node_at(path)
        node, step = self.node_at(path[:-1]), path[-1]
        if isinstance(step, int):
            return node, [step]
        return node, [number for number, child in enumerate(node.children) if child.key == step]

    def apply(self, changes: _Changes) -> None:
        """Remove and insert children. A gap between two neighbours that stay is not changed."""
        node, removed, inserted = changes.node, changes.removed, changes.inserted
        spans = _spans(node)
        remaining = [number for number in range(len(spans)) if number not in removed]
        if not remaining:
            new = [piece for index in sorted(inserted) for piece in inserted[index]]
            lead, gap, trail = self.style.around(node, spans, new)
            self.replace(node.start + 1, node.end - 1, lead + gap.join(new) + trail)
            return
        last = remaining[-1]
        for number in sorted(removed):
            if number < last:
                self.replace(spans[number][0], spans[number + 1][0], "")
        for index, new in sorted(inserted.items()):
            following = next((number for number in remaining if number >= index), None)
            gap = self.style.gap(node, spans, len(spans) if following is None else following)
            if following is None:
                self._pieces.append((spans[last][1], spans[last][1], "".join(gap + piece for piece in new)))
            else:
                start = spans[following][0]
                self._pieces.append((start, start, "".join(piece + gap for piece in new)))
        if last < len(spans) - 1:
            self.replace(spans[last][1], spans[-1][1], "")

    def merge(self, node: Node, value: JSON, parent: Node | None) -> None:
        """Change the text of a node so that its value is ``value``."""
        if isinstance(value, dict) and node.kind == "object":
            self._merge_object(node, value)
        elif isinstance(value, list) and node.kind == "array":
            self._merge_array(node, value)
        elif not self.means(node, value):
            self.replace(node.start, node.end, self.style.value_at(node, parent, value))

    def means(self, node: Node, value: JSON) -> bool:
        """Return whether the value of a node is ``value`` already."""
        if node.kind == "object":
            last_members = {child.key: child for child in node.children}
            return (
                isinstance(value, dict)
                and last_members.keys() == value.keys()
                and all(self.means(inner, value[key]) for key, inner in last_members.items())
            )
        if node.kind == "array":
            return (
                isinstance(value, list)
                and len(value) == len(node.children)
                and all(map(self.means, node.children, value))
            )
        return same(node.value, value)

    def _merge_object(self, node: Node, value: dict[str, JSON]) -> None:
        changes = _Changes(node)
        changes.removed.update(n for n, member in enumerate(node.children) if member.key not in value)
        after: int | None = 0
        for key, inner in value.items():
            position = node.last(key)
            if position is None:
                changes.insert(after, self.style.member(node, key, inner))
            else:
                self.merge(node.children[position], inner, node)
                after = position + 1
        self.apply(changes)

    def _merge_array(self, node: Node, value: list[JSON]) -> None:
        items = node.children
        head = 0
        while head < min(len(items), len(value)) and self.means(items[head], value[head]):
            head += 1
        tail = 0
        while tail < min(len(items), len(value)) - head and self.means(items[-1 - tail], value[-1 - tail]):
            tail += 1
        common = min(len(items), len(value)) - head - tail
        for number in range(head, head + common):
            self.merge(items[number], value[number], node)
        changes = _Changes(node)
        changes.removed.update(range(head + common, len(items) - tail))
        for inner in value[head + common : len(value) - tail]:
            changes.insert(head + common, self.style.value_in(node, inner))
        self.apply(changes)


def _spans(node: Node) -> list[tuple[int, int]]:
    """Return start and end of each child, its key included."""
    return [(child.key_start, child.end) for child in node.children]


_LONE: Final = re.compile("[\ud800-\udfff]")
_LOOKED_AT: Final = 2000  # containers whose layout is read to find the style


@dataclass(frozen=True, slots=True)
class Style:
    """The style of a text. ``lines``: one member a line; ``flat_lists``: lists of scalars on one line."""

    text: str
    root: Node
    newline: str
    unit: str
    colon: str
    comma: str
    lines: bool
    flat_lists: bool
    ascii_only: bool

    def on_line(self, value: JSON) -> str:
        """Encode a value on one line; lone surrogates are escaped, or the text could not be saved."""
        separators = self.comma, self.colon
        try:
            text = json.dumps(value, ensure_ascii=self.ascii_only, allow_nan=False, separators=separators)
        except (ValueError, TypeError) as error:
            raise JsonTextError(self.text, 0, f"this value is not JSON: {error}") from None
        return _LONE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)

    def member(self, node: Node, key: str, value: JSON) -> str:
        """Return the text of a new member of ``node``."""
        colon = self._colon_of(node) if node.kind == "object" and node.children else self.colon
        return self.on_line(key) + colon + self.value_in(node, value)

    def value_in(self, node: Node, value: JSON) -> str:
        """Return the text of a new value inside ``node``, in the style of its neighbours."""
        spread = self._spread(node) if node.children else self._fills_lines(node, plain=_plain([value]))
        return self._laid_out(value, spread and self._spreads_like_siblings(node, value), self._inner_indent(node))

    def value_at(self, node: Node, parent: Node | None, value: JSON) -> str:
        """Return the text of a value that replaces ``node``, a child of ``parent``."""
        if node.children:
            spread = self._spread(node)
        elif parent is not None:
            spread = self._spread(parent) and self._spreads_like_siblings(parent, value)
        else:
            spread = self.lines
        return self._laid_out(value, spread, self._line_indent(node.start))

    def gap(self, node: Node, spans: list[tuple[int, int]], index: int) -> str:
        """Return the text between two children of ``node`` near ``index``, including the comma."""
        if len(spans) > 1:
            number = min(max(index, 1), len(spans) - 1)
            return self.text[spans[number - 1][1] : spans[number][0]]
        lead = self.text[node.start + 1 : spans[0][0]]
        return "," + lead if "\n" in lead else self.comma

    def around(self, node: Node, spans: list[tuple[int, int]], new: list[str]) -> tuple[str, str, str]:
        """Return the text before, between and after ``new``, the only children of ``node`` after the edit."""
        if spans:
            lead = self.text[node.start + 1 : spans[0][0]]
            trail = self.text[spans[-1][1] : node.end - 1]
            if new:
                return lead, self.gap(node, spans, 1), trail
            return ("" if "\n" in lead + trail else lead), "", ""
        inside = self.text[node.start + 1 : node.end - 1]
        if not new:
            return inside, "", ""
        if self._fills_lines(node, plain=not any(piece[0] in "{[" for piece in new)):
            lead = self.newline + self._inner_indent(node)
            return lead, "," + lead, self.newline + self._line_indent(node.start)
        return inside, self.comma, inside

    def _laid_out(self, value: JSON, spread: bool, indent: str) -> str:
        def stays_on_line(value: JSON, _: int) -> bool:
            return not spread or (self.flat_lists and isinstance(value, list) and _plain(value))

        look = {"unit": self.unit, "colon": self.colon, "newline": self.newline, "indent": indent}
        try:
            return lay_out_value(value, self.on_line, stays_on_line, **look)
        except RecursionError:
            raise JsonTextError(self.text, 0, "this value is nested too deeply") from None

    def _spreads_like_siblings(self, node: Node, value: JSON) -> bool:
        """Return whether a new container inside ``node`` takes several lines, like its last sibling of that kind."""
        kind = "object" if isinstance(value, dict) else "array"
        for child in reversed(node.children):
            if child.kind == kind and child.children:
                return self._spread(child)
        return not (isinstance(value, list) and self.flat_lists and _plain(value))

    def _fills_lines(self, node: Node, plain: bool) -> bool:
        """Return whether an empty container takes several lines once it is filled; ``plain``: with scalars only."""
        inside = self.text[node.start + 1 : node.end - 1]
        if inside:
            return "\n" in inside
        return self.lines and not (node.kind == "array" and self.flat_lists and plain)

    def _spread(self, node: Node) -> bool:
        return "\n" in self.text[node.start : node.children[0].key_start]

    def _line_indent(self, offset: int) -> str:
        start = self.text.rfind("\n", 0, offset) + 1
        line = self.text[start:offset]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _inner_indent(self, node: Node) -> str:
        """Return the indentation of a child of ``node``."""
        if node.children and self._spread(node):
            return self._line_indent(node.children[0].key_start)
        return self._line_indent(node.start) + self.unit

    def _colon_of(self, node: Node) -> str:
        member = node.children[-1]
        between = self.text[member.key_end : member.start]
        return self.colon if "\n" in between else between


def style_of(text: str, root: Node) -> Style:
    """Return the style of a text: the most common indentation, colon and comma."""
    units: Counter[str] = Counter()
    colons: Counter[str] = Counter()
    commas: Counter[str] = Counter()
    lines = flat = 0
    waiting, seen = [root], 0
    while waiting and seen < _LOOKED_AT:
        node = waiting.pop(0) if seen < 64 else waiting.pop()
        if not node.children:
            continue
        seen += 1
        starts = [child.key_start for child in node.children]
        lead = text[node.start + 1 : starts[0]]
        if "\n" in lead:
            lines += 1
            unit = _deeper(text, node.start, starts[0])
            if unit:
                units[unit] += 1
        elif node.kind == "array" and _plain_node(node):
            flat += 1
        for member in node.children[:8] if node.kind == "object" else ():
            colons[text[member.key_end : member.start]] += 1
        for before, after in zip(node.children[:8], starts[1:9], strict=False):
            if "\n" not in (gap := text[before.end : after]):
                commas[gap] += 1
        waiting += node.children[:_LOOKED_AT]
    colon = next((gap for gap, _ in colons.most_common() if "\n" not in gap), ": ")
    return Style(
        text=text,
        root=root,
        newline="\r\n" if "\r\n" in text else "\n",
        unit=units.most_common(1)[0][0] if units else "  ",
        colon=colon,
        comma=commas.most_common(1)[0][0] if commas else ("," if colon == ":" else ", "),
        lines=lines > 0 or not root.children,
        flat_lists=flat > 0,
        ascii_only=text.isascii() and "\\u" in text,
    )


def _deeper(text: str, outer: int, inner: int) -> str:
    """Return the indentation of the line of ``inner`` beyond that of the line of ``outer``."""
    indents = []
    for offset in (outer, inner):
        line = text[text.rfind("\n", 0, offset) + 1 : offset]
        indents.append(line[: len(line) - len(line.lstrip(" \t"))])
    return indents[1][len(indents[0]) :] if indents[1].startswith(indents[0]) else ""


def _plain(value: list[JSON]) -> bool:
    return not any(isinstance(item, dict | list) for item in value)


def _plain_node(node: Node) -> bool:
    return not any(item.kind in ("object", "array") for item in node.children)
