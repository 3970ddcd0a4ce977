from __future__ import annotations

from typing import Any

import pytest

from playground.domain.parts import Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.transcript import Role
from playground.protocols.chat.body import read_messages
from tests.support.each_case import each_case


def test_turns_follow_one_another() -> None:
    turns = read_messages([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}])
    assert [t.role for t in turns] == [Role.SYSTEM, Role.USER]
    assert (turns[0].parent, turns[1].parent) == (None, turns[0].id)


def test_results_of_one_step_are_one_turn() -> None:
    turns = read_messages(
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{not json"}},
                    {"id": "b", "function": {"name": "g"}},
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "2"}]},
            {"role": "user", "content": "go on"},
        ]
    )
    assert turns[0].parts == (
        ToolCall(id="a", name="f", arguments="{not json"),
        ToolCall(id="b", name="g", arguments=""),
    )
    extra = {"chat": {"content": [{"type": "text", "text": "2"}]}}
    assert turns[1].parts == (ToolResult(call_id="a", text="1"), ToolResult(call_id="b", text="2", extra=extra))
    assert turns[2].parent == turns[1].id


def test_reasoning_refusals_and_unknown_parts_are_kept() -> None:
    record = {"type": "reasoning.text", "text": "hm"}
    (turn,) = read_messages(
        [
            {
                "role": "assistant",
                "reasoning": "hm",
                "reasoning_content": "hm",
                "thinking": "other",
                "reasoning_details": [record],
                "content": [{"type": "text", "text": "a", "cache_control": {}}, {"type": "chart"}],
                "refusal": "no",
            }
        ]
    )
    assert turn.parts == (
        Reasoning(text="hm", field="reasoning_content", details=(record,)),
        Reasoning(text="other", field="thinking"),
        Text(text="a", extra={"chat": {"cache_control": {}}}),
        Unknown(value={"type": "chart"}),
        Refusal(text="no"),
    )
    (alone,) = read_messages([{"role": "assistant", "content": "x", "reasoning_details": [record]}])
    assert alone.parts == (Reasoning(text="hm", field="reasoning_details", details=(record,)), Text(text="x"))


@each_case(
    ("messages", "words"),
    [
        ({}, "must be a list"),
        (["x"], "message 1: must be an object"),
        ([{"role": "user", "content": "a"}, {"content": "a"}], "message 2: “role” is missing"),
        ([{"role": "robot", "content": "a"}], "message 1: “role” is 'robot'"),
        ([{"role": [], "content": "a"}], "message 1: “role” is missing"),
        ([{"role": "user"}], "“content” is missing"),
        ([{"role": "user", "content": 5}], "“content” must be text"),
        ([{"role": "user", "content": ["x"]}], "content part 1 must be an object"),
        ([{"role": "user", "content": [{"type": "text"}]}], "content part 1 has no “text”"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}], "no image “url”"),
        ([{"role": "tool", "content": "x"}], "“tool_call_id” is missing"),
        ([{"role": "tool", "tool_call_id": "a", "content": {}}], "must be text"),
        ([{"role": "assistant", "tool_calls": {}}], "“tool_calls” must be a list"),
        ([{"role": "assistant", "tool_calls": [{}]}], "tool call 1 has no “function” object"),
        ([{"role": "assistant", "tool_calls": [{"id": "a", "function": {}}]}], "no function name"),
        ([{"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}], "tool call 1 has no “id”"),
        (
            [{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": 1}}]}],
            "must be text",
        ),
    ],
)
def test_invalid_messages_are_named(messages: Any, words: str) -> None:
    with pytest.raises(ValueError, match=r"message \d|“messages”") as caught:
        read_messages(messages)
    assert words in str(caught.value)


def test_lone_surrogates_can_be_kept() -> None:
    (turn,) = read_messages([{"role": "user", "content": "\ud800"}])
    assert turn.text == "\ufffd"
