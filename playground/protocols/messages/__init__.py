"""The native messages protocol (specification, section 4.2)."""

from __future__ import annotations

from playground.domain.accumulator import Accumulator
from playground.domain.parameters import Parameters
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import PROTOCOLS
from playground.protocols.messages.answer import write_answer
from playground.protocols.messages.body import read_body
from playground.protocols.messages.checks import CHECKS
from playground.protocols.messages.decode import MessagesDecoder
from playground.protocols.messages.encode import encode, read_tool, write_tool
from playground.protocols.messages.parameters import MessagesParameters
from playground.protocols.oddities import Oddity
from playground.protocols.protocol import Decoder, Protocol
from playground.protocols.sse import DEFAULT_CAP


class MessagesProtocol:
    """See ``playground.protocols.protocol.Protocol``."""

    name = "messages"
    title = PROTOCOLS[name]
    endpoint = "messages"
    parameters_type: type[Parameters] = MessagesParameters

    def encode(self, request: Request, *, extras: bool = True) -> JSONObject:
        """The body of POST /messages; raises ValueError for arguments that are not a JSON object."""
        return encode(request, extras=extras)

    def oddities(self, body: JSONObject) -> tuple[Oddity, ...]:
        """What does not go together in a body."""
        return tuple(oddity for check in CHECKS for oddity in check(body))

    def check(self, request: Request) -> None:
        """Raises ValueError for arguments that are not a JSON object; no other turns are looked at."""
        encode(request.model_copy(update={"turns": tuple(turn for turn in request.turns if turn.calls)}))

    def returned(self, turn: Turn) -> JSONObject:
        """Nothing: a message of a request has but a role and content."""
        return {}

    def read_body(self, body: JSONObject) -> tuple[Request, tuple[str, ...]]:
        """The request that ``body`` was written from, and sentences on what could not be kept."""
        return read_body(body)

    def decoder(self, content_type: str | None = None, cap: int = DEFAULT_CAP) -> Decoder:
        """A decoder of one answer; ``cap`` is the largest event or JSON body in bytes."""
        return MessagesDecoder(content_type, cap)

    def write_answer(self, answer: Accumulator, created: int) -> JSONObject:
        """The message; it says no time. Raises ValueError for arguments that are not a JSON object."""
        return write_answer(answer)

    def read_tool(self, value: JSON) -> ToolDefinition:
        """A definition ``{name, description, input_schema}``."""
        return read_tool(value)

    def write_tool(self, tool: ToolDefinition) -> JSONObject:
        """The reverse of ``read_tool``."""
        return write_tool(tool)


PROTOCOL: Protocol = MessagesProtocol()
