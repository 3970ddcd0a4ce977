"""Values that lie deeply in one another, alike on every Python."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.jsonkit import foreign, reading
from playground.jsonkit.nesting import DEEPEST, deeper, loads
from tests.support.each_case import each_case


def nested(levels: int, by: str = "[") -> str:
    return "[" * levels + "1" + "]" * levels if by == "[" else '{"a":' * levels + "1" + "}" * levels


@each_case("by", ["[", "{"])
@each_case(
    ("read", "error"),
    [
        (loads, RecursionError),
        (foreign.parse, ValueError),
        (reading.parse_json, ValueError),
    ],
)
def test_depth_limit_is_the_same_for_each_reader(read: Any, error: type[Exception], by: str) -> None:
    assert read(nested(DEEPEST, by)) == json.loads(nested(DEEPEST, by))
    for levels in (DEEPEST + 1, 5_000, 100_000):
        with pytest.raises(error, match="nested too deeply" if error is ValueError else None):
            read(nested(levels, by))


def test_long_list_is_not_deep() -> None:
    assert loads(b"[" + b"[{}]," * 10_000 + b"{}]") == [*[[{}]] * 10_000, {}]


def test_empty_containers_do_not_count_as_levels() -> None:
    assert not deeper(1, 0)
    assert not deeper([], 0)
    assert deeper([1], 0)
    assert deeper({"a": [{"b": 1}]}, 2)
    assert not deeper({"a": [{"b": 1}]}, 3)
