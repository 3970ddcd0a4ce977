"""The Responses protocol (public protocol): one flat list of items, and typed events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from playground.domain.accumulator import Accumulator
from playground.domain.members import with_members
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn, make_turn
from playground.jsonkit.foreign import members_beside
from playground.jsonkit.merge import at_path
from playground.jsonkit.texts import listed
from playground.jsonkit.values import JSON, JSONObject, is_number
from playground.protocols.conversion import CHANGED, DOUBTFUL, ConversionNote, TurnContext
from playground.protocols.marks import COMMON, Marks, members_of
from playground.protocols.oddities import Oddity, tool_choice
from playground.protocols.reading import at_vendor, read_settings, tool_from
from playground.protocols.responses.answer import ResponsesAnswerFormat
from playground.protocols.responses.body import read_input
from playground.protocols.responses.decode import ResponsesDecoder
from playground.protocols.responses.encode import (
    encode_input,
    instructions_of,
    is_plain_input,
    is_received,
    without_sealed,
)
from playground.protocols.responses.expected import EXPECTED
from playground.protocols.responses.items import CALLS, ITEM, MARKS, NAME
from playground.protocols.responses.library import (
    JAVASCRIPT_STREAM,
    JAVASCRIPT_WHOLE,
    PYTHON_STREAM,
    PYTHON_WHOLE,
    RESPONSES,
)
from playground.protocols.responses.parameters import INCLUDABLE, LATEST, LEAST_TOKENS, ResponsesParameters
from playground.protocols.sse import DEFAULT_CAP
from playground.protocols.wire_protocol import Protocol

_CHOICES: Final = ("auto", "none", "required")
_INPUT: Final = "input"
_PREVIOUS: Final = "previous_response_id"


class ResponsesProtocol(Protocol):
    """Responses: messages, calls, results and reasoning are items of one list; the server may keep them."""

    name = NAME
    endpoint = "responses"
    served_as = "responses", "openai-response"
    conversation = ("instructions", _INPUT)
    libraries = ("openai",)
    openai = RESPONSES
    known_members = frozenset(
        {"annotations", "caller", "content", "encrypted_content", "logprobs", "namespace", "phase"}
    )
    alternates = False
    returns_reasoning = False
    pictures_in_results = True
    continues_paused = False
    expected = EXPECTED
    marks = Marks(
        members=members_of(
            ResponsesParameters,
            *(_INPUT, "instructions", "conversation", "background"),
        ),
        common=COMMON,
        messages=_INPUT,
        tool="parameters",
        tool_type="function",
        flat=True,
        blocks=frozenset({"input_text", "output_text", "input_image", "input_file"}),
        choices=frozenset({"allowed_tools"}),
        items=frozenset({"message", "reasoning", "item_reference", *CALLS, *(output for _, output in CALLS.values())}),
    )
    answers = ResponsesAnswerFormat()
    parameters_type = ResponsesParameters

    python_stream = PYTHON_STREAM
    python_whole = PYTHON_WHOLE
    javascript_stream = JAVASCRIPT_STREAM
    javascript_whole = JAVASCRIPT_WHOLE

    # -- requests ----------------------------------------------------------------------------------------------------

    def _write_conversation(self, request: Request, *, with_extra: bool) -> JSONObject:
        instructions = instructions_of(request.turns)
        turns = request.turns[_continued(request) or (instructions is not None) :]
        stored = request.settings().get("store") is not False
        value: JSON = encode_input(turns, stored=stored, with_extra=with_extra)
        if len(turns) == 1 and is_plain_input(turns[0]):
            value = turns[0].text
        return {**({"instructions": instructions} if instructions is not None else {}), _INPUT: value}

    def visible_members(self, members: JSONObject) -> JSONObject:
        """The members of the item are beside those of the part; ids, states and empty lists say nothing to people."""
        shown = {**members, **(members.get(ITEM) or {})}
        hidden = (*MARKS, "id", "type", "status")
        return {name: value for name, value in shown.items() if name not in hidden and value not in (None, [], "")}

    def without_sealed_reasoning(self, turn: Turn) -> Turn:
        return without_sealed(turn)

    def _write_parameters(self, request: Request) -> JSONObject:
        """Name the last answer that the server has; the next one has to be stored as well."""
        parameters = super()._write_parameters(request)
        if parameters.get(_PREVIOUS) == LATEST:
            del parameters[_PREVIOUS]
            if count := _continued(request):
                parameters[_PREVIOUS] = _response_id(request.turns[count - 1])
            if request.parameters.is_ours("store"):
                parameters["store"] = True
        return parameters

    def withheld(self, request: Request) -> str:
        count = _continued(request)
        if not count:
            return ""
        number = "1 earlier message is" if count == 1 else f"{count:,} earlier messages are"
        return f"{number} not sent: the gateway has them as {_response_id(request.turns[count - 1])}"

    def _can_fail(self, turn: Turn) -> bool:
        return False

    def read_body(self, body: JSONObject) -> tuple[Request, tuple[str, ...]]:
        turns = read_input(body.get("instructions"), body.get(_INPUT))
        is_kept = isinstance(body.get("instructions"), str | None) or "instructions" not in body
        request, notes = read_settings(self, body)
        extra = request.extra_body if is_kept else {**request.extra_body, "instructions": body["instructions"]}
        return request.model_copy(update={"turns": tuple(turns), "extra_body": extra}), tuple(notes)

    def changes(self, placed: TurnContext) -> Iterator[ConversionNote]:
        """Yield the changes: the system prompt at the top is sent as instructions."""
        turn = placed.turn
        if turn.role is Role.SYSTEM and not placed.prompt and placed.before is None and len(turn.parts) == 1:
            yield CHANGED, "is sent as “instructions”"
        for result in turn.results:
            if result.images and not result.is_error:
                yield CHANGED, "the pictures of its result are sent with it"

    def check_body(self, body: JSONObject) -> Iterator[Oddity]:
        """Check the tool choice, the limit, what was asked to be included, and state on the server."""
        choice = body.get("tool_choice")
        yield from tool_choice(choice, at_path(choice, ("name",)), body.get("tools"), ("name",))
        if isinstance(choice, str) and choice not in _CHOICES and body.get("tools"):
            yield Oddity(("tool_choice",), f"“{choice}” is neither {listed(_CHOICES, 'or')} nor a tool sent")
        if is_number(body.get("top_logprobs")) and INCLUDABLE[1] not in (body.get("include") or ()):
            yield Oddity(("top_logprobs",), f"returns nothing without “{INCLUDABLE[1]}” under Include")
        if body.get(_PREVIOUS) is not None and body.get("conversation") is not None:
            yield Oddity((_PREVIOUS,), "refused together with “conversation”")
        if body.get(_PREVIOUS) is not None and body.get("store") is False:
            yield Oddity(("store",), "the next request cannot continue from an answer that is not stored")
        limit = body.get("max_output_tokens")
        if is_number(limit) and limit < LEAST_TOKENS:
            yield Oddity(("max_output_tokens",), f"less than {LEAST_TOKENS} is refused by many gateways")

    # -- tools -------------------------------------------------------------------------------------------------------

    def read_tool(self, value: JSON) -> ToolDefinition:
        """Read ``{type: function, name, description, parameters, strict}``, or a custom tool."""
        if not isinstance(value, dict):
            raise ValueError("a tool definition is a JSON object")
        if value.get("type") == "custom":
            tool = tool_from({name: value.get(name) for name in ("name", "description")}, "")
            custom = members_beside(value, ("type", "name", "description"), empty=True)
            return tool.model_copy(update={"custom": custom})
        if value.get("type", "function") != "function":
            raise at_vendor(value["type"])
        return tool_from(value, "parameters")

    def write_tool(self, tool: ToolDefinition) -> JSONObject:
        """Only members that are set are written."""
        out: JSONObject = {"type": "function" if tool.custom is None else "custom", "name": tool.name}
        if tool.description:
            out["description"] = tool.description
        if tool.custom is not None:
            return {**out, **tool.custom}
        if tool.parameters is not None:
            out["parameters"] = tool.parameters
        if tool.strict is not None:
            out["strict"] = tool.strict
        return out

    def tool_changes(self, tool: ToolDefinition) -> Iterator[ConversionNote]:
        """Without ``strict`` the other protocols are not strict."""
        if tool.custom is None and tool.strict is None:
            yield (
                DOUBTFUL,
                f"{tool.name} does not set strict: many servers then try strict mode, where its schema allows",
            )

    # -- answers -----------------------------------------------------------------------------------------------------

    def decoder(
        self, content_type: str | None = None, cap: int = DEFAULT_CAP, make_id: Callable[[], str] | None = None
    ) -> ResponsesDecoder:
        return ResponsesDecoder(content_type, cap, make_id)

    def is_hosted(self, value: JSONObject) -> bool:
        kind = value.get("type")
        is_item = isinstance(kind, str) and kind.endswith(("_call", "_list_tools", "_approval_request", "compaction"))
        return is_item and isinstance(value.get("id"), str)

    def body_of_answer(self, value: JSONObject) -> JSONObject | None:
        """A response repeats the instructions, the tools and the settings of its request."""
        output = value.get("output")
        if value.get("object") != "response" or not isinstance(output, list):
            return None
        names = ("model", "instructions", "tools")
        return {**{name: value[name] for name in names if value.get(name)}, _INPUT: output}

    def write_answer(self, answer: Accumulator, created: int) -> JSONObject:
        """The result is a response with the members that clients require."""
        choice = answer.choice(0)
        turn = make_turn(Role.ASSISTANT, "", *choice.freeze())
        reason = choice.finish_reason
        is_complete = reason in (None, "completed")
        output = [{"type": "message", **_with_list(item)} for item in encode_input((turn,), stored=True)]
        body: JSONObject = {
            "id": answer.id,
            "object": "response",
            "created_at": created,
            "model": answer.model,
            "status": "completed" if is_complete else "incomplete",
            "error": None,
            "incomplete_details": None if is_complete else {"reason": reason},
            "output": output,
            **dict.fromkeys(("instructions", "metadata", "temperature", "top_p")),
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": answer.usage.raw if answer.usage is not None else None,
        }
        return with_members(body, choice.extra_of("answer").get(NAME, {}))


def _continued(request: Request) -> int:
    """Return how many turns the server has, up to the last answer over this protocol; 0 if all are sent."""
    if request.parameters.set_fields.get(_PREVIOUS) != LATEST:
        return 0
    turns = enumerate(request.turns, 1)
    return max((number for number, turn in turns if _response_id(turn)), default=0)


def _response_id(turn: Turn) -> str:
    """Return the id of a complete response; empty for turns of other protocols."""
    is_own = turn.outcome is not None and turn.outcome.is_complete and any(map(is_received, turn.parts))
    return turn.outcome.response_id if turn.outcome is not None and is_own else ""


def _with_list(item: JSONObject) -> JSONObject:
    """Return an item whose content is a list even if it was sent as a text."""
    content = item.get("content")
    return {**item, "content": [{"type": "output_text", "text": content}]} if isinstance(content, str) else item
