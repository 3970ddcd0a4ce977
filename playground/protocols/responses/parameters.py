"""Parameters of a request of the Responses protocol, other than model, instructions, input and tools.

The order of the fields is the order of the panel. A field left at None is not sent. ``stop``, ``n``, ``seed``, the
penalties and ``logit_bias`` do not exist here; they can be added as extra fields for the gateways that take them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import StrictBool, StrictInt, StrictStr

from playground.domain.output import SchemaShape
from playground.domain.parameters import (
    Hint,
    Parameters,
    Shared,
    Stream,
    Temperature,
    ToolChoice,
    TopP,
    missing,
    schema_in,
)
from playground.jsonkit.values import JSON

SCHEMA_NAME: Final = "answer"  # of a schema that comes from a protocol in which it has none
LEAST_TOKENS: Final = 16
#: Value of ``previous_response_id`` that means the last answer of the conversation.
LATEST: Final = "latest"
EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
INCLUDABLE: Final = (
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
    "message.input_image.image_url",
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
)

SUMMARIES: Final = ("auto", "concise", "detailed")
FORMATS: Final = ("text", "json_object", "json_schema")
TIERS: Final = ("auto", "default", "flex", "priority", "scale", "fast")

# The help of the fields.
_LOGPROBS: Final = "How many likely tokens to report at each place. Include has to name message.output_text.logprobs."
_LIMIT: Final = "The most tokens to generate, reasoning included."
_TRUNCATION: Final = "auto drops the oldest items of a conversation that is too long; disabled refuses it."
_EFFORT: Final = "How deeply a reasoning model thinks. Each model takes some of these levels."
_SUMMARY: Final = "Ask for a readable summary of the reasoning. Some services need a verified organisation for it."
_INCLUDE: Final = "More to return: reasoning.encrypted_content keeps reasoning without state. Other models refuse it."
_PARALLEL: Final = "Off: at most one tool call in an answer."
_HOSTED: Final = "The most calls of tools that the gateway runs itself. Functions do not count."
_FORMAT: Final = "The shape of the answer: free text, any JSON object, or JSON that follows a schema."
_VERBOSITY: Final = "How much newer models write."
_STORE: Final = "The gateway stores the answer for later requests, its default. A new experiment asks it not to."
_PREVIOUS: Final = "latest: send only what follows the last answer, which the server has. Or the id of a response."
_METADATA: Final = "Up to 16 names with texts that the gateway stores with the answer."
_TIER: Final = "How urgently the request is processed, at different prices."
_CACHE: Final = "Requests with the same key are likelier to find their beginning in the cache."
_SAFETY: Final = "A name for the end user, by which the service can notice abuse. Leave personal data out."
_USER: Final = "The older name of the safety identifier and of the cache key."

_Text = StrictStr | None
_Texts = tuple[StrictStr, ...] | None
_Count = StrictInt | None
_Switch = StrictBool | None
_Object = dict[str, Any] | None


def _read_choice(value: JSON) -> JSON:
    if isinstance(value, str):
        return value
    is_function = isinstance(value, dict) and value.get("type") == "function" and isinstance(value.get("name"), str)
    return {"name": value["name"]} if is_function else None


def _write_choice(value: JSON) -> JSON:
    return ResponsesParameters.tool_choice_for(value["name"]) if isinstance(value, dict) else value


def _write_format(schema: JSON) -> JSON:
    return {"type": "json_schema", "name": SCHEMA_NAME, "schema": schema}


class ResponsesParameters(Parameters):
    """Parameters of a Responses request."""

    unavailable: ClassVar[Mapping[str, str]] = {
        "Stop sequences": missing("stop"),
        "Number of answers": "The API gives one answer per request. Compare and Evaluate repeat requests.",
        "Seed": missing("seed"),
        "Presence penalty": missing("presence_penalty"),
        "Frequency penalty": missing("frequency_penalty"),
        "Top K": missing("top_k"),
    }
    schema_shape: ClassVar[SchemaShape] = SchemaShape.FLAT

    def shared(self) -> Mapping[str, Shared]:
        """Return the shared parameters; there are no stop sequences."""
        return {
            **{name: Shared(name) for name in ("temperature", "top_p", "stream", "user")},
            "limit": Shared("max_output_tokens"),
            "effort": Shared("reasoning_effort"),
            "tool_choice": Shared("tool_choice", _read_choice, _write_choice),
            "schema": Shared("response_format", schema_in, _write_format),
        }

    def stateless(self) -> Self:
        return self.with_value("previous_response_id", None)

    @classmethod
    def tool_choice_for(cls, name: str) -> JSON:
        """Return the choice that demands this tool."""
        return {"type": "function", "name": name}

    temperature: Temperature = None
    top_p: TopP = None
    top_logprobs: Annotated[_Count, Hint("Top logprobs", "Sampling", "integer", _LOGPROBS, low=0, high=20, start=5)] = (
        None
    )
    max_output_tokens: Annotated[
        _Count,
        Hint("Max output tokens", "Length", "integer", _LIMIT, low=LEAST_TOKENS, soft_high=32768, start=1024, common=2),
    ] = None
    truncation: Annotated[
        _Text, Hint("Truncation", "Length", "choice", _TRUNCATION, suggestions=("disabled", "auto"), start="auto")
    ] = None
    reasoning_effort: Annotated[
        _Text,
        Hint(
            "Reasoning effort",
            "Reasoning",
            "choice",
            _EFFORT,
            path="reasoning.effort",
            suggestions=EFFORTS,
            start="medium",
            common=3,
        ),
    ] = None
    reasoning_summary: Annotated[
        _Text,
        Hint(
            "Reasoning summary",
            "Reasoning",
            "choice",
            _SUMMARY,
            path="reasoning.summary",
            suggestions=SUMMARIES,
            start="auto",
            common=4,
        ),
    ] = None
    include: Annotated[
        _Texts, Hint("Include", "Reasoning", "list", _INCLUDE, suggestions=INCLUDABLE, start=INCLUDABLE[:1], common=5)
    ] = None
    tool_choice: ToolChoice = None
    parallel_tool_calls: Annotated[_Switch, Hint("Parallel calls", "Tools", "switch", _PARALLEL, start=False)] = None
    max_tool_calls: Annotated[_Count, Hint("Max hosted calls", "Tools", "integer", _HOSTED, low=1, start=5)] = None
    response_format: Annotated[
        _Object,
        Hint(
            "Response format",
            "Output",
            "json",
            _FORMAT,
            path="text.format",
            suggestions=FORMATS,
            start={"type": "json_object"},
        ),
    ] = None
    verbosity: Annotated[
        _Text,
        Hint(
            "Verbosity",
            "Output",
            "choice",
            _VERBOSITY,
            path="text.verbosity",
            suggestions=("low", "medium", "high"),
            start="low",
        ),
    ] = None
    stream: Stream = None
    previous_response_id: Annotated[
        _Text, Hint("Continue from", "Delivery", "choice", _PREVIOUS, suggestions=(LATEST,), start=LATEST)
    ] = None
    store: Annotated[_Switch, Hint("Store on server", "Delivery", "switch", _STORE, start=False, ours=False)] = None
    metadata: Annotated[_Object, Hint("Metadata", "Delivery", "json", _METADATA, start={"purpose": "test"})] = None
    service_tier: Annotated[
        _Text, Hint("Service tier", "Delivery", "choice", _TIER, suggestions=TIERS, start="auto")
    ] = None
    prompt_cache_key: Annotated[_Text, Hint("Prompt cache key", "Delivery", "text", _CACHE)] = None
    safety_identifier: Annotated[_Text, Hint("Safety identifier", "Delivery", "text", _SAFETY)] = None
    user: Annotated[_Text, Hint("User (older name)", "Delivery", "text", _USER)] = None
