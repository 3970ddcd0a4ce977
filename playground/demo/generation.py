"""A checked request as all protocols mean it: turns, tools, limits. Frozen values without HTTP or JSON bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from playground.demo import tokens
from playground.demo.cheats import Directives, parse
from playground.demo.images import Picture
from playground.demo.models import Model

JsonObject = Mapping[str, object]


@dataclass(frozen=True)
class Call:
    """A tool call: in an earlier turn, or planned for this answer. ``arguments`` is text, not always JSON.

    The ``arguments`` of a custom call are the plain text of its input.
    """

    id: str
    name: str
    arguments: str
    custom: bool = False


@dataclass(frozen=True)
class Turn:
    """One turn. A tool turn answers ``call_id``; ``failed`` is what the native protocol calls is_error."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    pictures: tuple[Picture, ...] = ()
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    failed: bool = False


@dataclass(frozen=True)
class InputFormat:
    """The format of the text that a custom tool takes; ``definition`` is the grammar."""

    kind: Literal["text", "lark", "regex"] = "text"
    definition: str = ""


@dataclass(frozen=True)
class Tool:
    """An offered tool; ``schema`` is the JSON schema of its arguments. A custom tool has ``custom`` instead."""

    name: str
    description: str
    schema: JsonObject
    custom: InputFormat | None = None


@dataclass(frozen=True)
class Approval:
    """A person's decision about a call to an MCP server, with the call that was proposed."""

    request_id: str
    name: str
    arguments: str
    approved: bool


@dataclass(frozen=True)
class HostedTool:
    """A tool that the gateway runs itself. ``label`` names an MCP server, whose tools may be ``listed`` already."""

    kind: str
    label: str = ""
    listed: bool = False
    needs_approval: bool = False
    approval: Approval | None = None


@dataclass(frozen=True)
class Choice:
    """The tool choice of a request: auto, none, required, one tool by name, or a hosted tool by kind."""

    mode: Literal["auto", "none", "required", "named", "hosted"] = "auto"
    name: str = ""
    parallel: bool = True


@dataclass(frozen=True)
class Form:
    """The format of the answer; ``schema`` only with "json_schema"."""

    kind: Literal["text", "json_object", "json_schema"] = "text"
    schema: JsonObject = field(default_factory=dict)


@dataclass(frozen=True)
class GenerationRequest:
    """One checked request.

    ``limit`` is in tokens and covers reasoning; ``effort`` is "none" where no reasoning is wanted; ``given`` holds
    the parameters as they came, for the answer to report; ``fingerprint`` is the same for the same request, streamed
    or not. ``truncates`` allows dropping the oldest turns; ``most_hosted`` limits the calls of hosted tools.
    """

    model: Model
    protocol: Literal["chat", "messages", "responses"]
    turns: tuple[Turn, ...]
    fingerprint: str
    tools: tuple[Tool, ...] = ()
    choice: Choice = field(default_factory=Choice)
    limit: int | None = None
    stops: tuple[str, ...] = ()
    seed: int | None = None
    count: int = 1
    form: Form = field(default_factory=Form)
    effort: str = "medium"
    stream: bool = False
    include_usage: bool = False
    include: frozenset[str] = frozenset()
    hosted: tuple[HostedTool, ...] = ()
    most_hosted: int | None = None
    truncates: bool = False
    verbosity: Literal["low", "medium", "high"] = "medium"
    parameters: tuple[tuple[str, str], ...] = ()
    prompt: str = ""  # the last user message without its directives
    directives: Directives = field(default_factory=Directives)

    def results(self) -> tuple[tuple[Call, Turn], ...]:
        """The tool results since the last word of the user, each with the call it answers."""
        calls: dict[str, Call] = {}
        results: list[tuple[Call, Turn]] = []
        for turn in self.turns:
            if turn.role == "user":
                results = []
            for call in turn.calls:
                calls[call.id] = call
            if turn.role == "tool":
                results.append((calls.get(turn.call_id, Call(turn.call_id, "tool", "")), turn))
        return tuple(results)

    def rounds(self) -> int:
        """How many turns with calls there are since the last word of the user."""
        count = 0
        for turn in self.turns:
            count = 0 if turn.role == "user" else count + bool(turn.calls)
        return count

    def pictures(self) -> tuple[Picture, ...]:
        """The images of the last user turn that has any."""
        return next((turn.pictures for turn in reversed(self.turns) if turn.pictures), ())

    def without_oldest(self, most: int) -> GenerationRequest:
        """Return the request with its newest turns that fit into ``most`` tokens, and all system turns."""
        remaining = most - sum(tokens.count(turn.text) for turn in self.turns if turn.role == "system")
        newest: list[Turn] = []
        for turn in reversed(self.turns):
            if turn.role != "system":
                remaining -= tokens.count(turn.text) + sum(picture.tokens() for picture in turn.pictures)
            if turn.role == "system" or remaining > 0:
                newest.append(turn)
        return replace(self, turns=tuple(reversed(newest)))

    def transcript(self) -> str:
        """The prompt as one text, the way it is counted: tools first, then turn by turn."""
        lines = [f"<|tool|>{tool.name} {tool.description} {tool.schema}" for tool in self.tools]
        for turn in self.turns:
            calls = "".join(f" {call.name}({call.arguments})" for call in turn.calls)
            lines.append(f"<|{turn.role}|>{turn.text}{calls}")
        return "\n".join(lines)

    def prompt_tokens(self, most: int | None = None) -> int:
        """Tokens of the prompt, images included; of its text no more than ``most`` are counted."""
        images = sum(picture.tokens() for turn in self.turns for picture in turn.pictures)
        return tokens.count(self.transcript(), most) + images


def last_words(turns: tuple[Turn, ...]) -> tuple[str, Directives]:
    """The text of the last user turn without its directives, and the directives.

    The error rate (!err) may be in a system turn, so that prompts can be compared by how often they fail.
    """
    values: dict[str, float | None] = {}
    for turn in turns:
        if turn.role == "system":
            directives = parse(turn.text)[1]
            values |= {"err": directives.values["err"]} if directives.has("err") else {}
    for turn in reversed(turns):
        if turn.role == "user":
            text, directives = parse(turn.text)
            return text, replace(directives, values={**values, **directives.values})
    return "", Directives(values)
