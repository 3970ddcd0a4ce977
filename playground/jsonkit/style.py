"""How a JSON text is laid out, read from the text itself, so that what is added to it looks as if it had been there.

Neighbours decide first, the rest of the text second, two spaces and one member a line last.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from playground.jsonkit.faults import JsonTextError
from playground.jsonkit.layout import lay_out_value
from playground.jsonkit.tree import Node
from playground.jsonkit.values import JSON

_LONE: Final = re.compile("[\ud800-\udfff]")
_LOOKED_AT: Final = 2000  # containers whose layout is looked at; more would say the same again


@dataclass(frozen=True, slots=True)
class Style:
    """The habits of one text. ``lines``: one member a line; ``flat_lists``: lists of plain values on one line."""

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
        """A value on one line; halves of surrogate pairs stay escapes, or the text could not be saved."""
        separators = self.comma, self.colon
        try:
            text = json.dumps(value, ensure_ascii=self.ascii_only, allow_nan=False, separators=separators)
        except (ValueError, TypeError) as error:
            raise JsonTextError(self.text, 0, f"this value is not JSON: {error}") from None
        return _LONE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)

    def member(self, node: Node, key: str, value: JSON) -> str:
        """A new member of ``node`` as text."""
        colon = self._colon_of(node) if node.kind == "object" and node.children else self.colon
        return self.on_line(key) + colon + self.value_in(node, value)

    def value_in(self, node: Node, value: JSON) -> str:
        """A new value inside ``node``: laid out as the values around it."""
        spread = self._spread(node) if node.children else self._fills_lines(node, plain=_plain([value]))
        return self._laid_out(value, spread and self._habit(node, value), self._inner_indent(node))

    def value_at(self, node: Node, parent: Node | None, value: JSON) -> str:
        """A value in the place of ``node``, which stands in ``parent``."""
        if node.children:
            spread = self._spread(node)
        elif parent is not None:
            spread = self._spread(parent) and self._habit(parent, value)
        else:
            spread = self.lines
        return self._laid_out(value, spread, self._line_indent(node.start))

    def gap(self, node: Node, spans: list[tuple[int, int]], at: int) -> str:
        """What stands between two children of ``node`` near number ``at``, the comma included."""
        if len(spans) > 1:
            number = min(max(at, 1), len(spans) - 1)
            return self.text[spans[number - 1][1] : spans[number][0]]
        lead = self.text[node.start + 1 : spans[0][0]]
        return "," + lead if "\n" in lead else self.comma

    def around(self, node: Node, spans: list[tuple[int, int]], new: list[str]) -> tuple[str, str, str]:
        """What stands before, between and after ``new``, which is all that ``node`` will hold."""
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

    def _habit(self, node: Node, value: JSON) -> bool:
        """Whether a container inside ``node`` takes several lines, by its nearest neighbour of the same kind."""
        kind = "object" if isinstance(value, dict) else "array"
        for child in reversed(node.children):
            if child.kind == kind and child.children:
                return self._spread(child)
        return not (isinstance(value, list) and self.flat_lists and _plain(value))

    def _fills_lines(self, node: Node, plain: bool) -> bool:
        """Whether an empty container takes several lines once it is filled (with ``plain`` values only or not)."""
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
        """The indentation of a child of ``node``."""
        if node.children and self._spread(node):
            return self._line_indent(node.children[0].key_start)
        return self._line_indent(node.start) + self.unit

    def _colon_of(self, node: Node) -> str:
        member = node.children[-1]
        between = self.text[member.key_end : member.start]
        return self.colon if "\n" in between else between


def style_of(text: str, root: Node) -> Style:
    """The habits of a text; the commonest of each counts."""
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
    colon = next((found for found, _ in colons.most_common() if "\n" not in found), ": ")
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
    """What the line of ``inner`` is indented by beyond the line of ``outer``."""
    indents = []
    for offset in (outer, inner):
        line = text[text.rfind("\n", 0, offset) + 1 : offset]
        indents.append(line[: len(line) - len(line.lstrip(" \t"))])
    return indents[1][len(indents[0]) :] if indents[1].startswith(indents[0]) else ""


def _plain(value: list[JSON]) -> bool:
    return not any(isinstance(item, dict | list) for item in value)


def _plain_node(node: Node) -> bool:
    return not any(item.kind in ("object", "array") for item in node.children)
