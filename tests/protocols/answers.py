"""Complete answers by protocol, with every kind of content, and edits of them."""

from __future__ import annotations

import json
from typing import Any

#: A megabyte of arguments, with characters beyond ASCII.
LONG = json.dumps({"text": "å🦜 " * 250_000}, ensure_ascii=False)


def chat_call(name: str = "get_weather", arguments: str = '{"city": "Oslo"}', id: str = "call_1") -> dict[str, Any]:
    """A call of a function in a completion."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def completion(*messages: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
    """A completion object with a choice for each message."""
    choices = [
        {"index": index, "message": {"role": "assistant", **message}, "finish_reason": finish}
        for index, message in enumerate(messages)
    ]
    usage = {"prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": "m-1"}
    return {**head, "choices": choices, "usage": usage, **more}


def message(*content: dict[str, Any], stop: str = "end_turn", **more: Any) -> dict[str, Any]:
    """A message of the Messages API."""
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": list(content)}
    usage = {"input_tokens": 12, "cache_read_input_tokens": 3, "output_tokens": 7}
    return {**head, "stop_reason": stop, "stop_sequence": None, "usage": usage, **more}


def tool_use(name: str = "get_weather", id: str = "toolu_1", **members: Any) -> dict[str, Any]:
    """A call in a message."""
    return {"type": "tool_use", "id": id, "name": name, "input": members}


def text(value: str, **more: Any) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": value, **more}


def response(*output: dict[str, Any], status: str = "completed", **more: Any) -> dict[str, Any]:
    """A response object."""
    usage = {
        "input_tokens": 12,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 19,
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": "m-1",
        "status": status,
        "error": None,
        "incomplete_details": None,
        "output": list(output),
        "instructions": None,
        "metadata": None,
        "temperature": None,
        "top_p": None,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
        **more,
    }


def function_call(
    name: str = "get_weather", arguments: str = '{"city": "Oslo"}', id: str = "call_1", **more: Any
) -> dict[str, Any]:
    """A call of a function in a response."""
    item = {"type": "function_call", "id": f"fc_{id}", "status": "completed", "call_id": id}
    return {**item, "name": name, "arguments": arguments, **more}


def output_message(value: str, id: str = "msg_1", **more: Any) -> dict[str, Any]:
    """A message in a response."""
    part = {"type": "output_text", "text": value, "annotations": [], **more}
    return {"type": "message", "id": id, "status": "completed", "role": "assistant", "content": [part]}


_CITATION = {"type": "char_location", "cited_text": "4 °C", "document_index": 0}
_URL = {"type": "url_citation", "start_index": 0, "end_index": 2, "url": "https://weather.example", "title": "W"}

#: Answers by protocol and by what is special about them.
ANSWERS: dict[str, dict[str, dict[str, Any]]] = {
    "chat": {
        "text": completion({"content": "Grüße 🦜"}, system_fingerprint="fp_1"),
        "long text": completion({"content": "word " * 5_000}),
        "call": completion({"content": None, "tool_calls": [chat_call()]}, finish="tool_calls"),
        "reasoning": completion(
            {"content": "4 °C", "reasoning_content": "The user asks.", "tool_calls": [chat_call()]}, finish="tool_calls"
        ),
        "parallel calls": completion(
            {"content": "Both.", "tool_calls": [chat_call(), chat_call("get_time", "{}", "call_2")]},
            finish="tool_calls",
        ),
        "custom call": completion(
            {
                "content": None,
                "tool_calls": [{"id": "call_1", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}],
            },
            finish="tool_calls",
        ),
        "empty arguments": completion({"content": None, "tool_calls": [chat_call(arguments="")]}, finish="tool_calls"),
        "long arguments": completion({"content": None, "tool_calls": [chat_call(arguments=LONG)]}, finish="tool_calls"),
        "several choices": completion({"content": "One."}, {"content": "Two."}),
        "refusal": completion({"content": None, "refusal": "I can't."}),
        "limit": completion({"content": "Half of"}, finish="length"),
    },
    "messages": {
        "text": message(text("Grüße 🦜")),
        "long text": message(text("word " * 5_000)),
        "call": message(text("One moment."), tool_use(city="Oslo"), stop="tool_use"),
        "signed thinking": message(
            {"type": "thinking", "thinking": "The user asks.", "signature": "c2lnbmF0dXJl"},
            {"type": "redacted_thinking", "data": "c2VhbGVk"},
            tool_use(city="Oslo", ids=[1, 2.5, None]),
            stop="tool_use",
        ),
        "parallel calls": message(tool_use(), tool_use("get_time", "toolu_2", zone="Ålesund"), stop="tool_use"),
        "long arguments": message(tool_use(text="å🦜 " * 250_000), stop="tool_use"),
        "hosted": message(
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Oslo"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
            text("4 °C", citations=[_CITATION]),
        ),
        "limit": message(text("Half of"), stop="max_tokens"),
    },
    "responses": {
        "text": response(output_message("Grüße 🦜")),
        "long text": response(output_message("word " * 5_000)),
        "call": response(output_message("One moment."), function_call()),
        "sealed reasoning": response(
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Second."}],
                "encrypted_content": "c2VhbGVk",
            },
            function_call(),
        ),
        "raw reasoning": response(
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [],
                "content": [{"type": "reasoning_text", "text": "The user asks."}],
            },
            output_message("4 °C"),
        ),
        "parallel calls": response(function_call(), function_call("get_time", "{}", "call_2")),
        "custom call": response(
            {
                "type": "custom_tool_call",
                "id": "ctc_1",
                "status": "completed",
                "call_id": "call_1",
                "name": "sql",
                "input": "SELECT 1",
            }
        ),
        "empty arguments": response(function_call(arguments="")),
        "long arguments": response(function_call(arguments=LONG)),
        "hosted": response(
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {"type": "search", "query": "Oslo"},
            },
            output_message("4 °C", annotations=[_URL]),
        ),
        "refusal": response(
            {
                "type": "message",
                "id": "msg_1",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "refusal", "refusal": "I can't."}],
            }
        ),
        "limit": response(
            output_message("Half of"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}
        ),
    },
}

#: Every answer: its protocol and its name.
NAMES = [(protocol, name) for protocol, answers in ANSWERS.items() for name in answers]
