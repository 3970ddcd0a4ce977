"""Records of reasoning put together from fragments: which fragment belongs to which record."""

from __future__ import annotations

from typing import Any

from playground.domain.records import Records
from tests.support.each_case import each_case

TYPED = {"type": "y", "text": "b"}
NAMED = {"id": "2", "text": "b"}
PLACED = {"index": 0, "data": "Y"}


def joined(*lists: list[Any]) -> list[Any]:
    records = Records()
    for fragments in lists:
        records.add(fragments)
    return records.value()


@each_case(
    ("lists", "expected"),
    [
        ([[{"text": "a"}], [{"text": "b"}]], [{"text": "ab"}]),
        ([[{"text": "a", "signature": "S"}], [{"text": "b"}]], [{"text": "a", "signature": "S"}, {"text": "b"}]),
        ([[{"text": "a", "signature": "S"}], [{"text": "a", "signature": "S"}]], [{"text": "a", "signature": "S"}]),
        ([[{"text": "a"}], [{"signature": "S"}], [{"signature": ""}]], [{"text": "a", "signature": "S"}]),
        ([[{"text": "a"}], [{"signature": "S1"}], [{"signature": "S2"}]], [{"text": "a", "signature": "S1S2"}]),
        ([[{"type": "x", "text": "a"}], [TYPED]], [{"type": "x", "text": "a"}, TYPED]),
        ([[{"id": "1", "text": "a"}], [NAMED]], [{"id": "1", "text": "a"}, NAMED]),
        ([[{"data": "X"}], [{"data": "X"}]], [{"data": "X"}, {"data": "X"}]),
        (
            [[{"index": 0, "text": "a"}], [{"index": 1, "text": "x"}], [{"index": 0, "text": "b"}]],
            [{"index": 0, "text": "ab"}, {"index": 1, "text": "x"}],
        ),
        ([[{"index": 0, "data": "X"}], [PLACED]], [{"index": 0, "data": "X"}, PLACED]),
        ([[{"text": "a", "format": None}], [{"text": "b", "format": "f"}]], [{"text": "ab", "format": "f"}]),
        ([["x", 1], [None]], ["x", 1, None]),
    ],
)  # fmt: skip
def test_fragments_are_joined_to_the_record_they_belong_to(lists: list[list[Any]], expected: list[Any]) -> None:
    assert joined(*lists) == expected
