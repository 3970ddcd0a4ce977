"""Checks a request of the Responses protocol and makes a GenerationRequest of it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PlainValidator, TypeAdapter, model_validator

from playground.demo.generation import Approval, Form, GenerationRequest, HostedTool, Turn, last_words
from playground.demo.models import BY_ID, Model
from playground.demo.request_body import fingerprint, parameters
from playground.demo.request_model import Name, RequestModel, Schema
from playground.demo.responses import conversation
from playground.demo.responses.errors import MemberError, ResponsesError, not_found, unsupported_value
from playground.demo.responses.items import ApprovalResponse, HostedItem, Item, ItemReference, as_items
from playground.demo.responses.store import JsonObject, ResponseStore
from playground.demo.responses.tools import (
    AnyToolChoice,
    CustomTool,
    FunctionTool,
    HostedToolDefinition,
    McpTool,
    ToolChoice,
    ToolDefinition,
    allowed,
    check_choice,
    strictness_fault,
)
from playground.demo.responses.validation import StrictModel, validate

_STRUCTURE = ("model", "input", "instructions", "tools", "stream", "stream_options", "previous_response_id")
_ENCRYPTED = "reasoning.encrypted_content"
_LOGPROBS = "message.output_text.logprobs"
_INCLUDES = (
    _ENCRYPTED,
    _LOGPROBS,
    "message.input_image.image_url",
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
)
_TIERS = {"auto": "default", "fast": "priority", "ultrafast": "priority"}
_ITEM: TypeAdapter[RequestModel] = TypeAdapter(Item)


def _read_model(model_id: object) -> Model:
    if not isinstance(model_id, str):
        raise MemberError("Invalid type for 'model': expected a string.", "invalid_type")
    if model_id not in BY_ID:
        message = f"The requested model '{model_id}' does not exist."
        raise ResponsesError(message, reason="model_not_found", param="model")
    return BY_ID[model_id]


class _TextFormat(StrictModel):
    type: Literal["text", "json_object"]


class _SchemaFormat(StrictModel):
    type: Literal["json_schema"]
    name: Name
    content: Annotated[Schema, Field(alias="schema")]
    strict: bool = False
    description: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.strict and (problem := strictness_fault(self.content)):
            message = f"Invalid schema for response_format '{self.name}': {problem}"
            raise MemberError(message, "invalid_json_schema", ".schema")
        return self


class _Text(StrictModel):
    format: Annotated[_TextFormat | _SchemaFormat, Field(discriminator="type")] = _TextFormat(type="text")
    verbosity: Literal["low", "medium", "high"] = "medium"


class _Reasoning(StrictModel):
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None
    generate_summary: Literal["auto", "concise", "detailed"] | None = None
    context: Literal["auto", "current_turn", "all_turns"] | None = None
    mode: Literal["standard", "pro"] | None = None


class _StreamOptions(StrictModel):
    include_obfuscation: bool = True


class ConversationRequest(StrictModel):
    """The members of all requests with a conversation."""

    model: Annotated[Model, PlainValidator(_read_model)]
    input: Annotated[list[Item], Field(min_length=1), BeforeValidator(as_items)]
    instructions: str | None = None
    previous_response_id: str | None = None
    prompt_cache_key: Annotated[str, Field(max_length=64)] | None = None
    prompt_cache_options: dict[str, Any] | None = None
    prompt_cache_retention: Literal["in_memory", "24h"] | None = None
    service_tier: Literal["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"] = "auto"


class CreateRequest(ConversationRequest):
    """The body of ``POST /responses``."""

    max_output_tokens: Annotated[int, Field(ge=16, le=2**63 - 1)] | None = None
    max_tool_calls: Annotated[int, Field(ge=1, le=2**63 - 1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] = 0
    tools: list[ToolDefinition] = Field(default_factory=list)
    tool_choice: AnyToolChoice = ToolChoice()
    parallel_tool_calls: bool = True
    text: _Text = _Text()
    reasoning: _Reasoning = _Reasoning()
    stream: bool = False
    stream_options: _StreamOptions | None = None
    include: list[str] = Field(default_factory=list)
    store: bool = True
    conversation: Any = None
    prompt: Any = None
    truncation: Literal["auto", "disabled"] = "disabled"
    context_management: list[dict[str, Any]] | None = None
    metadata: Annotated[
        dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]], Field(max_length=16)
    ] = Field(default_factory=dict)
    client_metadata: dict[str, Any] | None = None  # sent by Codex
    safety_identifier: Annotated[str, Field(max_length=128)] | None = None
    user: str | None = None
    background: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        for i, name in enumerate(self.include):
            if name not in _INCLUDES:
                raise unsupported_value(name, list(_INCLUDES), f".include[{i}]")
        self._check_reasoning()
        if self.stream_options and not self.stream:
            message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
            raise MemberError(message, "invalid_value", ".stream_options")
        for name in ("background", "conversation", "prompt"):
            if getattr(self, name):
                message = f"Unsupported parameter: '{name}' is not supported by the demo gateway."
                raise MemberError(message, "unsupported_parameter", f".{name}")
        return self

    def _check_reasoning(self) -> None:
        if _ENCRYPTED in self.include and not self.model.reasons:
            raise MemberError(
                "Encrypted content is not supported with this model.", "unsupported_parameter", ".include"
            )
        effort, efforts = self.reasoning.effort, self.model.efforts
        if effort is not None and effort not in efforts:
            supported = ", ".join(f"'{name}'" for name in efforts)
            message = (
                f"Unsupported value: '{effort}' is not supported with the '{self.model.id}' model. "
                f"Supported values are: {supported}."
            )
            raise MemberError(message, "unsupported_value", ".reasoning.effort")
        if self.effort == "none":
            return
        for name in ("temperature", "top_p"):
            if getattr(self, name) is not None:
                message = f"Unsupported parameter: '{name}' is not supported with this model."
                raise MemberError(message, "unsupported_parameter", f".{name}")

    @property
    def effort(self) -> str:
        """The effort to reason with; "none" for models that do not reason."""
        return (self.reasoning.effort or "medium") if self.model.reasons else "none"

    @property
    def summary(self) -> str | None:
        """The kind of summary of the reasoning that is wanted."""
        return self.reasoning.summary or self.reasoning.generate_summary

    def echo(self) -> dict[str, object]:
        """Return the settings as the response repeats them, with defaults filled in."""
        choice = self.tool_choice
        text_format = self.text.format.model_dump(by_alias=True)
        return {
            "instructions": self.instructions,
            "previous_response_id": self.previous_response_id,
            "tools": [tool.echo() for tool in self.tools],
            "tool_choice": choice.mode
            if choice.type == "mode"
            else choice.model_dump(exclude_none=True, exclude_unset=True),
            "truncation": self.truncation,
            "parallel_tool_calls": self.parallel_tool_calls,
            "text": {"format": text_format, "verbosity": self.text.verbosity},
            "top_p": 1.0 if self.top_p is None else self.top_p,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "top_logprobs": self.top_logprobs,
            "temperature": 1.0 if self.temperature is None else self.temperature,
            "reasoning": {"effort": self.effort if self.model.reasons else None, "summary": self.summary},
            "max_output_tokens": self.max_output_tokens,
            "max_tool_calls": self.max_tool_calls,
            "store": self.store,
            "background": False,
            "service_tier": _TIERS.get(self.service_tier, self.service_tier),
            "metadata": self.metadata,
            "safety_identifier": self.safety_identifier,
            "prompt_cache_key": self.prompt_cache_key,
            "user": self.user,
        }


@dataclass(frozen=True)
class ResponsesRequest:
    """A checked request: what to generate, the settings to repeat, and the items that were sent."""

    generation: GenerationRequest
    settings: JsonObject
    sent: tuple[JsonObject, ...]
    earlier: tuple[JsonObject, ...]
    stores: bool = True
    seals: bool = False
    wants_summary: bool = False
    obfuscates: bool = False

    @property
    def wants_logprobs(self) -> bool:
        """True where each token of text comes with its log probability."""
        return _LOGPROBS in self.generation.include

    @property
    def top_logprobs(self) -> int:
        """How many alternatives come with each log probability."""
        count = self.settings["top_logprobs"]
        return count if isinstance(count, int) else 0


def read(body: JsonObject, store: ResponseStore) -> ResponsesRequest:
    """Return the request in the JSON object ``body``. Raises ResponsesError."""
    request = validate(CreateRequest, body)
    earlier, items = read_items(request, store)
    turns = _turns(request, items)
    check_choice(request.tool_choice, request.tools)
    output = request.text.format
    if output.type == "json_object" and not any(
        "json" in turn.text.casefold() for turn in turns[bool(request.instructions) :]
    ):
        message = (
            "Response input messages must contain the word 'json' in some form to use 'text.format' of type "
            "'json_object'."
        )
        raise ResponsesError(message, param="input")
    prompt, directives = last_words(turns)
    tools = [tool.tool() for tool in request.tools if isinstance(tool, FunctionTool | CustomTool)]
    generation = GenerationRequest(
        model=request.model,
        protocol="responses",
        turns=turns,
        fingerprint=fingerprint(body),
        tools=allowed(request.tool_choice, tools),
        choice=request.tool_choice.choice(request.parallel_tool_calls),
        limit=request.max_output_tokens,
        form=Form("json_schema", output.content) if isinstance(output, _SchemaFormat) else Form(output.type),
        effort=request.effort,
        stream=request.stream,
        include=frozenset(request.include),
        hosted=_hosted_tools(request.tools, items),
        most_hosted=request.max_tool_calls,
        truncates=request.truncation == "auto",
        verbosity=request.text.verbosity,
        parameters=parameters(body, _STRUCTURE),
        prompt=prompt,
        directives=directives,
    )
    return ResponsesRequest(
        generation,
        request.echo(),
        with_ids(body["input"]),
        earlier,
        stores=request.store,
        seals=request.model.reasons and (request.model.seals_reasoning or _ENCRYPTED in request.include),
        wants_summary=request.summary is not None,
        obfuscates=request.stream_options is None or request.stream_options.include_obfuscation,
    )


def read_compaction(body: JsonObject, store: ResponseStore) -> tuple[ConversationRequest, tuple[JsonObject, ...], str]:
    """Return a request to compact a conversation, its items, and its text. Raises ResponsesError."""
    request = validate(ConversationRequest, body)
    earlier, items = read_items(request, store)
    lines = [f"{turn.role}: {turn.text}" for turn in _turns(request, items) if turn.text]
    return request, (*earlier, *with_ids(body["input"])), "\n".join(lines)


def read_items(request: ConversationRequest, store: ResponseStore) -> tuple[tuple[JsonObject, ...], list[RequestModel]]:
    """Return the stored items before the request, and all items of the conversation. Raises ResponsesError."""
    earlier: tuple[JsonObject, ...] = ()
    if request.previous_response_id is not None:
        previous = store.get(request.previous_response_id)
        if previous is None:
            raise ResponsesError(
                f"Previous response with id '{request.previous_response_id}' not found.",
                reason="previous_response_not_found",
                param="previous_response_id",
            )
        earlier = previous.conversation
    items = [_ITEM.validate_python(item) for item in earlier]
    for item in request.input:
        items.append(_referenced(item, store) if isinstance(item, ItemReference) else item)
    conversation.check_reasoning(items, request.model.id, store)
    return earlier, items


def with_ids(value: object) -> tuple[JsonObject, ...]:
    """Return the input as items with ids and content in parts, as they are stored and listed."""
    entries = as_items(value)
    return tuple(_with_id(entry) for entry in entries) if isinstance(entries, list) else ()


def _with_id(item: Mapping[str, Any]) -> JsonObject:
    kind = item.get("type", "message")
    entry = {"id": f"{_ID_PREFIXES.get(kind, 'item')}_{secrets.token_hex(12)}", "type": kind, **item}
    if kind == "message":
        entry.setdefault("status", "completed")
        if isinstance(item.get("content"), str):
            part = "output_text" if item.get("role") == "assistant" else "input_text"
            entry["content"] = [{"type": part, "text": item["content"]}]
    return entry


_ID_PREFIXES = {
    "message": "msg",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "reasoning": "rs",
    "compaction": "cmp",
}


def _referenced(reference: ItemReference, store: ResponseStore) -> RequestModel:
    item = store.item(reference.id)
    if item is None:
        raise conversation.missing_item(reference.id)
    return _ITEM.validate_python(item)


def _turns(request: ConversationRequest, items: Sequence[RequestModel]) -> tuple[Turn, ...]:
    turns = conversation.read_turns(items, request.model.id)
    return (Turn("system", request.instructions), *turns) if request.instructions else turns


def _hosted_tools(
    tools: Sequence[FunctionTool | CustomTool | McpTool | HostedToolDefinition], items: Sequence[RequestModel]
) -> tuple[HostedTool, ...]:
    hosted: list[HostedTool] = []
    for tool in tools:
        if isinstance(tool, HostedToolDefinition):
            hosted.append(HostedTool(tool.type))
        elif isinstance(tool, McpTool):
            labels = {
                item.server_label for item in items if isinstance(item, HostedItem) and item.type == "mcp_list_tools"
            }
            asks = tool.require_approval != "never"
            approval = _approval(tool.server_label, items)
            hosted.append(HostedTool("mcp", tool.server_label, tool.server_label in labels, asks, approval))
    return tuple(hosted)


def _approval(label: str, items: Sequence[RequestModel]) -> Approval | None:
    """Return the decision at the end of the conversation about a call to the server, if there is one."""
    if not items or not isinstance(items[-1], ApprovalResponse):
        return None
    answer = items[-1]
    for item in items:
        if (
            isinstance(item, HostedItem)
            and item.type == "mcp_approval_request"
            and item.id == answer.approval_request_id
        ):
            if item.server_label == label:
                return Approval(answer.approval_request_id, item.name, item.arguments, answer.approve)
            return None
    raise not_found("Approval request", answer.approval_request_id, "input")
