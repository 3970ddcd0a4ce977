"""Encode turns as the messages of POST /chat/completions (specification, sections 2.1 to 2.3 and 4.1).

Only what was set is sent: no defaults of ours, no repairs, except that empty arguments of a call are sent as ``{}``,
because many gateways parse them. The protocol has no field for a failed tool result, so only its text is sent. Unknown
members of a message that was read from a file are sent with it. Unknown members of an answer are sent back in the
places of its calls and texts; of those of the message itself only ``RETURNED`` and, with reasoning, those that belong
to it: strict gateways refuse the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeGuard

from playground.domain.members import with_members
from playground.domain.parts import Image, Part, Reasoning, Text, ToolCall, ToolResult, Unknown
from playground.domain.request import ReasoningReturn, SendReasoning
from playground.domain.served import sent_text
from playground.domain.transcript import Role, Turn
from playground.jsonkit.foreign import whole, write
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.chat.reasoning import (
    CONTENT_PART,
    DETAILS,
    FIELDS,
    INLINE,
    THOUGHT,
    belongs_to_reasoning,
    part_text,
    plain_text,
    without_thought_mark,
)
from playground.protocols.reading import write_extra

DEFAULT_FIELD: Final = "reasoning_content"
KEEP: Final = ReasoningReturn()


def encode_turns(
    turns: tuple[Turn, ...], rule: ReasoningReturn = KEEP, *, with_extra: bool = False
) -> list[JSONObject]:
    """Return the messages of ``turns``; a turn with tool results gives one message for each of them."""
    return [
        {**message, **returned(turn), **turn.members, **message, **(write_extra(turn) if with_extra else {})}
        if turn.members or turn.extra
        else message
        for turn in turns
        for message in _messages(turn, rule)
    ]


def returned(turn: Turn) -> JSONObject:
    """Return the members of a received message that are sent back."""
    members = turn.extra.get("chat", {})
    back = {name: take(members[name]) for name, take in RETURNED.items() if name in members}
    return {name: value for name, value in back.items() if value}


def returned_with_reasoning(turn: Turn) -> JSONObject:
    """Return the members of a received message that are sent back unchanged whenever its reasoning is."""
    members = turn.extra.get("chat", {})
    return {
        name: value
        for name, value in members.items()
        if name not in RETURNED and name not in FIELDS and belongs_to_reasoning(name, value)
    }


def _audio(value: JSON) -> JSON:
    id_ = value.get("id") if isinstance(value, dict) else None
    return {"id": id_} if isinstance(id_, str) and id_ else None


def _files(value: JSON) -> JSON:
    """Return the annotations that are a file as the gateway read it, so that it need not read it again."""
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, dict) and item.get("type") == "file"]


#: Members of an answer's message that are sent back, and functions that return the part to send.
RETURNED: Final[dict[str, Callable[[JSON], JSON]]] = {
    "audio": _audio,
    "annotations": _files,
    "extra_content": without_thought_mark,
}


def _messages(turn: Turn, rule: ReasoningReturn) -> list[JSONObject]:
    if turn.role is Role.ASSISTANT:
        return [_assistant(turn, rule)]
    out: list[JSONObject] = [
        {"role": "tool", "tool_call_id": result.call_id, "content": _result(result)} for result in turn.results
    ]
    rest = [part for part in turn.parts if _has_place(part)]
    if rest or not out:
        out.append({"role": turn.role.value, "content": _content(rest)})
    return out


def text_of_parts(content: list[JSON]) -> str:
    """Return the texts of content parts, joined; other parts are written as JSON."""
    return "".join(
        part["text"] if isinstance(part, dict) and isinstance(part.get("text"), str) else write(part)
        for part in content
    )


def _result(result: ToolResult) -> JSON:
    """Return the text, with a line for each picture, or the received list of parts if its text is unchanged."""
    if result.images:
        return sent_text(result, pictures=False)
    content = result.extra.get("chat", {}).get("content")
    return content if isinstance(content, list) and whole(text_of_parts(content)) == result.text else result.text


def _content(placed: list[Text | Image | Unknown]) -> str | list[JSONObject]:
    """Return a string for one text or none, an array of parts for everything else (section 2.1)."""
    if not placed:
        return ""
    first = placed[0]
    if len(placed) == 1 and isinstance(first, Text) and not first.extra.get("chat"):
        return first.text
    return [_part(part) for part in placed]


def _has_place(part: Part) -> TypeGuard[Text | Image | Unknown]:
    """Return whether a part belongs in the content of a message."""
    return isinstance(part, Text | Image) or (isinstance(part, Unknown) and not part.from_file)


def _part(part: Text | Image | Unknown) -> JSONObject:
    if isinstance(part, Text):
        return with_members({"type": "text", "text": part.text}, part.extra.get("chat", {}))
    if isinstance(part, Image):
        image: JSONObject = {"url": part.url}
        if part.detail is not None:
            image["detail"] = part.detail
        return with_members({"type": "image_url", "image_url": image}, part.extra.get("chat", {}))
    return part.value


def _assistant(turn: Turn, rule: ReasoningReturn) -> JSONObject:
    fields, thinking = _reasoning(turn, rule)
    content: str | list[JSONObject] | None
    if thinking or any(_takes_a_list(part) for part in turn.parts):
        content = []
        for number, part in enumerate(turn.parts):
            content += thinking.get(number, ())
            content += [_part(part)] if _has_place(part) else ()
    else:
        content = turn.text
    if not content and (turn.calls or turn.refusal):
        content = None
    message: JSONObject = {"role": "assistant", "content": content}
    if turn.refusal:
        message["refusal"] = turn.refusal
    message.update(fields)
    if turn.calls:
        message["tool_calls"] = [_call(call) for call in turn.calls]
    return message


def _takes_a_list(part: Part) -> bool:
    """Return whether a part of an answer can only be sent in a list of parts."""
    return _has_place(part) and (not isinstance(part, Text) or bool(part.extra.get("chat")))


def _call(call: ToolCall) -> JSONObject:
    extra = call.extra.get("chat", {})
    if "type" in extra and not call.name:  # a call of another kind is in its own members only
        return with_members({"id": call.id}, extra)
    if call.free_text:
        custom = {"name": call.name, "input": call.arguments}
        return with_members({"id": call.id, "type": "custom", "custom": custom}, extra)
    arguments = call.arguments if call.arguments.strip() else "{}"
    function_call = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
    return with_members(function_call, extra)


def _reasoning(turn: Turn, rule: ReasoningReturn) -> tuple[JSONObject, dict[int, list[JSONObject]]]:
    """Return the message members with reasoning, and the content parts with it by the number of the turn's part.

    A turn that calls tools carries the field even when it is empty: some gateways answer 400 without it.
    """
    if rule.when is SendReasoning.NEVER or (rule.when is SendReasoning.AFTER_TOOL_CALLS and not turn.calls):
        return {}, {}
    fields: JSONObject = {}
    thinking: dict[int, list[JSONObject]] = {}
    details: list[JSONObject] = []
    for number, part in enumerate(turn.parts):
        if not isinstance(part, Reasoning):
            continue
        details += part.details
        name = rule.field or part.field or DEFAULT_FIELD
        if name in (INLINE, THOUGHT):
            name = DEFAULT_FIELD
        if name == CONTENT_PART:
            if parts := _content_parts(part):
                thinking[number] = parts
        elif part.text and name != DETAILS:
            fields[name] = fields.get(name, "") + part.text
    for name in FIELDS:
        shaped = turn.extra.get("chat", {}).get(name)
        if shaped and plain_text(shaped) == fields.get(name, turn.reasoning):
            fields[name] = shaped
    if details:
        fields[DETAILS] = _joined(details)
    fields = {**returned_with_reasoning(turn), **fields}
    if turn.calls and not thinking and not fields:
        name = rule.field or DEFAULT_FIELD
        fields[name] = [] if name == DETAILS else ""
    return fields, thinking


def _content_parts(part: Reasoning) -> list[JSONObject]:
    """Return the received content parts of a reasoning part; a plain one if its text was edited."""
    content = part.extra.get("chat", {}).get("content")
    parts = [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
    if parts and "".join(map(part_text, parts)) == part.text:
        return parts
    return [{"type": "thinking", "thinking": [{"type": "text", "text": part.text}]}] if part.text else []


def _joined(details: list[JSONObject]) -> list[JSONObject]:
    """Return the records, with later members of one record merged into it."""
    out: list[JSONObject] = []
    places: dict[tuple[str, str], int] = {}  # of the last record of a type and index
    for record in details:
        place = (str(record.get("type")), str(record.get("index")))
        number = places.get(place) if record.get("index") is not None else None
        earlier = out[number] if number is not None else {}
        shared = (earlier.keys() & record.keys()) - {"type", "index", "id", "format"}
        if number is not None and not shared and earlier.get("id") in (None, record.get("id")):
            out[number] = {**earlier, **record}
        else:
            places[place] = len(out)
            out.append(record)
    return out
