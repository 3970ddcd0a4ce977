"""The messages protocol of the demo gateway: checks, answers, order of events, thinking, tools and faults."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx

from tests.demo.conftest import WEATHER, DemoClient, datas, refused
from tests.support.each_case import each_case

TOOL = {"name": "get_weather", "description": "The weather now", "input_schema": WEATHER}
USER = {"role": "user", "content": "Hi"}
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "get_weather", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "24"}]}
TEXT, REDACTED = {"type": "text", "text": "x"}, {"type": "redacted_thinking", "data": ""}
GIF = base64.b64encode(b"GIF89a\x05\x00\x07\x00rest").decode()


def events(response: httpx.Response) -> list[dict[str, Any]]:
    """The events, each checked to carry its own type as its name."""
    assert response.status_code == 200, response.text
    frames = [frame for frame in response.text.split("\n\n") if frame]
    results = []
    for frame in frames:
        name, data = frame.split("\n")
        value = json.loads(data.removeprefix("data: "))
        assert name == f"event: {value['type']}"
        results.append(value)
    return results


def test_whole_answer_has_the_documented_shape(client: DemoClient) -> None:
    body = client.native(system="Be brief.", temperature=0.5).json()
    assert body["id"].startswith("msg_demo_")
    assert (body["type"], body["role"], body["model"]) == ("message", "assistant", "demo-messages")
    assert body["content"][0]["type"] == "text"
    assert "native messages" in body["content"][0]["text"]
    assert (body["stop_reason"], body["stop_sequence"]) == ("end_turn", None)
    assert body["usage"]["output_tokens"] > 50
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    fitting = client.native(output_config={"format": {"type": "json_schema", "schema": schema}}).json()
    assert "city" in json.loads(fitting["content"][0]["text"])
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": GIF}}
    turns = [{"role": "user", "content": [block, {"type": "text", "text": "What is it?"}]}]
    assert "5 × 7 pixels" in client.native(messages=turns).json()["content"][0]["text"]
    first, second = (client.native("Said to the native protocol alone. " * 50).json()["usage"] for _ in range(2))
    assert first["cache_read_input_tokens"] == 0 < second["cache_read_input_tokens"]
    assert second["input_tokens"] + second["cache_read_input_tokens"] == first["input_tokens"]


def test_events_come_in_the_documented_order(client: DemoClient) -> None:
    result = events(client.native("Weather in Rome?", stream=True, thinking={"type": "adaptive"}, tools=[TOOL]))
    kinds = [event["type"] for event in result]
    assert (kinds[:2], kinds[-2:]) == (["message_start", "ping"], ["message_delta", "message_stop"])
    assert result[0]["message"]["content"] == []
    open_index = -1
    for event in result[2:-2]:
        if event["type"] == "content_block_start":
            assert event["index"] == open_index + 1
            open_index = event["index"]
        else:
            assert event["index"] == open_index
    blocks = [event["content_block"] for event in result if event["type"] == "content_block_start"]
    assert [block["type"] for block in blocks] == ["thinking", "tool_use"]
    deltas = [
        event["delta"]["type"] for event in result if event["type"] == "content_block_delta" and event["index"] == 0
    ]
    assert deltas[-1] == "signature_delta"
    assert set(deltas[:-1]) == {"thinking_delta"}
    parts = [e["delta"]["partial_json"] for e in result if e.get("delta", {}).get("type") == "input_json_delta"]
    assert json.loads("".join(parts))["city"] == "Rome"
    assert result[-2]["delta"]["stop_reason"] == "tool_use"
    assert result[-2]["usage"]["output_tokens"] > 20


def test_edited_thinking_is_refused_in_the_tool_loop(client: DemoClient) -> None:
    request = {"role": "user", "content": "Is it warmer in Lisbon or Oslo?"}
    options: dict[str, Any] = {"tools": [TOOL], "thinking": {"type": "adaptive"}}
    content = client.native(messages=[request], **options).json()["content"]
    uses = [block for block in content if block["type"] == "tool_use"]
    assert [use["input"]["city"] for use in uses] == ["Lisbon", "Oslo"]
    results: list[dict[str, Any]] = [{"type": "tool_result", "tool_use_id": use["id"]} for use in uses]
    results[0] |= {"content": [{"type": "text", "text": "24"}]}
    results[1] |= {"content": [{"type": "text", "text": "no such place"}], "is_error": True}
    turns = [request, {"role": "assistant", "content": content}, {"role": "user", "content": results}]
    text = client.native(messages=turns, **options).json()["content"][-1]["text"]
    assert "failed: no such place" in text
    changed = [{**content[0], "thinking": content[0]["thinking"] + "!"}, *content[1:]]
    edited = [request, {"role": "assistant", "content": changed}, {"role": "user", "content": results}]
    refused(client.native(messages=edited, **options), 400, "signature")


def test_stop_sequence_and_limit_end_an_answer(client: DemoClient) -> None:
    body = client.native("!long=100", stop_sequences=["nowhere", "no model"]).json()
    assert body["content"][0]["text"] == "_Simulated by the demo gateway; "
    assert (body["stop_reason"], body["stop_sequence"]) == ("stop_sequence", "no model")
    body = client.native(max_tokens=7).json()
    assert (body["stop_reason"], body["usage"]["output_tokens"]) == ("max_tokens", 7)
    assert client.native("!filter").json()["stop_reason"] == "refusal"


def test_tool_choice_is_kept(client: DemoClient) -> None:
    def kinds(**choice: Any) -> list[str]:
        body = client.native("Lisbon or Oslo", tools=[TOOL], tool_choice=choice).json()
        return [block["type"] for block in body["content"]]

    assert kinds(type="none") == ["text"]
    assert kinds(type="any") == ["tool_use", "tool_use"]
    assert kinds(type="auto", disable_parallel_tool_use=True) == ["tool_use"]
    assert kinds(type="tool", name="get_weather") == ["tool_use", "tool_use"]


@each_case(
    "fields",
    [
        {"system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]},
        {"messages": [USER, {"role": "assistant", "content": "I think"}]},
        {"messages": [USER, USE, RESULT], "tools": [TOOL]},
        {"messages": [USER, {"role": "system", "content": "Be brief."}]},
        {"temperature": 1, "top_p": 0.5, "top_k": 0, "metadata": {"user_id": "someone"}},
        {"stop_sequences": ["a"] * 8},
        {"thinking": {"type": "adaptive"}, "temperature": 1},
        {"thinking": {"type": "disabled"}},
    ],
)
def test_valid_request_is_accepted(client: DemoClient, fields: dict[str, Any]) -> None:
    response = client.native(**fields)
    assert response.status_code == 200, response.text


def turn(role: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(content)}


ADAPTIVE = {"type": "adaptive"}
INVALID: dict[str, list[dict[str, Any]]] = {
    "max_tokens": [{"max_tokens": None}, {"max_tokens": 0}],
    "temperature": [{"temperature": 1.1}, {"thinking": ADAPTIVE, "temperature": 0.5}],
    "top_p": [{"top_p": -1}],
    "top_k": [{"top_k": -1}, {"top_k": 0.5}],
    "stop_sequences": [{"stop_sequences": "x"}, {"stop_sequences": [""]}],
    "metadata": [{"metadata": []}, {"metadata": {"user_id": 5}}],
    "stream": [{"stream": 1}],
    "system": [{"system": 5}, {"system": [{"type": "image"}]}, {"messages": [{"role": "system", "content": "x"}]}],
    "thinking.type": [{"thinking": {"type": "on"}}],
    "budget_tokens": [{"thinking": {"type": "enabled", **budget}} for budget in ({}, {"budget_tokens": 1023})],
    "less than max_tokens": [{"thinking": {"type": "enabled", "budget_tokens": 4000}}],
    "effort": [{"output_config": {"effort": "huge"}}],
    "output_config": [{"output_config": 5}],
    "input_schema": [{"tools": [{"name": "x"}]}],
    "name": [{"tools": [{**TOOL, "name": "a b"}]}],
    "two tools": [{"tools": [TOOL, TOOL]}],
    "no tools": [{"tool_choice": {"type": "any"}}],
    "tool_choice": [{"tool_choice": "auto"}, {"thinking": ADAPTIVE, "tools": [TOOL], "tool_choice": {"type": "any"}}],
    "other": [{"tools": [TOOL], "tool_choice": {"type": "tool", "name": "other"}}],
    "begin with a user": [{"messages": [{"role": "assistant", "content": "x"}]}],
    "content": [{"messages": [{"role": "user"}]}],
    "messages": [{"messages": []}],
    "video": [{"messages": [turn("user", {"type": "video"})]}],
    "t1": [{"messages": messages} for messages in ([USER, USE], [USER, USE, USER], [USER, RESULT])],
    "source.type": [{"messages": [turn("user", {"type": "image", "source": {"type": "file"}})]}],
    "signature": [{"messages": [USER, turn("assistant", {"type": "thinking", "thinking": "x"})]}],
    "first": [{"messages": [USER, turn("assistant", TEXT, REDACTED)]}],
}


@each_case(("word", "fields"), [(word, fields) for word, cases in INVALID.items() for fields in cases])
def test_invalid_request_is_refused(client: DemoClient, word: str, fields: dict[str, Any]) -> None:
    refused(client.native(**fields), 400, word)


def test_faults_on_demand_are_sent(client: DemoClient) -> None:
    refused(client.native(model="demo-chat"), 404, "/chat/completions")
    refused(client.native(model="nobody"), 404, "nobody")
    refused(client.native("!429=2", stream=True), 429)
    wrong = datas(client.native("!error", stream=True).text)[-1]
    assert (wrong["type"], wrong["error"]["type"]) == ("error", "overloaded_error")
    assert events(client.native("!nodone", stream=True))[-1]["type"] == "message_delta"
    empty = [event["type"] for event in events(client.native("!empty", stream=True))]
    assert empty == ["message_start", "ping", "message_delta", "message_stop"]
    assert client.native("!empty").json()["content"] == []
    pings = [e for e in events(client.native("!stall=0.05", stream=True)) if e["type"] == "ping"]
    assert len(pings) == 2
