"""Golden request bodies."""

from __future__ import annotations

from typing import Any

import pytest

from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.tool_servers import ServerAnswer
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn, make_turn
from playground.protocols.chat.body import read_messages
from playground.protocols.chat.encode import encode, encode_turns
from playground.protocols.chat.parameters import ChatParameters


def turn(role: Role, *parts: Part) -> Turn:
    return Turn(id="t", role=role, parts=parts)


def message(role: Role, *parts: Part, rule: ReasoningReturn = ReasoningReturn()) -> Any:  # noqa: B008 - frozen
    (only,) = encode_turns((turn(role, *parts),), rule)
    return only


def test_a_whole_request() -> None:
    request = Request(
        protocol="chat",
        model="m",
        turns=(
            make_turn(Role.SYSTEM, "Be brief."),
            make_turn(Role.USER, "Weather?"),
            turn(
                Role.ASSISTANT,
                ToolCall(id="a", name="f", arguments='{"x": 1}'),
                ToolCall(id="b", name="g", arguments=""),
            ),
            turn(Role.TOOL, ToolResult(call_id="a", text="21"), ToolResult(call_id="b", text="no", is_error=True)),
        ),
        parameters=ChatParameters(temperature=0.5, stream=True, include_usage=True),
        tools=(
            ToolDefinition(name="f", description="d", parameters={"type": "object"}, strict=True),
            ToolDefinition(name="g"),
            ToolDefinition(name="off", enabled=False),
            ToolDefinition(name="broken", source="{"),
        ),
        extra_body={"temperature": 0.9, "top_k": 4},
    )
    body = encode(request)
    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
                    {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "21"},
            {"role": "tool", "tool_call_id": "b", "content": "no"},
        ],
        "temperature": 0.9,
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {"name": "f", "description": "d", "parameters": {"type": "object"}, "strict": True},
            },
            {"type": "function", "function": {"name": "g"}},
        ],
        "top_k": 4,
    }
    assert list(body)[:2] == ["model", "messages"]


def test_nothing_but_what_is_set() -> None:
    assert encode(Request(protocol="chat", model="m")) == {"model": "m", "messages": []}


def test_images_make_parts_in_order() -> None:
    image = Image(url="https://x/y.png", detail="low", name="y")
    assert message(Role.USER, Text(text="a"), image, Image(url="data:image/png;base64,AA")) == {
        "role": "user",
        "content": [
            {"type": "text", "text": "a"},
            {"type": "image_url", "image_url": {"url": "https://x/y.png", "detail": "low"}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
        ],
    }


@pytest.mark.parametrize("role", [Role.SYSTEM, Role.DEVELOPER, Role.USER, Role.ASSISTANT])
def test_an_empty_turn_is_an_empty_string(role: Role) -> None:
    assert message(role) == {"role": role.value, "content": ""}


def test_unknown_parts_go_back_as_they_came() -> None:
    audio = {"type": "input_audio", "input_audio": {"data": "AA"}}
    assert message(Role.USER, Unknown(value=audio))["content"] == [audio]
    assert message(Role.ASSISTANT, Text(text="a"), Unknown(value=audio))["content"] == [
        {"type": "text", "text": "a"},
        audio,
    ]


def test_a_refusal_goes_back_beside_the_content() -> None:
    assert message(Role.ASSISTANT, Refusal(text="no")) == {"role": "assistant", "content": None, "refusal": "no"}


def test_results_in_a_user_turn_come_first_as_messages_of_their_own() -> None:
    out = encode_turns((turn(Role.USER, ToolResult(call_id="a", text="1"), Text(text="go on")),))
    assert out == [{"role": "tool", "tool_call_id": "a", "content": "1"}, {"role": "user", "content": "go on"}]


CALL = ToolCall(id="a", name="f", arguments="{}")
THOUGHT = Reasoning(text="hm", field="reasoning")
DETAILS: tuple[dict[str, Any], ...] = (
    {"type": "reasoning.text", "text": "hm", "index": 0},
    {"type": "reasoning.encrypted", "data": "X"},
)


def sent(rule: ReasoningReturn, *parts: Part) -> dict[str, Any]:
    out = message(Role.ASSISTANT, *parts, rule=rule)
    return {k: v for k, v in out.items() if k not in ("role", "content", "tool_calls")}


def test_reasoning_stays_here_unless_asked_for() -> None:
    assert sent(ReasoningReturn(), THOUGHT, CALL) == {}


def test_after_tool_calls_only() -> None:
    rule = ReasoningReturn(when=SendReasoning.AFTER_TOOL_CALLS)
    assert sent(rule, THOUGHT, Text(text="a")) == {}
    assert sent(rule, THOUGHT, CALL) == {"reasoning": "hm"}


def test_after_tool_calls_the_field_is_there_even_when_empty() -> None:
    rule = ReasoningReturn(when=SendReasoning.AFTER_TOOL_CALLS)
    assert sent(rule, CALL) == {"reasoning_content": ""}
    assert sent(rule.model_copy(update={"field": "reasoning"}), CALL) == {"reasoning": ""}


def test_always_and_under_the_name_given() -> None:
    assert sent(ReasoningReturn(when=SendReasoning.ALWAYS, field="thinking"), THOUGHT, Text(text="a")) == {
        "thinking": "hm"
    }
    assert sent(ReasoningReturn(when=SendReasoning.ALWAYS), Text(text="a")) == {}


def test_inline_reasoning_goes_back_under_the_documented_name() -> None:
    thought = Reasoning(text="hm", field="<think>")
    assert sent(ReasoningReturn(when=SendReasoning.ALWAYS), thought) == {"reasoning_content": "hm"}
    assert sent(ReasoningReturn(when=SendReasoning.ALWAYS, field="reasoning"), thought) == {"reasoning": "hm"}


def test_records_go_back_unmodified_and_in_order() -> None:
    always = ReasoningReturn(when=SendReasoning.ALWAYS)
    thought = Reasoning(text="hm", field="reasoning", details=DETAILS)
    assert sent(always, thought) == {"reasoning": "hm", "reasoning_details": list(DETAILS)}
    only = Reasoning(text="hm", field="reasoning_details", details=DETAILS)
    assert sent(always, only, CALL) == {"reasoning_details": list(DETAILS)}


def test_reasoning_that_came_as_a_content_part_goes_back_as_one() -> None:
    out = message(
        Role.ASSISTANT,
        Reasoning(text="hm", field="content[].thinking"),
        Text(text="a"),
        rule=ReasoningReturn(when=SendReasoning.ALWAYS),
    )
    assert out["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "a"},
    ]


def test_what_was_encoded_can_be_read_again() -> None:
    turns = (
        turn(Role.DEVELOPER, Text(text="s")),
        turn(Role.USER, Text(text="a"), Image(url="https://x", detail="high")),
        turn(Role.ASSISTANT, THOUGHT, Text(text="b"), CALL),
        turn(Role.TOOL, ToolResult(call_id="a", text="1")),
    )
    rule = ReasoningReturn(when=SendReasoning.ALWAYS)
    read = read_messages(encode_turns(turns, rule))
    assert [(t.role, t.parts) for t in read] == [(t.role, t.parts) for t in turns]
    assert encode_turns(tuple(read), rule) == encode_turns(turns, rule)


def test_a_line_stands_for_each_picture_of_a_result() -> None:
    part = ToolResult(call_id="a", text="see", images=(Image(url="data:image/png;base64,AAAA"),))
    (message,) = encode_turns((Turn(id="t", role=Role.TOOL, parts=(part,)),))
    line = "[Picture, image/png, 3 bytes, not sent: this result is text only]"
    assert message == {"role": "tool", "tool_call_id": "a", "content": f"see\n{line}"}


def test_what_a_server_answered_is_no_part_of_the_request() -> None:
    came = ServerAnswer(server="CANARY", tool="CANARY", structured={"a": "CANARY"})
    result = ToolResult(call_id="a", text="t", served=came)
    assert "CANARY" not in str(encode_turns((Turn(id="t", role=Role.TOOL, parts=(result,)),)))
