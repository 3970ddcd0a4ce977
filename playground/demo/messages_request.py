"""Checks a request of the native messages protocol (specification, 4.2) and makes an GenerationRequest of it.

The specification gives only model, max_tokens and messages; the rest follows the public protocol. Tool results,
which are blocks of user messages there, become turns of their own in the GenerationRequest.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from playground.demo import request_model as base
from playground.demo.generation import Call, Choice, Form, GenerationRequest, Tool, Turn, last_words
from playground.demo.models import BY_ID
from playground.demo.problems import NO_MODEL, ApiError, invalid
from playground.demo.request_body import JsonObject, fingerprint, parameters

_STRUCTURE = ("model", "messages", "tools", "system", "stream")


def signature(thinking: str) -> str:
    """Return the signature of a thinking block; it depends on the text alone, so stored conversations stay valid."""
    digest = hashlib.sha256(b"demo-gateway thinking\x00" + thinking.encode("utf-8", "surrogatepass")).digest()
    return base64.b64encode(b"demo" + digest + digest).decode("ascii")


class _Message(base.RequestModel):
    role: Literal["user", "assistant", "system"]  # system: later instructions, as agents send them
    content: base.Content

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.role == "system":
            base.check_types(self.content, ".content", "text")
        elif self.role == "user":
            base.check_types(self.content, ".content", "text", "image", "tool_result")
        else:
            base.check_types(self.content, ".content", "text", "tool_use", "thinking", "redacted_thinking")
        base.check_ids([block.id or "" for block in self.content if block.type == "tool_use"])
        answered = False
        for i, block in enumerate(self.content):
            path = f".content[{i}]"
            if block.type == "tool_result":
                base.check_types(block.content, f"{path}.content", "text", "image")
            if block.type == "thinking" and block.signature != signature(block.thinking or ""):
                raise ValueError(f"{path}.signature is not valid: thinking must be sent back as received, unchanged")
            if block.type.endswith("thinking") and answered:
                raise ValueError(f"{path}: {block.type} blocks must come first in their assistant message")
            answered = answered or not block.type.endswith("thinking")
        return self

    def turns(self) -> list[Turn]:
        """Return the tool results as tool turns, then the text, images and calls as one turn, if any."""
        text = base.text_of(self.content)
        if self.role == "system":
            return [Turn("system", text)]
        if self.role == "assistant":
            uses = [block for block in self.content if block.type == "tool_use"]
            calls = [Call(use.id or "", use.name or "", json.dumps(use.input, ensure_ascii=False)) for use in uses]
            return [Turn("assistant", text, calls=tuple(calls))]
        results = [block for block in self.content if block.type == "tool_result"]
        turns = [
            Turn("tool", _result_text(block), call_id=block.tool_use_id or "", failed=block.is_error)
            for block in results
        ]
        if len(results) < len(self.content) or not results:
            turns.append(Turn("user", text, base.pictures_of(self.content)))
        return turns


def _result_text(result: base.Block) -> str:
    texts = [
        f"[image, {len(block.source.data)} bytes]" if block.source else block.text or "" for block in result.content
    ]
    return "\n".join(texts)


class _Tool(base.RequestModel):
    type: Literal["custom"] = "custom"
    name: base.Name
    description: str = ""
    input_schema: base.ObjectSchema


class _ToolChoice(base.RequestModel):
    type: Literal["auto", "any", "tool", "none"]
    name: str = ""
    disable_parallel_tool_use: bool = False

    def choice(self) -> Choice:
        """Return the choice in the words of both protocols."""
        parallel = not self.disable_parallel_tool_use
        if self.type == "tool":
            return Choice("named", self.name, parallel)
        return Choice("required" if self.type == "any" else self.type, parallel=parallel)


class _Thinking(base.RequestModel):
    type: Literal["enabled", "adaptive", "disabled"]
    budget_tokens: Annotated[int, Field(ge=1024, le=2**63 - 1)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.type == "enabled":
            self.require("budget_tokens")
        return self


class _Format(base.RequestModel):
    type: Literal["json_schema"]
    content: Annotated[base.Schema, Field(alias="schema")]


class _OutputConfig(base.RequestModel):
    effort: Literal["low", "medium", "high", "xhigh", "max"] = "medium"
    format: _Format | None = None


class _Metadata(base.RequestModel):
    user_id: str = ""


class _MessagesRequest(base.Request):
    system: base.Content | None = None
    messages: Annotated[list[_Message], Field(min_length=1)]
    tools: list[_Tool] = Field(default_factory=list)
    tool_choice: _ToolChoice = _ToolChoice(type="auto")
    output_config: _OutputConfig = _OutputConfig()
    thinking: _Thinking = _Thinking(type="disabled")
    temperature: base.Share = 1
    top_k: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    metadata: _Metadata = _Metadata()
    stop_sequences: list[base.NonEmpty] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.model.native:
            native = ", ".join(model.id for model in BY_ID.values() if model.native)
            remedy = f"call it through /chat/completions. Served here: {native}."
            raise ApiError(404, NO_MODEL, f"The model {self.model.id} is not served under /messages; {remedy}")
        base.check_types(self.system or (), "system", "text")
        if self.messages[0].role != "user":
            raise ValueError(f"messages must begin with a user message, not with one of the {self.messages[0].role}")
        if self.thinking.type != "disabled":
            self._check_thinking()
        return self

    def _check_thinking(self) -> None:
        budget = self.thinking.budget_tokens or 0
        if self.thinking.type == "enabled" and self.max_tokens and budget >= self.max_tokens:
            raise ValueError(f"thinking.budget_tokens ({budget}) must be less than max_tokens ({self.max_tokens})")
        if self.temperature != 1:
            raise ValueError("temperature must be left out (or be 1) while thinking is on")
        if self.tool_choice.type in ("any", "tool"):
            raise ValueError("tool_choice cannot force a tool while thinking is on; use auto or none")

    def effort(self) -> str:
        """Return the effort to reason with: "none" unless thinking is on, by the size of its budget if it has one."""
        if self.thinking.type == "disabled":
            return "none"
        if self.thinking.type == "adaptive":
            return self.output_config.effort
        budget = self.thinking.budget_tokens or 0
        return "low" if budget < 4096 else "medium" if budget < 16_384 else "high"


def read(body: JsonObject, *, to_count: bool = False) -> GenerationRequest:
    """Return the request in ``body``; max_tokens may be absent with ``to_count``. Raises ApiError 400 or 404."""
    request = base.validate(_MessagesRequest, body)
    if request.max_tokens is None and not to_count:
        raise invalid("max_tokens is required.")
    system = () if request.system is None else (Turn("system", base.text_of(request.system)),)
    turns = (*system, *(turn for message in request.messages for turn in message.turns()))
    base.check_results(turns)
    tools = tuple(Tool(tool.name, tool.description, tool.input_schema) for tool in request.tools)
    choice = request.tool_choice.choice()
    base.check_tools(tools, choice)
    prompt, directives = last_words(turns)
    output = request.output_config.format
    return GenerationRequest(
        model=request.model,
        protocol="messages",
        turns=turns,
        fingerprint=fingerprint(body),
        tools=tools,
        choice=choice,
        limit=request.max_tokens,
        stops=tuple(request.stop_sequences),
        seed=request.seed,
        form=Form("json_schema", output.content) if output else Form(),
        effort=request.effort(),
        stream=request.stream,
        parameters=parameters(body, _STRUCTURE),
        prompt=prompt,
        directives=directives,
    )
