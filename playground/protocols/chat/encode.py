"""A request as the body of POST /chat/completions (specification, sections 2.1 to 2.3 and 4.1).

What is sent is what was set: no defaults of ours, no repairs, except that empty arguments of a call go out as ``{}``,
because many gateways parse them. Whether a tool result is an error has no field here, so only its text is sent.
Members that a message was read with and that no part holds go out with it.
"""

from __future__ import annotations

from typing import Final

from playground.domain.parts import Image, Part, Reasoning, Text, ToolResult, Unknown
from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.transcript import Role, Turn
from playground.domain.values import JSONObject
from playground.protocols.chat.reasoning import CONTENT_PART, DETAILS, INLINE
from playground.protocols.chat.tools import write_tool

DEFAULT_FIELD: Final = "reasoning_content"
KEEP: Final = ReasoningReturn()


def encode(request: Request) -> JSONObject:
    """The body; ``extra_body`` wins over everything else, key by key."""
    body: JSONObject = {"model": request.model, "messages": encode_turns(request.turns, request.reasoning_return)}
    body.update(request.parameters.to_wire())
    tools = [write_tool(tool) for tool in request.tools if tool.sendable]
    if tools:
        body["tools"] = tools
    return {**body, **request.extra_body}


def encode_turns(turns: tuple[Turn, ...], rule: ReasoningReturn = KEEP) -> list[JSONObject]:
    """The messages of ``turns``; a turn with tool results gives one message for each of them."""
    return [
        {**message, **turn.members, **message} if turn.members else message
        for turn in turns
        for message in _messages(turn, rule)
    ]


def _messages(turn: Turn, rule: ReasoningReturn) -> list[JSONObject]:
    if turn.role is Role.ASSISTANT:
        return [_assistant(turn, rule)]
    out: list[JSONObject] = [
        {"role": "tool", "tool_call_id": result.call_id, "content": result.text} for result in turn.results
    ]
    rest: list[Part] = [part for part in turn.parts if not isinstance(part, ToolResult)]
    if rest or not out:
        out.append({"role": turn.role.value, "content": _content(rest)})
    return out


def _content(parts: list[Part]) -> str | list[JSONObject]:
    """A string for one text or none, an array of parts for everything else (section 2.1)."""
    written = [_part(part) for part in parts if isinstance(part, Text | Image | Unknown)]
    if not written:
        return ""
    if len(written) == 1 and written[0].get("type") == "text" and isinstance(parts[0], Text):
        return parts[0].text
    return written


def _part(part: Text | Image | Unknown) -> JSONObject:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Image):
        image: JSONObject = {"url": part.url}
        if part.detail is not None:
            image["detail"] = part.detail
        return {"type": "image_url", "image_url": image}
    return part.value


def _assistant(turn: Turn, rule: ReasoningReturn) -> JSONObject:
    fields, thinking = _reasoning(turn, rule)
    content: str | list[JSONObject] | None
    if thinking or any(isinstance(part, Image | Unknown) for part in turn.parts):
        content = [*thinking, *(_part(part) for part in turn.parts if isinstance(part, Text | Image | Unknown))]
    else:
        content = turn.text
    if not content and (turn.calls or turn.refusal):
        content = None
    message: JSONObject = {"role": "assistant", "content": content}
    if turn.refusal:
        message["refusal"] = turn.refusal
    message.update(fields)
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments if call.arguments.strip() else "{}"},
            }
            for call in turn.calls
        ]
    return message


def _reasoning(turn: Turn, rule: ReasoningReturn) -> tuple[JSONObject, list[JSONObject]]:
    """Fields of the message and parts of its content that carry the turn's reasoning back.

    A turn that calls tools carries the field even when it is empty: some gateways answer 400 without it.
    """
    if rule.when is SendReasoning.NEVER or (rule.when is SendReasoning.AFTER_TOOL_CALLS and not turn.calls):
        return {}, []
    fields: JSONObject = {}
    thinking: list[JSONObject] = []
    details: list[JSONObject] = []
    for part in turn.parts:
        if not isinstance(part, Reasoning):
            continue
        details += part.details
        name = rule.field or part.field or DEFAULT_FIELD
        if name == INLINE:
            name = DEFAULT_FIELD
        if not part.text or name == DETAILS:
            continue
        if name == CONTENT_PART:
            thinking.append({"type": "thinking", "thinking": [{"type": "text", "text": part.text}]})
        else:
            fields[name] = fields.get(name, "") + part.text
    if details:
        fields[DETAILS] = details
    if turn.calls and not thinking and not fields:
        name = rule.field or DEFAULT_FIELD
        fields[name] = [] if name == DETAILS else ""
    return fields, thinking
