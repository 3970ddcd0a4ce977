"""The native messages protocol (specification, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import ClassVar

from playground.domain.accumulator import Accumulator
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import MESSAGES
from playground.protocols.conversion import Told, TurnContext
from playground.protocols.messages import body as messages_body
from playground.protocols.messages import conversion, encode, ids, snippets
from playground.protocols.messages.checks import CHECKS
from playground.protocols.messages.decode import MessagesDecoder
from playground.protocols.messages.expected import EXPECTED
from playground.protocols.messages.marks import MARKS
from playground.protocols.messages.parameters import MessagesParameters
from playground.protocols.sse import DEFAULT_CAP
from playground.protocols.wire_protocol import AnswerCode, Protocol


class MessagesProtocol(Protocol):
    """Native messages: the system prompt is a member of its own, and user and assistant alternate."""

    name = "messages"
    endpoint = "messages"
    served_as = "messages", "anthropic"
    conversation = ("system", MESSAGES)
    libraries = ("anthropic",)
    alternates = True
    returns_reasoning = False
    pictures_in_results = True
    continues_paused = True
    #: By the public protocol; the specification is silent, section 5.
    key_headers: ClassVar[Mapping[str, str]] = {"anthropic-version": "2023-06-01"}
    answer_code: ClassVar[AnswerCode] = snippets
    expected = EXPECTED
    marks = MARKS
    parameters_type = MessagesParameters
    checks = CHECKS

    def encode(self, request: Request, *, extras: bool = True, with_extra: bool = False) -> JSONObject:
        return encode.encode(request, extras=extras, with_extra=with_extra)

    def check(self, request: Request) -> None:
        encode.check(request)

    def read_body(self, body: JSONObject) -> tuple[Request, tuple[str, ...]]:
        return messages_body.read_body(self, body)

    def changes(self, placed: TurnContext) -> Iterator[Told]:
        return conversion.changes(placed)

    def renamed_ids(self, turns: Iterable[Turn]) -> list[tuple[int, str, str]]:
        return ids.renamed_ids(turns)

    def read_tool(self, value: JSON) -> ToolDefinition:
        return encode.read_tool(value)

    def write_tool(self, tool: ToolDefinition) -> JSONObject:
        return encode.write_tool(tool)

    def decoder(
        self, content_type: str | None = None, cap: int = DEFAULT_CAP, make_id: Callable[[], str] | None = None
    ) -> MessagesDecoder:
        return MessagesDecoder(content_type, cap, make_id)

    def write_answer(self, answer: Accumulator, created: int) -> JSONObject:
        return encode.write_answer(answer)
