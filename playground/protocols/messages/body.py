"""Read the messages of POST /messages into turns: the reverse of ``encode`` (specification, section 4.2)."""

from __future__ import annotations

from typing import Final

from playground.domain.members import Extra
from playground.domain.parts import Image, Part, Reasoning, Text, ToolCall, ToolResult, Unknown
from playground.domain.transcript import Role, Turn, new_id
from playground.jsonkit.foreign import keepable, members_beside, text_of, whole, write
from playground.jsonkit.values import JSON, JSONObject, same
from playground.protocols.messages.blocks import READ
from playground.protocols.messages.encode import REDACTED, encode_turns, texts_in
from playground.protocols.messages.ids import is_valid
from playground.protocols.reading import EXTRA, MessageError, read_extra

#: Newer clients also send messages of the role system.
_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
_THINKING: Final = ("thinking", REDACTED)


def read_conversation(system: JSON, messages: JSON) -> tuple[list[Turn], list[str]]:
    """Return turns, each the child of the one before, with new ids, and sentences on what could not be kept.

    Raises ValueError for ``system`` and where ``messages`` is no list, MessageError for a message.
    """
    turns: list[Turn] = []
    notes: list[str] = []
    try:
        _append(turns, Role.SYSTEM, _blocks(system))
    except ValueError as error:
        raise ValueError(f"“system”: {error}") from None
    if not isinstance(messages, list):
        raise ValueError("“messages” must be a list")
    for number, item in enumerate(messages, 1):
        try:
            role, blocks = _message(item)
            extra, first = read_extra(item), len(turns)
            lost = [name for name in item if name not in ("role", "content") and not (name == EXTRA and extra)]
            _append(turns, role, blocks)
            if extra:
                turns[first] = turns[first].model_copy(update={"extra": extra})
        except ValueError as error:
            raise MessageError(number, str(error)) from None
        if role is Role.SYSTEM:
            notes.append(f"Message {number}: its role is system; it is sent in the system prompt at the top.")
        if lost:
            names = ", ".join(f"“{name}”" for name in dict.fromkeys(lost))
            notes.append(f"Message {number}: {names} left out; a turn has no place for it.")
    return turns, notes


def _message(item: JSON) -> tuple[Role, list[JSONObject]]:
    if not isinstance(item, dict):
        raise ValueError("must be an object with “role” and “content”")
    role = _ROLES.get(text_of(item.get("role")))
    if role is None:
        problem = f"is {item['role']!r}" if item.get("role") else "is missing"
        raise ValueError(f"“role” {problem}; it must be user, assistant or system")
    if "content" not in item:
        raise ValueError("“content” is missing")
    return role, _blocks(item["content"])


def _blocks(content: JSON) -> list[JSONObject]:
    """Return the blocks of a content; a text is one block."""
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list):
        raise ValueError("“content” must be text or a list of blocks")
    for number, block in enumerate(content, 1):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise ValueError(f"content block {number} must be an object with a “type”")
    return content


def _append(turns: list[Turn], role: Role, blocks: list[JSONObject]) -> None:
    """Add the turns of one message: one for each run of results, and a new one where thinking follows other blocks.

    The encoder puts thinking first in a turn, so thinking in the middle keeps its place only in a turn of its own.
    """
    if not blocks and role is Role.SYSTEM:
        return
    runs: list[tuple[Role, list[JSONObject]]] = []
    for block in blocks:
        kind = block["type"]
        speaker = Role.TOOL if role is Role.USER and kind == "tool_result" else role
        starts_turn = kind in _THINKING and bool(runs) and runs[-1][1][0]["type"] not in _THINKING
        if runs and runs[-1][0] is speaker and not starts_turn:
            runs[-1][1].append(block)
        else:
            runs.append((speaker, [block]))
    for speaker, run in runs or [(role, [])]:
        parts = tuple(_result(block) if speaker is Role.TOOL else _part(block) for block in run)
        turns.append(Turn(id=new_id(), role=speaker, parts=parts, parent=turns[-1].id if turns else None))


def _part(block: JSONObject) -> Part:
    """Return the part that is encoded as ``block``; an Unknown one where none is."""
    part = _match_part(block)
    if part is None:
        return Unknown(value=keepable(block))
    if isinstance(part, Text | Reasoning | ToolCall | Image):
        read = READ[block["type"]][0] if block["type"] in READ else frozenset({"type", "source"})
        members = members_beside(block, read, empty=True)
        part = part.model_copy(update={"extra": {"messages": members}}) if members else part
    written = encode_turns((Turn(id="", role=Role.USER, parts=(part,)),))[0]["content"]
    if isinstance(written, str):
        written = [{"type": "text", "text": written}] if written or block.get("text") == "" else []
    return part if same(written, [block]) else Unknown(value=keepable(block))


def _match_part(block: JSONObject) -> Part | None:
    """Return the part that a block looks like; the caller checks that it has no other content."""
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text=whole(text))
        case {"type": "thinking", "thinking": str(text), "signature": str(signature)}:
            return Reasoning(text=whole(text), field="thinking", signature=whole(signature))
        case {"type": "redacted_thinking", "data": str(data)}:
            return Reasoning(text="", field=REDACTED, redacted=whole(data))
        case {"type": "tool_use", "id": str(id_), "name": str(name), "input": dict(value)}:
            extra: Extra = {} if is_valid(id_) else {"messages": {}}  # so that the id is sent back unchanged
            return ToolCall(id=whole(id_), name=whole(name), arguments=write(value), extra=extra)
        case {"type": "image", "source": {"type": "base64", "media_type": str(kind), "data": str(data)}}:
            return Image(url=f"data:{whole(kind)};base64,{whole(data)}")
        case {"type": "image", "source": {"type": "url", "url": str(url)}}:
            return Image(url=whole(url))
        case _:
            return None


def _result(block: JSONObject) -> Part:
    """Return the part of a result. Content other than text and the error mark is sent back unchanged."""
    call_id, content = block.get("tool_use_id"), block.get("content")
    if not isinstance(call_id, str) or not call_id:
        raise ValueError("“tool_use_id” of a tool result is missing or is not text")
    failed = block.get("is_error") is True
    read = {
        "type",
        "tool_use_id",
        *(["is_error"] if failed else []),
        *([] if isinstance(content, list) else ["content"]),
    }
    extra = members_beside(block, read, empty=True)
    text = whole(texts_in(_blocks(content)))
    return ToolResult(call_id=whole(call_id), text=text, is_error=failed, extra={"messages": extra} if extra else {})
