"""The chat-completions protocol (specification, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from playground.domain.accumulator import Accumulator, GrowingChoice
from playground.domain.members import with_members
from playground.domain.parts import Reasoning, Text, ToolCall, ToolResult
from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn, make_turn
from playground.jsonkit.foreign import members_beside
from playground.jsonkit.merge import at_path
from playground.jsonkit.texts import listed
from playground.jsonkit.values import JSON, JSONObject, same
from playground.protocols import MESSAGES
from playground.protocols.chat.answer import ChatAnswerFormat
from playground.protocols.chat.body import read_messages, unread
from playground.protocols.chat.decode import ChatDecoder
from playground.protocols.chat.encode import encode_turns, returned, returned_with_reasoning
from playground.protocols.chat.expected import EXPECTED
from playground.protocols.chat.library import CHAT_COMPLETIONS
from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.chat.reasoning import DETAILS, FIELDS
from playground.protocols.conversion import CHANGED, ConversionNote, TurnContext, is_behind
from playground.protocols.marks import COMMON, Marks, members_of
from playground.protocols.oddities import Oddity, tool_choice
from playground.protocols.reading import EXTRA, read_settings, tool_from
from playground.protocols.sse import DEFAULT_CAP
from playground.protocols.wire_protocol import Protocol

_CHOICES: Final = ("auto", "none", "required")


class ChatProtocol(Protocol):
    """Chat completions: system prompt and messages are one list; a person chooses how reasoning is sent back."""

    name = "chat"
    endpoint = "chat/completions"
    served_as = "chat/completions", "openai"
    conversation = (MESSAGES,)
    libraries = ("openai",)
    openai = CHAT_COMPLETIONS
    alternates = False
    returns_reasoning = True
    pictures_in_results = False
    continues_paused = False
    expected = EXPECTED
    marks = Marks(
        members=members_of(
            ChatParameters,
            *("logit_bias", "logprobs", "functions", "function_call"),
        ),
        common=COMMON,
        tool="function",
        tool_type="function",
        custom_tool="custom",
        blocks=frozenset({"image_url", "input_audio", "refusal", "file"}),
        choices=frozenset({"function"}),
        roles=frozenset({"system", "developer", "tool"}),
        of_message=frozenset({"tool_calls"}),
        also_of_message=frozenset({"refusal", "name", DETAILS, *FIELDS}),
    )
    answers = ChatAnswerFormat()
    parameters_type = ChatParameters

    returned = staticmethod(returned)
    returned_with_reasoning = staticmethod(returned_with_reasoning)

    # -- requests ----------------------------------------------------------------------------------------------------

    def _write_conversation(self, request: Request, *, with_extra: bool) -> JSONObject:
        return {MESSAGES: encode_turns(request.turns, request.reasoning_return, with_extra=with_extra)}

    def _can_fail(self, turn: Turn) -> bool:
        return False

    def read_body(self, body: JSONObject) -> tuple[Request, tuple[str, ...]]:
        """The rule for sending reasoning back is the one that encodes the turns to the same messages."""
        messages = body.get(MESSAGES)
        turns = tuple(read_messages(messages))
        request, notes = read_settings(self, body)
        request = request.model_copy(update={"turns": turns, "reasoning_return": _rule(turns, messages)})
        return request, (*_left_out(messages), *notes)

    def choices(self, body: JSONObject) -> int:
        n = body.get("n")
        return n if type(n) is int and n > 1 else 1

    def changes(self, placed: TurnContext) -> Iterator[ConversionNote]:
        """Yield the changes: an answer's text is joined and sent first, and so are results."""
        turn = placed.turn
        texts = [part.text for part in turn.parts if isinstance(part, Text) and part.text]
        if turn.role is Role.ASSISTANT and _interleaved(turn):
            yield CHANGED, "its text is joined and its calls follow; their order is not sent"
        elif (
            turn.role is Role.ASSISTANT
            and len(texts) > 1
            and isinstance(placed.says(turn)[MESSAGES][0]["content"], str)
        ):
            yield CHANGED, "its texts are joined into one"
        if turn.refusal:
            yield CHANGED, "its refusal is sent in a member of its own"
        if turn.role is not Role.ASSISTANT and is_behind(turn, ToolResult):
            yield CHANGED, "its results are sent before its other parts"
        if any(result.images for result in turn.results):
            yield CHANGED, "a line of text replaces each image of its results"

    def check_body(self, body: JSONObject) -> Iterator[Oddity]:
        """Check the tool choice, the two limits of tokens, and options of a stream without one."""
        choice = body.get("tool_choice")
        named = at_path(choice, ("function", "name")) if isinstance(choice, dict) else None
        yield from tool_choice(choice, named, body.get("tools"), ("function", "name"))
        if isinstance(choice, str) and choice not in _CHOICES and body.get("tools"):
            yield Oddity(("tool_choice",), f"“{choice}” is neither {listed(_CHOICES, 'or')} nor a tool sent")
        if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
            yield Oddity(("max_completion_tokens",), "max_tokens is sent as well: many gateways refuse both at once")
            yield Oddity(("max_tokens",), "max_completion_tokens is sent as well: many gateways refuse both at once")
        if body.get("stream_options") is not None and body.get("stream") in (None, False):
            yield Oddity(("stream_options",), "sent without “stream”: many gateways refuse that")

    # -- tools -------------------------------------------------------------------------------------------------------

    def read_tool(self, value: JSON) -> ToolDefinition:
        """Read a definition of section 2.3, its ``function`` object alone, or that of a custom tool."""
        if not isinstance(value, dict):
            raise ValueError("a tool definition is a JSON object")
        if value.get("type") == "custom" and isinstance(value.get("custom"), dict):
            custom = value["custom"]
            tool = tool_from({name: custom.get(name) for name in ("name", "description")}, "")
            return tool.model_copy(update={"custom": members_beside(custom, ("name", "description"), empty=True)})
        if value.get("type", "function") != "function":
            raise ValueError(f"“type” must be “function”, not {value['type']!r}")
        function = value.get("function", value)
        if not isinstance(function, dict):
            raise ValueError("“function” must be an object")
        return tool_from(function, "parameters")

    def write_tool(self, tool: ToolDefinition) -> JSONObject:
        """Only members that are set are written."""
        function: JSONObject = {"name": tool.name}
        if tool.description:
            function["description"] = tool.description
        if tool.custom is not None:
            return {"type": "custom", "custom": {**function, **tool.custom}}
        if tool.parameters is not None:
            function["parameters"] = tool.parameters
        if tool.strict is not None:
            function["strict"] = tool.strict
        return {"type": "function", "function": function}

    # -- answers -----------------------------------------------------------------------------------------------------

    def decoder(
        self, content_type: str | None = None, cap: int = DEFAULT_CAP, make_id: Callable[[], str] | None = None
    ) -> ChatDecoder:
        return ChatDecoder(content_type, cap, make_id)

    def write_answer(self, answer: Accumulator, created: int) -> JSONObject:
        """The result is the completion object of section 2.4."""
        body: JSONObject = {
            "id": answer.id,
            "object": "chat.completion",
            "created": created,
            "model": answer.model,
            "choices": [_choice(answer.choices[index]) for index in sorted(answer.choices)],
        }
        if answer.usage is not None and answer.usage.raw is not None:
            body["usage"] = answer.usage.raw
        for choice in answer.choices.values():
            body = with_members(body, choice.extra_of("answer").get("chat", {}))
        return body

    # -- code that shows an answer -------------------------------------------------------------------------------------

    def python_stream(self, choices: int, *, tools: bool) -> list[str]:
        """Show the text of the first choice, and calls."""
        show = ['for choice in event.get("choices") or []:']
        if choices > 1:
            show += ['    if choice["index"] > 0:', "        continue  # the other answers come in between"]
        show.append('    print(choice["delta"].get("content") or "", end="", flush=True)')
        if tools:
            show += [
                '    for call in choice["delta"].get("tool_calls") or []:',
                '        name, arguments = call["function"].get("name"), call["function"].get("arguments")',
                '        print(name or "", arguments or "", sep="", end="", flush=True)',
            ]
        return show

    def python_whole(self, *, tools: bool) -> list[str]:
        """Show each choice."""
        more = ' or choice["message"]["tool_calls"]' if tools else ""
        return ['for choice in response.json()["choices"]:', f'    print(choice["message"]["content"]{more})']

    def javascript_stream(self, choices: int, *, tools: bool) -> list[str]:
        """Show the text of the first choice, and calls."""
        first = " if (choice.index > 0) continue; // the other answers come in between" if choices > 1 else ""
        show = [
            f"for (const choice of event.choices ?? []) {{{first}",
            '  process.stdout.write(choice.delta.content ?? "");',
        ]
        if tools:
            show += [
                "  for (const { function: f } of choice.delta.tool_calls ?? []) {",
                '    process.stdout.write((f.name ?? "") + (f.arguments ?? ""));',
                "  }",
            ]
        return [*show, "}"]

    def javascript_whole(self, *, tools: bool) -> list[str]:
        """Show each choice."""
        more = " ?? choice.message.tool_calls" if tools else ""
        return [
            "for (const choice of (await response.json()).choices) {",
            f"  console.log(choice.message.content{more});",
            "}",
        ]


def _rule(turns: tuple[Turn, ...], messages: JSON) -> ReasoningReturn:
    """Return the first rule that encodes ``turns`` to ``messages``."""
    with_extra = any(isinstance(item, dict) and EXTRA in item for item in messages)
    names = (*FIELDS, DETAILS)
    fields = [name for name in names if any(isinstance(item, dict) and name in item for item in messages)]
    for when in SendReasoning:
        for field in ("", *fields) if when is not SendReasoning.NEVER else ("",):
            rule = ReasoningReturn(when=when, field=field)
            if same(encode_turns(turns, rule, with_extra=with_extra), messages):
                return rule
    thought = any(isinstance(part, Reasoning) for turn in turns for part in turn.parts)
    return ReasoningReturn(when=SendReasoning.ALWAYS if thought else SendReasoning.NEVER)


def _left_out(messages: JSON) -> list[str]:
    """Return a sentence for each message with members that could not be kept."""
    notes = []
    for number, item in enumerate(messages, 1):
        if lost := unread(item):
            names = ", ".join(f"“{name}”" for name in lost)
            notes.append(f"Message {number}: {names} left out; it could not be written again.")
    return notes


def _interleaved(turn: Turn) -> bool:
    """Return whether text follows a call: the chat protocol has all text first."""
    called = False
    for part in turn.parts:
        if isinstance(part, ToolCall):
            called = True
        elif called and isinstance(part, Text) and part.text:
            return True
    return False


def _choice(choice: GrowingChoice) -> JSONObject:
    """Return a choice of a completion object, with its reasoning."""
    turn = make_turn(Role.ASSISTANT, "", *choice.freeze())
    (message,) = encode_turns((turn,), ReasoningReturn(when=SendReasoning.ALWAYS))
    # A request sends an empty text for missing reasoning; an answer does not have it.
    message = {name: value for name, value in message.items() if name in ("role", "content") or value}
    body: JSONObject = {
        "index": choice.index,
        "message": with_members(message, choice.extra_of("message").get("chat", {})),
        "finish_reason": choice.finish_reason,
    }
    return with_members(body, choice.extra_of("choice").get("chat", {}))
