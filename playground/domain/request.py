"""What is asked of a gateway, as a value, before any protocol spells it."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, SerializeAsAny

from playground.domain.adaptations import Adaptation, adapted, effective
from playground.domain.parameters import Parameters
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn
from playground.domain.values import Value
from playground.jsonkit.merge import merged
from playground.jsonkit.values import JSONObject


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

    ``adaptations`` are what the gateway was found not to take: they change what panels and conversation say. So do
    those of ``once``, which are tried with this request alone.
    ``inherited_body`` is the gateway's extra body, ``extra_body`` the experiment's own: they are merged into the body
    last, one after the other, and win over everything else (see ``playground.jsonkit.merge``). ``extra_headers`` go
    with this request besides the gateway's own and win over those of the same name; none of them is a secret.
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
        """Those of the adaptations that are about this protocol and model."""
        both = (*self.adaptations, *self.once)
        return tuple(rule for rule in both if rule.applies_to(self.protocol, self.model))

    def adapted(self, body: JSONObject) -> JSONObject:
        """``body``, written by the protocol, as this gateway is known to take it."""
        return adapted(body, self.rules) if self.adaptations or self.once else body

    def adaptations_of(self, body: JSONObject) -> tuple[Adaptation, ...]:
        """Those that change something about ``body``, written by the protocol."""
        return effective(body, self.rules) if self.adaptations or self.once else ()

    def with_extras(self, body: JSONObject) -> JSONObject:
        """``body`` as this gateway takes it, with both extra bodies merged into it."""
        whole: JSONObject = merged(merged(self.adapted(body), self.inherited_body), self.extra_body)
        return whole

    def settings(self) -> JSONObject:
        """What the body says besides model, messages and tools, as far as all protocols spell it alike."""
        return self.with_extras(self.parameters.to_wire(self.with_extras({})))
