"""Checks a chat-completions request against the specification (2.1 to 2.3, 4.1) and makes an GenerationRequest of it.

Every refusal is a 400 (or a 404 for the model) that names the field. Parameters the specification does not list are
accepted and only reported in the answer.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from playground.demo import request_model as base
from playground.demo.generation import Call, Choice, Form, GenerationRequest, Tool, Turn, last_words
from playground.demo.problems import invalid
from playground.demo.request_body import JsonObject, fingerprint, parameters

_STRUCTURE = ("model", "messages", "tools", "stream", "stream_options")
_Penalty = Annotated[float, Field(ge=-2, le=2)]


class _CalledFunction(base.RequestModel):
    name: base.NonEmpty
    arguments: str


class _ToolCall(base.RequestModel):
    id: base.NonEmpty
    type: Literal["function"]
    function: _CalledFunction


class _Message(base.RequestModel):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: base.Content | None = None
    tool_calls: Annotated[list[_ToolCall], Field(min_length=1)] | None = None
    tool_call_id: base.NonEmpty | None = None
    name: str = ""
    reasoning_content: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.role == "tool":
            self.require("tool_call_id")
        if self.role != "assistant" or not self.tool_calls:
            self.require("content")
        if self.role == "user" and not self.content:
            raise ValueError(".content must not be empty")
        types = ("text", "image_url") if self.role == "user" else ("text",)
        base.check_types(self.content or (), ".content", *types)
        base.check_ids([call.id for call in self.tool_calls or ()])
        return self

    def turn(self) -> Turn:
        """Return the message as a turn."""
        text = base.text_of(self.content or ())
        if self.role == "assistant":
            calls = [Call(call.id, call.function.name, call.function.arguments) for call in self.tool_calls or ()]
            return Turn("assistant", text, calls=tuple(calls))
        if self.role == "tool":
            return Turn("tool", text, call_id=self.tool_call_id or "")
        return Turn("user" if self.role == "user" else "system", text, base.pictures_of(self.content or ()))


class _Function(base.RequestModel):
    name: base.Name
    description: str = ""
    parameters: base.ObjectSchema = Field(default_factory=lambda: {"type": "object", "properties": {}})


class _Tool(base.RequestModel):
    type: Literal["function"]
    function: _Function


class _JsonSchema(base.RequestModel):
    name: base.Name
    content: Annotated[base.Schema, Field(alias="schema")]
    strict: bool = False
    description: str = ""


class _ResponseFormat(base.RequestModel):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: _JsonSchema | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.type == "json_schema":
            self.require("json_schema")
        return self


class _StreamOptions(base.RequestModel):
    include_usage: bool = False


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


class _ChatRequest(base.Request):
    messages: Annotated[list[_Message], Field(min_length=1)]
    max_completion_tokens: base.Positive | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] = 1
    presence_penalty: _Penalty = 0
    frequency_penalty: _Penalty = 0
    stream_options: _StreamOptions = _StreamOptions()
    stop: Annotated[list[base.NonEmpty], Field(max_length=4), BeforeValidator(_as_list)] = Field(default_factory=list)
    n: Annotated[int, Field(ge=1, le=16)] = 1
    response_format: _ResponseFormat = _ResponseFormat(type="text")
    tools: list[_Tool] = Field(default_factory=list)
    tool_choice: Literal["auto", "none", "required"] | _Tool = "auto"
    parallel_tool_calls: bool = True
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] = "medium"
    user: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        effort, efforts = self.reasoning_effort, self.model.efforts
        if effort not in efforts:
            supported = f"is not supported by {self.model.id}; it takes {', '.join(efforts)}"
            raise ValueError(f"reasoning_effort {effort} {supported}")
        return self

    def choice(self) -> Choice:
        """Return the tool choice."""
        if isinstance(self.tool_choice, _Tool):
            return Choice("named", self.tool_choice.function.name, self.parallel_tool_calls)
        return Choice(self.tool_choice, parallel=self.parallel_tool_calls)


def read(body: JsonObject) -> GenerationRequest:
    """Return the request in the JSON object ``body``. Raises ApiError 400 or 404."""
    request = base.validate(_ChatRequest, body)
    if request.model.seals_reasoning and request.tools and request.reasoning_effort != "none":
        raise invalid(
            f"Function tools with reasoning_effort are not supported for {request.model.id} in /v1/chat/completions. "
            "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
        )
    turns = tuple(message.turn() for message in request.messages)
    base.check_results(turns)
    functions = [tool.function for tool in request.tools]
    tools = tuple(Tool(function.name, function.description, function.parameters) for function in functions)
    base.check_tools(tools, request.choice())
    schema = request.response_format.json_schema
    prompt, directives = last_words(turns)
    return GenerationRequest(
        model=request.model,
        protocol="chat",
        turns=turns,
        fingerprint=fingerprint(body),
        tools=tools,
        choice=request.choice(),
        limit=request.max_completion_tokens or request.max_tokens,
        stops=tuple(request.stop),
        seed=request.seed,
        count=request.n,
        form=Form(request.response_format.type, schema.content if schema else {}),
        effort=request.reasoning_effort,
        stream=request.stream,
        include_usage=request.stream_options.include_usage,
        parameters=parameters(body, _STRUCTURE),
        prompt=prompt,
        directives=directives,
    )
