"""Bounds on the cost of a check in this process; beyond them a worker process does it, which can be killed.

A schema, a pattern or a path of a few lines can take hours. A check above the bounds raises TooCostlyError, and the
caller leaves it to ``engine.questions``. The bounds count sizes, not time: a check is refused on every machine or on
none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from playground.jsonkit.nesting import depth_of
from playground.jsonkit.schema_refs import reach, target_of
from playground.jsonkit.values import JSON, JSONObject

MOST_STEPS: Final = 20_000  # values and names in a schema, references followed, times values to check
MOST_NODES: Final = 2_500  # values in one schema
MOST_TEXT: Final = 100_000  # characters of JSON
_MOST_LOOKUPS: Final = 100_000  # references of a schema times its values
_MOST_PATTERNS: Final = 2_000  # characters of all patterns
_LONGEST_PATTERN: Final = 200
_DEEPEST: Final = 150
_ALTERNATIVES: Final = frozenset(("allOf", "anyOf", "oneOf"))
_DYNAMIC: Final = frozenset(("$dynamicRef", "$recursiveRef"))
_UNEVALUATED: Final = frozenset(("unevaluatedProperties", "unevaluatedItems"))

_lifted = False
_report: Callable[[str], None] | None = None


class TooCostlyError(Exception):
    """A check would take, or took, too long; the text gives the reason."""


def lift(report: Callable[[str], None] | None = None) -> None:
    """Remove all bounds from this process, because it can be killed. ``report`` receives early results in words."""
    global _lifted, _report
    _lifted, _report = True, report


def know(words: str) -> None:
    """Report an early result, in case the rest of the check takes too long."""
    if _report is not None:
        _report(words)


def lifted() -> bool:
    """Return whether this process has no bounds."""
    return _lifted


def refuse(reason: str) -> None:
    """Raise TooCostlyError, unless the bounds are lifted."""
    if not _lifted:
        raise TooCostlyError(reason)


def bound_text(text: str) -> None:
    """Refuse a text that takes long to read as JSON."""
    if len(text) > MOST_TEXT:
        refuse(f"{len(text):,} characters")


def bound_schema(schema: JSON) -> None:
    """Refuse a schema that is large, deep, has long patterns or refers to other documents."""
    size = refs = patterns = 0
    waiting: list[tuple[JSON, int]] = [] if _lifted else [(schema, 0)]
    while waiting:
        node, depth = waiting.pop()
        size += 1
        if size > MOST_NODES or depth > _DEEPEST or refs * size > _MOST_LOOKUPS or patterns > _MOST_PATTERNS:
            refuse("the schema is large")
        if isinstance(node, dict):
            if not _DYNAMIC.isdisjoint(node) or (depth and "$id" in node):
                refuse("the schema refers to others")
            refs += "$ref" in node
            lengths = [len(pattern) for pattern in _patterns_in(node)]
            if max(lengths, default=0) > _LONGEST_PATTERN:
                refuse("a pattern is long")
            patterns += sum(lengths)
            waiting += [(inner, depth + 1) for inner in node.values()]
        elif isinstance(node, list):
            waiting += [(inner, depth + 1) for inner in node]


def _patterns_in(schema: JSONObject) -> list[str]:
    pattern, by_pattern = schema.get("pattern"), schema.get("patternProperties")
    return ([pattern] if isinstance(pattern, str) else []) + (list(by_pattern) if isinstance(by_pattern, dict) else [])


def bound_value(value: JSON, schema: JSONObject) -> None:
    """Refuse a value that is large for its schema, since at worst each keyword is applied to each value.

    A schema that refers to itself is refused for any value.
    """
    if _lifted:
        return
    steps = _count_values(value, MOST_STEPS) * _unrolled_size(schema, schema, {}, 0)
    if steps > MOST_STEPS or depth_of(value, _DEEPEST) > _DEEPEST:
        refuse("the schema and the value are large")


def _count_values(value: JSON, most: int) -> int:
    """Count values, and another one for each 200 characters of text, up to about ``most``."""
    size, waiting = 0, [value]
    while waiting and size <= most:
        item = waiting.pop()
        size += 1
        if isinstance(item, str):
            size += len(item) // 200
        elif isinstance(item, dict):
            size += sum(map(len, item)) // 200
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
    return size


def _unrolled_size(root: JSON, node: JSON, sizes: dict[int, int], depth: int) -> int:
    """Count the values and names in a part of a schema with its references followed.

    ``sizes`` are those of other parts by their ids, 0 for parts that are being counted.
    """
    if not isinstance(node, dict | list):
        return 1
    if id(node) not in sizes:
        if depth > _DEEPEST:
            refuse("the schema is deep")
        sizes[id(node)] = 0
        parts = list(node.values()) if isinstance(node, dict) else node
        if isinstance(node, dict) and isinstance(node.get("$ref"), str):
            parts.append(_target(root, node["$ref"]))
        size = 1 + len(parts) + sum(_unrolled_size(root, part, sizes, depth + 1) for part in parts)
        # These keywords need the results of all others in the same schema.
        needs_results = isinstance(node, dict) and not _UNEVALUATED.isdisjoint(node)
        sizes[id(node)] = 2 * size if needs_results else size
    elif not sizes[id(node)]:
        refuse("the schema refers to itself")
    return sizes[id(node)]


def _target(root: JSON, ref: str) -> JSON:
    path = target_of(root, ref)
    return None if path is None else reach(root, path)


def circles(schema: JSON) -> bool:
    """Return whether a schema refers to itself for the same value somewhere, so that applying it has no end."""
    done: set[int] = set()
    starts = [schema]
    for start in starts:  # the list grows by the values inside each of its items
        if isinstance(start, dict):
            starts += start.values()
            if _circle(schema, start, done):
                return True
        elif isinstance(start, list):
            starts += start
    return False


def _circle(root: JSON, start: JSON, done: set[int]) -> bool:
    trail: list[tuple[JSON, bool]] = [(start, True)]
    open_: set[int] = set()
    while trail:
        node, entering = trail.pop()
        if not isinstance(node, dict):
            continue
        if not entering:
            open_.discard(id(node))
            done.add(id(node))
        elif id(node) in open_:
            return True
        elif id(node) not in done:
            open_.add(id(node))
            trail.append((node, False))
            trail += [(inner, True) for inner in _schemas_of_same_value(root, node)]
    return False


def _schemas_of_same_value(root: JSON, schema: JSONObject) -> list[JSON]:
    schemas: list[JSON] = [schema[keyword] for keyword in ("not", "if", "then", "else") if keyword in schema]
    for keyword in _ALTERNATIVES:
        inner = schema.get(keyword)
        schemas += inner if isinstance(inner, list) else ()
    ref = schema.get("$ref")
    return [*schemas, _target(root, ref)] if isinstance(ref, str) else schemas
