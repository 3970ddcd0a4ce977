"""Merging by RFC 7396, with null as a value: the examples of its appendix, laws, and values nested very deeply."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from playground.jsonkit.merge import at_path, clashes, holds, merged
from tests.support.each_case import each_case

leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)
values = st.recursive(leaves, lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=8)


@each_case(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d"}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ([1, 2], {"a": "b"}, {"a": "b"}),
        ({}, {"a": {"bb": {}}}, {"a": {"bb": {}}}),
        ({"a": "b"}, {"a": None}, {"a": None}),  # here the standard takes the member out
        ({"a": {"b": "c"}}, {"a": {"b": None, "d": 1}}, {"a": {"b": None, "d": 1}}),
    ],
)
def test_one_value_is_laid_over_another(target: Any, patch: Any, result: Any) -> None:
    before = copy.deepcopy((target, patch))
    assert merged(target, patch) == result
    assert (target, patch) == before


@given(values, values, values)
def test_merging_is_idempotent_and_keeps_the_patch(first: Any, second: Any, third: Any) -> None:
    assert merged(first, first) == first
    assert merged({}, second) == second
    once = merged(first, second)
    assert merged(once, second) == once, "twice is once"
    if all(isinstance(value, dict) for value in (first, second, third)):
        for path, value in leaves_of(third):
            assert at_path(merged(once, third), path) == value
            assert holds(third, path)


def leaves_of(value: dict[str, Any], above: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    out: list[tuple[tuple[str, ...], Any]] = []
    for name, inner in value.items():
        if isinstance(inner, dict) and inner:
            out += leaves_of(inner, (*above, name))
        elif inner != {}:
            out.append(((*above, name), inner))
    return out


def test_depth_is_no_obstacle() -> None:
    def nested(levels: int, leaf: str) -> dict[str, Any]:
        value: dict[str, Any] = {leaf: 1}
        for _ in range(levels):
            value = {"a": value}
        return value

    both = merged(nested(5_000, "x"), nested(5_000, "y"))
    for _ in range(5_000):
        both = both["a"]
    assert both == {"x": 1, "y": 1}
    assert len(list(clashes(nested(3_000, "x"), nested(3_000, "x")))) == 1


def test_patch_holds_its_paths_and_clashes_are_named() -> None:
    patch = {"a": {"b": 1, "e": {}}, "n": None, "list": [1]}
    decided = [("a", "b"), ("a", "b", "deeper"), ("a", "e"), ("n",), ("list",)]
    assert all(holds(patch, path) for path in decided)
    assert not any(holds(patch, path) for path in [("a",), ("a", "c"), ("x",), ("a", "e", "f")])
    assert sorted(clashes({"a": {"b": 2, "c": 1}, "n": {"x": 1}, "z": 1}, patch)) == [("a", "b"), ("n",)]
