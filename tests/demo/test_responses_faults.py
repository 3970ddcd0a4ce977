"""Trouble in streams of the Responses protocol, and gateways whose deviations the demo gateway imitates."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.demo.conftest import DemoClient
from tests.demo.responding import WEATHER_TOOL, ask, create, events, items, joined, stream, text, types
from tests.support.each_case import each_case

TOOLS: dict[str, Any] = {"model": "demo-tools", "tools": [WEATHER_TOOL]}
THINKING: dict[str, Any] = {"model": "demo-reasoner", "tools": [WEATHER_TOOL]}


def test_error_event_has_two_shapes(client: DemoClient) -> None:
    flat = stream(client, "!error Hello")
    assert [event["type"] for event in flat[-2:]] == ["error", "response.failed"]
    assert (flat[-2]["code"], flat[-2]["param"]) == ("server_error", None)
    assert "overloaded" in flat[-2]["message"]
    assert flat[-1]["response"]["error"] == {"code": "server_error", "message": flat[-2]["message"]}
    nested = stream(client, "!nested Hello")
    assert nested[-1]["type"] == "error"
    assert nested[-1]["error"]["message"] == flat[-2]["message"]
    failed = stream(client, "!failed Hello")
    assert failed[-1]["type"] == "response.failed"
    assert (failed[-1]["response"]["status"], "error" in types(failed)) == ("failed", False)
    assert ask(client, "!error Hello").status_code == 503
    answer = create(client, "!failed Hello")
    assert (answer["status"], answer["error"]["code"], answer["output"]) == ("failed", "server_error", [])


def test_stall_is_bridged_by_events(client: DemoClient) -> None:
    received = stream(client, "!stall=0.1 Hello")
    assert [event["type"] for event in received].count("keepalive") == 1
    assert [event["sequence_number"] for event in received] == list(range(len(received)))
    assert received[-1]["type"] == "response.completed"


def test_cut_stream_has_no_terminal_event(client: DemoClient) -> None:
    received = bytearray()

    def read() -> None:
        body = {"model": "demo-chat", "stream": True, "input": "!cut Hello"}
        with client.http.stream("POST", "/responses", json=body) as response:
            for part in response.iter_raw():
                received.extend(part)

    with pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"):
        read()
    assert events(received.decode())[-1]["type"] == "response.output_text.delta"
    ended = stream(client, "!nodone Hello")
    assert ended[-1]["type"] == "response.output_item.done"


@each_case("fields", [{}, {"model": "demo-reasoner"}])
def test_event_that_is_no_json_is_sent_once(client: DemoClient, fields: dict[str, Any]) -> None:
    response = ask(client, "!garble Hello", stream=True, **fields)
    lines = [line for line in response.text.split("\n") if line.startswith("data: ")]
    assert len([line for line in lines if not line.endswith("}")]) == 1


def test_empty_answer_has_no_items(client: DemoClient) -> None:
    assert types(stream(client, "!empty Hello")) == ["response.created", "response.in_progress", "response.completed"]
    assert create(client, "!empty Hello")["output"] == []


def test_faulty_arguments_on_demand_are_sent(client: DemoClient) -> None:
    answer = create(client, "Oslo !calls=3 !badjson=2", **TOOLS)
    calls = items(answer, "function_call")
    assert [call["arguments"].endswith("not JSON,}") for call in calls] == [False, True, False]


def test_arguments_may_come_only_when_done(client: DemoClient) -> None:
    received = stream(client, "Oslo !like=lmstudio", **THINKING)
    assert joined(received, "response.function_call_arguments.delta") == ""
    done = next(event for event in received if event["type"] == "response.function_call_arguments.done")
    assert "Oslo" in done["arguments"]
    raw = joined(received, "response.reasoning_text.delta")
    [reasoning] = items(received[-1]["response"], "reasoning")
    assert reasoning["content"] == [{"type": "reasoning_text", "text": raw}]


def test_stream_without_event_lines_changes_its_ids(client: DemoClient) -> None:
    response = ask(client, "Hello !like=openrouter", stream=True)
    assert "event:" not in response.text
    assert response.text.endswith("data: [DONE]\n\n")
    received = events(response.text)
    added, done = (
        next(event["item"] for event in received if event["type"] == f"response.output_item.{end}")
        for end in ("added", "done")
    )
    assert added["id"] != done["id"]
    assert done == received[-1]["response"]["output"][0]
    ended = ask(client, "Hello !like=openrouter !nodone", stream=True)
    assert "response.completed" not in ended.text
    assert ended.text.endswith("data: [DONE]\n\n")
    stalled = ask(client, "Hello !like=openrouter !stall=0.1", stream=True)
    assert ": PROCESSING\n\n" in stalled.text


def test_stream_without_indexes_ends_its_items_last(client: DemoClient) -> None:
    received = stream(client, "Oslo !like=llama.cpp", **THINKING)
    indexes = {"sequence_number", "output_index", "content_index"}
    assert not [event for event in received if indexes & event.keys()]
    assert set(received[0]["response"]) == {"id", "object", "status"}
    order = types(received)
    assert order[-3:] == ["response.output_item.done", "response.output_item.done", "response.completed"]
    [call] = items(received[-1]["response"], "function_call")
    assert call["call_id"].startswith("fc_")
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "4"}
    question = {"role": "user", "content": "Oslo"}
    assert text(create(client, [question, *received[-1]["response"]["output"], result], **THINKING))


def test_other_deviations_are_imitated(client: DemoClient) -> None:
    swapped = ask(client, "Hello !like=bedrock", stream=True).text.split("\n\n")[0].split("\n")
    assert (swapped[0][:6], swapped[1]) == ("data: ", "event: response.created")
    ids = [event["item_id"] for event in stream(client, "Hello !like=copilot") if "item_id" in event]
    assert len(set(ids)) == len(ids) > 5
    pieces = [
        event["delta"]
        for event in stream(client, "Oslo !like=litellm", **TOOLS)
        if event["type"] == "response.function_call_arguments.delta"
    ]
    assert {len(piece) for piece in pieces[:-1]} == {10}
    bare = events(ask(client, "!error !like=litellm", stream=True).text)[-1]
    assert (set(bare), "overloaded" in bare["error"]["message"]) == ({"error"}, True)
    answer = create(client, "Hi !like=ollama", model="demo-reasoner")
    [reasoning] = items(answer, "reasoning")
    assert reasoning["encrypted_content"] == "\n\n".join(part["text"] for part in reasoning["summary"])
    sent = [{"role": "user", "content": "Hi"}, *answer["output"], {"role": "user", "content": "Go on"}]
    assert create(client, sent, model="demo-reasoner")["status"] == "completed"
    assert "!like=other" in text(create(client, "Hi !like=other"))
