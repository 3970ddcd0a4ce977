"""Edits of the text of a schema by a form; bytes outside the edited place stay.

Every function takes a text and returns a text, and raises JsonTextError for a text that is not JSON and for a path that
does not exist.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from playground.jsonkit.edit import drop, insert_item, insert_member, put, remove_member, rename_key, set_value
from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.reading import parse_json
from playground.jsonkit.schema_fields import UNIONS, Field, nullable_branch
from playground.jsonkit.schema_refs import pointer_of, reach, subschemas, target_of
from playground.jsonkit.schema_slots import Slot
from playground.jsonkit.tree import Node, find, parse
from playground.jsonkit.values import JSON, Path

_HEAD: Final = ("$schema", "$id", "$ref", "type", "title", "description")  # keywords that people write first
_OUTSIDE: Final = "title", "description", "default"  # annotations, which hold for null, too
_NULL: Final = {"type": "null"}


def set_slot(text: str, slot: Slot, value: JSON) -> str:
    """Return the text with ``value`` for the keyword of a slot, which may be missing so far."""
    return _put(text, slot.path, value)


def clear_slot(text: str, slot: Slot) -> str:
    """Return the text without the keyword of a slot."""
    return drop(text, slot.path)


def set_types(text: str, path: Path, types: tuple[str, ...]) -> str:
    """Return the text with these types for the subschema at ``path``; without any, ``type`` is removed.

    In an ``anyOf`` of a schema and null the schema gets the types.
    """
    schema = reach(_value(text), path) if find(parse(text), path) is not None else {}
    branch = nullable_branch(schema)
    if branch is not None:
        path = (*path, *branch)
        types = tuple(name for name in types if name != "null") or types
    if not types:
        return drop(text, (*path, "type"))
    return _put(text, (*path, "type"), types[0] if len(types) == 1 else list(types))


def set_nullable(text: str, field: Field, on: bool) -> str:
    """Return the text with null allowed for a field or not: in ``type``, or as another branch without a type."""
    schema = field.schema
    if field.nullable is on or not isinstance(schema, dict):
        return text
    if field.types:
        return _null_in_types(text, field, on)
    union = next((name for name in UNIONS if isinstance(schema.get(name), list)), "")
    if union and on:
        return insert_item(text, (*field.path, union), _NULL)
    if on:  # a reference, or a schema without a type: it becomes the first of two branches
        inner = {key: value for key, value in schema.items() if key not in _OUTSIDE}
        union_of_two = {"anyOf": [inner, dict(_NULL)]}
        wrapped: dict[str, JSON] = {}
        for key, value in schema.items():
            wrapped |= {key: value} if key in _OUTSIDE else union_of_two
        return set_value(text, field.path, wrapped or union_of_two)
    return _without_null_branch(text, field.path, schema)


def set_required(text: str, path: Path, on: bool) -> str:
    """Return the text with the property at ``path`` required or not; an empty list is removed."""
    owner, name = _owner(text, path)
    value = reach(_value(text), owner)
    required = value.get("required")
    if "required" in value and not isinstance(required, list):
        if not on:
            return text
        raise _error(text, (*owner, "required"), "“required” must be a list")
    names = list(required or [])
    if on is (name in names):
        return text
    if not on:
        remaining = [item for item in names if item != name]
        where = (*owner, "required")
        return set_value(text, where, remaining) if remaining else remove_member(text, where)
    if "required" not in value:
        index = list(value).index("properties") + 1
        return insert_member(text, owner, "required", [name], index)
    order = list(value["properties"])
    before = [number for number, item in enumerate(names) if item in order[: order.index(name)]]
    return insert_item(text, (*owner, "required"), name, before[-1] + 1 if before else 0)


def add_property(text: str, path: Path, name: str, schema: JSON = None, index: int | None = None) -> str:
    """Return the text with a new property of the object schema at ``path``; a string by default."""
    schema = {"type": "string"} if schema is None else schema
    root = parse(text)
    if find(root, (*path, "properties")) is not None:
        return insert_member(text, (*path, "properties"), name, schema, index)
    node = find(root, path)
    if node is None or node.kind != "object":
        raise _error(text, path, "only an object can have properties")
    return insert_member(text, path, "properties", {name: schema}, _after_head(node))


def rename_property(text: str, path: Path, name: str) -> str:
    """Return the text with another name for the property at ``path``, also in ``required`` and references."""
    owner, old = _owner(text, path)
    new = rename_definition(text, path, name)
    required = find(parse(new), (*owner, "required"))
    if required is not None and required.kind == "array":
        for number, item in enumerate(reach(_value(new), (*owner, "required"))):
            if item == old:
                new = set_value(new, (*owner, "required", number), name)
    return new


def remove_property(text: str, path: Path) -> str:
    """Return the text without the property at ``path``, also in ``required``."""
    return remove_member(set_required(text, path, on=False), path)


def rename_definition(text: str, path: Path, name: str) -> str:
    """Return the text with another name for the definition at ``path``, also in each ``$ref`` to or into it."""
    root = _value(text)
    new_path = (*path[:-1], name)
    for place, schema in subschemas(root, math.inf):
        ref = schema.get("$ref")
        target = target_of(root, ref) if isinstance(ref, str) and ref.startswith(("#/", "#%2F")) else None
        if target is not None and target[: len(path)] == path:
            text = set_value(text, (*place, "$ref"), pointer_of((*new_path, *target[len(path) :])))
    return rename_key(text, path, name)


def free_name(names: Iterable[str], wish: str = "name") -> str:
    """Return ``wish``, or with the lowest number that is not among ``names``: ``name_2``."""
    used = set(names)
    number, name = 1, wish
    while name in used:
        number += 1
        name = f"{wish}_{number}"
    return name


def _put(text: str, path: Path, value: JSON) -> str:
    """Set a keyword; a new annotation is inserted near the top, other keywords at the end."""
    node = find(parse(text), path[:-1])
    key = path[-1]
    if node is not None and node.kind == "true":
        return set_value(text, path[:-1], {key: value})
    if node is not None and node.kind == "object" and isinstance(key, str) and key in _HEAD and node.last(key) is None:
        return insert_member(text, path[:-1], key, value, _after_head(node))
    return put(text, path, value)


def _after_head(node: Node) -> int:
    index = 0
    while index < len(node.children) and node.children[index].key in _HEAD:
        index += 1
    return index


def _null_in_types(text: str, field: Field, on: bool) -> str:
    branch = nullable_branch(field.schema)
    if branch is not None:
        return _without_null_branch(text, field.path, field.schema)
    types = (*field.types, "null") if on else tuple(name for name in field.types if name != "null")
    text = set_types(text, field.path, types)
    enum = field.schema.get("enum")
    if not isinstance(enum, list) or (None in enum) is on:
        return text
    where = (*field.path, "enum")
    return insert_item(text, where, None) if on else set_value(text, where, [v for v in enum if v is not None])


def _without_null_branch(text: str, path: Path, schema: dict[str, JSON]) -> str:
    branch = nullable_branch(schema)
    if branch is None:
        places = ((union, n) for union in UNIONS for n, part in enumerate(schema.get(union) or ()) if part == _NULL)
        return next((remove_member(text, (*path, *place)) for place in places), text)
    union, number = branch
    inner = schema[union][number]
    if inner.keys() & (schema.keys() - {union}):
        return remove_member(text, (*path, union, 1 - number))
    return set_value(
        text,
        path,
        {
            new: value
            for key, old in schema.items()
            for new, value in (inner.items() if key == union else ((key, old),))
        },
    )


def _owner(text: str, path: Path) -> tuple[Path, str]:
    """Return the path of the object schema of a property, and the name of the property."""
    name = path[-1] if path else None
    if len(path) < 2 or path[-2] != "properties" or not isinstance(name, str) or find(parse(text), path) is None:
        raise _error(text, path, "this is not a property")
    return path[:-2], name


def _value(text: str) -> JSON:
    try:
        return parse_json(text)
    except ValueError as error:
        raise JsonTextError(text, 0, str(error)) from None


def _error(text: str, path: Path, reason: str) -> JsonTextError:
    root = parse(text)
    node = find(root, path) or root
    return JsonTextError(text, node.start, reason)
