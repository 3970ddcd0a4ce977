"""The native messages protocol (specification, section 4.2)."""

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


class MessagesProtocol:
    """See ``playground.protocols.protocol.Protocol``. The modules beside are loaded when they are asked for."""

    name = "messages"
    title = PROTOCOLS[name]
    in_words = "the Messages protocol"
    endpoint = "messages"
    served_as: tuple[str, ...] = "messages", "anthropic"
    conversation: tuple[str, ...] = ("system", MESSAGES)
    libraries: tuple[str, ...] = ("anthropic",)
    alternates = True
    returns_reasoning = False
    #: By the public protocol; the specification is silent, section 5.
    key_headers: Mapping[str, str] = {"anthropic-version": "2023-06-01"}

    def choices(self, body: JSONObject) -> int:
        """An answer is one message."""
        return 1

    @property
    def answer_code(self) -> AnswerCode:
        """How code shows an answer."""
        from playground.protocols.messages import snippets

        return snippets

    @property
    def expected(self) -> Expected:
        """What an answer is to be."""
        from playground.protocols.messages.expected import EXPECTED

        return EXPECTED

    @property
    def marks(self) -> Marks:
        """What only native messages have."""
        from playground.protocols.messages.marks import MARKS

        return MARKS

    @property
    def parameters_type(self) -> type[Parameters]:
        """What can be set on a request."""
        from playground.protocols.messages.parameters import MessagesParameters

        return MessagesParameters

    def encode(self, request: Request, *, extras: bool = True, beside: bool = False) -> JSONObject:
        """The body of POST /messages; raises ValueError for arguments that are not a JSON object."""
        from playground.protocols.messages.encode import encode

        return encode(request, extras=extras, beside=beside)

    def oddities(self, body: JSONObject) -> tuple[Oddity, ...]:
        """What does not go together in a body."""
        from playground.protocols.messages.checks import CHECKS

        return tuple(oddity for check in CHECKS for oddity in check(body))

    def check(self, request: Request) -> None:
        """Raises ValueError for arguments that are not a JSON object; no other turns are looked at."""
        self.encode(request.model_copy(update={"turns": tuple(turn for turn in request.turns if turn.calls)}))

    def returned(self, turn: Turn) -> JSONObject:
        """Nothing: a message of a request has but a role and content."""
        return {}

    def changes(self, placed: TurnContext) -> Iterator[Told]:
        """What goes into another place or form."""
        from playground.protocols.messages.conversion import changes

        return changes(placed)

    def read_body(self, body: JSONObject) -> tuple[Request, tuple[str, ...]]:
        """The request that ``body`` was written from, and sentences on what could not be kept."""
        from playground.protocols.messages.body import read_body

        return read_body(body)

    def decoder(
        self, content_type: str | None = None, cap: int = DEFAULT_CAP, make_id: Callable[[], str] | None = None
    ) -> Decoder:
        """A decoder of one answer; ``cap`` is the largest event or JSON body in bytes."""
        from playground.protocols.messages.decode import MessagesDecoder

        return MessagesDecoder(content_type, cap, make_id)

    def write_answer(self, answer: Accumulator, created: int) -> JSONObject:
        """The message; it says no time. Raises ValueError for arguments that are not a JSON object."""
        from playground.protocols.messages.answer import write_answer

        return write_answer(answer)

    def read_tool(self, value: JSON) -> ToolDefinition:
        """A definition ``{name, description, input_schema}``."""
        from playground.protocols.messages.encode import read_tool

        return read_tool(value)

    def write_tool(self, tool: ToolDefinition) -> JSONObject:
        """The reverse of ``read_tool``."""
        from playground.protocols.messages.encode import write_tool

        return write_tool(tool)


PROTOCOL: Protocol = MessagesProtocol()
