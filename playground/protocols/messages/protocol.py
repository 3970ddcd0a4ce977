"""The native messages protocol (public protocol; specification, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, Final

from playground.domain.accumulator import Accumulator
from playground.domain.members import with_members
from playground.domain.parts import Image, Reasoning, Refusal, ToolCall, ToolResult
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn, make_turn
from playground.jsonkit.merge import at_path
from playground.jsonkit.values import JSON, JSONObject, is_number
from playground.protocols import MESSAGES
from playground.protocols.conversion import (
    CHANGED,
    DOUBTFUL,
    ConversionNote,
    TurnContext,
    is_behind,
    is_object,
    side_of,
)
from playground.protocols.marks import Marks, members_of
from playground.protocols.messages.answer import MessagesAnswerFormat
from playground.protocols.messages.body import read_conversation
from playground.protocols.messages.decode import MessagesDecoder
from playground.protocols.messages.encode import encode_system, encode_turns
from playground.protocols.messages.expected import EXPECTED
from playground.protocols.messages.ids import renamed_ids
from playground.protocols.messages.parameters import MAX_TOKENS_START, MessagesParameters
from playground.protocols.oddities import Oddity, tool_choice
from playground.protocols.reading import at_vendor, read_settings, tool_from
from playground.protocols.sse import DEFAULT_CAP
from playground.protocols.wire_protocol import Protocol

_LEAST_BUDGET: Final = 1024  # tokens
_BUDGET: Final = ("thinking", "budget_tokens")
_FREE_TEXT: Final[JSONObject] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}


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
    expected = EXPECTED
    marks = Marks(
        members=members_of(MessagesParameters, "system", "anthropic_version"),
        tool="input_schema",
        tool_type="custom",
        blocks=frozenset(
            {"tool_use", "tool_result", "image", "thinking", "redacted_thinking", "document", "server_tool_use"}
        ),
        sure_blocks=frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"}),
        choices=frozenset({"auto", "any", "tool", "none"}),
        headers=frozenset({"anthropic-version", "x-api-key"}),
    )
    answers = MessagesAnswerFormat()
    parameters_type = MessagesParameters

    renamed_ids = staticmethod(renamed_ids)

    # -- requests ----------------------------------------------------------------------------------------------------

    def _write_conversation(self, request: Request, *, with_extra: bool) -> JSONObject:
        system = encode_system(request.turns)
        return {
            "max_tokens": MAX_TOKENS_START,
            **({"system": system} if system else {}),
            MESSAGES: encode_turns(request.turns, with_extra=with_extra),
        }

    def _can_fail(self, turn: Turn) -> bool:
        """Arguments of a call must be a JSON object."""
        return bool(turn.calls)

    def _write_parameters(self, request: Request) -> JSONObject:
        parameters = super()._write_parameters(request)
        if isinstance(parameters.get("tool_choice"), str):
            parameters["tool_choice"] = {"type": parameters["tool_choice"]}
        if isinstance(parameters.get("stop_sequences"), str):
            parameters["stop_sequences"] = [parameters["stop_sequences"]]
        return parameters

    def read_body(self, body: JSONObject) -> tuple[Request, tuple[str, ...]]:
        turns, left_out = read_conversation(body.get("system"), body.get(MESSAGES))
        # The encoder writes a plain text of these two in another form, so as fields they would change.
        plain = [name for name in ("tool_choice", "stop_sequences") if isinstance(body.get(name), str)]
        request, notes = read_settings(self, body, plain)
        return request.model_copy(update={"turns": tuple(turns)}), (*left_out, *notes)

    def changes(self, placed: TurnContext) -> Iterator[ConversionNote]:
        """Yield the changes: system prompt to the top, neighbours of one side merged, results and thinking first."""
        turn, before = placed.turn, placed.before
        if turn.role.is_instruction:
            if before is not None:
                yield CHANGED, "is in the middle; it is moved into the system prompt at the top"
            elif placed.prompt:
                yield CHANGED, "joins the turn before it in one system prompt"
            if turn.role is Role.DEVELOPER:
                yield CHANGED, "there is no developer role; it is sent as system"
            if turn.images:
                yield DOUBTFUL, "its image is put into the system prompt, which accepts text only"
        elif before is not None and side_of(turn) is side_of(before) and not placed.answers:
            yield CHANGED, f"joins the turn before it in one {side_of(turn).value} message"
        yield from _changes_of_parts(turn)

    def check_body(self, body: JSONObject) -> Iterator[Oddity]:
        """Check the tool choice, the budget of thinking, and members that may be refused with thinking."""
        choice = body.get("tool_choice")
        yield from tool_choice(choice, at_path(choice, ("name",)), body.get("tools"), ("name",))
        thinking = at_path(body, ("thinking", "type"))
        if thinking == "enabled":
            yield from _check_budget(at_path(body, _BUDGET), body.get("max_tokens"))
        if thinking in ("enabled", "adaptive"):
            if at_path(body, ("tool_choice", "type")) in ("any", "tool"):
                yield Oddity(("tool_choice",), "a forced tool may be refused while thinking is on")
            if body.get("temperature") not in (None, 1):
                yield Oddity(("temperature",), "another temperature than 1 may be refused while thinking is on")

    # -- tools -------------------------------------------------------------------------------------------------------

    def read_tool(self, value: JSON) -> ToolDefinition:
        """Read ``{name, description, input_schema}``."""
        if not isinstance(value, dict):
            raise ValueError("a tool definition is a JSON object")
        if value.get("type", "custom") != "custom":
            raise at_vendor(value["type"])
        return tool_from(value, "input_schema")

    def write_tool(self, tool: ToolDefinition) -> JSONObject:
        """The protocol requires a schema: without one, any object is allowed.

        A custom tool takes an object with its text, as its calls are encoded.
        """
        out: JSONObject = {"name": tool.name}
        if tool.description:
            out["description"] = tool.description
        if tool.custom is not None:
            out["input_schema"] = _FREE_TEXT
        else:
            out["input_schema"] = tool.parameters if tool.parameters is not None else {"type": "object"}
        if tool.strict is not None:
            out["strict"] = tool.strict
        return out

    # -- answers -----------------------------------------------------------------------------------------------------

    def decoder(
        self, content_type: str | None = None, cap: int = DEFAULT_CAP, make_id: Callable[[], str] | None = None
    ) -> MessagesDecoder:
        return MessagesDecoder(content_type, cap, make_id)

    def write_answer(self, answer: Accumulator, created: int) -> JSONObject:
        """The result is a complete message of the public protocol, which has no time."""
        choice = answer.choice(0)
        turn = make_turn(Role.ASSISTANT, "", *choice.freeze())
        content: JSON = encode_turns((turn,))[0]["content"]
        body: JSONObject = {
            "id": answer.id,
            "type": "message",
            "role": "assistant",
            "model": answer.model,
            "content": [{"type": "text", "text": content}] * bool(content) if isinstance(content, str) else content,
            "stop_reason": choice.finish_reason,
            "stop_sequence": None,
        }
        if answer.usage is not None and answer.usage.raw is not None:
            body["usage"] = answer.usage.raw
        return with_members(body, choice.extra.get("messages", {}))

    # -- code that shows an answer -------------------------------------------------------------------------------------

    def python_stream(self, choices: int, *, tools: bool) -> list[str]:
        """Show the text, and calls."""
        if tools:
            return [
                'block, delta = event.get("content_block") or {}, event.get("delta") or {}',
                'shown = block.get("name") or delta.get("text") or delta.get("partial_json") or ""',
                'print(shown, end="", flush=True)',
            ]
        return ['delta = event.get("delta") or {}', 'print(delta.get("text", ""), end="", flush=True)']

    def python_whole(self, *, tools: bool) -> list[str]:
        """Show each block."""
        show = [
            'for block in response.json()["content"]:',
            '    if block["type"] == "text":',
            '        print(block["text"])',
        ]
        if tools:
            show += ['    elif block["type"] == "tool_use":', '        print(block["name"], block["input"])']
        return show

    def javascript_stream(self, choices: int, *, tools: bool) -> list[str]:
        """Show the text, and calls."""
        value = "event.delta?.text"
        if tools:
            value = f"event.content_block?.name ?? {value} ?? event.delta?.partial_json"
        return [f'process.stdout.write({value} ?? "");']

    def javascript_whole(self, *, tools: bool) -> list[str]:
        """Show each block."""
        show = [
            "for (const block of (await response.json()).content) {",
            '  if (block.type === "text") console.log(block.text);',
        ]
        if tools:
            show.append('  if (block.type === "tool_use") console.log(block.name, block.input);')
        return [*show, "}"]


def _changes_of_parts(turn: Turn) -> Iterator[ConversionNote]:
    """Yield the changes to the parts of a turn."""
    for part in turn.parts:
        if isinstance(part, Refusal):
            yield CHANGED, "its refusal is sent as ordinary text"
        elif isinstance(part, Image) and part.url[:5].lower() == "data:" and ";base64," not in part.url[:200].lower():
            yield DOUBTFUL, "its image is a data URL without base64, sent as an address"
        elif isinstance(part, ToolCall) and part.free_text:
            yield CHANGED, f"the text of its call of {part.name} ({part.id}) is sent as “input” of a JSON object"
        elif isinstance(part, ToolCall) and not is_object(part.arguments):
            what = f"the arguments of {part.name} ({part.id}) are not a JSON object: nothing can be sent until they are"
            yield DOUBTFUL, what
        elif isinstance(part, ToolResult) and part.images and not part.is_error:
            yield CHANGED, "the images of its result are sent with it"
    if is_behind(turn, ToolResult):
        yield DOUBTFUL, "its result comes after its other parts; results belong first"
    thoughts = [part for part in turn.parts if isinstance(part, Reasoning)]
    is_signed = any(part.signature is not None or part.redacted is not None for part in thoughts)
    if turn.outcome is None and is_signed and is_behind(turn, Reasoning):
        yield CHANGED, "its thinking is moved to the front"


def _check_budget(budget: JSON, limit: JSON) -> Iterator[Oddity]:
    """Check that enabled thinking has a budget: 1,024 at least, and below ``max_tokens``, which includes it."""
    if budget is None:
        yield Oddity(_BUDGET, "enabled thinking needs a budget of tokens")
    elif not isinstance(budget, int) or isinstance(budget, bool):
        yield Oddity(_BUDGET, "the budget is no whole number")
    elif budget < _LEAST_BUDGET:
        yield Oddity(_BUDGET, f"the budget is below the least of {_LEAST_BUDGET:,}")
    if is_number(budget) and is_number(limit) and budget >= limit:
        yield Oddity(_BUDGET, f"the budget is not below max_tokens ({limit:,}), which includes it")
