"""Every parameter of the chat protocol with its limits, and the structure of messages."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.demo.conftest import DemoClient, message, refused, tool
from tests.support.each_case import each_case

PIXEL = "data:image/gif;base64," + base64.b64encode(b"GIF89a\x01\x00\x01\x00").decode()
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
ASSISTANT = {"role": "assistant", "content": None, "tool_calls": [CALL]}
USER = {"role": "user", "content": "Hi"}


@each_case(
    ("name", "value"),
    [
        ("temperature", 0),
        ("temperature", 2),
        ("temperature", 0.7),
        ("temperature", None),
        ("top_p", 0),
        ("top_p", 1.0),
        ("presence_penalty", -2),
        ("presence_penalty", 2.0),
        ("frequency_penalty", -2.0),
        ("frequency_penalty", 2),
        ("max_tokens", 1),
        ("max_completion_tokens", 1),
        ("n", 1),
        ("n", 16),
        ("stop", "x"),
        ("stop", ["a", "b", "c", "d"]),
        ("stop", []),
        ("seed", -7),
        ("user", "someone"),
        ("stream_options", {"include_usage": True}),
        ("response_format", {"type": "text"}),
        ("reasoning_effort", "minimal"),
        ("reasoning_effort", "high"),
        ("tools", []),
        ("tool_choice", "none"),
        ("some_new_parameter", {"any": "thing"}),
    ],
)
def test_accepts(client: DemoClient, name: str, value: Any) -> None:
    response = client.chat(**{name: value})
    assert response.status_code == 200, response.text


@each_case(
    ("name", "value"),
    [
        ("model", None),
        ("model", 5),
        ("model", ""),
        ("temperature", -0.1),
        ("temperature", 2.01),
        ("temperature", "hot"),
        ("temperature", True),
        ("temperature", 10**400),
        ("top_p", -0.01),
        ("top_p", 1.5),
        ("presence_penalty", -2.1),
        ("presence_penalty", 2.1),
        ("frequency_penalty", -2.1),
        ("frequency_penalty", 3),
        ("max_tokens", 0),
        ("max_tokens", 1.5),
        ("max_completion_tokens", -1),
        ("max_completion_tokens", "many"),
        ("n", 0),
        ("n", 17),
        ("n", True),
        ("stop", ["a", "b", "c", "d", "e"]),
        ("stop", 3),
        ("stop", ["a", 3]),
        ("stop", ""),
        ("seed", 1.5),
        ("seed", 2**70),
        ("user", 5),
        ("stream", "yes"),
        ("stream_options", []),
        ("stream_options", {"include_usage": "yes"}),
        ("response_format", "json"),
        ("response_format", {"type": "xml"}),
        ("response_format", {"type": "json_schema"}),
        ("response_format", {"type": "json_schema", "json_schema": {"name": "x"}}),
        ("response_format", {"type": "json_schema", "json_schema": {"name": "a b", "schema": {}}}),
        ("response_format", {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "strin"}}}),
        ("response_format", {"type": "json_schema", "json_schema": {"name": "x" * 65, "schema": {}}}),
        ("reasoning_effort", "enormous"),
        ("reasoning_effort", "xhigh"),  # not supported by demo-chat
        ("reasoning_effort", 3),
        ("tools", {}),
        ("tools", [{"type": "search"}]),
        ("tools", [{"type": "function", "function": {}}]),
        ("tools", [tool("bad name")]),
        ("tools", [tool("x" * 65)]),
        ("tools", [tool(), tool()]),
        ("tools", [tool(schema={"type": "array"})]),
        ("tools", [tool(schema={"type": "object", "properties": 5})]),
        ("tool_choice", "sometimes"),
        ("tool_choice", "required"),  # without tools
        ("tool_choice", {"type": "function", "function": {"name": "get_weather"}}),
        ("tool_choice", 5),
        ("messages", None),
        ("messages", []),
        ("messages", "hello"),
    ],
)
def test_refuses(client: DemoClient, name: str, value: Any) -> None:
    body = {"model": "demo-chat", "messages": [USER], name: value}
    # Written by hand, because integers of any length are allowed in JSON but not in every encoder's float.
    response = client.http.post(
        "/chat/completions", content=json.dumps(body), headers={"Content-Type": "application/json"}
    )
    refused(response, 400, name)


def test_newer_efforts_belong_to_newer_models(client: DemoClient) -> None:
    for effort in ("none", "xhigh", "max"):
        assert client.chat(model="demo-reasoner", reasoning_effort=effort).status_code == 200


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
def test_accepts_messages(client: DemoClient, messages: list[Any]) -> None:
    response = client.chat(messages=messages)
    assert response.status_code == 200, response.text


@each_case(
    ("messages", "word"),
    [
        (["Hi"], "messages[0]"),
        ([{"content": "Hi"}], "messages[0].role"),
        ([{"role": "wizard", "content": "Hi"}], "wizard"),
        ([{"role": ["user"], "content": "Hi"}], "messages[0].role"),
        ([{"role": "user"}], "messages[0].content"),
        ([{"role": "user", "content": 5}], "messages[0].content"),
        ([{"role": "user", "content": []}], "messages[0].content"),
        ([{"role": "user", "content": ["Hi"]}], "messages[0].content[0]"),
        ([{"role": "user", "content": [{"type": "audio"}]}], "audio"),
        ([{"role": "user", "content": [{"type": "text"}]}], "content[0].text"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": PIXEL}]}], "image_url"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}], "image_url.url"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "/etc/a.png"}}]}], "url"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png,x"}}]}], "base64"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,%"}}]}], "64"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:a/b;base64,AA=="}}]}], "a/b"),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": PIXEL, "detail": "ultra"}}]}],
            "ultra",
        ),
        ([USER, {"role": "assistant", "content": None}], "content"),
        ([USER, {"role": "assistant", "content": None, "tool_calls": []}], "tool_calls"),
        ([USER, {"role": "assistant", "tool_calls": [{**CALL, "id": ""}]}], "id"),
        ([USER, {"role": "assistant", "tool_calls": [{**CALL, "type": "tool"}]}], "type"),
        ([USER, {"role": "assistant", "tool_calls": [CALL, CALL]}], "twice"),
        (
            [USER, {"role": "assistant", "tool_calls": [{**CALL, "function": {"name": "f", "arguments": {}}}]}],
            "arguments",
        ),
        ([USER, ASSISTANT], "call_1"),
        ([USER, ASSISTANT, USER], "call_1"),
        ([USER, {"role": "tool", "content": "24"}], "tool_call_id"),
        ([USER, {"role": "tool", "tool_call_id": "call_1", "content": "24"}], "call_1"),
        ([USER, ASSISTANT, {"role": "tool", "tool_call_id": "call_2", "content": "24"}], "call_2"),
        ([USER, ASSISTANT, {"role": "tool", "tool_call_id": "call_1"}], "content"),
    ],
)
def test_refuses_messages(client: DemoClient, messages: list[Any], word: str) -> None:
    refused(client.chat(messages=messages), 400, word)


def test_each_call_is_answered_once(client: DemoClient) -> None:
    result = {"role": "tool", "tool_call_id": "call_1", "content": "24"}
    refused(client.chat(messages=[USER, ASSISTANT, result, result]), 400, "call_1")


def test_context_window(client: DemoClient) -> None:
    refused(client.chat("word " * 33_000, model="demo-vision"), 400, "Context length exceeded")


def test_answer_reports_the_request(client: DemoClient) -> None:
    text = message(client.chat("What arrived?", temperature=0.25, user="someone|else", mystery=[1]))["content"]
    assert "`temperature` | `0.25`" in text
    assert "mystery" in text
    assert "What arrived?" in text
    assert text.lower().count("simulated") == 1


def test_null_is_absent(client: DemoClient) -> None:
    names = ("temperature", "stop", "tools", "tool_choice", "response_format", "stream", "n")
    fields: dict[str, Any] = dict.fromkeys(names)
    assert client.chat(**fields).status_code == 200
