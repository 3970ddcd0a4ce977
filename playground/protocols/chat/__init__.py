"""The chat-completions protocol (specification, section 4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.protocols import MESSAGES, PROTOCOLS
from playground.protocols.sse import DEFAULT_CAP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from playground.domain.accumulator import Accumulator
    from playground.domain.parameters import Parameters
    from playground.domain.request import Request
    from playground.domain.tools import ToolDefinition
    from playground.domain.transcript import Turn
    from playground.jsonkit.values import JSON, JSONObject
    from playground.protocols.conversion import Told, TurnContext
    from playground.protocols.expected import Expected
    from playground.protocols.marks import Marks
    from playground.protocols.oddities import Oddity
    from playground.protocols.protocol import Decoder, Protocol
    from playground.protocols.snippets import AnswerCode


class ChatProtocol:
    """See ``playground.protocols.protocol.Protocol``. The modules beside are loaded when they are asked for."""

    name = "chat"
    title = PROTOCOLS[name]
    in_words = title
    endpoint = "chat/completions"
    served_as: tuple[str, ...] = "chat/completions", "openai"
    conversation: tuple[str, ...] = (MESSAGES,)
    libraries: tuple[str, ...] = ("openai",)
    alternates = False
    returns_reasoning = True
    key_headers: Mapping[str, str] = {}

    def choices(self, body: JSONObject) -> int:
        """As ``n`` says."""
        n = body.get("n")
        return n if type(n) is int and n > 1 else 1

    @property
    def answer_code(self) -> AnswerCode:
        """How code shows an answer."""
        from playground.protocols.chat import snippets

        return snippets

    @property
    def expected(self) -> Expected:
        """What an answer is to be."""
        from playground.protocols.chat.expected import EXPECTED

        return EXPECTED

    @property
    def marks(self) -> Marks:
        """What only chat completions have."""
        from playground.protocols.chat.marks import MARKS

        return MARKS

    @property
    def parameters_type(self) -> type[Parameters]:
        """What can be set on a request."""
        from playground.protocols.chat.parameters import ChatParameters

        return ChatParameters

    def encode(self, request: Request, *, extras: bool = True, beside: bool = False) -> JSONObject:
        """The body of POST /chat/completions."""
        from playground.protocols.chat.encode import encode

        return encode(request, extras=extras, beside=beside)

    def oddities(self, body: JSONObject) -> tuple[Oddity, ...]:
        """What does not go together in a body."""
        from playground.protocols.chat.checks import CHECKS

        return tuple(oddity for check in CHECKS for oddity in check(body))

    def check(self, request: Request) -> None:
        """Every turn can be written: what is left are the parameters and the tools."""
        self.encode(request.model_copy(update={"turns": ()}))

    def returned(self, turn: Turn) -> JSONObject:
        """What is made to go back of the members that an answer came with."""
        from playground.protocols.chat.encode import returned

        return returned(turn)

    def changes(self, placed: TurnContext) -> Iterator[Told]:
        """What goes into another place or form."""
        from playground.protocols.chat.conversion import changes

        return changes(placed)

    def read_body(self, body: JSONObject) -> tuple[Request, tuple[str, ...]]:
        """The request that ``body`` was written from, and sentences on what could not be kept."""
        from playground.protocols.chat.body import read_body

        return read_body(body)

    def decoder(
        self, content_type: str | None = None, cap: int = DEFAULT_CAP, make_id: Callable[[], str] | None = None
    ) -> Decoder:
        """A decoder of one answer; ``cap`` is the largest event or JSON body in bytes."""
        from playground.protocols.chat.decode import ChatDecoder

        return ChatDecoder(content_type, cap, make_id)

    def write_answer(self, answer: Accumulator, created: int) -> JSONObject:
        """The completion object of section 2.4."""
        from playground.protocols.chat.answer import write_answer

        return write_answer(answer, created)

    def read_tool(self, value: JSON) -> ToolDefinition:
        """A definition in the shape of section 2.3."""
        from playground.protocols.chat.tools import read_tool

        return read_tool(value)

    def write_tool(self, tool: ToolDefinition) -> JSONObject:
        """The reverse of ``read_tool``."""
        from playground.protocols.chat.tools import write_tool

        return write_tool(tool)


PROTOCOL: Protocol = ChatProtocol()
