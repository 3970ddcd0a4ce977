"""Conversations in the shapes of libraries and applications, read as files of messages are."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.engine.files.messages import MessagesImportError, read
from playground.protocols.protocol import get_protocol
from tests.support.each_case import each_case

HI, YO = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}
SYSTEM = {"role": "system", "content": "S"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "r"}

TEXT_HI, TEXT_YO = {"type": "text", "text": "hi"}, {"type": "text", "text": "yo"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
PICTURE = {"role": "user", "content": [TEXT_HI, IMAGE]}


def invocation(**more: Any) -> dict[str, Any]:
    return {"toolCallId": "c", "toolName": "f", **more}


def vercel(role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts), **more}


def content(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def gemini(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def kwargs(name: str, **more: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", name], "kwargs": more}


def node(key: str, parent: str | None, role: str, text: str) -> dict[str, Any]:
    message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}} if role else None
    return {"id": key, "parent": parent, "message": message, "children": []}


TOOL_5 = {"type": "tool-f", "toolCallId": "c", "state": "output-available", "input": {"a": 1}, "output": "r"}
FAILED = {"type": "dynamic-tool", **invocation(input={"a": 1}, errorText="r", state="output-error")}
TOOL_4 = {"type": "tool-invocation", "toolInvocation": invocation(args={"a": 1}, state="result", result="r")}
PNG_FILE = {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA=="}
STEP = {"type": "step-start"}
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
        [vercel("user", TEXT_HI, id="1"), vercel("assistant", STEP, TOOL_5, STEP, TEXT_YO, id="2")],
        [HI, CALLED, RESULT, YO],
    ),
    "Vercel, a tool that failed, in a body": (
        {"id": "chat", "messages": [vercel("user", TEXT_HI), vercel("assistant", FAILED)]},
        [HI, CALLED, RESULT],
    ),
    "Vercel, version 4": (
        [vercel("user", TEXT_HI, content="hi"), vercel("assistant", TOOL_4, TEXT_YO, content="yo")],
        [HI, CALLED, RESULT, YO],
    ),
    "Vercel, for a model": (
        [
            content("user", TEXT_HI),
            content("assistant", {"type": "tool-call", **invocation(input={"a": 1})}),
            content("tool", {"type": "tool-result", **invocation(output={"type": "text", "value": "r"})}),
        ],
        [HI, CALLED, RESULT],
    ),
    "Vercel, a picture": ([vercel("user", TEXT_HI, PNG_FILE)], [PICTURE]),
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
        {"conversations": [{"from": who, "value": x} for who, x in (("system", "S"), ("human", "hi"), ("gpt", "yo"))]},
        [SYSTEM, HI, YO],
    ),
    "Gemini": (
        {
            "systemInstruction": {"parts": [{"text": "S"}]},
            "contents": [
                gemini("user", {"text": "hi"}),
                gemini("model", {"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}),
                gemini("user", {"functionResponse": {"name": "f", "response": {"x": 1}}}),
                gemini("model", {"text": "yo"}),
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
                content("user", {"type": "input_text", "text": "hi"}),
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'},
                {"type": "function_call_output", "call_id": "c", "output": "r"},
                {"type": "message", **content("assistant", {"type": "output_text", "text": "yo"})},
            ],
        },
        [HI, CALLED, RESULT, YO],
    ),
    "Converse": (
        {
            "messages": [
                content("user", {"text": "hi"}),
                content("assistant", {"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1}}}),
                content("user", {"toolResult": {"toolUseId": "c", "content": [{"text": "r"}]}}),
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
def test_conversation_in_a_foreign_shape_is_read_as_messages(name: str) -> None:
    value, messages = SHAPES[name]
    result = read(json.dumps(value))
    assert result.total == 1
    assert result.problems == ()
    request = result.conversations[0].request
    assert get_protocol("chat").encode(request)["messages"] == messages


@each_case("name", [name for name, (value, _) in SHAPES.items() if isinstance(value, dict) and "requests" not in value])
def test_record_in_a_foreign_shape_may_be_a_line(name: str) -> None:
    result = read("\n".join([json.dumps(SHAPES[name][0])] * 2))
    assert (result.total, result.problems) == (2, ())


def test_reasoning_is_kept_and_members_left_out_are_named() -> None:
    parts = [{"text": "why", "thought": True}, {"text": "yo", "thoughtSignature": "s"}]
    gemini = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": parts}], "tools": []}
    conversation = read(json.dumps(gemini)).conversations[0]
    assert (conversation.request.turns[1].reasoning, conversation.request.turns[1].text) == ("why", "yo")
    assert any("“thoughtSignature”" in note and "“tools”" in note for note in conversation.notes)


def test_name_of_a_record_is_the_title() -> None:
    result = read(json.dumps({"custom_id": "request-7", "params": {"model": "m", "messages": [HI]}, "extra": 1}))
    assert result.conversations[0].title == "request-7"
    assert "Left out of the record: extra." in result.conversations[0].notes


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


@settings(max_examples=60)
@given(_VALUES)
def test_no_value_breaks_the_reader(value: Any) -> None:
    with contextlib.suppress(MessagesImportError):
        read(json.dumps(value))
