"""What a schema demands of one place, before the value there is whole.

A place can be under several alternatives (``anyOf``, ``oneOf``), each a handful of schema objects that must all hold
(``$ref`` and ``allOf`` followed). What cannot be told in a few steps is no demand: a false alarm is worse than none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Final, TypeAlias

from playground.jsonkit.drafts import to_newest
from playground.jsonkit.limits import TooCostlyError
from playground.jsonkit.patterns import PatternError, found_in
from playground.jsonkit.schema_refs import reach, target_of
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON, JSONObject, is_number, same

View: TypeAlias = tuple[JSONObject, ...]

MOST: Final = 24  # alternatives of one place; with more it is under no demand
_DEEPEST: Final = 24  # references and combinations inside one another
_MOST_STEPS: Final = 500  # subschemas looked at for one place
_NEVER: Final[JSONObject] = {"not": {}}
_FREE: Final[list[View]] = [()]
_LONGEST_KEY: Final = 200  # a name that is tried against patterns
_MOST_PATTERNS: Final = 50  # that a name is tried against
_SHOWN: Final = 20  # values of an enum that are listed
_OPEN_WORDS: Final = (
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "propertyNames",
    "dependentSchemas",
    "not",
    "if",
)
_NUMERIC: Final[tuple[tuple[str, str, Callable[[float, float], bool]], ...]] = (
    ("minimum", "less than the minimum of", lambda value, bound: value < bound),
    ("maximum", "greater than the maximum of", lambda value, bound: value > bound),
    ("exclusiveMinimum", "not greater than", lambda value, bound: value <= bound),
    ("exclusiveMaximum", "not less than", lambda value, bound: value >= bound),
)


class Demands:
    """The alternatives that a schema and the places inside it are under. ``root``: the schema, in 2020-12."""

    def __init__(self, schema: JSON) -> None:
        self.root = to_newest(schema)
        self._steps = 0
        self._known: dict[int, list[View]] = {}
        self._kept: list[JSON] = []  # so that no id is given twice

    def of(self, schema: JSON, depth: int = 0) -> list[View]:
        """The alternatives of a subschema."""
        self._steps = 0 if depth == 0 else self._steps + 1
        if schema is False:
            return [(_NEVER,)]
        if not isinstance(schema, dict) or depth > _DEEPEST or self._steps > _MOST_STEPS:
            return _FREE
        known = self._known.get(id(schema))
        if known is None:
            known = self._expanded(schema, depth)
            if depth == 0:
                self._known[id(schema)] = known
                self._kept.append(schema)
        return known

    def inside(self, view: View, key: str | int) -> list[View]:
        """The alternatives of the member or item ``key`` of a value under ``view``."""
        out = _FREE
        for schema in view:
            for inner in _inner(schema, key):
                out = _both(out, self.of(inner))
        return out

    def _expanded(self, schema: JSONObject, depth: int) -> list[View]:
        out: list[View] = [(schema,)]
        ref = schema.get("$ref")
        if isinstance(ref, str):
            path = target_of(self.root, ref)
            if path is not None:
                out = _both(out, self.of(reach(self.root, path), depth + 1))
        parts = schema.get("allOf")
        for part in parts if isinstance(parts, list) else ():
            out = _both(out, self.of(part, depth + 1))
        for union in ("anyOf", "oneOf"):
            branches = schema.get(union)
            if isinstance(branches, list) and branches:
                either = [view for branch in branches for view in self.of(branch, depth + 1)]
                out = _both(out, either)
        return out


def _both(one: list[View], other: list[View]) -> list[View]:
    if other is _FREE or len(one) * len(other) > MOST:
        return one
    if one is _FREE:
        return other
    return [left + right for left, right in product(one, other)]


def _inner(schema: JSONObject, key: str | int) -> list[JSON]:
    """The subschemas of one schema object that hold for its member or item ``key``."""
    if isinstance(key, int):
        lead = schema.get("prefixItems")
        if isinstance(lead, list) and key < len(lead):
            return [lead[key]]
        return [schema["items"]] if isinstance(schema.get("items"), dict | bool) else []
    properties, out = schema.get("properties"), list[JSON]()
    if isinstance(properties, dict) and key in properties:
        out.append(properties[key])
    by_pattern = _matching(schema, key)
    if by_pattern is None:
        return out
    out += by_pattern
    if not out and "additionalProperties" in schema:
        out.append(schema["additionalProperties"])
    return out


def _matching(schema: JSONObject, key: str) -> list[JSON] | None:
    """The schemas of the patterns that match a name; None when that cannot be told."""
    patterns = schema.get("patternProperties")
    if not isinstance(patterns, dict):
        return []
    if len(key) > _LONGEST_KEY or len(patterns) > _MOST_PATTERNS:
        return None
    try:
        return [inner for pattern, inner in patterns.items() if found_in(pattern, key)]
    except (PatternError, TooCostlyError):
        return None


def forbids(view: View) -> bool:
    """Whether nothing can stand here."""
    return any(schema is _NEVER for schema in view)


def knows_names(views: list[View]) -> bool:
    """Whether the alternatives list their names and say nothing about others: one more is odd, though allowed."""
    schemas = [schema for view in views for schema in view]
    listed = any(isinstance(schema.get("properties"), dict) and schema["properties"] for schema in schemas)
    return listed and not any(word in schema for schema in schemas for word in _OPEN_WORDS)


def names(views: list[View]) -> set[str]:
    """All names that any of the alternatives lists."""
    return {
        name
        for view in views
        for schema in view
        if isinstance(schema.get("properties"), dict)
        for name in schema["properties"]
    }


def missing(view: View, there: set[str | int | None], most: int) -> list[str]:
    """The required names that an object lacks, at most so many."""
    out: dict[str, None] = {}
    for schema in view:
        required = schema.get("required")
        for name in required if isinstance(required, list) else ():
            if isinstance(name, str) and name not in there:
                out[name] = None
                if len(out) >= most:
                    return list(out)
    return list(out)


def wanted_types(view: View) -> list[list[str]]:
    """The types that each schema object with types allows."""
    found = [schema["type"] for schema in view if isinstance(schema.get("type"), str | list)]
    return [[kind] if isinstance(kind, str) else [name for name in kind if isinstance(name, str)] for kind in found]


def fits_types(view: View, kind: str, value: JSON = None) -> bool:
    """Whether a value of this kind may stand here; 1.0 is an integer, as the standard says."""
    kinds = {"true": ["boolean"], "false": ["boolean"], "number": ["number"]}.get(kind, [kind])
    if kind == "number" and (isinstance(value, int) or (isinstance(value, float) and not value % 1)):
        kinds = ["number", "integer"]
    return all(any(name in kinds for name in names) for names in wanted_types(view))


def objection(view: View, value: JSON) -> str:
    """What a view has against a plain value of a fitting type; empty when it has nothing."""
    for schema in view:
        if "const" in schema and not same(schema["const"], value, exact=False):
            return f"{spelled(value)} is not {spelled(schema['const'])}"
        choices = schema.get("enum")
        if isinstance(choices, list) and not any(same(choice, value, exact=False) for choice in choices):
            shown = ", ".join(str(choice)[:200] for choice in choices[:_SHOWN])
            return f"{spelled(value)} is not one of {shown}{' …' * (len(choices) > _SHOWN)}"
        if isinstance(value, str):
            if is_number(schema.get("minLength")) and len(value) < schema["minLength"]:
                return f"{spelled(value)} is too short"
            if is_number(schema.get("maxLength")) and len(value) > schema["maxLength"]:
                return f"{spelled(value)} is too long"
        elif is_number(value):
            for keyword, words, over in _NUMERIC:
                if is_number(schema.get(keyword)) and over(value, schema[keyword]):
                    return f"{spelled(value)} is {words} {spelled(schema[keyword])}"
    return ""


def spelled(value: JSON) -> str:
    """A plain value as it is written, shortened."""
    text = json.dumps(value[:200] if isinstance(value, str) else value, ensure_ascii=False)
    return cut(text, 120)
