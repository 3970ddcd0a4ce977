"""The chat-completions protocol (specification, section 4.1)."""

from __future__ import annotations

from playground.domain.accumulator import Accumulator
from playground.domain.parameters import Parameters
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import PROTOCOLS
from playground.protocols.chat.answer import write_answer
from playground.protocols.chat.body import read_body
from playground.protocols.chat.checks import CHECKS
from playground.protocols.chat.decode import ChatDecoder
from playground.protocols.chat.encode import encode, returned
from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.chat.tools import read_tool, write_tool
from playground.protocols.oddities import Oddity
from playground.protocols.protocol import Decoder, Protocol
from playground.protocols.sse import DEFAULT_CAP


class ChatProtocol:
    """See ``playground.protocols.protocol.Protocol``."""

    name = "chat"
    title = PROTOCOLS[name]
    endpoint = "chat/completions"
    parameters_type: type[Parameters] = ChatParameters

    def encode(self, request: Request, *, extras: bool = True) -> JSONObject:
        """The body of POST /chat/completions."""
        return encode(request, extras=extras)

    def oddities(self, body: JSONObject) -> tuple[Oddity, ...]:
        """What does not go together in a body."""
        return tuple(oddity for check in CHECKS for oddity in check(body))

    def check(self, request: Request) -> None:
        """Every turn can be written: what is left are the parameters and the tools."""
        encode(request.model_copy(update={"turns": ()}))

    def returned(self, turn: Turn) -> JSONObject:
        """What is made to go back of the members that an answer came with."""
        return returned(turn)

    def read_body(self, body: JSONObject) -> tuple[Request, tuple[str, ...]]:
        """The request that ``body`` was written from, and sentences on what could not be kept."""
        return read_body(body)

    def decoder(self, content_type: str | None = None, cap: int = DEFAULT_CAP) -> Decoder:
        """A decoder of one answer; ``cap`` is the largest event or JSON body in bytes."""
        return ChatDecoder(content_type, cap)

    def write_answer(self, answer: Accumulator, created: int) -> JSONObject:
        """The completion object of section 2.4."""
        return write_answer(answer, created)

    def read_tool(self, value: JSON) -> ToolDefinition:
        """A definition in the shape of section 2.3."""
        return read_tool(value)

    def write_tool(self, tool: ToolDefinition) -> JSONObject:
        """The reverse of ``read_tool``."""
        return write_tool(tool)


PROTOCOL: Protocol = ChatProtocol()
