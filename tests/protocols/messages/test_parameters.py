"""What is special about the native protocol's parameters."""

from __future__ import annotations

import pytest

from playground.jsonkit.values import JSONObject
from playground.protocols.messages.parameters import MessagesParameters


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        (MessagesParameters(disable_parallel_tool_use=True), {"type": "auto", "disable_parallel_tool_use": True}),
        (
            MessagesParameters(tool_choice="any", disable_parallel_tool_use=False),
            {"type": "any", "disable_parallel_tool_use": False},
        ),
        (
            MessagesParameters(tool_choice={"type": "tool", "name": "f"}, disable_parallel_tool_use=True),
            {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
        ),
    ],
)
def test_one_call_at_a_time_is_part_of_the_tool_choice(parameters: MessagesParameters, body: JSONObject) -> None:
    wire = parameters.to_wire()
    assert wire == {"tool_choice": body}
    assert MessagesParameters.from_wire(wire).to_wire() == wire
