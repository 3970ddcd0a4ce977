"""Parameters of a request of the native messages protocol, other than model, messages, system and tools.

The specification names only ``max_tokens`` (section 4.2); the rest follows the public protocol. ``max_tokens`` is
required: while it is at default, the encoder sends ``MAX_TOKENS_START``, and the panel shows that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import StrictBool, StrictInt, StrictStr

from playground.domain.output import SchemaShape
from playground.domain.parameters import Hint, Number, Parameters, Shared, Stream, TopP, as_texts, missing, schema_in
from playground.jsonkit.values import JSON, JSONObject

MAX_TOKENS_START: Final = 4096
ONE_CALL: Final = "disable_parallel_tool_use"


def _write_effort(value: JSON) -> JSON:
    return None if value in ("none", "minimal") else value


def _read_choice(value: JSON) -> JSON:
    kind = value.get("type") if isinstance(value, dict) else value
    if kind == "tool" and isinstance(value, dict) and isinstance(value.get("name"), str):
        return {"name": value["name"]}
    return {"any": "required"}.get(kind, kind) if isinstance(kind, str) and kind != "tool" else None


def _write_choice(value: JSON) -> JSON:
    if isinstance(value, dict):
        return MessagesParameters.tool_choice_for(value["name"])
    return MessagesParameters.tool_choice_word("any" if value == "required" else value)


def _write_format(schema: JSON) -> JSON:
    return {"type": "json_schema", "schema": schema}


class MessagesParameters(Parameters):
    """Parameters of a native messages request."""

    unavailable: ClassVar[Mapping[str, str]] = {
        "Number of answers": "The API gives one answer per request. Compare and Evaluate repeat requests.",
        "Seed": missing("seed"),
        "Presence penalty": missing("presence_penalty"),
        "Frequency penalty": missing("frequency_penalty"),
    }
    schema_shape: ClassVar[SchemaShape] = SchemaShape.BARE

    def shared(self) -> Mapping[str, Shared]:
        """Return the shared parameters; stop sequences are a list, and a schema has no name."""
        return {
            "temperature": Shared("temperature"),
            "top_p": Shared("top_p"),
            "limit": Shared("max_tokens"),
            "stop": Shared("stop_sequences", as_texts, as_texts),
            "effort": Shared("effort", write=_write_effort),
            "tool_choice": Shared("tool_choice", _read_choice, _write_choice),
            "schema": Shared("response_format", schema_in, _write_format),
            "stream": Shared("stream"),
            "user": Shared("user_id"),
        }

    @classmethod
    def tool_choice_word(cls, word: str) -> JSON:
        """Return a plain choice, which is an object: ``{"type": "auto"}``."""
        return {"type": word}

    @classmethod
    def tool_choice_for(cls, name: str) -> JSON:
        """Return the choice that demands this tool."""
        return {"type": "tool", "name": name}

    def to_wire(self, over: JSONObject | None = None) -> JSONObject:
        """Return the members of the body; "one call at a time" goes into the tool choice, then an object."""
        body = super().to_wire(over)
        single = body.pop(ONE_CALL, None)
        if single is not None:
            choice = body.get("tool_choice", "auto")
            choice = choice if isinstance(choice, dict) else self.tool_choice_word(choice)
            body["tool_choice"] = {**choice, ONE_CALL: single}
        return body

    @classmethod
    def from_wire(cls, body: JSONObject) -> Self:
        """The reverse of ``to_wire``."""
        choice = body.get("tool_choice")
        if not isinstance(choice, dict) or not isinstance(choice.get(ONE_CALL), bool):
            return super().from_wire(body)
        rest = {name: value for name, value in choice.items() if name != ONE_CALL}
        others = {name: value for name, value in body.items() if name != "tool_choice"}
        if rest != cls.tool_choice_word("auto"):
            others["tool_choice"] = rest
        return super().from_wire({**others, ONE_CALL: choice[ONE_CALL]})

    temperature: Annotated[
        Number | None,
        Hint(
            label="Temperature",
            group="Sampling",
            editor="number",
            help="How freely the next word is chosen: low values are steady, high ones varied. Models that think may "
            "refuse a changed value.",
            low=0,
            high=1,
            step=0.05,
            start=1,
            common=1,
        ),
    ] = None
    top_p: TopP = None
    top_k: Annotated[
        StrictInt | None,
        Hint(
            label="Top K",
            group="Sampling",
            editor="integer",
            help="Only this many of the likeliest words are considered.",
            low=0,
            soft_high=500,
            step=1,
            start=40,
        ),
    ] = None
    max_tokens: Annotated[
        StrictInt | None,
        Hint(
            label="Max output tokens",
            group="Length",
            editor="integer",
            help=f"The most tokens to generate, thinking included. The protocol requires it: at default, "
            f"{MAX_TOKENS_START} is sent.",
            low=1,
            soft_high=64000,
            step=1,
            start=MAX_TOKENS_START,
            instead=MAX_TOKENS_START,
            source="4.2",
            common=2,
        ),
    ] = None
    stop_sequences: Annotated[
        tuple[StrictStr, ...] | None,
        Hint(
            label="Stop sequences",
            group="Length",
            editor="list",
            help="Generation ends before the first of these texts that the model would write.",
            common=4,
        ),
    ] = None
    effort: Annotated[
        StrictStr | None,
        Hint(
            label="Reasoning effort",
            group="Reasoning",
            editor="choice",
            help="How much work newer models put into an answer, thinking included. Older models refuse it.",
            path="output_config.effort",
            suggestions=("low", "medium", "high", "xhigh", "max"),
            start="medium",
            common=3,
        ),
    ] = None
    thinking: Annotated[
        dict[str, Any] | None,
        Hint(
            label="Thinking",
            group="Reasoning",
            editor="thinking",
            help='Extended thinking. Older models take {"type": "enabled", "budget_tokens": 1024} with a budget below '
            'max_tokens, newer ones {"type": "adaptive"}.',
            start={"type": "adaptive"},
            common=5,
        ),
    ] = None
    tool_choice: Annotated[
        StrictStr | dict[str, Any] | None,
        Hint(
            label="Tool choice",
            group="Tools",
            editor="tool_choice",
            help="Whether the model may call tools: auto lets it decide, any demands at least one call, none forbids, "
            "and a tool's name demands that tool.",
            suggestions=("auto", "any", "none"),
            start="auto",
        ),
    ] = None
    disable_parallel_tool_use: Annotated[
        StrictBool | None,
        Hint(
            label="One call at a time",
            group="Tools",
            editor="switch",
            help="On: at most one tool call in an answer. Part of the tool choice.",
            start=True,
        ),
    ] = None
    response_format: Annotated[
        dict[str, Any] | None,
        Hint(
            label="Response format",
            group="Output",
            editor="json",
            help="JSON that follows a schema. Older models and some gateways refuse it.",
            path="output_config.format",
            suggestions=("json_schema",),
            start={"type": "json_schema", "schema": {"type": "object", "properties": {}}},
        ),
    ] = None
    stream: Stream = None
    user_id: Annotated[
        StrictStr | None,
        Hint(
            label="User",
            group="Delivery",
            editor="text",
            help="A name for the end user, by which the service can notice abuse. Leave personal data out.",
            path="metadata.user_id",
        ),
    ] = None
