"""Pydantic models of input items and of the parts of their content."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, PlainValidator, Tag, model_validator

from playground.demo.generation import Call
from playground.demo.images import Picture
from playground.demo.request_model import NonEmpty, RequestModel, read_picture
from playground.demo.responses.errors import MemberError, unsupported_value
from playground.demo.responses.validation import StrictModel

_INPUT_PARTS = ["input_text", "input_image", "input_file"]
_OUTPUT_PARTS = ["output_text", "refusal"]
Status = Literal["in_progress", "completed", "incomplete"]
CallId = Annotated[str, Field(min_length=1, max_length=64)]


class InputText(StrictModel):
    """A text of the user, or in the result of a call."""

    type: Literal["input_text"]
    text: str
    prompt_cache_breakpoint: Any = None


class InputImage(StrictModel):
    """An image by address, data URL or the id of a file."""

    type: Literal["input_image"]
    image_url: Annotated[Picture, PlainValidator(read_picture)] | None = None
    file_id: NonEmpty | None = None
    detail: Literal["low", "high", "auto", "original"] = "auto"
    prompt_cache_breakpoint: Any = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.image_url is None and self.file_id is None:
            raise MemberError("Missing required parameter: 'image_url'.", "missing_required_parameter", ".image_url")
        return self


class InputFile(StrictModel):
    """A file as a data URL with its name, by address, or by id."""

    type: Literal["input_file"]
    filename: str | None = None
    file_data: str | None = None
    file_url: NonEmpty | None = None
    file_id: NonEmpty | None = None
    detail: Literal["low", "high", "auto"] = "auto"
    prompt_cache_breakpoint: Any = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.file_data is None and self.file_url is None and self.file_id is None:
            raise MemberError("Missing required parameter: 'file_id'.", "missing_required_parameter", ".file_id")
        if self.file_data is not None and not self.file_data.startswith("data:"):
            message = "Invalid 'file_data': expected a base64-encoded data URL, such as data:application/pdf;base64,…"
            raise MemberError(message, "invalid_value", ".file_data")
        return self

    def label(self) -> str:
        """Return what the gateway knows of the file, in brackets."""
        if self.file_data is None:
            return f"[file {self.file_url or self.file_id}]"
        head, _, data = self.file_data.partition(",")
        media_type = head.removeprefix("data:").partition(";")[0] or "unknown type"
        size = len(data) * 3 // 4 - data.count("=")
        return f"[file {self.filename or 'without a name'}: {media_type}, {size} bytes]"


class OutputText(StrictModel):
    """A text of the assistant."""

    type: Literal["output_text"]
    text: str
    annotations: list[Any] = Field(default_factory=list)
    logprobs: list[Any] = Field(default_factory=list)


class Refusal(StrictModel):
    """The words of an assistant that declined to answer."""

    type: Literal["refusal"]
    refusal: str


Part = Annotated[InputText | InputImage | InputFile | OutputText | Refusal, Field(discriminator="type")]


def _as_input_parts(value: object) -> object:
    return [{"type": "input_text", "text": value}] if isinstance(value, str) else value


ResultParts = Annotated[
    list[Annotated[InputText | InputImage | InputFile, Field(discriminator="type")]], BeforeValidator(_as_input_parts)
]


class Message(StrictModel):
    """A message in the short form, or as it was received."""

    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system", "developer"]
    content: list[Part]
    phase: Literal["commentary", "final_answer"] | None = None
    id: str | None = None
    status: Status = "completed"

    @model_validator(mode="before")
    @classmethod
    def _split_text(cls, value: object) -> object:
        if not isinstance(value, dict) or not isinstance(value.get("content"), str):
            return value
        kind = "output_text" if value.get("role") == "assistant" else "input_text"
        return {**value, "content": [{"type": kind, "text": value["content"]}]}

    @model_validator(mode="after")
    def _check(self) -> Self:
        types = _OUTPUT_PARTS if self.role == "assistant" else _INPUT_PARTS
        for i, part in enumerate(self.content):
            if part.type not in types:
                raise unsupported_value(part.type, types, f".content[{i}]")
        return self


class ToolCall(StrictModel):
    """A call that the client answers; ``noun`` names its kind in errors."""

    noun: ClassVar[str]

    type: str
    call_id: CallId
    name: NonEmpty
    id: str | None = None
    status: Status | None = None
    namespace: str | None = None
    caller: Any = None

    def call(self) -> Call:
        """Return the call of a turn."""
        raise NotImplementedError


class FunctionCall(ToolCall):
    """A call of a function; ``arguments`` is JSON as text."""

    noun: ClassVar[str] = "function call"

    type: Literal["function_call"]
    arguments: str

    def call(self) -> Call:
        """Return the call of a turn."""
        return Call(self.call_id, self.name, self.arguments)


class CustomToolCall(ToolCall):
    """A call of a custom tool; ``input`` is plain text."""

    noun: ClassVar[str] = "custom tool call"

    type: Literal["custom_tool_call"]
    input: str

    def call(self) -> Call:
        """Return the call of a turn."""
        return Call(self.call_id, self.name, self.input, custom=True)


class ToolOutput(StrictModel):
    """The result of a call; ``noun`` names the kind of the call in errors."""

    noun: ClassVar[str]

    type: str
    call_id: CallId
    output: ResultParts
    id: str | None = None
    status: Status | None = None


class FunctionCallOutput(ToolOutput):
    """The result of a function call."""

    noun: ClassVar[str] = FunctionCall.noun

    type: Literal["function_call_output"]


class CustomToolCallOutput(ToolOutput):
    """The result of a call of a custom tool."""

    noun: ClassVar[str] = CustomToolCall.noun

    type: Literal["custom_tool_call_output"]


class SummaryText(StrictModel):
    """A paragraph of a summary of reasoning."""

    type: Literal["summary_text"]
    text: str


class ReasoningText(StrictModel):
    """Reasoning itself."""

    type: Literal["reasoning_text"]
    text: str


class Reasoning(StrictModel):
    """The reasoning before an item; ``summary`` is required and may be empty."""

    type: Literal["reasoning"]
    id: str | None = None
    summary: list[SummaryText]
    content: list[ReasoningText] = Field(default_factory=list)
    encrypted_content: str | None = None
    status: Status | None = None


class ItemReference(StrictModel):
    """A stored item by its id."""

    type: Literal["item_reference"]
    id: NonEmpty


class Compaction(StrictModel):
    """The conversation before this item, compacted."""

    type: Literal["compaction"]
    encrypted_content: str
    id: str | None = None
    created_by: str | None = None


class ApprovalResponse(StrictModel):
    """A person's decision about a call to an MCP server."""

    type: Literal["mcp_approval_response"]
    approval_request_id: NonEmpty
    approve: bool
    reason: str | None = None
    id: str | None = None


_TYPES = (
    "message",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "reasoning",
    "item_reference",
    "compaction",
    "mcp_approval_response",
)
_HOSTED_TYPES = (
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "computer_call",
    "computer_call_output",
    "mcp_list_tools",
    "mcp_call",
    "mcp_approval_request",
    "tool_search_call",
    "tool_search_output",
    "local_shell_call",
    "local_shell_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "program",
)


class HostedItem(RequestModel):
    """An item of a hosted tool, as received; it is accepted with all its members."""

    model_config = ConfigDict(strict=True, extra="allow")

    type: str
    id: str | None = None
    server_label: str = ""
    name: str = ""
    arguments: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.type not in _HOSTED_TYPES:
            raise unsupported_value(self.type, [*_TYPES, *_HOSTED_TYPES], ".type")
        return self


def _tag(value: object) -> str | None:
    """Return the tag of an item by its type, which may be absent in messages only."""
    if not isinstance(value, dict):
        return "message"
    kind = value.get("type", "message" if "role" in value else None)
    return kind if kind is None or kind in _TYPES else "hosted"


Item = Annotated[
    Annotated[Message, Tag("message")]
    | Annotated[FunctionCall, Tag("function_call")]
    | Annotated[FunctionCallOutput, Tag("function_call_output")]
    | Annotated[CustomToolCall, Tag("custom_tool_call")]
    | Annotated[CustomToolCallOutput, Tag("custom_tool_call_output")]
    | Annotated[Reasoning, Tag("reasoning")]
    | Annotated[ItemReference, Tag("item_reference")]
    | Annotated[Compaction, Tag("compaction")]
    | Annotated[ApprovalResponse, Tag("mcp_approval_response")]
    | Annotated[HostedItem, Tag("hosted")],
    Discriminator(_tag),
]


def as_items(value: object) -> object:
    """Return a text as one message of the user, and anything else as it is."""
    return [{"type": "message", "role": "user", "content": value}] if isinstance(value, str) else value
