"""Checks that could take long are refused in this process, however small the schema is; ordinary ones are not."""

from __future__ import annotations

from typing import Any

import pytest

from playground.jsonkit.limits import TooCostlyError, circles
from playground.jsonkit.schema_sample import sample
from playground.jsonkit.validation import check_value, schema_problem
from tests.jsonkit.schemas import schemas
from tests.support.each_case import each_case

DOUBLED: Any = {
    "$ref": "#/$defs/d0",
    "$defs": {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)} | {"d30": {"type": "null"}},
}
BINARY_TREE: Any = {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}


#: Common schemas that refer to themselves.
RECURSIVE = ("05_tree_recursive", "06_mutual_recursion", "37_self_reference")


def tree(depth: int) -> Any:
    return {"left": tree(depth - 1), "right": tree(depth - 1)} if depth else {}


@each_case(
    ("value", "schema"),
    [
        (1, DOUBLED),
        (1, {"allOf": [{"$ref": "#"}]}),
        (tree(1), BINARY_TREE),
        (1, {"allOf": [{"$dynamicRef": "#"}]}),
        (1, {"$dynamicRef": "#"}),
        ([1] * 10_000, {"items": {"type": "integer"}}),
        ("a" * 1_000_000, {"pattern": "a", "minLength": 1}),
        ({"a" * 200_000: 1}, {"patternProperties": {f"{n}$": {} for n in range(30)}}),
        (1, {"properties": {str(number): {} for number in range(3_000)}}),
        (1, {"pattern": "a" * 1_000}),
        (1, {"properties": {"a": {"$id": "https://example.org/b"}}}),
        ([1] * 200, {"unevaluatedItems": False, "allOf": [{"unevaluatedItems": False, "allOf": [{}] * 20}] * 5}),
    ],
)
def test_check_beyond_the_bounds_is_refused(value: Any, schema: Any) -> None:
    with pytest.raises(TooCostlyError):
        check_value(value, schema)


@each_case(("name", "schema"), [case for case in schemas() if case[0] not in {*RECURSIVE, "40_wrong_shapes"}])
def test_check_of_a_common_schema_is_within_the_bounds(name: str, schema: Any) -> None:
    assert check_value(sample(schema), schema) == []
    assert schema_problem(schema) is None


@pytest.mark.parametrize("name", RECURSIVE)
def test_check_of_a_recursive_schema_is_refused(name: str) -> None:
    with pytest.raises(TooCostlyError):
        check_value({}, dict(schemas())[name])


def test_schema_with_many_references_to_small_parts_is_within_the_bounds() -> None:
    parts = {f"p{number}": {"$ref": "#/$defs/text"} for number in range(40)}
    assert check_value(dict.fromkeys(parts, "a"), {"properties": parts, "$defs": {"text": {"type": "string"}}}) == []


def test_circle_is_a_reference_to_itself_for_the_same_value() -> None:
    assert circles({"allOf": [{"$ref": "#"}]})
    assert circles({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"not": {"$ref": "#/$defs/b"}}}})
    assert not circles(BINARY_TREE)
    assert not circles(DOUBLED)
