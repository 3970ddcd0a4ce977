"""Model lists in all their shapes."""

from __future__ import annotations

from typing import Any

from playground.gateway.models import ModelList, read_models
from tests.support.each_case import each_case


def nested(depth: int) -> Any:
    """A list inside that many objects."""
    value: Any = ["a"]
    for _ in range(depth):
        value = {"data": value}
    return value


@each_case(
    ("value", "ids"),
    [
        ({"object": "list", "data": [{"id": "a"}, {"id": "b"}, {"id": "a"}]}, ["a", "b"]),
        ({"data": [{"id": "a", "display_name": "A"}], "has_more": False}, ["a"]),
        ({"models": [{"name": "a"}, {"model": "b", "name": "B"}, {"model_id": "c"}]}, ["a", "b", "c"]),
        (["a", {"id": "b"}, "", 7, None, {"x": 1}], ["a", "b"]),
        ({"data": {"models": ["a"]}}, ["a"]),
        ({"data": [{"id": 7, "name": "Seven"}, {"id": 8.5}, {"id": True}]}, ["7", "8.5"]),
        ({"models": [{"model": 70}, {"name": 8}]}, ["70", "8"]),
        ({"data": [{"id": 1, "model_name": "gpt-x"}]}, ["gpt-x"]),
        ({"models": {"a/b": {"context": 1}, "c": {}}}, ["a/b", "c"]),
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
def test_model_lists_of_each_shape_are_read(value: Any, ids: list[str] | None) -> None:
    result = read_models(value)
    assert (None if result is None else [model.id for model in result]) == ids


@each_case(
    ("members", "chat", "messages"),
    [
        ({"supported_endpoint_types": ["openai", "anthropic"]}, True, True),
        ({"supported_endpoint_types": ["openai-response", "openai"]}, True, False),
        ({"supported_endpoints": ["/v1/messages/"]}, False, True),
        ({"supported_endpoints": ["/chat/completions", "/responses"]}, True, False),
        ({"endpoints": ["/v1/embeddings"]}, False, False),
        ({"endpoints": [{"path": "/v1/messages"}]}, None, None),
        ({"supported_endpoints": []}, None, None),
        ({"supported_endpoints": "messages"}, None, None),
        ({"supported_endpoints": ["messages", 7]}, None, None),
        ({}, None, None),
    ],
)
def test_protocols_of_a_model_are_read(members: dict[str, Any], chat: bool | None, messages: bool | None) -> None:
    model_list = ModelList(tuple(read_models([{"id": "m", **members}, "other"]) or ()))
    assert (model_list.serves("m", "chat"), model_list.serves("m", "messages")) == (chat, messages)
    assert model_list.serves("other", "chat") is None
    assert model_list.serves("not listed", "chat") is None
    assert model_list.served("messages") == (("m",) if messages else ())
