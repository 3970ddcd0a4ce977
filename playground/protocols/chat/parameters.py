"""Every body parameter of chat completions except model, messages and tools (specification, sections 4.1 and 8).

The order of the fields is the order of the panel. A field left at None is not sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import StrictBool, StrictInt, StrictStr

from playground.domain.parameters import (
    Hint,
    Number,
    Parameters,
    Shared,
    Stream,
    Temperature,
    ToolChoice,
    TopP,
    as_texts,
    missing,
    schema_in,
)
from playground.jsonkit.values import JSON

SCHEMA_NAME: Final = "answer"  # of a schema that comes from a protocol in which it has none


def _read_choice(value: JSON) -> JSON:
    if isinstance(value, str):
        return value
    function = value.get("function") if isinstance(value, dict) and value.get("type") == "function" else None
    name = function.get("name") if isinstance(function, dict) else None
    return {"name": name} if isinstance(name, str) else None


def _write_choice(value: JSON) -> JSON:
    return ChatParameters.tool_choice_for(value["name"]) if isinstance(value, dict) else value


def _write_format(schema: JSON) -> JSON:
    return {"type": "json_schema", "json_schema": {"name": SCHEMA_NAME, "schema": schema}}


class ChatParameters(Parameters):
    """Parameters of a chat-completions request."""

    unavailable: ClassVar[Mapping[str, str]] = {
        "Top K": missing("top_k"),
        "Thinking": "The API has no token limit for reasoning. “Reasoning effort” sets its amount.",
    }

    def shared(self) -> Mapping[str, Shared]:
        """Return the shared parameters; the limit is the one that is set, the newer one if none is."""
        older = self.max_completion_tokens is None and self.max_tokens is not None
        return {
            "temperature": Shared("temperature"),
            "top_p": Shared("top_p"),
            "limit": Shared("max_tokens" if older else "max_completion_tokens"),
            "stop": Shared("stop", as_texts, as_texts),
            "effort": Shared("reasoning_effort"),
            "tool_choice": Shared("tool_choice", _read_choice, _write_choice),
            "schema": Shared("response_format", schema_in, _write_format),
            "stream": Shared("stream"),
            "user": Shared("user"),
        }

    @classmethod
    def is_usual(cls, name: str, value: JSON) -> bool:
        """Return whether all gateways accept the value: one answer, and counts, are accepted everywhere."""
        return name == "include_usage" or (name == "n" and value == 1) or super().is_usual(name, value)

    temperature: Temperature = None
    top_p: TopP = None
    seed: Annotated[
        StrictInt | None,
        Hint(
            label="Seed",
            group="Sampling",
            editor="integer",
            help="The same seed with the same request aims at the same answer.",
            start=1,
            source="4.1",
            common=5,
        ),
    ] = None
    max_completion_tokens: Annotated[
        StrictInt | None,
        Hint(
            label="Max output tokens",
            group="Length",
            editor="integer",
            help="The most tokens to generate. For reasoning models this includes the reasoning.",
            low=1,
            soft_high=32768,
            step=1,
            start=1024,
            source="4.1",
            common=2,
        ),
    ] = None
    max_tokens: Annotated[
        StrictInt | None,
        Hint(
            label="Max tokens (older name)",
            group="Length",
            editor="integer",
            help="The older name of the limit, for gateways that do not know the newer one.",
            low=1,
            soft_high=32768,
            step=1,
            start=1024,
            source="4.1",
            deprecated="deprecated in favour of max_completion_tokens",
        ),
    ] = None
    stop: Annotated[
        StrictStr | tuple[StrictStr, ...] | None,
        Hint(
            label="Stop sequences",
            group="Length",
            editor="list",
            help="Generation ends before the first of these texts that the model would write. Up to four.",
            most=4,
            source="4.1",
            common=4,
        ),
    ] = None
    reasoning_effort: Annotated[
        StrictStr | None,
        Hint(
            label="Reasoning effort",
            group="Reasoning",
            editor="choice",
            help="How deeply a reasoning model thinks. none, xhigh and max are for newer models only.",
            suggestions=("none", "minimal", "low", "medium", "high", "xhigh", "max"),
            start="medium",
            source="4.1",
            common=3,
        ),
    ] = None
    tool_choice: ToolChoice = None
    response_format: Annotated[
        dict[str, Any] | None,
        Hint(
            label="Response format",
            group="Output",
            editor="json",
            help="The shape of the answer: free text, any JSON object, or JSON that follows a schema.",
            suggestions=("text", "json_object", "json_schema"),
            start={"type": "json_object"},
            source="4.1",
        ),
    ] = None
    presence_penalty: Annotated[
        Number | None,
        Hint(
            label="Presence penalty",
            group="Penalties",
            editor="number",
            help="Above zero, words that already occurred become less likely, so that new subjects come up.",
            low=-2,
            high=2,
            step=0.1,
            start=0,
            source="4.1",
        ),
    ] = None
    frequency_penalty: Annotated[
        Number | None,
        Hint(
            label="Frequency penalty",
            group="Penalties",
            editor="number",
            help="Above zero, words become less likely the more often they occurred, so that less is repeated.",
            low=-2,
            high=2,
            step=0.1,
            start=0,
            source="4.1",
        ),
    ] = None
    stream: Stream = None
    include_usage: Annotated[
        StrictBool | None,
        Hint(
            label="Include token usage",
            group="Delivery",
            editor="switch",
            help="Ask for the token counts in the last chunk of a stream; sent only with Stream on. Switch it off for "
            "gateways that refuse it.",
            path="stream_options.include_usage",
            start=True,
            ours=True,
            needs="stream",
            source="4.1",
        ),
    ] = None
    n: Annotated[
        StrictInt | None,
        Hint(
            label="Number of answers",
            group="Delivery",
            editor="integer",
            help="How many answers to generate for the same request.",
            low=1,
            soft_high=8,
            step=1,
            start=2,
            source="4.1",
        ),
    ] = None
    user: Annotated[
        StrictStr | None,
        Hint(
            label="User",
            group="Delivery",
            editor="text",
            help="A name for the end user, by which the service can notice abuse. Leave personal data out.",
            source="4.1",
        ),
    ] = None
