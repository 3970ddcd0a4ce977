"""How much checking may cost where it is done: little in a process that draws a window, as much as it takes elsewhere.

A schema, a pattern or a path can be made so that a few lines take hours. What could take long is therefore not begun
here: it raises TooCostlyError, and whoever asked has a process do it that can be ended (``engine.questions``). How much
something takes is counted before, in steps, so that the same question is answered in the same way on any machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from playground.jsonkit.schema_refs import reach, target_of
from playground.jsonkit.values import JSON, JSONObject

MOST_STEPS: Final = 4_000  # of a schema against a value
MOST_NODES: Final = 2_500  # values in one schema
MOST_TEXT: Final = 100_000  # characters of JSON
_DEEPEST: Final = 150
_LONGEST_PATTERN: Final = 200
_IN_PLACE: Final = frozenset(("not", "if", "then", "else"))
_ALTERNATIVES: Final = frozenset(("allOf", "anyOf", "oneOf"))
_OF_ITEMS: Final = frozenset(("items", "additionalItems", "contains", "unevaluatedItems"))
_OF_MEMBERS: Final = frozenset(("additionalProperties", "unevaluatedProperties"))
_ELSEWHERE: Final = frozenset(("$id", "$dynamicRef", "$recursiveRef"))
_WORDS: Final = frozenset(
    ("description", "title", "$comment", "default", "examples", "example", "$defs", "definitions")
)

_lifted = False
_tell: Callable[[str], None] | None = None


class TooCostlyError(Exception):
    """It would, or did, take too long; the text says what."""


def lift(tell: Callable[[str], None] | None = None) -> None:
    """From now on everything is done in this process, however long it takes: it can be ended.

    ``tell`` takes what is known for certain before all is.
    """
    global _lifted, _tell
    _lifted, _tell = True, tell


def know(words: str) -> None:
    """Say what is known already, should the rest take too long."""
    if _tell is not None:
        _tell(words)


def lifted() -> bool:
    """Whether this process does everything that is asked of it."""
    return _lifted


def refuse(reason: str) -> None:
    """Raise TooCostlyError, unless this process does everything."""
    if not _lifted:
        raise TooCostlyError(reason)


def weigh_text(text: str) -> None:
    """Refuse a text that takes long to read as JSON."""
    if len(text) > MOST_TEXT:
        refuse(f"{len(text):,} characters")


def weigh_schema(schema: JSON) -> None:
    """Refuse a schema that takes long to be looked through and prepared."""
    if _lifted:
        return
    nodes = refs = patterns = 0
    waiting: list[tuple[JSON, int]] = [(schema, 0)]
    while waiting:
        node, depth = waiting.pop()
        nodes += 1
        if nodes > MOST_NODES or depth > _DEEPEST or refs * nodes > 40 * MOST_NODES or patterns > MOST_TEXT // 50:
            refuse("the schema is large")
        if isinstance(node, dict):
            refs += "$ref" in node
            for name, inner in node.items():
                if name == "patternProperties" and isinstance(inner, dict):
                    patterns += sum(_pattern(pattern) for pattern in inner)
                elif name == "pattern" and isinstance(inner, str):
                    patterns += _pattern(inner)
                elif name in _ELSEWHERE and depth:
                    refuse("the schema refers to others")
                waiting.append((inner, depth + 1))
        elif isinstance(node, list):
            waiting += [(inner, depth + 1) for inner in node]


def _pattern(pattern: str) -> int:
    if len(pattern) > _LONGEST_PATTERN:
        refuse("a pattern is long")
    return len(pattern)


def weigh_value(value: JSON, schema: JSONObject) -> None:
    """Refuse a value whose check against ``schema`` takes many steps, counted as the validator goes."""
    if _lifted:
        return
    steps = 0
    waiting: list[tuple[JSON, JSON, int]] = [(schema, value, 0)]
    while waiting:
        node, found, depth = waiting.pop()
        steps += 1
        if steps > MOST_STEPS or depth > _DEEPEST:
            refuse("the schema and the value are large, or the schema branches too often")
        if isinstance(found, str):
            steps += len(found) // 200
        if not isinstance(node, dict):
            continue
        steps += len(node)
        for name, inner in node.items():
            if name in _WORDS:
                continue
            if name == "$ref" and isinstance(inner, str):
                path = target_of(schema, inner)
                if path is not None:
                    waiting.append((reach(schema, path), found, depth + 1))
            elif name in _ALTERNATIVES and isinstance(inner, list):
                waiting += [(one, found, depth + 1) for one in inner]
            elif name in _IN_PLACE:
                waiting.append((inner, found, depth + 1))
            elif name == "enum" and isinstance(inner, list):
                steps += len(inner)
            elif isinstance(found, dict):
                steps += _members(name, inner, found, depth + 1, waiting)
            elif isinstance(found, list):
                steps += _items(name, inner, found, depth + 1, waiting)
        if "unevaluatedProperties" in node or "unevaluatedItems" in node:  # which goes through the others once more
            again = {name: inner for name, inner in node.items() if not name.startswith("unevaluated")}
            waiting.append((again, found, depth + 1))


def circles(schema: JSON) -> bool:
    """Whether a schema somewhere refers to itself for the same value, so that applying it has no end."""
    done: set[int] = set()
    starts = [schema]
    for start in starts:  # every place grows the list by what stands inside it
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
            trail += [(inner, True) for inner in _for_the_same(root, node)]
    return False


def _for_the_same(root: JSON, node: JSONObject) -> list[JSON]:
    """The schemas that a schema applies to the very value it is applied to."""
    out: list[JSON] = [node[name] for name in _IN_PLACE if name in node]
    for name in _ALTERNATIVES:
        inner = node.get(name)
        out += inner if isinstance(inner, list) else ()
    ref = node.get("$ref")
    path = target_of(root, ref) if isinstance(ref, str) else None
    return out if path is None else [*out, reach(root, path)]


def _members(name: str, inner: JSON, found: JSONObject, depth: int, waiting: list[tuple[JSON, JSON, int]]) -> int:
    """What a keyword asks of an object: what waits then, and how many steps it takes to see that."""
    if name in _OF_MEMBERS:
        waiting += [(inner, value, depth) for value in found.values()]
    elif name == "propertyNames":
        waiting += [(inner, key, depth) for key in found]
    elif isinstance(inner, dict) and name == "properties":
        waiting += [(one, found[key], depth) for key, one in inner.items() if key in found]
        return len(inner)
    elif isinstance(inner, dict) and name == "patternProperties":
        if len(inner) * len(found) > MOST_STEPS:
            refuse("the schema has many patterns")
        waiting += [(one, value, depth) for one in inner.values() for value in found.values()]
        return len(inner) * sum(1 + len(key) // 20 for key in found)
    elif isinstance(inner, dict) and name in ("dependentSchemas", "dependencies"):
        waiting += [(one, found, depth) for one in inner.values()]
    return len(found)


def _items(name: str, inner: JSON, found: list[JSON], depth: int, waiting: list[tuple[JSON, JSON, int]]) -> int:
    """What a keyword asks of an array, likewise."""
    if name in ("prefixItems", "items") and isinstance(inner, list):
        waiting += [(one, item, depth) for one, item in zip(inner, found, strict=False)]
    elif name in _OF_ITEMS:
        waiting += [(inner, item, depth) for item in found]
    return len(found)
