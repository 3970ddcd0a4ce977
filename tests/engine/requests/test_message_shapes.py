"""Conversations in the shapes of libraries and applications, read as files of messages are."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from playground.engine.files.messages import MessagesImportError, read
from playground.protocols.protocol import get_protocol
from tests.support.each_case import each_case

HI, YO = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}
SYSTEM = {"role": "system", "content": "S"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "r"}
PICTURE = {
    "role": "user",
    "content": [
        {"type": "text", "text": "hi"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
    ],
}


def invocation(**more: Any) -> dict[str, Any]:
    return {"toolCallId": "c", "toolName": "f", **more}


def kwargs(name: str, **more: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", name], "kwargs": more}


def node(key: str, parent: str | None, role: str, text: str) -> dict[str, Any]:
    message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}} if role else None
    return {"id": key, "parent": parent, "message": message, "children": []}


SHAPES: dict[str, tuple[Any, list[Any]]] = {
    "a line of an Anthropic batch": ({"custom_id": "r", "params": {"model": "m", "messages": [HI]}}, [HI]),
    "an Anthropic batch": (
        {"requests": [{"custom_id": "r", "params": {"model": "m", "messages": [HI, YO]}}]},
        [HI, YO],
    ),
    "a line of an OpenAI batch": ({"custom_id": "r", "url": "/v1/x", "body": {"model": "m", "messages": [HI]}}, [HI]),
    "a line of a batch of Responses": (
        {"custom_id": "r", "body": {"model": "m", "input": "hi", "instructions": "S"}},
        [SYSTEM, HI],
    ),
    "Vercel, version 5": (
        [
            {"id": "1", "role": "user", "parts": [{"type": "text", "text": "hi"}]},
            {
                "id": "2",
                "role": "assistant",
                "parts": [
                    {"type": "step-start"},
                    {
                        "type": "tool-f",
                        "toolCallId": "c",
                        "state": "output-available",
                        "input": {"a": 1},
                        "output": "r",
                    },
                    {"type": "step-start"},
                    {"type": "text", "text": "yo"},
                ],
            },
        ],
        [HI, CALLED, RESULT, YO],
    ),
    "Vercel, a tool that failed, in a body": (
        {
            "id": "chat",
            "messages": [
                {"role": "user", "parts": [{"type": "text", "text": "hi"}]},
                {
                    "role": "assistant",
                    "parts": [
                        {"type": "dynamic-tool", **invocation(input={"a": 1}, errorText="r", state="output-error")}
                    ],
                },
            ],
        },
        [HI, CALLED, RESULT],
    ),
    "Vercel, version 4": (
        [
            {**HI, "parts": [{"type": "text", "text": "hi"}]},
            {
                "role": "assistant",
                "content": "yo",
                "parts": [
                    {
                        "type": "tool-invocation",
                        "toolInvocation": invocation(args={"a": 1}, state="result", result="r"),
                    },
                    {"type": "text", "text": "yo"},
                ],
            },
        ],
        [HI, CALLED, RESULT, YO],
    ),
    "Vercel, for a model": (
        [
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": [{"type": "tool-call", **invocation(input={"a": 1})}]},
            {
                "role": "tool",
                "content": [{"type": "tool-result", **invocation(output={"type": "text", "value": "r"})}],
            },
        ],
        [HI, CALLED, RESULT],
    ),
    "Vercel, a picture": (
        [
            {
                "role": "user",
                "parts": [
                    {"type": "text", "text": "hi"},
                    {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA=="},
                ],
            }
        ],
        [PICTURE],
    ),
    "LangChain, dumped": (
        [
            {"type": "system", "content": "S"},
            {"type": "human", "content": "hi"},
            {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c"}]},
            {"type": "tool", "content": "r", "tool_call_id": "c"},
        ],
        [SYSTEM, HI, CALLED, RESULT],
    ),
    "LangChain, as dictionaries": (
        [{"type": "human", "data": {"content": "hi"}}, {"type": "ai", "data": {"content": "yo"}}],
        [HI, YO],
    ),
    "LangChain, as constructors": (
        {"messages": [kwargs("HumanMessage", content="hi"), kwargs("AIMessageChunk", content="yo")]},
        [HI, YO],
    ),
    "ShareGPT": (
        {
            "conversations": [
                {"from": "system", "value": "S"},
                {"from": "human", "value": "hi"},
                {"from": "gpt", "value": "yo"},
            ]
        },
        [SYSTEM, HI, YO],
    ),
    "Gemini": (
        {
            "systemInstruction": {"parts": [{"text": "S"}]},
            "contents": [
                {"role": "user", "parts": [{"text": "hi"}]},
                {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"x": 1}}}]},
                {"role": "model", "parts": [{"text": "yo"}]},
            ],
        },
        [SYSTEM, HI, CALLED, {**RESULT, "content": '{"x": 1}'}, YO],
    ),
    "Gemini, a list with a picture": (
        [{"parts": [{"text": "hi"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]}],
        [PICTURE],
    ),
    "Responses": (
        {
            "model": "m",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'},
                {"type": "function_call_output", "call_id": "c", "output": "r"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yo"}]},
            ],
        },
        [HI, CALLED, RESULT, YO],
    ),
    "Converse": (
        {
            "messages": [
                {"role": "user", "content": [{"text": "hi"}]},
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1}}}]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "r"}]}}]},
            ]
        },
        [HI, CALLED, RESULT],
    ),
    "ChatGPT's export, the branch that is shown": (
        [
            {
                "title": "T",
                "current_node": "c",
                "mapping": {
                    "a": node("a", None, "", ""),
                    "b": node("b", "a", "user", "hi"),
                    "d": node("d", "b", "assistant", "other"),
                    "c": node("c", "b", "assistant", "yo"),
                },
            }
        ],
        [HI, YO],
    ),
    "Claude's export": (
        [{"name": "N", "chat_messages": [{"sender": "human", "text": "hi"}, {"sender": "assistant", "text": "yo"}]}],
        [HI, YO],
    ),
    "prompt and completion": ({"prompt": "hi", "completion": "yo"}, [HI, YO]),
    "instruction and output": ({"instruction": "hi", "input": "", "output": "yo"}, [HI, YO]),
    "prompt, chosen and rejected": ({"prompt": [HI], "chosen": [YO], "rejected": [HI]}, [HI, YO]),
}


@each_case("name", SHAPES)
def test_a_conversation_in_a_foreign_shape_is_read_as_messages(name: str) -> None:
    value, messages = SHAPES[name]
    found = read(json.dumps(value))
    assert found.total == 1
    assert found.problems == ()
    request = found.conversations[0].request
    assert get_protocol("chat").encode(request)["messages"] == messages


@each_case("name", [name for name, (value, _) in SHAPES.items() if isinstance(value, dict) and "requests" not in value])
def test_a_record_in_a_foreign_shape_may_be_a_line(name: str) -> None:
    found = read("\n".join([json.dumps(SHAPES[name][0])] * 2))
    assert (found.total, found.problems) == (2, ())


def test_reasoning_is_kept_and_what_has_no_place_is_named() -> None:
    parts = [{"text": "why", "thought": True}, {"text": "yo", "thoughtSignature": "s"}]
    gemini = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": parts}], "tools": []}
    conversation = read(json.dumps(gemini)).conversations[0]
    assert (conversation.request.turns[1].reasoning, conversation.request.turns[1].text) == ("why", "yo")
    assert any("“thoughtSignature”" in note and "“tools”" in note for note in conversation.notes)


def test_the_name_of_a_record_is_the_title() -> None:
    found = read(json.dumps({"custom_id": "request-7", "params": {"model": "m", "messages": [HI]}, "extra": 1}))
    assert found.conversations[0].title == "request-7"
    assert "Left out of the record: extra." in found.conversations[0].notes


_MEMBERS = st.sampled_from(
    """
    role content parts type text from value conversations contents input mapping message parent current_node params body
    messages kwargs lc id data toolInvocations tool_calls functionCall functionResponse output summary prompt completion
    chat_messages model function name args children author toolUse toolResult image source
    """.split()  # noqa: SIM905 - a list of forty strings reads worse
)
_VALUES = st.recursive(
    st.none() | st.integers() | st.sampled_from(["user", "human", "tool", "text", "reasoning", "tool-f", "ai", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_MEMBERS, inner, max_size=5),
    max_leaves=20,
)


@given(_VALUES)
def test_no_value_breaks_the_reader(value: Any) -> None:
    with contextlib.suppress(MessagesImportError):
        read(json.dumps(value))
