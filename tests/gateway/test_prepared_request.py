"""The body of a request as bytes."""

from __future__ import annotations

import json

import pytest

from playground.gateway.prepared_request import encode_json
from playground.jsonkit.values import JSON, JSONObject


def test_long_list_is_written_like_a_short_one() -> None:
    for count in (0, 1, 1_000):
        messages: list[JSON] = [{"role": "user", "content": f'{number}, "é"\n'} for number in range(count)]
        body: JSONObject = {"model": "m", "messages": messages, 'a "name"': [[], {}, None, 1.5]}
        assert encode_json(body) == json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def test_empty_body_is_an_empty_object() -> None:
    assert encode_json({}) == b"{}"


def test_lone_surrogate_goes_out_escaped() -> None:
    assert encode_json({"messages": ["a\ud800b"]}) == b'{"messages":["a\\ud800b"]}'


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_json_does_not_have_are_refused_at_any_place(number: float) -> None:
    with pytest.raises(ValueError, match="does not have"):
        encode_json({"temperature": number})
    with pytest.raises(ValueError, match="does not have"):
        encode_json({"messages": [*range(500), {"content": [number]}]})


def test_value_nested_too_deeply_is_refused() -> None:
    deep: JSON = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply"):
        encode_json({"messages": [deep]})
