"""Golden request bodies."""

from __future__ import annotations

from typing import Any

import pytest

from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.tool_servers import ServerAnswer
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn, make_turn
from playground.protocols.chat.encode import encode_turns
from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.protocol import get_protocol
from tests.protocols.streams import GOLDEN
from tests.support.each_case import each_case

encode = get_protocol("chat").encode


def turn(role: Role, *parts: Part) -> Turn:
    return Turn(id="t", role=role, parts=parts)


def message(role: Role, *parts: Part, rule: ReasoningReturn = ReasoningReturn()) -> Any:  # noqa: B008 - frozen
    (only,) = encode_turns((turn(role, *parts),), rule)
    return only


def test_whole_request() -> None:
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
    assert body == GOLDEN["chat"]
    assert list(body)[:2] == ["model", "messages"]


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
def test_empty_turn_is_an_empty_string(role: Role) -> None:
    assert message(role) == {"role": role.value, "content": ""}


def test_unknown_parts_go_back_as_they_came() -> None:
    audio = {"type": "input_audio", "input_audio": {"data": "AA"}}
    assert message(Role.USER, Unknown(value=audio))["content"] == [audio]
    assert message(Role.ASSISTANT, Text(text="a"), Unknown(value=audio))["content"] == [
        {"type": "text", "text": "a"},
        audio,
    ]


def test_refusal_goes_back_beside_the_content() -> None:
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


NEVER = ReasoningReturn()
AFTER_CALLS = ReasoningReturn(when=SendReasoning.AFTER_TOOL_CALLS)
ALWAYS = ReasoningReturn(when=SendReasoning.ALWAYS)
INLINE = Reasoning(text="hm", field="<think>")


@each_case(
    ("rule", "parts", "members"),
    [
        (NEVER, [THOUGHT, CALL], {}),
        (AFTER_CALLS, [THOUGHT, Text(text="a")], {}),
        (AFTER_CALLS, [THOUGHT, CALL], {"reasoning": "hm"}),
        (AFTER_CALLS, [CALL], {"reasoning_content": ""}),
        (AFTER_CALLS.model_copy(update={"field": "reasoning"}), [CALL], {"reasoning": ""}),
        (ALWAYS.model_copy(update={"field": "thinking"}), [THOUGHT, Text(text="a")], {"thinking": "hm"}),
        (ALWAYS, [Text(text="a")], {}),
        (ALWAYS, [INLINE], {"reasoning_content": "hm"}),
        (ALWAYS.model_copy(update={"field": "reasoning"}), [INLINE], {"reasoning": "hm"}),
        (
            ALWAYS,
            [Reasoning(text="hm", field="reasoning", details=DETAILS)],
            {"reasoning": "hm", "reasoning_details": list(DETAILS)},
        ),
        (
            ALWAYS,
            [Reasoning(text="hm", field="reasoning_details", details=DETAILS), CALL],
            {"reasoning_details": list(DETAILS)},
        ),
    ],
)
def test_reasoning_goes_back_by_its_rule(rule: ReasoningReturn, parts: list[Part], members: dict[str, Any]) -> None:
    out = message(Role.ASSISTANT, *parts, rule=rule)
    assert {name: out[name] for name in out if name not in ("role", "content", "tool_calls")} == members


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


def test_line_stands_for_each_picture_of_a_result() -> None:
    part = ToolResult(call_id="a", text="see", images=(Image(url="data:image/png;base64,AAAA"),))
    (message,) = encode_turns((Turn(id="t", role=Role.TOOL, parts=(part,)),))
    line = "[Picture, image/png, 3 bytes, not sent: this result is text only]"
    assert message == {"role": "tool", "tool_call_id": "a", "content": f"see\n{line}"}


def test_answer_of_a_tool_server_is_not_sent() -> None:
    server_answer = ServerAnswer(server="CANARY", tool="CANARY", structured={"a": "CANARY"})
    result = ToolResult(call_id="a", text="t", served=server_answer)
    assert "CANARY" not in str(encode_turns((Turn(id="t", role=Role.TOOL, parts=(result,)),)))
