from __future__ import annotations

from typing import Any

import pytest

from playground.domain.request import ReasoningReturn, SendReasoning
from playground.protocols.protocol import get_protocol

encode = get_protocol("chat").encode

read_body = get_protocol("chat").read_body

CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def asked(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **more}


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({}, ReasoningReturn()),
        ({"reasoning_content": "hm"}, ReasoningReturn(when=SendReasoning.AFTER_TOOL_CALLS)),
        ({"reasoning": ""}, ReasoningReturn(when=SendReasoning.AFTER_TOOL_CALLS, field="reasoning")),
        ({"reasoning_details": []}, ReasoningReturn(when=SendReasoning.AFTER_TOOL_CALLS, field="reasoning_details")),
    ],
)
def test_rule_for_reasoning_is_found(fields: dict[str, Any], rule: ReasoningReturn) -> None:
    body = asked({"role": "assistant", "content": None, **fields, "tool_calls": [CALL]})
    request, _ = read_body(body)
    assert request.reasoning_return == rule
    assert encode(request) == body


def test_reasoning_without_calls_is_always_sent_back() -> None:
    body = asked({"role": "assistant", "content": "x", "reasoning_content": "hm"})
    request, _ = read_body(body)
    assert request.reasoning_return.when is SendReasoning.ALWAYS
    assert encode(request) == body


def test_members_that_no_part_holds_are_kept_and_sent_again() -> None:
    body = asked(
        {"role": "user", "content": "x", "name": "me"},
        {"role": "assistant", "audio": {"id": "a-1"}, "content": None, "tool_calls": [CALL, {**CALL, "id": "b"}]},
        {"role": "tool", "tool_call_id": "a", "content": "1", "name": "f"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
    )
    request, notes = read_body(body)
    assert notes == ()
    assert [turn.members for turn in request.turns] == [{"name": "me"}, {"audio": {"id": "a-1"}}, {"name": "f"}, {}]
    assert encode(request) == body


def test_lost_members_are_named() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    request, notes = read_body(asked({"role": "user", "content": "x", "name": "me", "deep": deep, "half": "\ud800"}))
    assert notes == ("Message 1: “deep”, “half” left out; it could not be written again.",)
    assert request.turns[0].members == {"name": "me"}


def test_values_that_a_field_would_change_stay_in_the_extra_body() -> None:
    odd: dict[str, Any] = {
        "temperature": None,
        "stop": [],
        "stream_options": {"include_usage": True, "x": 1},
        "include_usage": True,
    }
    request, _ = read_body(asked(**odd, seed=True, n=1.0, model=None))
    assert request.model == ""
    assert request.extra_body.keys() == {"temperature", "stream_options", "include_usage", "model"}
    assert request.parameters.to_wire() == {"stop": [], "seed": True, "n": 1.0}


def test_unsupported_tools_stay_in_the_extra_body() -> None:
    tools = [{"type": "custom", "custom": {"name": "x"}, "more": 1}]
    request, notes = read_body(asked(tools=tools))
    assert request.extra_body == {"tools": tools}
    assert notes[0].startswith("The tools are in the extra body: tool 1 (x) ")
    request, notes = read_body(asked(tools=[{"type": "function", "function": {"name": "f", "description": ""}}]))
    assert [tool.name for tool in request.tools] == ["f"]
    assert not notes
