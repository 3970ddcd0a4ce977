"""Turns that cannot be encoded are found without it: ``check`` raises exactly where ``encode`` does, in its words."""

from __future__ import annotations

from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol
from tests.support.each_case import each_case

PARTS: tuple[Part, ...] = (
    Text(text="hi"),
    Text(text=""),
    Reasoning(text="hm", field="reasoning_content"),
    Reasoning(text="hm", field="thinking", signature="S=="),
    Refusal(text="no"),
    Image(url="https://example.org/a.png"),
    Image(url="nonsense"),
    ToolCall(id="a", name="f", arguments='{"x": 1}'),
    ToolCall(id="b", name="f", arguments=" "),
    ToolCall(id="c", name="f", arguments='{"x": '),
    ToolCall(id="d", name="f", arguments="[1]"),
    ToolResult(call_id="a", text="21"),
    Unknown(value={"type": "new", "x": 1}),
)
TOOLS = (ToolDefinition(name="f", parameters={"type": "object"}), ToolDefinition(name="g", enabled=False))


def refusal(protocol: str, way: str, request: Request) -> str | None:
    try:
        getattr(get_protocol(protocol), way)(request)
    except ValueError as error:
        return str(error)
    return None


@each_case("protocol", PROTOCOLS)
@each_case("role", Role)
def test_every_part_in_every_role(protocol: str, role: Role) -> None:
    parameters = get_protocol(protocol).parameters_type()
    for part in PARTS:
        turns = (Turn(id="1", role=Role.USER, parts=(Text(text="hi"),)), Turn(id="2", role=role, parts=(part,)))
        request = Request(protocol=protocol, model="m", turns=turns, parameters=parameters, tools=TOOLS)
        assert refusal(protocol, "check", request) == refusal(protocol, "encode", request), part


def test_only_the_messages_protocol_has_no_place_for_broken_arguments() -> None:
    broken = Turn(id="1", role=Role.ASSISTANT, parts=(ToolCall(id="c", name="f", arguments="{"),))
    for protocol, finds in (("chat", False), ("messages", True)):
        parameters = get_protocol(protocol).parameters_type()
        request = Request(protocol=protocol, model="m", turns=(broken,), parameters=parameters)
        assert (refusal(protocol, "check", request) is not None) is finds
