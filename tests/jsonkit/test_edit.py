from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.jsonkit.edit import drop, insert_item, insert_member, move, put, remove_member, rename_key, set_value
from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.tree import find, parse
from playground.jsonkit.values import Path, same
from tests.jsonkit.texts import KEYS, texts, values

LAID_OUT = """{
  "type": "object",
  "properties": {
    "a": {"type": "string"},
    "b": {"type": "integer", "enum": [1, 2]}
  },
  "required": ["a"]
}
"""


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*path, number))


def reach(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def changed_only(before: str, after: str, start: int, end: int) -> bool:
    """Return whether the two differ only in ``[start, end)`` of the first."""
    tail = len(before) - end
    return after[:start] == before[:start] and (not tail or after[-tail:] == before[-tail:])


@given(texts(), values(4), st.data())
@settings(max_examples=40, deadline=None)
def test_setting_a_value_changes_that_value_and_no_other_byte(
    pair: tuple[str, Any], new: Any, data: st.DataObject
) -> None:
    text, value = pair
    path = data.draw(st.sampled_from(list(places(value))))
    expected = copy.deepcopy(value)
    if path:
        reach(expected, path[:-1])[path[-1]] = new
    else:
        expected = new
    node = find(parse(text), path)
    assert node is not None
    after = set_value(text, path, new)
    assert same(json.loads(after), expected)
    assert changed_only(text, after, node.start, node.end)
    assert set_value(text, path, reach(value, path)) == text
    assert after.encode()  # it holds no unescaped half of a pair
    old = reach(value, path)
    if not isinstance(old, dict | list) and not isinstance(new, dict | list):
        back = set_value(after, path, old)
        assert changed_only(text, back, node.start, node.end)
        assert same(json.loads(back), value)


@given(texts(st.dictionaries(KEYS, values(4), max_size=5)), st.dictionaries(KEYS, values(4), max_size=5))
@settings(max_examples=40, deadline=None)
def test_merging_keeps_the_text_of_equal_members(pair: tuple[str, Any], new: Any) -> None:
    text, value = pair
    after = set_value(text, (), new)
    assert same(json.loads(after), new)
    before_root, after_root = parse(text), parse(after)
    for key in value.keys() & new.keys():
        if same(value[key], new[key]):
            first, second = find(before_root, (key,)), find(after_root, (key,))
            assert first is not None
            assert second is not None
            assert text[first.start : first.end] == after[second.start : second.end]


@given(texts(), KEYS, values(4), st.integers(0, 6), st.data())
@settings(max_examples=40, deadline=None)
def test_inserting_adds_and_removing_takes_it_out_again(
    pair: tuple[str, Any], key: str, new: Any, place: int, data: st.DataObject
) -> None:
    text, value = pair
    path = data.draw(st.sampled_from(list(places(value))))
    target = reach(value, path)
    node = find(parse(text), path)
    assert node is not None
    if isinstance(target, dict):
        if key in target:
            with pytest.raises(JsonTextError, match="already there"):
                insert_member(text, path, key, new)
            return
        after = insert_member(text, path, key, new, place)
        expected: Any = list(target)
        expected.insert(place, key)
        assert list(reach(json.loads(after), path)) == expected
        assert same(reach(json.loads(after), (*path, key)), new)
        back = remove_member(after, (*path, key))
    elif isinstance(target, list):
        after = insert_item(text, path, new, place)
        expected = [*target[:place], new, *target[place:]]
        assert same(reach(json.loads(after), path), expected)
        back = remove_member(after, (*path, min(place, len(target))))
    else:
        return
    assert len(after) > len(text)
    assert changed_only(text, after, node.start, node.end)
    if target:
        assert back == text
    assert same(json.loads(back), value)


@given(texts(), st.data())
@settings(max_examples=40, deadline=None)
def test_removing_renaming_and_moving(pair: tuple[str, Any], data: st.DataObject) -> None:
    text, value = pair
    inner = [path for path in places(value) if path]
    if not inner:
        return
    path = data.draw(st.sampled_from(inner))
    parent = find(parse(text), path[:-1])
    assert parent is not None
    expected = copy.deepcopy(value)
    del reach(expected, path[:-1])[path[-1]]
    after = remove_member(text, path)
    assert same(json.loads(after), expected)
    assert changed_only(text, after, parent.start, parent.end)
    siblings = reach(value, path[:-1])
    to = data.draw(st.integers(0, len(siblings) - 1))
    moved = move(text, path, to)
    assert changed_only(text, moved, parent.start, parent.end)
    if isinstance(path[-1], str):
        keys = [key for key in siblings if key != path[-1]]
        keys.insert(to, path[-1])
        assert list(reach(json.loads(moved), path[:-1])) == keys
        assert same(json.loads(moved), value)
        renamed = rename_key(text, path, "other name")
        result = reach(json.loads(renamed), path[:-1])
        assert list(result) == ["other name" if key == path[-1] else key for key in siblings]
        assert json.loads(rename_key(renamed, (*path[:-1], "other name"), path[-1])) == value
    else:
        items = [item for number, item in enumerate(siblings) if number != path[-1]]
        items.insert(to, siblings[path[-1]])
        assert same(reach(json.loads(moved), path[:-1]), items)


def test_added_member_has_the_layout_of_its_neighbours() -> None:
    assert insert_member(LAID_OUT, ("properties",), "c", {"type": "array", "items": {"type": "string"}}) == (
        LAID_OUT.replace(
            '"enum": [1, 2]}\n', '"enum": [1, 2]},\n    "c": {"type": "array", "items": {"type": "string"}}\n'
        )
    )
    assert insert_item(LAID_OUT, ("required",), "b") == LAID_OUT.replace('["a"]', '["a", "b"]')
    assert insert_item(LAID_OUT, ("properties", "b", "enum"), 3, 0) == LAID_OUT.replace("[1, 2]", "[3, 1, 2]")
    assert put(LAID_OUT, ("properties", "a", "description"), "x") == LAID_OUT.replace(
        '{"type": "string"}', '{"type": "string", "description": "x"}'
    )
    assert put(LAID_OUT, ("$defs", "N"), {"type": "object", "required": ["q"]}) == LAID_OUT.replace(
        '"required": ["a"]\n',
        '"required": ["a"],\n  "$defs": {\n    "N": {\n      "type": "object",\n      "required": ["q"]\n    }\n  }\n',
    )


def test_every_layout_is_kept() -> None:
    assert insert_member('{"a":1}', (), "b", [1, {"c": 2}]) == '{"a":1,"b":[1,{"c":2}]}'
    assert insert_member('{ "a": 1 }', (), "b", 2) == '{ "a": 1, "b": 2 }'
    assert insert_member('{\r\n\t"a" : 1\r\n}', (), "b", {"c": 2}) == (
        '{\r\n\t"a" : 1,\r\n\t"b" : {\r\n\t\t"c" : 2\r\n\t}\r\n}'
    )
    assert insert_member('{\n    "a": 1\n  , "b": 2\n}', (), "c", 3) == '{\n    "a": 1\n  , "b": 2\n  , "c": 3\n}'
    assert insert_member("{}", (), "a", 1) == '{\n  "a": 1\n}'
    assert insert_item('{"a": [1, 2], "b": []}', ("b",), 1) == '{"a": [1, 2], "b": [1]}'
    assert insert_item('{\n  "b": []\n}', ("b",), 1) == '{\n  "b": [\n    1\n  ]\n}'
    assert insert_item('{\n "a": [1],\n "b": []\n}', ("b",), {"c": 1}) == (
        '{\n "a": [1],\n "b": [\n  {\n   "c": 1\n  }\n ]\n}'
    )
    assert remove_member('{ "a": 1 }', ("a",)) == "{ }"
    assert remove_member('{\n  "a": 1\n}', ("a",)) == "{}"
    assert remove_member('{"a": 1, "b": 2,\n "c": 3}', ("b",)) == '{"a": 1, "c": 3}'
    assert set_value('{"a": {"type": "string"}}', ("a", "type"), ["string", "null"]) == (
        '{"a": {"type": ["string", "null"]}}'
    )
    assert set_value('{"a": "\\u00e9"}', ("a",), "ü") == '{"a": "\\u00fc"}'
    assert set_value('{"a": "é"}', ("a",), "ü") == '{"a": "ü"}'
    assert set_value('{"a": 1}', ("a",), "\ud800") == '{"a": "\\ud800"}'


def test_numbers_are_left_as_they_are_written() -> None:
    text = '{"a": 1.50, "b": 1e3, "c": ' + "9" * 5000 + "}"
    assert set_value(text, ("a",), 1.5) == text
    assert insert_member(text, (), "d", 1) == text[:-1] + ', "d": 1}'
    assert set_value(text, ("b",), 1000) == text.replace("1e3", "1000")
    assert set_value(text, ("c",), 1) == '{"a": 1.50, "b": 1e3, "c": 1}'


def test_doubled_keys() -> None:
    text = '{"a": 1, "b": 2, "a": 3}'
    assert set_value(text, ("a",), 4) == '{"a": 1, "b": 2, "a": 4}'
    assert remove_member(text, ("a",)) == '{"b": 2}'
    assert rename_key(text, ("a",), "c") == '{"c": 1, "b": 2, "c": 3}'
    assert move(text, ("b",), 0) == '{"b": 2, "a": 1, "a": 3}'
    with pytest.raises(JsonTextError, match="2 times"):
        move(text, ("a",), 1)


def test_impossible_edit_is_refused_with_its_place() -> None:
    text = '{\n  "a": [1],\n  "b": 2\n}'
    with pytest.raises(JsonTextError, match="line 2, column 8: there is no “5”"):
        set_value(text, ("a", 5), 1)
    with pytest.raises(JsonTextError, match="line 2, column 8: this is not an object"):
        insert_member(text, ("a",), "k", 1)
    with pytest.raises(JsonTextError, match="line 2, column 8: an item of an array has no name"):
        rename_key(text, ("a", 0), "k")
    with pytest.raises(JsonTextError, match="not inside anything"):
        remove_member(text, ())
    with pytest.raises(JsonTextError, match="already there"):
        rename_key(text, ("a",), "b")
    with pytest.raises(JsonTextError, match="double quotes"):
        drop("{", ("a",))
    with pytest.raises(JsonTextError, match="not JSON"):
        set_value(text, ("b",), float("nan"))
    assert drop(text, ("c", "d")) == text


def test_hostile_text_is_edited_or_refused_but_never_crashes() -> None:
    deep = "[" * 10_000 + "]" * 10_000
    assert set_value(deep, (), 1) == "1"
    assert insert_item(deep, (), 1) == deep[:-1] + ", 1]"
    value: Any = 1
    for _ in range(10_000):
        value = [value]
    with pytest.raises(JsonTextError, match="nested too deeply"):
        set_value("[1]", (), value)
    with pytest.raises(JsonTextError):
        set_value("[" * 10_000, (), 1)
    assert set_value('{"\\ud800": 1}', ("\ud800",), 2) == '{"\\ud800": 2}'
    many = "[" + "1," * 10_000 + "2]"
    assert set_value(many, (10_000,), 3) == many[:-2] + "3]"
