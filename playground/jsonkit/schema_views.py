"""Requirements of a schema on one place of a value that is still incomplete.

A place has several alternatives (``anyOf``, ``oneOf``); each is a tuple of schema objects that must all hold (``$ref``
and ``allOf`` are followed). Requirements that need many steps are ignored: a false alarm is worse than none.
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

MOST: Final = 24  # alternatives of one place; with more there is no requirement
_DEEPEST: Final = 24  # references and combinations inside one another
_MOST_STEPS: Final = 500  # subschemas read for one place
_NEVER: Final[JSONObject] = {"not": {}}
_FREE: Final[list[View]] = [()]
_LONGEST_KEY: Final = 200  # name that is matched with patterns
_MOST_PATTERNS: Final = 50  # that are matched with a name
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
    """The alternatives for the places of a value under a schema. ``root``: the schema, in 2020-12."""

    def __init__(self, schema: JSON) -> None:
        self.root = to_newest(schema)
        self._steps = 0
        self._cache: dict[int, list[View]] = {}
        self._cached_schemas: list[JSON] = []  # references, so that ids stay unique

    def views_of(self, schema: JSON, depth: int = 0) -> list[View]:
        """Return the alternatives of a subschema."""
        self._steps = 0 if depth == 0 else self._steps + 1
        if schema is False:
            return [(_NEVER,)]
        if not isinstance(schema, dict) or depth > _DEEPEST or self._steps > _MOST_STEPS:
            return _FREE
        views = self._cache.get(id(schema))
        if views is None:
            views = self._expanded(schema, depth)
            if depth == 0:
                self._cache[id(schema)] = views
                self._cached_schemas.append(schema)
        return views

    def inside(self, view: View, key: str | int) -> list[View]:
        """Return the alternatives of the member or item ``key`` of a value under ``view``."""
        out = _FREE
        for schema in view:
            for inner in _inner(schema, key):
                out = _both(out, self.views_of(inner))
        return out

    def _expanded(self, schema: JSONObject, depth: int) -> list[View]:
        out: list[View] = [(schema,)]
        ref = schema.get("$ref")
        if isinstance(ref, str):
            path = target_of(self.root, ref)
            if path is not None:
                out = _both(out, self.views_of(reach(self.root, path), depth + 1))
        parts = schema.get("allOf")
        for part in parts if isinstance(parts, list) else ():
            out = _both(out, self.views_of(part, depth + 1))
        for union in ("anyOf", "oneOf"):
            branches = schema.get(union)
            if isinstance(branches, list) and branches:
                either = [view for branch in branches for view in self.views_of(branch, depth + 1)]
                out = _both(out, either)
        return out


def _both(views: list[View], more: list[View]) -> list[View]:
    if more is _FREE or len(views) * len(more) > MOST:
        return views
    if views is _FREE:
        return more
    return [first + second for first, second in product(views, more)]


def _inner(schema: JSONObject, key: str | int) -> list[JSON]:
    """Return the subschemas of a schema object that apply to its member or item ``key``."""
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
    """Return the schemas of the patterns that match a name; None if that is too costly."""
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
    """Return whether no value is allowed."""
    return any(schema is _NEVER for schema in view)


def knows_names(views: list[View]) -> bool:
    """Return whether the alternatives list names and have no rule for others, so that another is unexpected."""
    schemas = [schema for view in views for schema in view]
    listed = any(isinstance(schema.get("properties"), dict) and schema["properties"] for schema in schemas)
    return listed and not any(word in schema for schema in schemas for word in _OPEN_WORDS)


def names(views: list[View]) -> set[str]:
    """Return all names in the alternatives."""
    return {
        name
        for view in views
        for schema in view
        if isinstance(schema.get("properties"), dict)
        for name in schema["properties"]
    }


def missing(view: View, present: set[str | int | None], most: int) -> list[str]:
    """Return up to ``most`` required names that are not ``present``."""
    out: dict[str, None] = {}
    for schema in view:
        required = schema.get("required")
        for name in required if isinstance(required, list) else ():
            if isinstance(name, str) and name not in present:
                out[name] = None
                if len(out) >= most:
                    return list(out)
    return list(out)


def wanted_types(view: View) -> list[list[str]]:
    """Return the allowed types, a list for each schema object that has types."""
    declared = [schema["type"] for schema in view if isinstance(schema.get("type"), str | list)]
    return [[kind] if isinstance(kind, str) else [name for name in kind if isinstance(name, str)] for kind in declared]


def fits_types(view: View, kind: str, value: JSON = None) -> bool:
    """Return whether a value of this kind is allowed; 1.0 is an integer, as in the standard."""
    kinds = {"true": ["boolean"], "false": ["boolean"], "number": ["number"]}.get(kind, [kind])
    if kind == "number" and (isinstance(value, int) or (isinstance(value, float) and not value % 1)):
        kinds = ["number", "integer"]
    return all(any(name in kinds for name in names) for names in wanted_types(view))


def objection(view: View, value: JSON) -> str:
    """Return why a scalar of an allowed type does not fit; empty if it fits."""
    for schema in view:
        if "const" in schema and not same(schema["const"], value, exact=False):
            return f"{spelled(value)} is not {spelled(schema['const'])}"
        choices = schema.get("enum")
        if isinstance(choices, list) and not any(same(choice, value, exact=False) for choice in choices):
            listed = ", ".join(str(choice)[:200] for choice in choices[:_SHOWN])
            return f"{spelled(value)} is not one of {listed}{' …' * (len(choices) > _SHOWN)}"
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
    """Return a scalar as JSON, shortened."""
    text = json.dumps(value[:200] if isinstance(value, str) else value, ensure_ascii=False)
    return cut(text, 120)
