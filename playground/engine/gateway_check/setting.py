"""Whom a series asks, and the small requests it asks with: written by the meaning that protocols share, never by name.

Nothing here is sent. What a protocol has no word for gives no request, and the check is not about that protocol.
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
    from playground.engine.gateways.offered import Gateways

LIMIT: Final = 400  # tokens of an answer at most: models that think need some before they say a word
SHORT: Final = 16  # where the limit itself is what is looked at
STOP: Final = "e"  # found in nearly every text within a few words, whatever a model writes
COLOUR: Final = "red"
NO_MODEL: Final = "playground-check-no-such-model"
CALL_ID: Final = "chk000001"  # nine letters and digits: some gateways take no others

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
    """One model of one gateway. ``made`` holds what is secret about it, ``price`` what its tokens cost if known.

    ``served`` are the protocols that the list says it is served under, None where it does not tell.
    """

    gateway: str
    made: Connection
    model: str
    profile_id: str = ""
    adaptations: tuple[Adaptation, ...] = ()
    inherited_body: JSONObject = field(default_factory=dict)
    reasoning_return: ReasoningReturn = field(default_factory=ReasoningReturn)
    price: Price | None = None
    served: frozenset[str] | None = None


def target_of(gateways: Gateways, profile_id: str, model: str) -> Target:
    """A model of a gateway that is set up, without its secrets: for what is known before it is asked."""
    profile, listed = gateways.get(profile_id), gateways.listed(profile_id)
    facts = listed.facts(model) if listed is not None else None
    return Target(
        gateway=profile.name,
        made=connection(profile),
        model=model,
        profile_id=profile.id,
        adaptations=profile.adaptations,
        inherited_body=profile.extra_body,
        reasoning_return=profile.reasoning_return,
        price=gateways.price(profile_id, model) or (facts.price if facts is not None else None),
    )


async def with_secrets(target: Target, gateways: Gateways) -> Target:
    """The same, to be asked. Raises RunRefusedError where a person has to see to its key first."""
    client = await gateways.client(target.profile_id)
    return replace(target, made=client.connection)


@dataclass(frozen=True)
class Setting:
    """How a check asks: whom, over which protocol, and whether streamed where that is not what is looked at.

    ``called`` is the turn in which our tool was called, once one came.
    """

    target: Target
    protocol: Protocol
    streamed: bool = False
    called: Turn | None = None
    learnt: tuple[Adaptation, ...] = ()

    @property
    def fields(self) -> type[Parameters]:
        """What can be set over the protocol."""
        return self.protocol.parameters_type

    def has(self, meaning: str) -> bool:
        """Whether the protocol has a field of that meaning (``Parameters.shared``)."""
        return meaning in self.fields().shared()

    def ask(
        self,
        said: str | Sequence[Turn],
        *,
        limit: int = LIMIT,
        stream: bool | None = None,
        tools: tuple[ToolDefinition, ...] = (),
        model: str = "",
        own: JSONObject | None = None,
        **meant: JSON,
    ) -> Request:
        """A request. ``meant`` are values by their shared meaning, ``own`` such by the protocol's own field names."""
        target = self.target
        parameters = self.fields()
        shared = parameters.shared()
        values = {"limit": limit, "stream": self.streamed if stream is None else stream, **meant}
        for meaning, value in values.items():
            field = shared[meaning]
            if value not in (None, False):
                parameters = parameters.with_value(field.name, field.write(value))
        for name, value in (own or {}).items():
            parameters = parameters.with_value(name, value)
        return Request(
            protocol=self.protocol.name,
            model=model or target.model,
            turns=(make_turn(Role.USER, said),) if isinstance(said, str) else tuple(said),
            parameters=parameters,
            tools=tools,
            adaptations=(*target.adaptations, *self.learnt),
            inherited_body=target.inherited_body,
            reasoning_return=target.reasoning_return,
        )


def after_a_call(called: Turn | None) -> tuple[Turn, ...]:
    """A conversation whose last word is a tool's: the model's own call where one came, else one of ours."""
    question = make_turn(Role.USER, "What is the weather in Oslo?")
    if called is None:
        called = make_turn(Role.ASSISTANT, "", ToolCall(id=CALL_ID, name=TOOL.name, arguments=ARGUMENTS))
    results = [ToolResult(call_id=call.id, text=RESULT) for call in called.calls]
    return question, called, *(make_turn(Role.TOOL, "", one) for one in results)


def picture() -> Image:
    """A square of one colour."""
    return Image(url=f"data:image/png;base64,{base64.b64encode(_png()).decode('ascii')}", name="square.png")


@cache
def _png(side: int = 64, colour: tuple[int, int, int] = (220, 20, 20)) -> bytes:
    """``side`` pixels wide and high, one colour: large enough for models that take nothing smaller."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(colour) * side) * side
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
