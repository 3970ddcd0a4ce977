"""What is asked of a gateway, as a value, before any protocol spells it."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, SerializeAsAny

from playground.domain.parameters import Parameters
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn
from playground.domain.values import JSONObject, Value


class SendReasoning(StrEnum):
    """When the reasoning of earlier turns goes back to the gateway."""

    NEVER = "never"
    AFTER_TOOL_CALLS = "after_tool_calls"
    ALWAYS = "always"


class ReasoningReturn(Value):
    """The rule for sending reasoning back on chat completions, and the field it goes under (empty: as it came)."""

    when: SendReasoning = SendReasoning.NEVER
    field: str = ""


class Request(Value):
    """One request: the path of the transcript, what is set, and the tools on offer.

    ``extra_body`` is merged last into the body, key by key, and wins over everything else. ``extra_headers`` go with
    this request besides the gateway's own and win over those of the same name; none of them is a secret.
    """

    protocol: str
    model: str
    turns: tuple[Turn, ...] = ()
    parameters: SerializeAsAny[Parameters] = Field(default_factory=Parameters)
    tools: tuple[ToolDefinition, ...] = ()
    extra_body: JSONObject = Field(default_factory=dict)
    extra_headers: dict[str, str] = Field(default_factory=dict)
    reasoning_return: ReasoningReturn = ReasoningReturn()
