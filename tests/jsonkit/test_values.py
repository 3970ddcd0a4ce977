from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given, settings

from playground.jsonkit.values import same
from tests.jsonkit.texts import values


@given(values())
@settings(max_examples=30, deadline=None)
def test_value_is_the_same_as_its_copy(value: Any) -> None:
    assert same(value, json.loads(json.dumps(value)))


def test_numbers_and_truth_are_told_apart() -> None:
    assert not same(1, True)
    assert not same(1, 1.0)
    assert not same([0], [False])
    assert same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not same(0.0, -0.0)
    assert same([math.nan], [math.nan])
    assert same((1, "a"), [1, "a"])
    assert not same([1], [1, 2])
    assert not same({"a": None}, {"b": None})
    assert not same(None, False)


def test_numbers_are_equal_by_value_for_a_schema() -> None:
    assert same([1], [1.0], exact=False)
    assert not same(1, True, exact=False)
    assert not same([0.0], [False], exact=False)
    assert not same(1, "1", exact=False)


def test_deep_values_are_compared() -> None:
    first: Any = 1
    second: Any = 1
    for _ in range(10_000):
        first, second = [first], [second]
    assert same(first, second)
    assert not same(first, [second])
