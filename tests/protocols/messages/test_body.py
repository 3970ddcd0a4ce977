from __future__ import annotations

from typing import Any

import pytest

from playground.domain.parts import Image, Reasoning, Text, ToolCall, ToolResult, Unknown
from playground.domain.transcript import Role
from playground.protocols.protocol import get_protocol
from tests.support.each_case import each_case

encode = get_protocol("messages").encode

read_body = get_protocol("messages").read_body


def asked(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 5, "messages": list(messages), **more}


def test_results_get_turns_of_their_own() -> None:
    request, notes = read_body(
        asked(
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1.0}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "1"}]},
                    {"type": "tool_result", "tool_use_id": "b", "is_error": True},
                    {"type": "text", "text": "and now?"},
                ],
            },
        )
    )
    assert [turn.role for turn in request.turns] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.USER]
    assert request.turns[1].parts == (ToolCall(id="a", name="f", arguments='{"x": 1.0}'),)
    assert request.turns[2].parts == (
        ToolResult(call_id="a", text="1", extra={"messages": {"content": [{"type": "text", "text": "1"}]}}),
        ToolResult(call_id="b", text="", is_error=True),
    )
    assert [turn.parent for turn in request.turns[1:]] == [turn.id for turn in request.turns[:-1]]
    assert notes == ()


def test_blocks_become_parts_or_stay_whole() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
        {"type": "thinking", "thinking": "unsigned"},
        {"type": "server_tool_use", "id": "x"},
    ]
    user: list[dict[str, Any]] = [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}},
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
    ]
    body = asked({"role": "user", "content": user}, {"role": "assistant", "content": blocks}, system=[blocks[2]])
    request, _ = read_body(body)
    system, first, second = request.turns
    marked = Text(text="a", extra={"messages": {"cache_control": {"type": "ephemeral"}}})
    assert system.parts == (marked,)
    assert first.parts == (
        Image(url="data:image/png;base64,AAAA"),
        Image(url="https://x.example/a.png"),
        Unknown(value=user[2]),
    )
    assert second.parts == (
        Reasoning(text="hm", field="thinking", signature="s"),
        Reasoning(text="", field="redacted_thinking", redacted="d"),
        marked,
        Unknown(value=blocks[3]),
        Unknown(value=blocks[4]),
    )
    assert encode(request) == body


def test_unsupported_tools_stay_in_the_extra_body() -> None:
    tools = [{"name": "f", "input_schema": {"type": "object"}}, {"type": "web_search_20250305", "name": "web_search"}]
    request, notes = read_body(asked(tools=tools))
    assert request.tools == ()
    assert request.extra_body == {"tools": tools}
    assert "runs at the vendor" in notes[0]
    cached = [{"name": "f", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}]
    request, notes = read_body(asked(tools=cached))
    assert request.extra_body == {"tools": cached}
    assert "tool 1 (f)" in notes[0]
    request, notes = read_body(asked(tools=[{"type": "custom", "name": "f", "input_schema": {"type": "object"}}]))
    assert [tool.name for tool in request.tools] == ["f"]
    assert notes == ()


def test_lost_members_are_named() -> None:
    _, notes = read_body(asked({"role": "user", "content": "x", "id": 5}))
    assert notes == ("Message 1: “id” left out; a turn has no place for it.",)


def test_system_message_in_the_conversation_is_read_with_a_note() -> None:
    """Claude Code sends such messages."""
    agents = {"role": "system", "content": "Agents: none"}
    body = asked({"role": "user", "content": "Hi"}, agents, {"role": "assistant", "content": "Hello"})
    request, notes = read_body(body)
    assert [turn.role for turn in request.turns] == [Role.USER, Role.SYSTEM, Role.ASSISTANT]
    assert notes == ("Message 2: its role is system; it is sent in the system prompt at the top.",)
    assert encode(request)["system"] == "Agents: none"


@each_case(
    ("body", "words"),
    [
        ({"messages": {}}, "“messages” must be a list"),
        ({"messages": ["x"]}, "message 1: must be an object"),
        ({"messages": [{"content": "x"}]}, "message 1: “role” is missing"),
        (
            {"messages": [{"role": "tool", "content": "x"}]},
            "message 1: “role” is 'tool'; it must be user, assistant or system",
        ),
        ({"messages": [{"role": "user"}]}, "“content” is missing"),
        ({"messages": [{"role": "user", "content": 5}]}, "must be text or a list of blocks"),
        ({"messages": [{"role": "user", "content": [{}]}]}, "content block 1"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, "“tool_use_id”"),
        ({"messages": [], "system": 5}, "“system”: "),
    ],
)
def test_invalid_messages_are_named(body: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=r"messages|message 1|system") as caught:
        read_body(body)
    assert words in str(caught.value)
