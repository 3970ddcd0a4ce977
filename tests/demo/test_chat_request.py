"""Parameters of the chat protocol with their limits, and the structure of messages."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.demo.conftest import DemoClient, refused, tool
from tests.support.each_case import each_case

PIXEL = "data:image/gif;base64," + base64.b64encode(b"GIF89a\x01\x00\x01\x00").decode()
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
ASSISTANT = {"role": "assistant", "content": None, "tool_calls": [CALL]}
USER = {"role": "user", "content": "Hi"}


VALID: dict[str, list[Any]] = {
    "temperature": [0, 2, 0.7, None],
    "top_p": [0, 1.0],
    "presence_penalty": [-2, 2.0],
    "frequency_penalty": [-2.0, 2],
    "max_tokens": [1],
    "max_completion_tokens": [1],
    "n": [1, 16, None],
    "stop": ["x", ["a", "b", "c", "d"], [], None],
    "seed": [-7],
    "user": ["someone"],
    "stream": [None],
    "stream_options": [{"include_usage": True}],
    "response_format": [{"type": "text"}, None],
    "reasoning_effort": ["minimal", "high"],
    "tools": [[], None],
    "tool_choice": ["none", None],
    "some_new_parameter": [{"any": "thing"}],
}


@each_case(("name", "value"), [(name, value) for name, values in VALID.items() for value in values])
def test_valid_parameter_is_accepted(client: DemoClient, name: str, value: Any) -> None:
    response = client.chat(**{name: value})
    assert response.status_code == 200, response.text


def schema_format(**fields: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": fields}


INVALID: dict[str, list[Any]] = {
    "model": [None, 5, ""],
    "temperature": [-0.1, 2.01, "hot", True, 10**400],
    "top_p": [-0.01, 1.5],
    "presence_penalty": [-2.1, 2.1],
    "frequency_penalty": [-2.1, 3],
    "max_tokens": [0, 1.5],
    "max_completion_tokens": [-1, "many"],
    "n": [0, 17, True],
    "stop": [["a", "b", "c", "d", "e"], 3, ["a", 3], ""],
    "seed": [1.5, 2**70],
    "user": [5],
    "stream": ["yes"],
    "stream_options": [[], {"include_usage": "yes"}],
    "response_format": [
        *("json", {"type": "xml"}, {"type": "json_schema"}),
        *(schema_format(name="x"), schema_format(name="a b", schema={}), schema_format(name="x" * 65, schema={})),
        schema_format(name="x", schema={"type": "strin"}),
    ],
    "reasoning_effort": ["enormous", "xhigh", 3],  # demo-chat knows no "xhigh"
    "tools": [
        *({}, [{"type": "search"}], [{"type": "function", "function": {}}]),
        *([tool("bad name")], [tool("x" * 65)], [tool(), tool()]),
        *([tool(schema={"type": "array"})], [tool(schema={"type": "object", "properties": 5})]),
    ],
    "tool_choice": ["sometimes", "required", {"type": "function", "function": {"name": "get_weather"}}, 5],
    "messages": [None, [], "hello"],
}


@each_case(("name", "value"), [(name, value) for name, values in INVALID.items() for value in values])
def test_invalid_parameter_is_refused(client: DemoClient, name: str, value: Any) -> None:
    body = {"model": "demo-chat", "messages": [USER], name: value}
    # Written by hand, because integers of any length are allowed in JSON but not in every encoder's float.
    response = client.http.post(
        "/chat/completions", content=json.dumps(body), headers={"Content-Type": "application/json"}
    )
    refused(response, 400, name)


@each_case(
    "messages",
    [
        [{"role": "system", "content": "Be brief."}, USER],
        [{"role": "developer", "content": "Be brief."}, USER],
        [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}}]}],
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]}],
        [USER, {"role": "assistant", "content": "Hello", "reasoning_content": "Hm."}, USER],
        [USER, ASSISTANT, {"role": "tool", "tool_call_id": "call_1", "content": "24"}],
        [
            USER,
            {**ASSISTANT, "content": "Let me see."},
            {"role": "tool", "tool_call_id": "call_1", "content": ""},
            USER,
        ],
    ],
)
def test_valid_messages_are_accepted(client: DemoClient, messages: list[Any]) -> None:
    response = client.chat(messages=messages)
    assert response.status_code == 200, response.text


def user(*parts: Any) -> list[Any]:
    return [{"role": "user", "content": list(parts)}]


def picture(url: str, **fields: Any) -> list[Any]:
    return user({"type": "image_url", "image_url": {"url": url, **fields}})


def calls(**fields: Any) -> list[Any]:
    return [USER, {"role": "assistant", "tool_calls": [{**CALL, **fields}]}]


def result(**fields: Any) -> dict[str, Any]:
    return {"role": "tool", "content": "24", **fields}


@each_case(
    ("messages", "word"),
    [
        (["Hi"], "messages[0]"),
        ([{"content": "Hi"}], "messages[0].role"),
        ([{"role": "wizard", "content": "Hi"}], "wizard"),
        ([{"role": ["user"], "content": "Hi"}], "messages[0].role"),
        ([{"role": "user"}], "messages[0].content"),
        ([{"role": "user", "content": 5}], "messages[0].content"),
        (user(), "messages[0].content"),
        (user("Hi"), "messages[0].content[0]"),
        (user({"type": "audio"}), "audio"),
        (user({"type": "text"}), "content[0].text"),
        (user({"type": "image_url", "image_url": PIXEL}), "image_url"),
        (user({"type": "image_url", "image_url": {}}), "image_url.url"),
        (picture("/etc/a.png"), "url"),
        (picture("data:image/png,x"), "base64"),
        (picture("data:image/png;base64,%"), "64"),
        (picture("data:a/b;base64,AA=="), "a/b"),
        (picture(PIXEL, detail="ultra"), "ultra"),
        ([USER, {"role": "assistant", "content": None}], "content"),
        ([USER, {"role": "assistant", "content": None, "tool_calls": []}], "tool_calls"),
        (calls(id=""), "id"),
        (calls(type="tool"), "type"),
        ([USER, {"role": "assistant", "tool_calls": [CALL, CALL]}], "twice"),
        (calls(function={"name": "f", "arguments": {}}), "arguments"),
        ([USER, ASSISTANT], "call_1"),
        ([USER, ASSISTANT, USER], "call_1"),
        ([USER, result()], "tool_call_id"),
        ([USER, result(tool_call_id="call_1")], "call_1"),
        ([USER, ASSISTANT, result(tool_call_id="call_2")], "call_2"),
        ([USER, ASSISTANT, {"role": "tool", "tool_call_id": "call_1"}], "content"),
        ([USER, ASSISTANT, *[result(tool_call_id="call_1")] * 2], "call_1"),
        ([{"role": "user", "content": "word " * 140_000}], "Context length exceeded"),
    ],
)
def test_invalid_messages_are_refused(client: DemoClient, messages: list[Any], word: str) -> None:
    refused(client.chat(messages=messages), 400, word)
