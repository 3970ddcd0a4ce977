"""Model lists in all their shapes."""

from __future__ import annotations

from typing import Any

import pytest

from playground.gateway.models import read_models


def nested(depth: int) -> Any:
    """A list inside that many objects."""
    value: Any = ["a"]
    for _ in range(depth):
        value = {"data": value}
    return value


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ({"object": "list", "data": [{"id": "a"}, {"id": "b"}, {"id": "a"}]}, ["a", "b"]),
        ({"data": [{"id": "a", "display_name": "A"}], "has_more": False}, ["a"]),
        ({"models": [{"name": "a"}, {"model": "b", "name": "B"}, {"model_id": "c"}]}, ["a", "b", "c"]),
        (["a", {"id": "b"}, "", 7, None, {"x": 1}], ["a", "b"]),
        ({"data": {"models": ["a"]}}, ["a"]),
        ({"data": []}, []),
        ({"data": None}, None),
        ({"ok": True}, None),
        ("text", None),
        (None, None),
        (nested(900), None),
        (["a\ud83d"], ["a\ufffd"]),
        ([{"id": "\ud83d\ude00"}], ["\U0001f600"]),
    ],
)
def test_shapes(value: Any, ids: list[str] | None) -> None:
    found = read_models(value)
    assert (None if found is None else [model.id for model in found]) == ids
