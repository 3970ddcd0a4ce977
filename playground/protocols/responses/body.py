"""Read the input of POST /responses into turns: the reverse of ``encode``."""

from __future__ import annotations

from typing import Final

from playground.domain.members import Extra
from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.transcript import Role, Turn, new_id
from playground.jsonkit.foreign import keepable, members_beside, text_of, whole
from playground.jsonkit.values import JSON, JSONObject, same
from playground.protocols.reading import EXTRA, MessageError, read_extra
from playground.protocols.responses.encode import encode_input, output_text
from playground.protocols.responses.items import (
    CALLS,
    CONTINUES,
    HELD,
    ITEM,
    MESSAGE,
    NAME,
    OUTPUTS,
    PLAIN,
    REASONING,
    TEXTS,
    item_marks,
    part_marks,
    reasoning_texts,
)

#: Marks of an item of which parts hold everything.
_NO_MARKS: Final[JSONObject] = {ITEM: {}}
_ROLES: Final = {role.value: role for role in (Role.SYSTEM, Role.DEVELOPER, Role.USER, Role.ASSISTANT)}


def read_input(instructions: JSON, value: JSON) -> list[Turn]:
    """Return turns, each the child of the one before, with new ids.

    Adjacent items of the model are one turn, and so are adjacent results. Items of unknown kinds become Unknown parts.
    Raises ValueError where ``value`` is neither text nor a list, MessageError for an item.
    """
    turns: list[Turn] = []
    if isinstance(instructions, str) and instructions:
        turns.append(Turn(id=new_id(), role=Role.SYSTEM, parts=(Text(text=whole(instructions)),)))
    if isinstance(value, str):
        text = Text(text=whole(value), extra={NAME: {PLAIN: True}})
        return [*turns, Turn(id=new_id(), role=Role.USER, parts=(text,), parent=turns[-1].id if turns else None)]
    if not isinstance(value, list):
        raise ValueError("“input” must be text or a list of items")
    for number, item in enumerate(value, 1):
        try:
            role, parts = _read_item(item)
        except ValueError as error:
            raise MessageError(number, str(error)) from None
        last = turns[-1] if turns else None
        extra = read_extra(item) if isinstance(item, dict) else {}
        if last is not None and last.role is role and role in (Role.ASSISTANT, Role.TOOL) and not extra:
            turns[-1] = last.model_copy(update={"parts": (*last.parts, *parts)})
        else:
            parent = last.id if last is not None else None
            turns.append(Turn(id=new_id(), role=role, parts=parts, parent=parent, extra=extra))
    return turns


def _read_item(item: JSON) -> tuple[Role, tuple[Part, ...]]:
    """Return the role of an item, and its parts; one Unknown part if they would not be sent as the same item."""
    if not isinstance(item, dict):
        raise ValueError("must be an object")
    kind = text_of(item.get("type", MESSAGE if "role" in item else ""))
    if kind == MESSAGE:
        role = _ROLES.get(text_of(item.get("role")))
        if role is None:
            raise ValueError(f"“role” must be one of {', '.join(_ROLES)}")
        parts = _read_message(item, role)
    elif kind == REASONING:
        role, parts = Role.ASSISTANT, _read_reasoning(item)
    elif kind in CALLS:
        role, parts = Role.ASSISTANT, (_read_call(item, kind),)
    elif kind in OUTPUTS:
        return Role.TOOL, (_read_result(item),)
    else:
        is_result = kind.endswith(("_output", "_response"))
        return Role.TOOL if is_result else Role.ASSISTANT, (Unknown(value=keepable(item)),)
    turn = Turn(id="", role=role, parts=parts)
    value = {name: member for name, member in item.items() if name != EXTRA}
    if role is Role.ASSISTANT and not same(encode_input((turn,), stored=True), [value]):
        return role, (Unknown(value=keepable(value)),)
    return role, parts


def _read_message(item: JSONObject, role: Role) -> tuple[Part, ...]:
    content = item.get("content")
    marks = item_marks({name: member for name, member in item.items() if name != EXTRA}, HELD[MESSAGE])
    if isinstance(content, str):
        # A mark keeps a system message from going into the instructions.
        extra: Extra = {NAME: {**marks, PLAIN: True}} if marks != _NO_MARKS or role is Role.SYSTEM else {}
        return (Text(text=whole(content), extra=extra),) if content or extra else ()
    if not isinstance(content, list):
        raise ValueError("“content” must be text or a list of parts")
    parts: list[Part] = []
    for number, value in enumerate(content, 1):
        if not isinstance(value, dict):
            raise ValueError(f"content part {number} must be an object with a “type”")
        parts.append(_read_part(value, role, {CONTINUES: True} if parts else marks))
    return tuple(parts)


def _read_part(value: JSONObject, role: Role, marks: JSONObject) -> Part:
    kind = text_of(value.get("type"))
    text = value.get(TEXTS.get(kind, ""))
    is_own = kind in (("output_text", "refusal") if role is Role.ASSISTANT else ("input_text",))
    if is_own and isinstance(text, str):
        extra: Extra = {NAME: {**part_marks(value, ("type", TEXTS[kind])), **marks}}
        return Refusal(text=whole(text), extra=extra) if kind == "refusal" else Text(text=whole(text), extra=extra)
    url, detail = value.get("image_url"), value.get("detail")
    if kind == "input_image" and isinstance(url, str) and url and (detail is None or isinstance(detail, str)):
        names = ("type", "image_url", *(["detail"] if isinstance(detail, str) else []))
        extra = {NAME: {**part_marks(value, names), **marks}}
        return Image(url=whole(url), detail=detail, extra=extra)
    return Unknown(value=keepable(value))


def _read_reasoning(item: JSONObject) -> tuple[Part, ...]:
    """Return a part for each text of the summary and one for the raw reasoning; one without text if there is none."""
    marks = item_marks(item, HELD[REASONING])
    summary, content = item.get("summary"), item.get("content")
    entries = [entry for entry in summary if isinstance(entry, dict)] if isinstance(summary, list) else []
    texts = [("summary_text", text_of(entry.get("text"))) for entry in entries]
    raw = reasoning_texts(content)
    if "content" in item and content != [{"type": "reasoning_text", "text": raw}]:
        marks[ITEM] |= members_beside({"content": content}, (), empty=True)
    texts += [("reasoning_text", whole(raw))] if raw else []
    parts = [Reasoning(text=text, field=field) for field, text in texts] or [Reasoning(text="")]
    extras: list[JSONObject] = [marks, *({CONTINUES: True} for _ in parts[1:])]
    return tuple(part.model_copy(update={"extra": {NAME: extra}}) for part, extra in zip(parts, extras, strict=True))


def _read_call(item: JSONObject, kind: str) -> ToolCall:
    member, _ = CALLS[kind]
    call_id, name, value = item.get("call_id"), item.get("name") or "", item.get(member)
    if not isinstance(call_id, str) or not call_id:
        raise ValueError("“call_id” of a call is missing or is not text")
    if not isinstance(name, str):
        raise ValueError("“name” of a call must be text")
    if not isinstance(value, str):
        raise ValueError(f"“{member}” of a call must be text")
    marks = item_marks(item, HELD[kind])
    extra: Extra = {NAME: marks} if marks != _NO_MARKS else {}
    is_text = kind == "custom_tool_call"
    return ToolCall(id=whole(call_id), name=whole(name), arguments=whole(value), free_text=is_text, extra=extra)


def _read_result(item: JSONObject) -> ToolResult:
    call_id, output = item.get("call_id"), item.get("output")
    if not isinstance(call_id, str) or not call_id:
        raise ValueError("“call_id” of a result is missing or is not text")
    marks = item_marks(item, ("type", "call_id", "output"))
    extra = marks if marks != _NO_MARKS else {}
    if not isinstance(output, str):
        extra |= members_beside({"output": output}, (), empty=True)
    return ToolResult(call_id=whole(call_id), text=whole(output_text(output)), extra={NAME: extra} if extra else {})
