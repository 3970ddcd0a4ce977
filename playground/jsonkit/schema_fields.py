"""A JSON Schema as the fields of a form: kind, keywords and path of each subschema.

The fields are a view: edits go to the text (`schema_edit`). Keywords that a form cannot show become slots without an
editor, so that nothing is left out. Any JSON is accepted; nothing is raised.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from playground.jsonkit.schema_refs import name_of, target_of
from playground.jsonkit.schema_slots import Slot, slots_of, types_in
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON, JSONObject, Path

DEEPEST = 60  # levels of a form; deeper schemas are shown as JSON
UNIONS = "anyOf", "oneOf"


@dataclass(frozen=True)
class Field:
    """A subschema. ``path`` is its place in the schema; ``name`` that of a property, pattern or definition.

    ``required`` is None where a field cannot be required. ``core`` differs from ``path`` only for an ``anyOf`` of a
    schema and null: there it is the path of the schema, whose keywords the form shows.
    """

    path: Path
    role: str
    name: str
    kind: str
    types: tuple[str, ...]
    nullable: bool
    required: bool | None
    summary: str
    description: str
    ref: str
    target: Path | None
    problem: str
    core: Path
    children: tuple[Field, ...]
    schema: JSON

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The keywords that this subschema has or could have, with the path of each."""
        return slots_of(self.schema, self.path, self.core, self.kind, self.types)


def fields_of(schema: JSON) -> Field:
    """Return the root field of a schema with all fields inside it."""
    return _Builder(schema).field(schema, (), "root", "", None)


def field_at(root: Field, path: Path) -> Field | None:
    """Return the field of the subschema at ``path``, or the innermost field around it."""
    best: Field | None = None
    for field in walk(root):
        if path[: len(field.path)] == field.path and (best is None or len(field.path) > len(best.path)):
            best = field
    return best


def walk(root: Field) -> Iterator[Field]:
    """Yield a field and all fields inside it, in the order of the form."""
    waiting = [root]
    while waiting:
        field = waiting.pop()
        yield field
        waiting += reversed(field.children)


def slot(field: Field, keyword: str) -> Slot | None:
    """Return the slot of a keyword; of the outer schema if both schemas of a nullable field have it."""
    return next((candidate for candidate in field.slots if candidate.keyword == keyword), None)


def nullable_branch(schema: JSON) -> tuple[str, int] | None:
    """Return the keyword of a union of a schema and null, and the position of the schema; None for other schemas."""
    for union in UNIONS:
        branches = schema.get(union) if isinstance(schema, dict) else None
        if isinstance(branches, list) and len(branches) == 2:
            nulls = [isinstance(branch, dict) and branch.get("type") == "null" for branch in branches]
            if sum(nulls) == 1 and isinstance(branches[nulls.index(False)], dict):
                return union, nulls.index(False)
    return None


class _Builder:
    """Builder of the fields of a schema, which needs the root for its references."""

    def __init__(self, root: JSON) -> None:
        self._root = root

    def field(self, schema: JSON, path: Path, role: str, name: str, required: bool | None) -> Field:
        """Return the field of a subschema."""
        if not isinstance(schema, dict) or len(path) > DEEPEST:
            return self._closed(schema, path, role, name, required)
        core, inner = path, schema
        branch = nullable_branch(schema)
        nullable = branch is not None or _has_null_branch(schema)
        if branch is not None:
            core = (*path, *branch)
            inner = schema[branch[0]][branch[1]]
        types = types_in(inner)
        nullable = nullable or "null" in types
        ref = _ref_of(inner)
        target = target_of(self._root, ref) if ref else None
        kind = _kind(inner, types, ref)
        description = schema.get("description", inner.get("description"))
        problem = ""
        if ref and target is None:
            problem = "leads to another document" if not ref.startswith("#") else "leads nowhere"
        children = self._children(inner, core)
        if core != path:
            children += self._definitions(schema, path)
        return Field(
            path=path,
            role=role,
            name=name,
            kind=kind,
            types=types,
            nullable=nullable,
            required=required,
            summary=_summary(inner, kind, types, ref) + (" or null" if nullable and kind != "null" else ""),
            description=description if isinstance(description, str) else "",
            ref=ref,
            target=target,
            problem=problem,
            core=core,
            children=children,
            schema=schema,
        )

    def _closed(self, schema: JSON, path: Path, role: str, name: str, required: bool | None) -> Field:
        """Return the field of a value without children: true, false, no schema at all, or nested too deeply."""
        problem = ""
        if len(path) > DEEPEST:
            problem = "nested too deeply for the form"
        elif not isinstance(schema, bool):
            problem = "not a schema"
        never = schema is False
        return Field(
            path=path,
            role=role,
            name=name,
            kind="never" if never else "any",
            types=(),
            nullable=False,
            required=required,
            summary="not allowed" if never else problem or "anything",
            description="",
            ref="",
            target=None,
            problem=problem,
            core=path,
            children=(),
            schema=schema if len(path) <= DEEPEST else None,
        )

    def _children(self, schema: JSONObject, path: Path) -> tuple[Field, ...]:
        required = schema.get("required")
        required_names = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
        out: list[Field] = []
        for name, inner in _members(schema, "properties"):
            out.append(self.field(inner, (*path, "properties", name), "property", name, name in required_names))
        for name, inner in _members(schema, "patternProperties"):
            out.append(self.field(inner, (*path, "patternProperties", name), "pattern", name, None))
        if isinstance(schema.get("additionalProperties"), dict):
            out.append(self._single(schema, path, "additionalProperties", "additional"))
        out += self._several(schema, path, "prefixItems", "prefix")
        if isinstance(schema.get("items"), dict | bool):
            out.append(self._single(schema, path, "items", "item"))
        elif isinstance(schema.get("items"), list):  # up to draft 2019-09
            out += self._several(schema, path, "items", "prefix")
            if isinstance(schema.get("additionalItems"), dict | bool):
                out.append(self._single(schema, path, "additionalItems", "item"))
        for union in UNIONS:
            out += self._several(schema, path, union, "branch")
        out += self._several(schema, path, "allOf", "branch")
        return (*out, *self._definitions(schema, path))

    def _definitions(self, schema: JSONObject, path: Path) -> tuple[Field, ...]:
        return tuple(
            self.field(inner, (*path, keyword, name), "definition", name, None)
            for keyword in ("$defs", "definitions")
            for name, inner in _members(schema, keyword)
        )

    def _single(self, schema: JSONObject, path: Path, keyword: str, role: str) -> Field:
        return self.field(schema[keyword], (*path, keyword), role, "", None)

    def _several(self, schema: JSONObject, path: Path, keyword: str, role: str) -> list[Field]:
        parts = schema.get(keyword)
        if not isinstance(parts, list):
            return []
        return [
            self.field(part, (*path, keyword, number), role, f"part {number + 1}" if keyword == "allOf" else "", None)
            for number, part in enumerate(parts)
        ]


def _members(schema: JSONObject, keyword: str) -> list[tuple[str, JSON]]:
    value = schema.get(keyword)
    return list(value.items()) if isinstance(value, dict) else []


def _ref_of(schema: JSONObject) -> str:
    ref = schema.get("$ref")
    return ref if isinstance(ref, str) else ""


def _has_null_branch(schema: JSONObject) -> bool:
    parts = [part for union in UNIONS if isinstance(schema.get(union), list) for part in schema[union]]
    return any(isinstance(part, dict) and part.get("type") == "null" for part in parts)


def _kind(schema: JSONObject, types: tuple[str, ...], ref: str) -> str:
    if ref:
        return "ref"
    if any(isinstance(schema.get(union), list) and schema[union] for union in UNIONS):
        return "union"
    if "const" in schema:
        return "constant"
    if isinstance(schema.get("enum"), list):
        return "choice"
    plain = [name for name in types if name != "null"] or list(types)
    if plain:
        return plain[0] if len(plain) == 1 else "several"
    if isinstance(schema.get("properties"), dict):
        return "object"
    lists = (schema.get("items"), schema.get("prefixItems"))
    return "array" if any(isinstance(items, dict | list) and items for items in lists) else "any"


def _summary(schema: JSONObject, kind: str, types: tuple[str, ...], ref: str) -> str:
    """Return a short description of a schema, without "or null"."""
    plain = [name for name in types if name != "null"]
    if kind == "ref":
        return "→ " + (name_of(ref) if "/" in ref else "the whole schema" if ref == "#" else ref)
    if kind == "union":
        branches = next(schema[union] for union in UNIONS if isinstance(schema.get(union), list) and schema[union])
        branches = [part for part in branches if not (isinstance(part, dict) and part.get("type") == "null")]
        names = [_summary_of(branch) for branch in branches]
        short = " or ".join(dict.fromkeys(names))
        return short if len(branches) <= 3 and len(short) <= 60 else f"one of {len(branches)} options"
    if kind == "constant":
        return f"always {_short(schema['const'])}"
    if kind == "choice":
        return f"one of {len(schema['enum'])}"
    if kind == "array":
        items = schema.get("items")
        fixed = schema.get("prefixItems", items)
        if isinstance(fixed, list):
            return f"list of {len(fixed)} fixed items"
        return f"list of {_summary_of(items)}" if isinstance(items, dict) and items else "list"
    if kind == "several":
        return " or ".join(plain)
    words = "anything" if kind == "any" else kind
    form = schema.get("format")
    return f"{words}, {form}" if isinstance(form, str) and form and kind == "string" else words


def _summary_of(schema: JSON, depth: int = 0) -> str:
    """Return a shorter description, for an inner schema."""
    if not isinstance(schema, dict):
        return "nothing" if schema is False else "anything"
    types = types_in(schema)
    ref = _ref_of(schema)
    kind = _kind(schema, types, ref)
    if kind == "union":
        return "one of several"
    if kind == "array" and depth > 2:
        return "list"
    if kind == "array" and isinstance(schema.get("items"), dict) and "prefixItems" not in schema:
        inner = _summary_of(schema["items"], depth + 1)
    else:
        return _summary(schema, kind, types, ref) if kind != "array" else "list"
    return f"list of {inner}"


def _short(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False) if not isinstance(value, dict | list) else "one value"
    return cut(text, 40)
