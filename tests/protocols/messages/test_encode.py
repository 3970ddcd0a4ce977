"""Golden request bodies of the native messages protocol."""

from __future__ import annotations

from typing import Any

import pytest

from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.request import Request
from playground.domain.tool_servers import ServerAnswer
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn, make_turn
from playground.protocols.messages.encode import encode_turns
from playground.protocols.messages.parameters import MAX_TOKENS_START, MessagesParameters
from playground.protocols.protocol import get_protocol
from tests.protocols.streams import GOLDEN
from tests.support.each_case import each_case

encode = get_protocol("messages").encode


def turn(role: Role, *parts: Part) -> Turn:
    return Turn(id="t", role=role, parts=parts)


def test_whole_request() -> None:
    request = Request(
        protocol="messages",
        model="m",
        turns=(
            make_turn(Role.SYSTEM, "Be brief."),
            make_turn(Role.USER, "Weather?"),
            turn(
                Role.ASSISTANT,
                Text(text="Looking."),
                Reasoning(text="h\u00e9 ", field="thinking", signature="SIG=="),
                Reasoning(text="", field="redacted_thinking", redacted="XX"),
                ToolCall(id="a", name="f", arguments='{"x": 1}'),
                ToolCall(id="b", name="g", arguments=" "),
            ),
            turn(Role.TOOL, ToolResult(call_id="a", text="21"), ToolResult(call_id="b", text="no", is_error=True)),
            make_turn(Role.USER, "And?"),
        ),
        parameters=MessagesParameters(
            temperature=0.5, max_tokens=100, stop_sequences=("x",), effort="low", user_id="u", stream=True,
            tool_choice={"type": "any"}, thinking={"type": "adaptive"},
        ),
        tools=(
            ToolDefinition(name="f", description="d", parameters={"type": "object"}),
            ToolDefinition(name="off", enabled=False),
        ),
        extra_body={"container": "c"},
    )  # fmt: skip
    assert encode(request) == GOLDEN["messages"]


def test_max_tokens_is_required_and_has_a_start_value() -> None:
    assert encode(Request(protocol="messages", model="m")) == {
        "model": "m",
        "max_tokens": MAX_TOKENS_START,
        "messages": [],
    }
    hint = dict(MessagesParameters.hints())["max_tokens"]
    assert hint.start == MAX_TOKENS_START
    assert str(MAX_TOKENS_START) in hint.help


def test_several_system_turns_are_blocks_at_the_top() -> None:
    body = encode(
        Request(
            protocol="messages",
            model="m",
            turns=(make_turn(Role.SYSTEM, "a"), make_turn(Role.USER, "u"), make_turn(Role.DEVELOPER, "b")),
        )
    )
    assert body["system"] == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert body["messages"] == [{"role": "user", "content": "u"}]


def test_neighbours_of_one_side_become_one_message() -> None:
    assert encode_turns((make_turn(Role.USER, "a"), make_turn(Role.USER, "b"), make_turn(Role.ASSISTANT, "c"))) == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": "c"},
    ]


def test_thinking_between_calls_stays_where_it_was() -> None:
    parts = (Reasoning(text="", signature="S1"), Text(text="a"), Reasoning(text="2", signature="S2"), Text(text="b"))
    (message,) = encode_turns((turn(Role.ASSISTANT, *parts),))
    assert message["content"] == [
        {"type": "thinking", "thinking": "", "signature": "S1"},
        {"type": "text", "text": "a"},
        {"type": "thinking", "thinking": "2", "signature": "S2"},
        {"type": "text", "text": "b"},
    ]


def test_reasoning_without_a_signature_and_empty_texts_stay_here() -> None:
    assert encode_turns(
        (turn(Role.ASSISTANT, Reasoning(text="hm", field="reasoning_content"), Text(text=""), Text(text="a")),)
    ) == [{"role": "assistant", "content": "a"}]


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("https://x/y.png", {"type": "url", "url": "https://x/y.png"}),
        ("data:image/png;base64,AAA=", {"type": "base64", "media_type": "image/png", "data": "AAA="}),
        (
            "data:image/svg+xml;charset=utf-8;base64,AAA=",
            {"type": "base64", "media_type": "image/svg+xml", "data": "AAA="},
        ),
    ],
)
def test_images(url: str, source: dict[str, str]) -> None:
    (message,) = encode_turns((turn(Role.USER, Image(url=url, detail="low")),))
    assert message["content"] == [{"type": "image", "source": source}]


def test_unknown_parts_and_refusals() -> None:
    (message,) = encode_turns(
        (turn(Role.ASSISTANT, Unknown(value={"type": "server_tool_use", "id": "s"}), Refusal(text="no")),)
    )
    assert message["content"] == [{"type": "server_tool_use", "id": "s"}, {"type": "text", "text": "no"}]


@pytest.mark.parametrize("arguments", ["{", "[1]", "5", "\ud800", '"x"', "[" * 100_000])
def test_arguments_that_are_no_object_are_named(arguments: str) -> None:
    with pytest.raises(ValueError, match=r"the call “f” \(a\)"):
        encode_turns((turn(Role.ASSISTANT, ToolCall(id="a", name="f", arguments=arguments)),))


@each_case(
    ("parameters", "choice"),
    [
        ({"tool_choice": "any"}, {"type": "any"}),
        ({"disable_parallel_tool_use": True}, {"type": "auto", "disable_parallel_tool_use": True}),
        (
            {"tool_choice": "any", "disable_parallel_tool_use": False},
            {"type": "any", "disable_parallel_tool_use": False},
        ),
        (
            {"tool_choice": {"type": "tool", "name": "f"}, "disable_parallel_tool_use": True},
            {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
        ),
    ],
)
def test_tool_choice_is_an_object_with_the_rule_for_parallel_calls(
    parameters: dict[str, Any], choice: dict[str, Any]
) -> None:
    request = Request(protocol="messages", model="m", parameters=MessagesParameters.model_validate(parameters))
    assert encode(request)["tool_choice"] == choice
    wire = {"tool_choice": choice}
    assert MessagesParameters.from_wire(wire).to_wire() == wire


def _result(part: ToolResult) -> object:
    (message,) = encode_turns((turn(Role.TOOL, part),))
    return message["content"][0]["content"]


def test_pictures_of_a_result_stand_behind_its_text() -> None:
    pixel = Image(url="data:image/png;base64,AAAA")
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    assert _result(ToolResult(call_id="a", text="see", images=(pixel,))) == [{"type": "text", "text": "see"}, block]
    assert _result(ToolResult(call_id="a", text="", images=(pixel, pixel))) == [block, block]


def test_answer_of_a_tool_server_is_not_sent() -> None:
    server_answer = ServerAnswer(server="CANARY", tool="CANARY", structured={"a": "CANARY"})
    assert "CANARY" not in str(
        encode_turns((turn(Role.TOOL, ToolResult(call_id="a", text="t", served=server_answer)),))
    )
