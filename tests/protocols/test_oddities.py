"""Contradictions in a body are found, in whatever shape they come, and nothing else is."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.protocols.protocol import get_protocol
from tests.support.each_case import each_case

CHAT_TOOL = {"type": "function", "function": {"name": "look"}}
TOOL = {"name": "look", "input_schema": {"type": "object"}}


def named(tool: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": tool}}


def oddities(protocol: str, body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(".".join(path), words) for path, words in get_protocol(protocol).oddities(body)]


@each_case(
    ("body", "odd"),
    [
        ({}, []),
        ({"tool_choice": "auto", "tools": [CHAT_TOOL]}, []),
        ({"tool_choice": "auto"}, [("tool_choice", "no tool is sent")]),
        ({"tool_choice": "none", "tools": []}, [("tool_choice", "no tool is sent")]),
        ({"tool_choice": named("look"), "tools": [CHAT_TOOL]}, []),
        ({"tool_choice": named("off"), "tools": [CHAT_TOOL]}, [("tool_choice", "“off” is not among the tools")]),
        ({"tool_choice": "look", "tools": [CHAT_TOOL]}, [("tool_choice", "“look” is neither auto, none or required")]),
        ({"tool_choice": {"type": "allowed_tools"}, "tools": [CHAT_TOOL]}, []),
        ({"max_tokens": 5}, []),
        (
            {"max_tokens": 5, "max_completion_tokens": 5},
            [("max_completion_tokens", "max_tokens is sent as well"), ("max_tokens", "max_completion_tokens is sent")],
        ),
        ({"stream": True, "stream_options": {"include_usage": True}}, []),
        ({"stream": False, "stream_options": {}}, [("stream_options", "sent without “stream”")]),
        ({"stream_options": {"include_usage": True}}, [("stream_options", "sent without “stream”")]),
    ],
)
def test_contradictions_in_a_chat_body_are_named(body: dict[str, Any], odd: list[tuple[str, str]]) -> None:
    message = oddities("chat", body)
    assert [path for path, _ in message] == [path for path, _ in odd]
    assert all(words.startswith(begin) for (_, words), (_, begin) in zip(message, odd, strict=True))


def thinking(budget: Any, **more: Any) -> dict[str, Any]:
    return {"max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": budget}, **more}


@each_case(
    ("body", "odd"),
    [
        ({"tool_choice": {"type": "auto"}, "tools": [TOOL]}, []),
        ({"tool_choice": {"type": "auto"}}, [("tool_choice", "no tool is sent")]),
        ({"tool_choice": {"type": "tool", "name": "off"}, "tools": [TOOL]}, [("tool_choice", "“off” is not among")]),
        ({"tool_choice": {"type": "tool", "name": "look"}, "tools": [TOOL]}, []),
        (thinking(1024), []),
        (thinking(1023), [("thinking.budget_tokens", "the budget is below the least of 1,024")]),
        (thinking(4096), [("thinking.budget_tokens", "the budget is not below max_tokens (4,096)")]),
        (thinking(2048, max_tokens=None), []),
        (thinking(2048, max_tokens="lots"), []),
        (
            thinking(10, max_tokens=10),
            [("thinking.budget_tokens", "the budget is below"), ("thinking.budget_tokens", "the budget is not below")],
        ),
        (thinking(None), [("thinking.budget_tokens", "enabled thinking needs a budget")]),
        (thinking("2048"), [("thinking.budget_tokens", "the budget is no whole number")]),
        (thinking(True), [("thinking.budget_tokens", "the budget is no whole number")]),
        ({"thinking": {"type": "disabled", "budget_tokens": 1}}, []),
        ({"thinking": {"type": "adaptive"}, "temperature": 1}, []),
        ({"thinking": {"type": "adaptive"}, "temperature": 0.5}, [("temperature", "another temperature than 1")]),
        (thinking(1024, tool_choice={"type": "any"}, tools=[TOOL]), [("tool_choice", "a forced tool may be refused")]),
        (thinking(1024, tool_choice={"type": "auto"}, tools=[TOOL]), []),
    ],
)
def test_contradictions_in_a_messages_body_are_named(body: dict[str, Any], odd: list[tuple[str, str]]) -> None:
    message = oddities("messages", body)
    assert [path for path, _ in message] == [path for path, _ in odd]
    assert all(words.startswith(begin) for (_, words), (_, begin) in zip(message, odd, strict=True))


NAMES = ["tool_choice", "tools", "max_tokens", "max_completion_tokens", "thinking", "stream", "stream_options"]
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["auto", "enabled", "tool", "x", ""])
anything = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "name", "function", "budget_tokens"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["chat", "messages"]), st.dictionaries(st.sampled_from(NAMES), anything))
def test_any_body_is_checked(protocol: str, body: dict[str, Any]) -> None:
    for oddity in get_protocol(protocol).oddities(body):
        assert oddity.words
        assert oddity.path[0] in NAMES or oddity.path[0] == "temperature"
