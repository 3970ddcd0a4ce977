from __future__ import annotations

from typing import Any

import pytest

from playground.jsonkit.schema_fields import Field, field_at, fields_of, slot, walk
from playground.jsonkit.schema_refs import pointer_of, reach, resolved, target_of
from tests.jsonkit.schemas import schemas
from tests.support.each_case import each_case

ALL = dict(schemas())


def field_of_file(name: str, *path: str | int) -> Field:
    field = field_at(fields_of(ALL[name]), path)
    assert field is not None
    return field


@each_case(
    ("schema", "kind", "summary"),
    [
        ({"type": "string"}, "string", "string"),
        ({"type": "string", "format": "date"}, "string", "string, date"),
        ({"type": ["string", "null"]}, "string", "string or null"),
        ({"type": ["string", "integer"]}, "several", "string or integer"),
        ({"type": "null"}, "null", "null"),
        ({"enum": [1, 2]}, "choice", "one of 2"),
        ({"const": "a"}, "constant", 'always "a"'),
        ({"type": "array", "items": {"type": "array", "items": {"type": "number"}}}, "array", "list of list of number"),
        ({"type": "array"}, "array", "list"),
        ({"type": "array", "prefixItems": [{}, {}]}, "array", "list of 2 fixed items"),
        ({"type": "array", "items": [{}, {}, {}]}, "array", "list of 3 fixed items"),
        ({"items": [{"type": "string"}]}, "array", "list of 1 fixed items"),
        ({"$ref": "#/$defs/Node"}, "ref", "→ Node"),
        ({"$ref": "#/$defs/a~1b"}, "ref", "→ a/b"),
        ({"$ref": "#/definitions/my%20type~0"}, "ref", "→ my type~"),
        ({"$ref": "#"}, "ref", "→ the whole schema"),
        ({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Node"}]}, "union", "string or → Node"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer", "integer or null"),
        ({"oneOf": [{"const": n} for n in range(5)]}, "union", "one of 5 options"),
        ({"properties": {}}, "object", "object"),
        ({}, "any", "anything"),
        (True, "any", "anything"),
        (False, "never", "not allowed"),
        (5, "any", "not a schema"),
    ],
)
def test_field_has_a_kind_and_a_summary(schema: Any, kind: str, summary: str) -> None:
    field = fields_of(schema)
    assert (field.kind, field.summary) == (kind, summary)


def test_properties_are_required_or_optional() -> None:
    root = fields_of(ALL["01_weather"])
    assert [(f.name, f.role, f.required, f.kind) for f in root.children] == [
        ("city", "property", True, "string"),
        ("unit", "property", False, "choice"),
    ]
    assert root.required is None
    assert root.children[0].description.startswith("City and country")


def test_every_kind_of_part_has_its_role() -> None:
    roles = {field.role for name in ALL for field in walk(fields_of(ALL[name]))}
    assert roles == {"root", "property", "item", "prefix", "pattern", "additional", "branch", "definition"}


def test_nullable_field_is_edited_in_its_part() -> None:
    field = field_of_file("03_pydantic_nullable", "properties", "nickname")
    assert field.nullable
    assert field.kind == "string"
    assert field.core == ("properties", "nickname", "anyOf", 0)
    places = {item.keyword: item.path for item in field.slots}
    assert places["description"] == ("properties", "nickname", "description")
    assert places["default"] == ("properties", "nickname", "default")
    assert places["maxLength"] == ("properties", "nickname", "anyOf", 0, "maxLength")
    assert places["pattern"] == ("properties", "nickname", "anyOf", 0, "pattern")
    assert field.description == "What friends say"


def test_tuple_of_an_older_version_has_a_field_for_each_item() -> None:
    pair: Any = {"type": "array", "items": [{"type": "number"}, {"const": "km"}], "additionalItems": {"type": "null"}}
    children = fields_of({"$schema": "http://json-schema.org/draft-07/schema#", **pair}).children
    assert [(child.path, child.role, child.kind) for child in children] == [
        (("items", 0), "prefix", "number"),
        (("items", 1), "prefix", "constant"),
        (("additionalItems",), "item", "null"),
    ]
    assert all(item.editable for item in fields_of(pair).slots)
    ghost = slot(fields_of({"additionalItems": {}}), "additionalItems")
    assert ghost is not None


def test_exclusive_bound_of_draft_04_is_a_switch() -> None:
    bound = slot(fields_of({"type": "number", "minimum": 1, "exclusiveMinimum": True}), "exclusiveMinimum")
    assert bound is not None
    assert (bound.editor, bound.editable) == ("flag", True)


def test_references_lead_to_the_parts_with_their_identifiers() -> None:
    root: Any = {
        "$id": "https://example.org/root.json",
        "$defs": {
            "address": {"$id": "/schemas/address", "$defs": {"zip": {}}},
            "old": {"$id": "#old"},
            "oldest": {"id": "#oldest"},
        },
    }
    address = ("$defs", "address")
    assert target_of(root, "/schemas/address") == address
    assert target_of(root, "https://example.org/schemas/address#/$defs/zip") == (*address, "$defs", "zip")
    assert target_of(root, "root.json#/$defs/old") == ("$defs", "old")
    assert target_of(root, "#old") == ("$defs", "old")
    assert target_of(root, "#oldest") == ("$defs", "oldest")
    assert target_of(root, "https://example.com/other") is None


def test_references_have_a_target_or_a_problem() -> None:
    sender = field_of_file("04_defs_ref", "properties", "sender")
    assert (sender.ref, sender.target) == ("#/$defs/Address", ("$defs", "Address"))
    assert field_of_file("38_anchor", "properties", "colour").target == ("$defs", "c")
    assert field_of_file("40_wrong_shapes", "properties", "d").problem == "leads to another document"
    assert field_of_file("40_wrong_shapes", "properties", "e").problem == "leads nowhere"
    assert field_of_file("14_unicode_keys", "properties", "slash/and~tilde").target == ("$defs", "a/b~c")


def test_keywords_outside_the_form_are_named() -> None:
    root = fields_of(ALL["12_if_then"])
    assert {item.keyword for item in root.slots if not item.editable} == {"if", "then", "else"}
    root = fields_of(ALL["32_vendor_words"])
    assert {item.keyword for item in root.slots if not item.editable} == {"x-order", "$comment", "propertyOrdering"}
    wrong = field_of_file("40_wrong_shapes", "properties", "a")
    assert {item.keyword for item in wrong.slots if item.present and not item.editable} == {"minLength", "description"}
    ghost = slot(fields_of(ALL["43_object_without_type"]), "required")
    assert ghost is not None
    assert not ghost.editable


def test_slots_fit_what_they_hold() -> None:
    unit = field_of_file("01_weather", "properties", "unit")
    assert [(item.keyword, item.editor, item.value) for item in unit.slots if item.present] == [
        ("type", "types", "string"),
        ("enum", "choices", ["celsius", "fahrenheit"]),
        ("default", "text", "celsius"),
    ]
    assert slot(unit, "minLength") is not None
    assert slot(unit, "minimum") is None
    closed = slot(fields_of(ALL["02_one_line"]), "additionalProperties")
    assert closed is not None
    assert (closed.editor, closed.value) == ("flag", False)
    headers = field_of_file("09_map_of_strings", "properties", "headers")
    assert slot(headers, "additionalProperties") is None
    assert headers.children[0].role == "additional"


def test_nearest_field_is_found() -> None:
    assert field_of_file("04_defs_ref", "properties", "weight_kg", "maximum").path == ("properties", "weight_kg")
    assert field_of_file("04_defs_ref", "required", 0).path == ()


def test_pointers_lead_to_their_target() -> None:
    for path in [("$defs", "a/b~c"), ("properties", "ключ с пробелом"), (), ("prefixItems", 0, "x%20y")]:
        root: Any = "found"
        for step in reversed(path):
            root = {step: root} if isinstance(step, str) else [root]
        assert target_of(root, pointer_of(path)) == path
        assert reach(root, path) == "found"
    assert target_of({"a": [1]}, "#/a/9") is None
    assert target_of({"a": [1]}, "#/a/²") is None
    assert target_of({}, "other.json#/a") is None
    with pytest.raises(LookupError):
        reach({"a": [1]}, ("a", "b"))
    loop = {"a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}}
    assert resolved(loop, loop["a"]) is None
    assert resolved({"a": {"type": "string"}}, {"$ref": "#/a"}) == {"type": "string"}
