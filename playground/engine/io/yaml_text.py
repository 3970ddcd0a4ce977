"""YAML as the JSON it stands for (YAML 1.2, core schema), with the line of each place. Nothing is ever run or made.

PyYAML reads YAML 1.1, where ``no`` is false, ``1:30`` is ninety and ``2024-01-01`` a date; those who write for OpenAPI
or promptfoo mean texts. So its parser is used, and what scalars are is decided here. Tags are refused, and so is what
refers to itself, or would be far larger than the text once its references are followed. It is imported on first use.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from playground.jsonkit.values import JSON, JSONObject, Path

if TYPE_CHECKING:
    from yaml import MappingNode, ScalarNode, SequenceNode

    Node = MappingNode | ScalarNode | SequenceNode

MOST: Final = 2_000_000  # values that a document may have, those it refers to counted wherever they stand
DEEPEST: Final = 200
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,400}\Z")
_BASED: Final = re.compile(r"0(?:o[0-7]{1,400}|x[0-9a-fA-F]{1,400})\Z")
_NUMBER: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_PREFIX: Final = "tag:yaml.org,2002:"


class YamlError(ValueError):
    """A text is no YAML that stands for JSON; the text says why, and at which ``line`` (from 1, where it is known)."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line


@dataclass(frozen=True)
class YamlText:
    """What a text stands for, and where."""

    value: JSON
    _root: Any

    def line(self, path: Path = ()) -> int:
        """The line, from 1, in which the value at a path begins."""
        node = self._root
        for step in path:
            if isinstance(step, int):
                node = node.value[step]
            else:
                node = next(value for key, value in node.value if key.value == step)
        return int(node.start_mark.line) + 1 if node is not None else 1


def read_yaml(text: str) -> YamlText:
    """What the first and only document in ``text`` stands for. Raises YamlError."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_depth(yaml.parse(text, Loader=loader))
        root: Any = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(str(error.problem or error.context or "cannot be read"), mark.line + 1 if mark else 0) from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise YamlError(" ".join(str(error).split())[:200]) from None
    if root is None:
        return YamlText(None, None)
    _weigh(root)
    return YamlText(_Builder().build(root), root)


def _check_depth(events: Iterable[Any]) -> None:
    """Refuse what is nested deeply: the library puts it together on the stack of the process, which ends there."""
    depth = 0
    for event in events:
        depth += type(event).__name__.endswith(("MappingStartEvent", "SequenceStartEvent"))
        depth -= type(event).__name__.endswith(("MappingEndEvent", "SequenceEndEvent"))
        if depth > DEEPEST:
            raise YamlError("it is nested too deeply", event.start_mark.line + 1)


def _weigh(root: Node) -> None:
    """Refuse what refers to itself, is too deep once that is followed, or is too much."""
    sizes: dict[int, int] = {}
    trail: list[tuple[Node, int, bool]] = [(root, 0, True)]
    open_: set[int] = set()
    while trail:
        node, depth, entering = trail.pop()
        inner = _inner(node)
        if not entering:
            open_.discard(id(node))
            sizes[id(node)] = size = 1 + sum(sizes[id(one)] for one in inner)
            if size > MOST:
                raise YamlError(f"it stands for more than {MOST:,} values", node.start_mark.line + 1)
            continue
        if id(node) in open_:
            raise YamlError("it refers to itself", node.start_mark.line + 1)
        if id(node) in sizes:
            continue
        if depth > DEEPEST:
            raise YamlError("it is nested too deeply", node.start_mark.line + 1)
        open_.add(id(node))
        trail.append((node, depth, False))
        trail += [(one, depth + 1, True) for one in inner]


def _inner(node: Node) -> list[Any]:
    if node.id == "sequence":
        return list(node.value)
    return [one for pair in node.value for one in pair] if node.id == "mapping" else []


class _Builder:
    """Makes values of nodes; one that is referred to is made once."""

    def __init__(self) -> None:
        self._made: dict[int, JSON] = {}

    def build(self, node: Node) -> JSON:
        key = id(node)
        if key not in self._made:
            self._made[key] = self._make(node)
        return self._made[key]

    def _make(self, node: Node) -> JSON:
        kind = str(node.tag).removeprefix(_PREFIX)
        line = node.start_mark.line + 1
        if node.id == "sequence" and kind == "seq":
            return [self.build(one) for one in node.value]
        if node.id == "mapping" and kind == "map":
            return self._members(cast("MappingNode", node), line)
        if node.id != "scalar" or kind not in ("str", "null", "bool", "int", "float", "timestamp", "merge", "value"):
            raise YamlError(f"the tag {node.tag} is not read here", line)
        style = getattr(node, "style", None)
        return node.value if style in ("'", '"', "|", ">") else _scalar(node.value, line)

    def _members(self, node: MappingNode, line: int) -> JSONObject:
        out: JSONObject = {}
        for key, value in node.value:
            if key.id != "scalar":
                raise YamlError("a name must be a text", key.start_mark.line + 1)
            if key.value == "<<" and not key.style:
                self._merge(out, value, line)
                continue
            if key.value in out and not any(one.value == "<<" for one, _ in node.value):
                raise YamlError(f"“{key.value[:60]}” stands there twice", key.start_mark.line + 1)
            out[key.value] = self.build(value)
        return out

    def _merge(self, out: JSONObject, node: Node, line: int) -> None:
        found = self.build(node)
        for one in found if isinstance(found, list) else [found]:
            if not isinstance(one, dict):
                raise YamlError("“<<” must be followed by an object", line)
            for name, value in one.items():
                out.setdefault(name, value)


def _scalar(text: str, line: int) -> JSON:
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
