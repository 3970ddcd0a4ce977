"""The chat-completions protocol (specification, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from playground.domain.accumulator import Accumulator
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import MESSAGES
from playground.protocols.chat import body as chat_body
from playground.protocols.chat import conversion, encode, snippets
from playground.protocols.chat.checks import CHECKS
from playground.protocols.chat.decode import ChatDecoder
from playground.protocols.chat.expected import EXPECTED
from playground.protocols.chat.marks import MARKS
from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.conversion import Told, TurnContext
from playground.protocols.sse import DEFAULT_CAP
from playground.protocols.wire_protocol import AnswerCode, Protocol


class ChatProtocol(Protocol):
    """Chat completions: system prompt and messages are one list; a person chooses how reasoning is sent back."""

    name = "chat"
    endpoint = "chat/completions"
    served_as = "chat/completions", "openai"
    conversation = (MESSAGES,)
    libraries = ("openai",)
    alternates = False
    returns_reasoning = True
    pictures_in_results = False
    continues_paused = False
    answer_code: ClassVar[AnswerCode] = snippets
    expected = EXPECTED
    marks = MARKS
    parameters_type = ChatParameters
    checks = CHECKS

    def encode(self, request: Request, *, extras: bool = True, with_extra: bool = False) -> JSONObject:
        return encode.encode(request, extras=extras, with_extra=with_extra)

    def check(self, request: Request) -> None:
        encode.check(request)

    def read_body(self, body: JSONObject) -> tuple[Request, tuple[str, ...]]:
        return chat_body.read_body(self, body)

    def changes(self, placed: TurnContext) -> Iterator[Told]:
        return conversion.changes(placed)

    def choices(self, body: JSONObject) -> int:
        n = body.get("n")
        return n if type(n) is int and n > 1 else 1

    def returned(self, turn: Turn) -> JSONObject:
        return encode.returned(turn)

    def returned_with_reasoning(self, turn: Turn) -> JSONObject:
        return encode.returned_with_reasoning(turn)

    def read_tool(self, value: JSON) -> ToolDefinition:
        return encode.read_tool(value)

    def write_tool(self, tool: ToolDefinition) -> JSONObject:
        return encode.write_tool(tool)

    def decoder(
        self, content_type: str | None = None, cap: int = DEFAULT_CAP, make_id: Callable[[], str] | None = None
    ) -> ChatDecoder:
        return ChatDecoder(content_type, cap, make_id)

    def write_answer(self, answer: Accumulator, created: int) -> JSONObject:
        return encode.write_answer(answer, created)
