"""A request as a value, independent of the protocol."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field, SerializeAsAny

from playground.domain.adaptations import Adaptation, adapted, effective
from playground.domain.hints import setting
from playground.domain.parameters import Parameters
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn
from playground.domain.values import Value
from playground.jsonkit.merge import merged
from playground.jsonkit.values import JSONObject


class SendReasoning(StrEnum):
    """When the reasoning of earlier turns is sent back."""

    NEVER = "never"
    AFTER_TOOL_CALLS = "after_tool_calls"
    ALWAYS = "always"


#: The labels of these times, and the usual names of the member; empty is that of the answer.
SEND_REASONING: Final = (
    (SendReasoning.NEVER, "never"),
    (SendReasoning.AFTER_TOOL_CALLS, "after tool calls"),
    (SendReasoning.ALWAYS, "always"),
)
REASONING_FIELDS: Final = ("", "reasoning_content", "reasoning", "reasoning_details", "thinking")


class ReasoningReturn(Value):
    """The rule for sending reasoning back on chat completions, and the member's name (empty: as received)."""

    when: Annotated[SendReasoning, setting("Send it &back", choices=SEND_REASONING)] = SendReasoning.NEVER
    field: Annotated[
        str,
        setting(
            "Member",
            editor="choice",
            placeholder="as received",
            suggestions=REASONING_FIELDS[1:],
            visible_when=lambda value: value.when is not SendReasoning.NEVER,
        ),
    ] = ""


class Request(Value):
    """One request: the path of the transcript, the parameters, and the tools.

    ``adaptations`` are the gateway's rules, which change fields of panels and conversation; so do the rules in
    ``once``, which are for this request alone. ``inherited_body`` is the gateway's extra body, ``extra_body`` the
    experiment's: they are merged into the body last, in this order, and win over everything else (see
    ``playground.jsonkit.merge``). ``extra_headers`` are sent in addition to the gateway's and win over those of the
    same name; none of them is a secret.
    """

    protocol: str
    model: str
    turns: tuple[Turn, ...] = ()
    parameters: SerializeAsAny[Parameters] = Field(default_factory=Parameters)
    tools: tuple[ToolDefinition, ...] = ()
    adaptations: tuple[Adaptation, ...] = ()
    once: tuple[Adaptation, ...] = ()
    inherited_body: JSONObject = Field(default_factory=dict)
    extra_body: JSONObject = Field(default_factory=dict)
    extra_headers: dict[str, str] = Field(default_factory=dict)
    reasoning_return: ReasoningReturn = ReasoningReturn()

    @property
    def rules(self) -> tuple[Adaptation, ...]:
        """The adaptations for this protocol and model."""
        both = (*self.adaptations, *self.once)
        return tuple(rule for rule in both if rule.applies_to(self.protocol, self.model))

    def adapted(self, body: JSONObject) -> JSONObject:
        """Apply the adaptations to a body that the protocol has encoded."""
        return adapted(body, self.rules) if self.adaptations or self.once else body

    def adaptations_of(self, body: JSONObject) -> tuple[Adaptation, ...]:
        """Return the adaptations that change a body that the protocol has encoded."""
        return effective(body, self.rules) if self.adaptations or self.once else ()

    def with_extras(self, body: JSONObject) -> JSONObject:
        """Apply the adaptations to a body, then merge both extra bodies into it."""
        out: JSONObject = merged(merged(self.adapted(body), self.inherited_body), self.extra_body)
        return out

    def settings(self) -> JSONObject:
        """Return the members of the body besides model, messages and tools, as far as all protocols share them."""
        return self.with_extras(self.parameters.to_wire(self.with_extras({})))
