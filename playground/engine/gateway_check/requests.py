"""Small requests for gateway checks, written by the meanings that protocols share, never by protocol name.

Nothing is sent here. A check that a protocol has no words for gives no request, and is not made over that protocol.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from playground.domain.adaptations import Adaptation
from playground.domain.parameters import Parameters
from playground.domain.parts import Image, ToolCall, ToolResult
from playground.domain.prices import Price
from playground.domain.request import ReasoningReturn, Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn, make_turn
from playground.engine.gateways.profiles import connection
from playground.gateway.connection import Connection
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.protocol import Protocol

if TYPE_CHECKING:
    from playground.engine.gateways.gateways import Gateways

LIMIT: Final = 400  # tokens of an answer at most: reasoning models need some before the first word
SHORT: Final = 16  # the limit of the check that is about the limit
STOP: Final = "e"  # occurs within a few words of nearly every text
COLOUR: Final = "red"
NO_MODEL: Final = "playground-check-no-such-model"
CALL_ID: Final = "chk000001"  # nine letters and digits: some gateways accept no other form

SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "population": {"type": "integer"}},
    "required": ["city", "population"],
    "additionalProperties": False,
}
TOOL: Final = ToolDefinition(
    name="get_weather",
    description="The weather in a city, now.",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string", "description": "The name of the city"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)
ARGUMENTS: Final = '{"city": "Oslo"}'
RESULT: Final = "11 degrees Celsius, light rain"


@dataclass(frozen=True)
class Target:
    """One model of one gateway. ``connection`` holds the secrets, ``price`` the price of tokens if known.

    ``served`` are the protocols under which the model list offers the model; None if the list does not say.
    """

    gateway: str
    connection: Connection
    model: str
    profile_id: str = ""
    adaptations: tuple[Adaptation, ...] = ()
    inherited_body: JSONObject = field(default_factory=dict)
    reasoning_return: ReasoningReturn = field(default_factory=ReasoningReturn)
    price: Price | None = None
    served: frozenset[str] | None = None


def target_of(gateways: Gateways, profile_id: str, model: str) -> Target:
    """Return a model of a configured gateway without its secrets, to list and estimate checks."""
    profile, listed = gateways.get(profile_id), gateways.listed(profile_id)
    facts = listed.facts(model) if listed is not None else None
    return Target(
        gateway=profile.name,
        connection=connection(profile),
        model=model,
        profile_id=profile.id,
        adaptations=profile.adaptations,
        inherited_body=profile.extra_body,
        reasoning_return=profile.reasoning_return,
        price=gateways.price(profile_id, model) or (facts.price if facts is not None else None),
    )


async def with_secrets(target: Target, gateways: Gateways) -> Target:
    """Return the target with its secrets. Raises RunRefusedError if its key needs a person's attention first."""
    client = await gateways.client(target.profile_id)
    return replace(target, connection=client.connection)


@dataclass(frozen=True)
class CheckContext:
    """The facts that a check's request depends on: target, protocol, and results of earlier checks.

    ``streamed``: requests stream unless the check decides it. ``called`` is a turn with a call of ``TOOL``, if any.
    ``learnt`` are adaptations with which refused requests were accepted.
    """

    target: Target
    protocol: Protocol
    streamed: bool = False
    called: Turn | None = None
    learnt: tuple[Adaptation, ...] = ()

    @property
    def fields(self) -> type[Parameters]:
        """The parameters of the protocol."""
        return self.protocol.parameters_type

    def has(self, meaning: str) -> bool:
        """Return whether the protocol has a field of that meaning (``Parameters.shared``)."""
        return meaning in self.fields().shared()

    def request(
        self,
        turns: str | Sequence[Turn],
        *,
        limit: int = LIMIT,
        stream: bool | None = None,
        tools: tuple[ToolDefinition, ...] = (),
        model: str = "",
        own: JSONObject | None = None,
        **shared: JSON,
    ) -> Request:
        """Return a request: ``shared`` are values by shared meaning, ``own`` by the protocol's field names."""
        target = self.target
        parameters = self.fields()
        fields = parameters.shared()
        values = {"limit": limit, "stream": self.streamed if stream is None else stream, **shared}
        for meaning, value in values.items():
            if value not in (None, False):
                parameters = parameters.with_value(fields[meaning].name, fields[meaning].write(value))
        for name, value in (own or {}).items():
            parameters = parameters.with_value(name, value)
        return Request(
            protocol=self.protocol.name,
            model=model or target.model,
            turns=(make_turn(Role.USER, turns),) if isinstance(turns, str) else tuple(turns),
            parameters=parameters,
            tools=tools,
            adaptations=(*target.adaptations, *self.learnt),
            inherited_body=target.inherited_body,
            reasoning_return=target.reasoning_return,
        )


def turns_with_result(called: Turn | None) -> tuple[Turn, ...]:
    """Return a conversation that ends with a tool's result, for the model's own call or a made-up one."""
    question = make_turn(Role.USER, "What is the weather in Oslo?")
    if called is None:
        called = make_turn(Role.ASSISTANT, "", ToolCall(id=CALL_ID, name=TOOL.name, arguments=ARGUMENTS))
    results = [make_turn(Role.TOOL, "", ToolResult(call_id=call.id, text=RESULT)) for call in called.calls]
    return question, called, *results


def picture() -> Image:
    """Return a square of one colour."""
    return Image(url=f"data:image/png;base64,{base64.b64encode(_png()).decode('ascii')}", name="square.png")


@cache
def _png() -> bytes:
    """Return a red PNG, large enough for models with a minimum size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    side = 64  # pixels
    rows = (b"\0" + bytes((220, 20, 20)) * side) * side
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
