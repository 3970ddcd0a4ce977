"""Answers of the demo gateway under the Responses protocol: whole and streamed, reasoning, calls, formats, endings."""

from __future__ import annotations

import json
import re
from typing import Any

from playground.demo import tokens
from tests.demo.conftest import DemoClient
from tests.demo.responding import WEATHER_TOOL, ask, create, items, joined, stream, text, types
from tests.support.each_case import each_case

#: The members that Open Responses requires of a response.
REQUIRED = [
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "incomplete_details",
    "model",
    "previous_response_id",
    "instructions",
    "output",
    "error",
    "tools",
    "tool_choice",
    "truncation",
    "parallel_tool_calls",
    "text",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "temperature",
    "reasoning",
    "usage",
    "max_output_tokens",
    "max_tool_calls",
    "store",
    "background",
    "service_tier",
    "metadata",
    "safety_identifier",
    "prompt_cache_key",
]
CALCULATOR = {"type": "custom", "name": "calculate", "description": "Work out an expression."}


def test_response_has_all_required_members(client: DemoClient) -> None:
    assert len(REQUIRED) == 31
    for body in (create(client), stream(client)[0]["response"], stream(client)[-1]["response"]):
        assert [name for name in REQUIRED if name not in body] == []
        assert body["object"] == "response"
        assert body["id"].startswith("resp_")
    answer = create(client)
    assert (answer["status"], answer["error"], answer["incomplete_details"]) == ("completed", None, None)
    assert answer["completed_at"] >= answer["created_at"]


def test_settings_are_echoed_with_defaults(client: DemoClient) -> None:
    fields: dict[str, Any] = {
        "instructions": "Be brief",
        "temperature": 0.3,
        "max_output_tokens": 900,
        "metadata": {"team": "blue"},
        "truncation": "auto",
        "parallel_tool_calls": False,
        "safety_identifier": "person-1",
        "client_metadata": {"session_id": "s1"},  # not echoed
        "tools": [WEATHER_TOOL],
        "tool_choice": {"type": "function", "name": "get_weather"},
    }
    answer = create(client, **fields)
    for name in fields.keys() - {"tools", "client_metadata"}:
        assert answer[name] == fields[name], name
    assert answer["tools"] == [{**WEATHER_TOOL, "strict": True}]
    assert (answer["top_p"], answer["store"], answer["text"]["verbosity"]) == (1, True, "medium")
    assert create(client, service_tier="fast")["service_tier"] == "priority"
    assert create(client, service_tier="flex")["service_tier"] == "flex"


def test_stream_of_text_has_the_documented_order(client: DemoClient) -> None:
    response = ask(client, "Hello", stream=True)
    names = re.findall(r"^event: (.+)$", response.text, re.MULTILINE)
    received = stream(client)
    assert names == [json.loads(data)["type"] for data in re.findall(r"^data: (.+)$", response.text, re.MULTILINE)]
    assert [event["sequence_number"] for event in received] == list(range(len(received)))
    assert types(received) == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert (received[0]["response"]["output"], received[0]["response"]["usage"]) == ([], None)
    final = received[-1]["response"]
    assert joined(received, "response.output_text.delta") == text(final)
    assert [event["item"] for event in received if event["type"] == "response.output_item.done"] == final["output"]
    assert "[DONE]" not in response.text


def test_deltas_are_padded_unless_refused(client: DemoClient) -> None:
    deltas = [event for event in stream(client) if event["type"].endswith(".delta")]
    assert {(len(event["delta"]) + len(event["obfuscation"])) % 16 for event in deltas} == {0}
    plain = stream(client, stream_options={"include_obfuscation": False})
    assert not [event for event in plain if "obfuscation" in event]


def test_usage_counts_reasoning_as_output(client: DemoClient) -> None:
    usage = create(client, "Hi", model="demo-reasoner")["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert 0 < usage["output_tokens_details"]["reasoning_tokens"] < usage["output_tokens"]
    long = "A long question, sent twice. " * 60
    assert create(client, long)["usage"]["input_tokens_details"]["cached_tokens"] == 0
    assert create(client, long)["usage"]["input_tokens_details"]["cached_tokens"] > 0


def test_summary_on_request_has_a_part_for_each_paragraph(client: DemoClient) -> None:
    fields: dict[str, Any] = {"model": "demo-reasoner", "reasoning": {"effort": "low", "summary": "auto"}}
    received = stream(client, "What is 2+3?", **fields)
    [reasoning] = items(received[-1]["response"], "reasoning")
    assert len(reasoning["summary"]) > 1
    added = [event for event in received if event["type"] == "response.reasoning_summary_part.added"]
    assert [event["summary_index"] for event in added] == list(range(len(reasoning["summary"])))
    for index, part in enumerate(reasoning["summary"]):
        deltas = [event for event in received if event.get("summary_index") == index and "delta" in event]
        assert "".join(event["delta"] for event in deltas) == part["text"]
    assert types(received)[2:8] == [
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.reasoning_summary_part.added",
    ]
    assert received[-1]["response"]["reasoning"] == {"effort": "low", "summary": "auto"}


def test_reasoning_without_summary_is_only_added_and_done(client: DemoClient) -> None:
    received = stream(client, model="demo-reasoner")
    assert types(received)[2:4] == ["response.output_item.added", "response.output_item.done"]
    [reasoning] = items(received[-1]["response"], "reasoning")
    assert (reasoning["summary"], "encrypted_content" in reasoning) == ([], False)
    assert items(create(client, model="demo-reasoner", reasoning={"effort": "none"}), "reasoning") == []


def test_encrypted_reasoning_is_sent_on_request_or_by_habit(client: DemoClient) -> None:
    included = {"model": "demo-reasoner", "include": ["reasoning.encrypted_content"]}
    for fields in (included, {"model": "demo-responses"}):
        received = stream(client, **fields)
        begun, done = (
            next(event["item"] for event in received if event["type"] == f"response.output_item.{end}")
            for end in ("added", "done")
        )
        [final] = items(received[-1]["response"], "reasoning")
        sealed = [item["encrypted_content"] for item in (begun, done, final)]
        assert len(set(sealed)) == 3, "the terminal event has another text than the item's own event"
        assert len(sealed[0]) < len(sealed[1]) == len(sealed[2])


def test_function_call_has_arguments_in_deltas(client: DemoClient) -> None:
    received = stream(client, "Is it warm in Oslo?", model="demo-tools", tools=[WEATHER_TOOL])
    assert types(received)[2:] == [
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]
    [call] = received[-1]["response"]["output"]
    begun = received[2]["item"]
    assert (begun["arguments"], begun["status"], begun["call_id"]) == ("", "in_progress", call["call_id"])
    assert (call["id"][:3], call["call_id"][:5], call["status"]) == ("fc_", "call_", "completed")
    assert joined(received, "response.function_call_arguments.delta") == call["arguments"]
    assert json.loads(call["arguments"])["city"] == "Oslo"


def test_parallel_calls_follow_the_request(client: DemoClient) -> None:
    fields: dict[str, Any] = {"model": "demo-tools", "tools": [WEATHER_TOOL]}
    both = create(client, "Compare Lisbon and Oslo", **fields)
    calls = items(both, "function_call")
    assert [json.loads(call["arguments"])["city"] for call in calls] == ["Lisbon", "Oslo"]
    assert len({call["id"] for call in calls} | {call["call_id"] for call in calls}) == 4
    single = create(client, "Compare Lisbon and Oslo", parallel_tool_calls=False, **fields)
    assert len(items(single, "function_call")) == 1


def test_result_of_a_call_is_answered(client: DemoClient) -> None:
    question = {"role": "user", "content": "Is it warm in Oslo?"}
    fields: dict[str, Any] = {"model": "demo-responses", "tools": [WEATHER_TOOL], "store": False}
    first = create(client, [question], **fields)
    commentary, call = items(first, "message")[0], items(first, "function_call")[0]
    assert commentary["phase"] == "commentary"
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "21 °C"}
    second = create(client, [question, *first["output"], result], **fields)
    assert items(second, "message")[0]["phase"] == "final_answer"
    assert "get_weather(Oslo" in text(second)
    assert "21 °C" in text(second)
    parts = [{"type": "input_text", "text": "9 °C"}]
    assert "9 °C" in text(create(client, [question, *first["output"], {**result, "output": parts}], **fields))


CHOICES: tuple[tuple[Any, list[str]], ...] = (
    ("auto", []),
    ("none", []),
    ("required", ["get_weather"]),
    ({"type": "function", "name": "tell_time"}, ["tell_time"]),
    ({"type": "custom", "name": "calculate"}, ["calculate"]),
    (
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "tell_time"}]},
        ["tell_time"],
    ),
    ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "tell_time"}]}, []),
)


@each_case("choice, names", CHOICES)
def test_tool_choice_is_kept(client: DemoClient, choice: Any, names: list[str]) -> None:
    offered = [WEATHER_TOOL, {"type": "function", "name": "tell_time", "parameters": None}, CALCULATOR]
    answer = create(client, "The weather, please", tools=offered, tool_choice=choice)
    assert [item["name"] for item in answer["output"] if item["type"].endswith("_call")] == names
    assert answer["tool_choice"] == choice


def test_strict_is_tried_where_it_is_absent(client: DemoClient) -> None:
    optional = {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"type": "string"}}}
    [echoed] = create(client, tools=[{**WEATHER_TOOL, "parameters": optional}])["tools"]
    assert echoed["strict"] is True
    assert echoed["parameters"] == {**optional, "required": ["city", "unit"], "additionalProperties": False}
    [echoed] = create(client, tools=[{**WEATHER_TOOL, "parameters": optional, "strict": False}])["tools"]
    assert (echoed["strict"], echoed["parameters"]) == (False, optional)
    free = {"type": "object", "additionalProperties": {"type": "string"}}
    [echoed] = create(client, tools=[{**WEATHER_TOOL, "parameters": free}])["tools"]
    assert (echoed["strict"], echoed["parameters"]) == (False, free)


LARK = """
start: expr
expr: term (("+" | "-") term)*
term: NUMBER
%import common.NUMBER
"""


@each_case(
    "format, pattern",
    [
        ({"type": "text"}, r"What is 2\+3\? calculate"),
        ({"type": "grammar", "syntax": "regex", "definition": r"\d+[+-]\d+"}, r"2\+3"),
        ({"type": "grammar", "syntax": "regex", "definition": "[a-c]{3}-(north|south)"}, "[a-c]{3}-(north|south)"),
        ({"type": "grammar", "syntax": "lark", "definition": LARK}, r"\d+([+-]\d+)*"),
        ({"type": "grammar", "syntax": "lark", "definition": 'start: "on" | "off" [/x+/]'}, "on|offx*"),
    ],
)
def test_custom_tool_takes_text_in_its_format(client: DemoClient, format: Any, pattern: str) -> None:
    received = stream(client, "What is 2+3? calculate", model="demo-tools", tools=[{**CALCULATOR, "format": format}])
    [call] = received[-1]["response"]["output"]
    assert (call["type"], call["name"]) == ("custom_tool_call", "calculate")
    assert re.fullmatch(pattern, call["input"]), call["input"]
    assert joined(received, "response.custom_tool_call_input.delta") == call["input"]
    assert received[-3]["type"] == "response.custom_tool_call_input.done"
    question = {"role": "user", "content": "What is 2+3?"}
    result = {"type": "custom_tool_call_output", "call_id": call["call_id"], "output": "5"}
    assert "5" in text(create(client, [question, call, result], tools=[CALCULATOR]))


def test_format_of_the_text_is_kept(client: DemoClient) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "name": "place", "schema": schema, "strict": True}
    answer = create(client, "A city", text={"format": form})
    assert list(json.loads(text(answer))) == ["city"]
    assert answer["text"]["format"] == {**form, "description": None}
    assert json.loads(text(create(client, "As JSON", text={"format": {"type": "json_object"}})))["simulated"] is True
    short, long = (len(text(create(client, text={"verbosity": level}))) for level in ("low", "high"))
    assert short < long / 2


def test_logprobs_come_with_include_only(client: DemoClient) -> None:
    include = {"include": ["message.output_text.logprobs"], "top_logprobs": 3}
    received = stream(client, **include)
    [message] = received[-1]["response"]["output"]
    probabilities = message["content"][0]["logprobs"]
    assert "".join(entry["token"] for entry in probabilities) == message["content"][0]["text"]
    assert {len(entry["top_logprobs"]) for entry in probabilities} == {3}
    assert all(bytes(entry["bytes"]).decode() == entry["token"] and entry["logprob"] <= 0 for entry in probabilities)
    deltas = [event for event in received if event["type"] == "response.output_text.delta"]
    assert [event["logprobs"][0] for event in deltas] == probabilities
    assert create(client, top_logprobs=3)["output"][0]["content"][0]["logprobs"] == []


def test_images_and_files_are_read(client: DemoClient) -> None:
    pixel = (
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
        "rkJggg=="
    )
    content = [
        {"type": "input_text", "text": "Look"},
        {"type": "input_image", "image_url": pixel, "detail": "low"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjQ="},
    ]
    assert "1 × 1 pixels" in text(create(client, [{"role": "user", "content": content}], model="demo-vision"))
    quoted = text(create(client, [{"role": "user", "content": [content[0], content[2]]}]))
    assert "[file a.pdf: application/pdf, 8 bytes]" in quoted


@each_case(
    "directive, reason, status",
    [("!length", "max_output_tokens", "incomplete"), ("!filter", "content_filter", "incomplete")],
)
def test_incomplete_response_tells_its_reason(client: DemoClient, directive: str, reason: str, status: str) -> None:
    received = stream(client, f"Hello {directive}")
    assert received[-1]["type"] == "response.incomplete"
    final = received[-1]["response"]
    assert (final["status"], final["incomplete_details"], final["completed_at"]) == (status, {"reason": reason}, None)
    assert final["output"][-1]["status"] == "incomplete"
    assert joined(received, "response.output_text.delta") == text(final)


def test_token_limit_ends_an_answer_or_its_arguments(client: DemoClient) -> None:
    answer = create(client, max_output_tokens=20)
    assert (answer["status"], answer["usage"]["output_tokens"]) == ("incomplete", 20)
    assert tokens.count(text(answer)) == 20
    cut = create(client, "Oslo !cutargs", model="demo-tools", tools=[WEATHER_TOOL])
    assert (cut["status"], cut["output"][-1]["status"]) == ("incomplete", "incomplete")
    assert not cut["output"][-1]["arguments"].endswith("}")


def test_refusal_has_a_part_of_its_own(client: DemoClient) -> None:
    received = stream(client, "Hello !refusal")
    assert types(received)[3:7] == [
        "response.content_part.added",
        "response.refusal.delta",
        "response.refusal.done",
        "response.content_part.done",
    ]
    final = received[-1]["response"]
    [part] = final["output"][0]["content"]
    assert (part["type"], part["refusal"]) == ("refusal", joined(received, "response.refusal.delta"))
    assert final["status"] == "completed"
    chat = client.chat("Hello !refusal").json()["choices"][0]["message"]
    assert (chat["content"], chat["refusal"]) == (None, part["refusal"])
    assert client.native("Hello !refusal").json()["stop_reason"] == "refusal"


def test_long_conversation_is_truncated_on_request_only(client: DemoClient) -> None:
    turns = [{"role": "user", "content": "word " * 9000} for _ in range(4)]
    refusal = ask(client, turns, model="demo-vision").json()["error"]
    assert (refusal["code"], refusal["param"]) == ("context_length_exceeded", "input")
    answer = create(client, turns, model="demo-vision", truncation="auto")
    assert 0 < answer["usage"]["input_tokens"] <= 32_000
    assert answer["truncation"] == "auto"
    alone = ask(client, "word " * 40_000, model="demo-vision", truncation="auto").json()["error"]
    assert alone["code"] == "context_length_exceeded", "the last message cannot be dropped"


def test_input_without_a_message_is_answered(client: DemoClient) -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    for _ in range(4):
        assert create(client, [search], text={"verbosity": "high"})["status"] == "completed"


def test_tools_with_reasoning_are_refused_in_chat(client: DemoClient) -> None:
    offered = [{"type": "function", "function": {"name": "get_weather"}}]
    for effort in ({}, {"reasoning_effort": "low"}):
        response = client.chat(model="demo-responses", tools=offered, **effort)
        assert response.status_code == 400
        assert response.json()["error"]["message"] == (
            "Function tools with reasoning_effort are not supported for demo-responses in /v1/chat/completions. "
            "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
        )
    allowed = client.chat(model="demo-responses", tools=offered, reasoning_effort="none")
    assert allowed.json()["choices"][0]["message"]["tool_calls"]
    assert client.chat(model="demo-responses").status_code == 200
