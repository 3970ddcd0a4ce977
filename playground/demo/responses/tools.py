"""Tool definitions and tool choices of the Responses protocol."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from playground.demo.generation import Choice, InputFormat, Tool
from playground.demo.hosted import WEB_SEARCHES
from playground.demo.request_model import Name, NonEmpty, ObjectSchema, RequestModel
from playground.demo.responses.errors import MemberError, ResponsesError, unsupported_value
from playground.demo.responses.validation import StrictModel

_EMPTY_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}}
#: Types of tools that the gateway runs itself. It uses those up to "mcp"; the others are accepted and repeated only.
HOSTED_TYPES = (
    *WEB_SEARCHES,
    "file_search",
    "code_interpreter",
    "image_generation",
    "mcp",
    "apply_patch",
    "computer",
    "computer_use_preview",
    "local_shell",
    "namespace",
    "programmatic_tool_calling",
    "shell",
    "tool_search",
)


class FunctionTool(StrictModel):
    """A function; ``strict`` absent means strict where the schema allows it."""

    type: Literal["function"]
    name: Name
    description: str | None = None
    parameters: ObjectSchema | None = None
    strict: bool | None = None
    defer_loading: bool | None = None
    allowed_callers: list[str] | None = None
    output_schema: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.strict and (problem := strictness_fault(self.parameters or {})):
            message = f"Invalid schema for function '{self.name}': {problem}"
            raise MemberError(message, "invalid_function_parameters", ".parameters")
        return self

    def tool(self) -> Tool:
        """Return the tool as the planner of answers takes it."""
        return Tool(self.name, self.description or "", self.parameters or _EMPTY_SCHEMA)

    def echo(self) -> dict[str, object]:
        """Return the definition as the response repeats it, with the schema that is really used."""
        parameters, strict = self.parameters, self.strict
        if strict is None:
            adapted = strict_schema(self.parameters or dict(_EMPTY_SCHEMA))
            parameters, strict = (self.parameters, False) if adapted is None else (adapted, True)
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": parameters,
            "strict": strict,
        }


class _TextFormat(StrictModel):
    type: Literal["text"]


class _GrammarFormat(StrictModel):
    type: Literal["grammar"]
    syntax: Literal["lark", "regex"]
    definition: NonEmpty


class CustomTool(StrictModel):
    """A tool that takes plain text."""

    type: Literal["custom"]
    name: Name
    description: str | None = None
    format: Annotated[_TextFormat | _GrammarFormat, Field(discriminator="type")] = _TextFormat(type="text")
    defer_loading: bool | None = None
    allowed_callers: list[str] | None = None

    def tool(self) -> Tool:
        """Return the tool as the planner of answers takes it."""
        text_format = InputFormat()
        if isinstance(self.format, _GrammarFormat):
            text_format = InputFormat(self.format.syntax, self.format.definition)
        return Tool(self.name, self.description or "", {}, text_format)

    def echo(self) -> dict[str, object]:
        """Return the definition as the response repeats it."""
        definition = {"type": "custom", "name": self.name, "description": self.description}
        return {**definition, "format": self.format.model_dump()}


class McpTool(StrictModel):
    """A server of tools that the gateway calls. Its authorization is never repeated in an answer."""

    type: Literal["mcp"]
    server_label: NonEmpty
    server_url: NonEmpty | None = None
    connector_id: NonEmpty | None = None
    server_description: str | None = None
    authorization: str | None = Field(None, repr=False)
    headers: dict[str, str] | None = Field(None, repr=False)
    allowed_tools: Any = None
    require_approval: Literal["always", "never"] | dict[str, Any] = "always"
    defer_loading: bool | None = None
    allowed_callers: list[str] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.server_url is None and self.connector_id is None:
            message = "One of 'server_url' or 'connector_id' must be provided."
            raise MemberError(message, "missing_required_parameter", ".server_url")
        return self

    def echo(self) -> dict[str, object]:
        """Return the definition as the response repeats it, without credentials."""
        return {
            "type": "mcp",
            "server_label": self.server_label,
            "server_url": self.server_url,
            "server_description": self.server_description,
            "allowed_tools": self.allowed_tools,
            "headers": None,
            "require_approval": self.require_approval,
        }


class HostedToolDefinition(RequestModel):
    """Another tool that the gateway runs; its settings are accepted and repeated."""

    model_config = ConfigDict(strict=True, extra="allow")

    type: str

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.type not in HOSTED_TYPES:
            raise unsupported_value(self.type, ["function", "custom", *HOSTED_TYPES], ".type")
        if self.type == "file_search" and not (self.model_extra or {}).get("vector_store_ids"):
            raise _missing(".vector_store_ids")
        if self.type == "code_interpreter" and "container" not in (self.model_extra or {}):
            raise _missing(".container")
        return self

    def echo(self) -> dict[str, object]:
        """Return the definition as the response repeats it."""
        return self.model_dump()


def _missing(where: str) -> MemberError:
    message = f"Missing required parameter: '{where.removeprefix('.')}'."
    return MemberError(message, "missing_required_parameter", where)


def _tool_tag(value: object) -> str | None:
    if not isinstance(value, dict):
        return "function"
    kind = value.get("type")
    return kind if kind is None or kind in ("function", "custom", "mcp") else "hosted"


ToolDefinition = Annotated[
    Annotated[FunctionTool, Tag("function")]
    | Annotated[CustomTool, Tag("custom")]
    | Annotated[McpTool, Tag("mcp")]
    | Annotated[HostedToolDefinition, Tag("hosted")],
    Discriminator(_tool_tag),
]


class _ToolName(StrictModel):
    type: str
    name: str | None = None
    server_label: str | None = None


class ToolChoice(StrictModel):
    """The tool choice in its object form; the short forms auto, none and required are a ``mode`` alone."""

    type: str = "mode"
    mode: Literal["auto", "none", "required"] = "auto"
    name: NonEmpty | None = None
    server_label: NonEmpty | None = None
    tools: Annotated[list[_ToolName], Field(min_length=1, max_length=128)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.type in ("function", "custom") and self.name is None:
            raise _missing(".name")
        if self.type == "mcp" and self.server_label is None:
            raise _missing(".server_label")
        if self.type == "allowed_tools" and self.tools is None:
            raise _missing(".tools")
        if self.type not in ("mode", "function", "custom", "allowed_tools", *HOSTED_TYPES):
            message = f"Invalid value: '{self.type}'. It is no type of a tool choice."
            raise MemberError(message, "invalid_value", ".type")
        return self

    def choice(self, parallel: bool) -> Choice:
        """Return the choice as the planner of answers takes it."""
        if self.type in ("function", "custom"):
            return Choice("named", self.name or "", parallel)
        if self.type in HOSTED_TYPES:
            return Choice("hosted", self.type, parallel)
        return Choice(self.mode, parallel=parallel)


def _as_choice(value: object) -> object:
    return {"mode": value} if isinstance(value, str) else value


AnyToolChoice = Annotated[ToolChoice, BeforeValidator(_as_choice)]


def check_choice(choice: ToolChoice, tools: list[FunctionTool | CustomTool | McpTool | HostedToolDefinition]) -> None:
    """Raise ResponsesError where the choice needs a tool that is not offered."""
    if choice.mode == "required" and choice.type == "mode" and not tools:
        raise ResponsesError("Tool choice 'required' must be specified with 'tools' parameter.", param="tool_choice")
    allowed_tools = choice.tools if choice.type == "allowed_tools" else None
    for entry in allowed_tools or ([_ToolName(type=choice.type, name=choice.name)] if choice.type != "mode" else []):
        names = {tool.name for tool in tools if isinstance(tool, FunctionTool | CustomTool) and tool.type == entry.type}
        is_offered = (
            entry.name in names if entry.type in ("function", "custom") else entry.type in {tool.type for tool in tools}
        )
        if not is_offered:
            message = f"Tool choice '{entry.name or entry.type}' not found in 'tools' parameter."
            raise ResponsesError(message, param="tool_choice")


def allowed(choice: ToolChoice, tools: list[Tool]) -> tuple[Tool, ...]:
    """Return the tools that may be called under the choice."""
    if choice.type != "allowed_tools":
        return tuple(tools)
    names = {entry.name for entry in choice.tools or ()}
    return tuple(tool for tool in tools if tool.name in names)


def strictness_fault(schema: Mapping[str, Any], context: tuple[str, ...] = ()) -> str:
    """Return why ``schema`` is unsuitable for strict mode; "" where it is suitable."""
    where = f"In context={context!r}"
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, dict):
        if schema.get("additionalProperties") is not False:
            return f"{where}, 'additionalProperties' is required to be supplied and to be false."
        names = list(properties) if isinstance(properties, dict) else []
        required = schema.get("required")
        missing = [name for name in names if name not in (required if isinstance(required, list) else [])]
        if missing:
            return (
                f"{where}, 'required' is required to be supplied and to be an array including every key in properties. "
                f"Missing '{missing[0]}'."
            )
    for path, nested in _nested(schema):
        if problem := strictness_fault(nested, (*context, *path)):
            return problem
    return ""


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return ``schema`` with all properties required and no others allowed; None where that changes its meaning."""
    adapted = copy.deepcopy(dict(schema))
    return adapted if _tighten(adapted) else None


def _tighten(schema: dict[str, Any]) -> bool:
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, dict):
        if schema.get("additionalProperties", False) is not False:
            return False
        schema["additionalProperties"] = False
        schema["required"] = list(properties) if isinstance(properties, dict) else []
    return all(_tighten(nested) for _, nested in _nested(schema))


def _nested(schema: Mapping[str, Any]) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """Return the schemas directly inside ``schema``, each with its path."""
    nested: list[tuple[tuple[str, ...], dict[str, Any]]] = []
    for keyword in ("properties", "$defs", "definitions"):
        members = schema.get(keyword)
        if isinstance(members, dict):
            nested += [((keyword, name), value) for name, value in members.items() if isinstance(value, dict)]
    for keyword in ("anyOf", "allOf"):
        members = schema.get(keyword)
        if isinstance(members, list):
            nested += [((keyword, str(i)), value) for i, value in enumerate(members) if isinstance(value, dict)]
    if isinstance(schema.get("items"), dict):
        nested.append((("items",), schema["items"]))
    return nested
