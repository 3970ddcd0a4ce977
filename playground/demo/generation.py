"""A checked request as both protocols mean it: turns, tools, limits. Frozen values without HTTP or JSON bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from playground.demo import tokens
from playground.demo.cheats import Directives, parse
from playground.demo.images import Picture
from playground.demo.models import Model

JsonObject = Mapping[str, object]


@dataclass(frozen=True)
class Call:
    """A tool call: in an earlier turn, or planned for this answer. ``arguments`` is text, not always JSON."""

    id: str
    name: str
    arguments: str


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
class Tool:
    """An offered tool; ``schema`` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: JsonObject


@dataclass(frozen=True)
class Choice:
    """The tool choice of a request: auto, none, required, or one tool by name."""

    mode: Literal["auto", "none", "required", "named"] = "auto"
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
    or not.
    """

    model: Model
    protocol: Literal["chat", "messages"]
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
            return text, Directives({**values, **directives.values}, directives.refusal, directives.refused)
    return "", Directives(values)
