from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from playground.jsonkit.edit import move
from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.schema_edit import (
    add_property,
    clear_slot,
    free_name,
    remove_property,
    rename_definition,
    rename_property,
    set_nullable,
    set_required,
    set_slot,
    set_types,
)
from playground.jsonkit.schema_fields import Field, field_at, fields_of, slot, walk
from playground.jsonkit.schema_refs import reach
from playground.jsonkit.schema_slots import Slot
from playground.jsonkit.tree import find, parse
from playground.jsonkit.values import same
from tests.jsonkit.schemas import FILES, read
from tests.support.each_case import each_case

REPLACEMENTS: dict[str, Any] = {
    "text": "other text",
    "lines": "two\nlines",
    "number": 7.25,
    "count": 7,
    "flag": True,
    "types": ["string", "boolean"],
    "choices": ["other", 3],
    "json": {"other": [1, {"deep": None}]},
}


def all_slots(text: str) -> list[tuple[Field, Slot]]:
    return [(field, slot) for field in walk(fields_of(json.loads(text))) for slot in field.slots]


def alike_around(before: str, after: str, start: int, end: int) -> bool:
    tail = len(before) - end
    return after[:start] == before[:start] and (tail == 0 or after[-tail:] == before[-tail:])


@each_case("path", FILES)
def test_every_slot_can_be_set_and_set_back_without_a_trace(path: Path) -> None:
    text = read(path)
    start_at = FILES.index(path) % 4  # each file has another quarter
    for field, item in all_slots(text)[start_at::4]:
        new = REPLACEMENTS[item.editor] if not same(REPLACEMENTS[item.editor], item.value) else False
        changed = set_slot(text, item, new)
        assert same(reach(json.loads(changed), item.path), new), item
        root = parse(text)
        node, around = find(root, item.path), find(root, item.path[:-1])
        assert around is not None
        start, end = (node.start, node.end) if node is not None else (around.start, around.end)
        assert alike_around(text, changed, start, end), item
        if item.present and not isinstance(item.value, list | dict):
            back = set_slot(changed, item, item.value)
            assert same(json.loads(back), json.loads(text))
            number = type(item.value) in (int, float)
            assert back == text or number or "\\" in text, (item, back)  # 1E3 comes back as 1000.0, \u00e9 as é
        elif item.present:
            assert same(json.loads(set_slot(changed, item, item.value)), json.loads(text))
        else:
            assert clear_slot(changed, item) == text, item
        assert set_slot(text, item, item.value) == text or not item.present
        assert field.kind


@each_case("path", FILES)
def test_lists_of_choices_grow_and_shrink_in_place(path: Path) -> None:
    text = read(path)
    for _, item in all_slots(text):
        if item.editor == "choices" and item.present:
            more = set_slot(text, item, [*item.value, "one more"])
            assert set_slot(more, item, item.value) == text
            fewer = set_slot(text, item, item.value[1:])
            assert same(reach(json.loads(fewer), item.path), item.value[1:])


@each_case("path", FILES)
def test_form_shows_every_keyword_of_a_schema(path: Path) -> None:
    value = json.loads(read(path))
    for field in walk(fields_of(value)):
        if not isinstance(field.schema, dict):
            continue
        displayed = (
            {item.path for item in field.slots if item.present}
            | {child.path for child in field.children}
            | {field.core}
        )
        for spot in (field.path, field.core):
            for key, inner in reach(value, spot).items():
                current = (*spot, key)
                empty = inner in ({}, []) or (key == "required" and isinstance(inner, list))
                assert empty or any(path[: len(current)] == current for path in displayed), current


@each_case("path", FILES)
def test_properties_come_and_go_without_a_trace(path: Path) -> None:
    text = read(path)
    root = fields_of(json.loads(text))
    doubled = "doubled" in path.stem
    for field in walk(root):
        if field.kind == "object" and isinstance(reach(json.loads(text), field.core).get("properties"), dict):
            names = list(reach(json.loads(text), field.core)["properties"])
            for position in (None, 0):
                name = free_name(names, "fresh")
                added = add_property(text, field.core, name, index=position)
                assert reach(json.loads(added), (*field.core, "properties", name)) == {"type": "string"}
                assert remove_property(added, (*field.core, "properties", name)) == text
        if field.role == "property" and not doubled:
            siblings = list(reach(json.loads(text), field.path[:-1]))
            new_path = (*field.path[:-1], "renamed")
            renamed = rename_property(text, field.path, "renamed")
            assert "renamed" in reach(json.loads(renamed), field.path[:-1])
            back = rename_property(renamed, new_path, field.name)
            assert same(json.loads(back), json.loads(text))
            assert back == text or "\\" in text
            position = siblings.index(field.name)
            for to in {0, len(siblings) - 1}:
                assert same(json.loads(move(text, field.path, to)), json.loads(text))
                moved = move(text, field.path, to)
                assert list(reach(json.loads(moved), field.path[:-1])).index(field.name) == to
                again = move(moved, field.path, position)
                assert list(reach(json.loads(again), field.path[:-1])) == siblings


@each_case("path", FILES)
def test_required_and_nullable_switch_over_and_back(path: Path) -> None:
    text = read(path)
    for field in walk(fields_of(json.loads(text))):
        if field.required is not None and path.stem != "40_wrong_shapes":
            second = set_required(text, field.path, not field.required)
            changed = field_at(fields_of(json.loads(second)), field.path)
            assert changed is not None
            assert changed.required is not field.required
            back = set_required(second, field.path, field.required)
            first = reach(json.loads(back), field.path[:-2])
            two = reach(json.loads(text), field.path[:-2])
            assert sorted(first.get("required", [])) == sorted(two.get("required", []))
            assert {**first, "required": 0} == {**two, "required": 0}
            if not field.required:
                assert back == text, field.path
        if isinstance(field.schema, dict) and field.kind != "null":
            second = set_nullable(text, field, not field.nullable)
            changed = field_at(fields_of(json.loads(second)), field.path)
            assert changed is not None
            assert changed.nullable is not field.nullable or field.kind == "several", field
            if not field.nullable:
                back = set_nullable(second, changed, on=False)
                assert same(json.loads(back), json.loads(text)), (text, second, back)


def test_types_of_this_or_null_go_to_the_part_that_is_not_null() -> None:
    text = '{"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}'
    assert set_types(text, ("properties", "a"), ("integer", "null")) == text.replace("string", "integer")
    assert set_types('{"a": 1}', (), ("string",)) == '{"type": "string", "a": 1}'
    assert set_types('{"type": "string"}', (), ("string", "null")) == '{"type": ["string", "null"]}'
    assert set_types('{"type": "string", "a": 1}', (), ()) == '{"a": 1}'


def test_renamed_property_stays_required_and_referred_to() -> None:
    text = '{"properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}, "required": ["b", "a"]}'
    assert rename_property(text, ("properties", "a"), "x/y") == (
        '{"properties": {"x/y": {"type": "string"}, "b": {"$ref": "#/properties/x~1y"}}, "required": ["b", "x/y"]}'
    )
    with pytest.raises(JsonTextError, match="already there"):
        rename_property(text, ("properties", "a"), "b")
    with pytest.raises(JsonTextError, match="not a property"):
        rename_property(text, ("required", 0), "b")


def test_references_follow_a_renamed_definition_but_data_stays() -> None:
    text = (
        '{"$defs": {"A": {"type": "object", "properties": {"x": {"$ref": "#/$defs/A"}}}}, "$ref": "#/$defs/A",'
        ' "items": {"$ref": "#/$defs/A/properties/x"}, "default": {"$ref": "#/$defs/A"}}'
    )
    new = rename_definition(text, ("$defs", "A"), "Node B")
    value = json.loads(new)
    assert value["$ref"] == "#/$defs/Node%20B"
    assert value["items"]["$ref"] == "#/$defs/Node%20B/properties/x"
    assert value["$defs"]["Node B"]["properties"]["x"]["$ref"] == "#/$defs/Node%20B"
    assert value["default"] == {"$ref": "#/$defs/A"}
    assert rename_definition(new, ("$defs", "Node B"), "A") == text


def test_name_becomes_required_in_the_order_of_the_properties() -> None:
    text = '{"properties": {"a": {}, "b": {}, "c": {}}, "required": ["a", "c"]}'
    assert set_required(text, ("properties", "b"), on=True).endswith('["a", "b", "c"]}')
    bare = '{\n  "properties": {"a": {}},\n  "additionalProperties": false\n}'
    assert set_required(bare, ("properties", "a"), on=True) == (
        '{\n  "properties": {"a": {}},\n  "required": [\n    "a"\n  ],\n  "additionalProperties": false\n}'
    )
    with pytest.raises(JsonTextError, match="must be a list"):
        set_required('{"properties": {"a": {}}, "required": 1}', ("properties", "a"), on=True)


def test_true_becomes_an_object_when_a_keyword_is_set() -> None:
    item = Slot("description", ("a", "description"), "lines", False, None, "", True)
    assert set_slot('{"a": true}', item, "x") == '{"a": {"description": "x"}}'
    with pytest.raises(JsonTextError):
        set_slot('{"a": false}', item, "x")


def test_null_is_allowed_and_forbidden_again() -> None:
    def switched(text: str, on: bool) -> str:
        return set_nullable(text, fields_of(json.loads(text)), on)

    assert switched('{"type": "string", "enum": ["a"]}', True) == '{"type": ["string", "null"], "enum": ["a", null]}'
    assert switched('{"type": ["string", "null"], "enum": ["a", null]}', False) == '{"type": "string", "enum": ["a"]}'
    assert switched('{"$ref": "#/x", "description": "d"}', True) == (
        '{"anyOf": [{"$ref": "#/x"}, {"type": "null"}], "description": "d"}'
    )
    assert switched('{"anyOf": [{"$ref": "#/x"}, {"type": "null"}], "description": "d"}', False) == (
        '{"$ref": "#/x", "description": "d"}'
    )
    assert switched('{"oneOf": [{"type": "string"}, {"type": "number"}]}', True) == (
        '{"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]}'
    )


def test_free_names() -> None:
    assert free_name([]) == "name"
    assert free_name(["a", "a_2"], "a") == "a_3"


def test_hostile_schemas_make_a_form() -> None:
    deep: Any = {"type": "string"}
    for _ in range(300):
        deep = {"type": "object", "properties": {"a": deep}}
    fields = list(walk(fields_of(deep)))
    assert fields[-1].problem == "nested too deeply for the form"
    assert len(fields) < 100
    odd_ones: list[Any] = [5, None, [], "x", {"type": 5}, {"properties": []}, {"anyOf": [1, None]}, {"enum": {}}]
    for odd in odd_ones:
        assert [field.kind for field in walk(fields_of(odd))]
        assert all(slot(field, item.keyword) is not None for field in walk(fields_of(odd)) for item in field.slots)
    loop = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert len(list(walk(fields_of(loop)))) == 3
