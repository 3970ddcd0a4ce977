"""Read the messages of POST /chat/completions into turns: the reverse of ``encode`` (specification, section 4.1)."""

from __future__ import annotations

from typing import Final

from playground.domain.members import Extra
from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.transcript import Role, Turn, new_id
from playground.jsonkit.foreign import keepable, members_beside, text_of, whole, write
from playground.jsonkit.values import JSON, JSONObject, same
from playground.protocols.chat.encode import returned, returned_with_reasoning, text_of_parts
from playground.protocols.chat.reasoning import CONTENT_PART, DETAILS, FIELDS, part_text, plain_text
from playground.protocols.chat.toolcalls import custom_of, unknown_of
from playground.protocols.reading import EXTRA, MessageError, read_extra

_ROLES: Final = {role.value: role for role in Role}
_READ: Final = {
    Role.ASSISTANT: frozenset({"role", "content", "refusal", "tool_calls", DETAILS, *FIELDS}),
    Role.TOOL: frozenset({"role", "content", "tool_call_id"}),
}
_READ_ELSEWHERE: Final = frozenset({"role", "content"})


def read_messages(value: JSON) -> list[Turn]:
    """Return the turns of a list of chat messages, each the child of the one before, with new ids.

    Consecutive tool messages become one turn with several results. Content parts of unknown kinds become Unknown parts,
    reasoning under any of its names Reasoning parts; unknown members of a message are kept on its turn. Raises
    ValueError where ``value`` is no list, MessageError for a message.
    """
    if not isinstance(value, list):
        raise ValueError("“messages” must be a list")
    turns: list[Turn] = []
    for number, item in enumerate(value, 1):
        try:
            role, parts = _message(item)
        except ValueError as error:
            raise MessageError(number, str(error)) from None
        extra = read_extra(item)
        turn = Turn(id="", role=role, extra=extra)
        back = {**returned(turn), **returned_with_reasoning(turn)} if extra else {}
        written = {name for name, value in back.items() if same(item.get(name), value)}
        more = {name: value for name, value in _members(item, role).items() if name not in written}
        last = turns[-1] if turns else None
        if role is Role.TOOL and last is not None and last.role is Role.TOOL and not more and not last.members:
            turns[-1] = last.model_copy(update={"parts": (*last.parts, *parts)})
        else:
            parent = last.id if last is not None else None
            turns.append(Turn(id=new_id(), role=role, parts=tuple(parts), parent=parent, members=more, extra=extra))
    return turns


def unread(item: JSONObject) -> list[str]:
    """Return the names of a message's members that a turn cannot hold, so that they could not be written again."""
    role = _ROLES[text_of(item["role"])]
    members = _members(item, role)
    read = _read(item, role)
    return [name for name in item if name not in members and name not in read]


def _read(item: JSONObject, role: Role) -> frozenset[str]:
    """Return the names of the members of a message that are read."""
    return _READ.get(role, _READ_ELSEWHERE) | ({EXTRA} if read_extra(item) else frozenset())


def _members(item: JSONObject, role: Role) -> JSONObject:
    """Return the members of a message that are not read."""
    read = _read(item, role)
    return {
        name: value
        for name, value in item.items()
        if (name not in read or (name in FIELDS and isinstance(value, dict | list))) and _keepable(name, value)
    }


def _keepable(name: str, value: JSON) -> bool:
    member = {name: value}
    return keepable(member) is member


def _message(item: JSON) -> tuple[Role, list[Part]]:
    if not isinstance(item, dict):
        raise ValueError("must be an object with “role” and “content”")
    role = _ROLES.get(text_of(item.get("role")))
    if role is None:
        problem = f"is {item['role']!r}" if item.get("role") else "is missing"
        raise ValueError(f"“role” {problem}; it must be one of {', '.join(_ROLES)}")
    if role is Role.TOOL:
        return role, [_result(item)]
    parts = _reasoning(item) if role is Role.ASSISTANT else []
    if "content" not in item and role is not Role.ASSISTANT:
        raise ValueError("“content” is missing")
    parts += _content(item.get("content"))
    if role is Role.ASSISTANT:
        refusal = item.get("refusal")
        if isinstance(refusal, str) and refusal:
            parts.append(Refusal(text=whole(refusal)))
        parts += _calls(item.get("tool_calls"))
    return role, parts


def _result(item: JSONObject) -> ToolResult:
    call_id = item.get("tool_call_id")
    if not isinstance(call_id, str) or not call_id:
        raise ValueError("“tool_call_id” is missing or is not text")
    content = item.get("content")
    extra: JSONObject = {}
    if isinstance(content, list):
        extra = members_beside({"content": content}, (), empty=True)
        content = text_of_parts(content)
    if content is not None and not isinstance(content, str):
        raise ValueError("“content” of a tool message must be text")
    return ToolResult(call_id=whole(call_id), text=whole(content or ""), extra=_extra(extra))


def _content(content: JSON) -> list[Part]:
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [Text(text=whole(content))]
    if not isinstance(content, list):
        raise ValueError("“content” must be text, a list of parts or null")
    return [_part(part, number) for number, part in enumerate(content, 1)]


def _part(part: JSON, number: int) -> Part:
    if not isinstance(part, dict):
        raise ValueError(f"content part {number} must be an object with a “type”")
    kind = part.get("type")
    if kind == "text":
        if not isinstance(part.get("text"), str):
            raise ValueError(f"content part {number} has no “text”")
        return Text(text=whole(part["text"]), extra=_extra(members_beside(part, ("type", "text"), empty=True)))
    if kind == "image_url":
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, dict) else image
        if not isinstance(url, str) or not url:
            raise ValueError(f"content part {number} has no image “url”")
        inner = image if isinstance(image, dict) else {}
        extra = members_beside(part, ("type", "image_url"), empty=True)
        if more := members_beside(inner, ("url", "detail"), empty=True):
            extra["image_url"] = more
        return Image(url=whole(url), detail=text_of(inner.get("detail")) or None, extra=_extra(extra))
    if kind in ("thinking", "reasoning") and (text := whole(part_text(part))):
        plain = part == {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
        return Reasoning(text=text, field=CONTENT_PART, extra={} if plain else _extra({"content": [keepable(part)]}))
    return Unknown(value=keepable(part))


def _reasoning(item: JSONObject) -> list[Part]:
    """Return a part for each distinct text; vendor records go with the first, and a text they repeat is not doubled."""
    records = item.get(DETAILS)
    details = tuple(keepable(r) for r in records if isinstance(r, dict)) if isinstance(records, list) else ()
    fields: dict[str, str] = {}
    for name in FIELDS:
        text = item.get(name)
        if isinstance(text, str) and text:
            fields.setdefault(whole(text), name)
    if not fields and details:
        return [Reasoning(text=whole(plain_text(list(details))), field=DETAILS, details=details)]
    return [
        Reasoning(text=text, field=name, details=details if position == 0 else ())
        for position, (text, name) in enumerate(fields.items())
    ]


def _calls(calls: JSON) -> list[Part]:
    if calls is None:
        return []
    if not isinstance(calls, list):
        raise ValueError("“tool_calls” must be a list")
    return [_call(call, number) for number, call in enumerate(calls, 1)]


def _call(call: JSON, number: int) -> ToolCall:
    if not isinstance(call, dict):
        raise ValueError(f"tool call {number} must be an object")
    function, extra, custom = call.get("function"), unknown_of(call, empty=True), custom_of(call)
    if custom is not None:
        function = {"name": custom.get("name"), "arguments": custom.get("input")}
    elif "type" in extra and function is None:
        function = {"name": "", "arguments": ""}  # a call of another kind is in its own members only
    elif not isinstance(function, dict):
        raise ValueError(f"tool call {number} has no “function” object")
    name, id_, arguments = function.get("name"), call.get("id"), function.get("arguments")
    if not isinstance(name, str) or not (name or "type" in extra):
        raise ValueError(f"tool call {number} has no function name")
    if not isinstance(id_, str) or not id_:
        raise ValueError(f"tool call {number} has no “id”")
    if isinstance(arguments, dict) and custom is None:
        arguments = write(arguments)
    if arguments is not None and not isinstance(arguments, str):
        raise ValueError(f"the arguments of tool call {number} must be text")
    return ToolCall(
        id=whole(id_),
        name=whole(name),
        arguments=whole(arguments or ""),
        free_text=custom is not None,
        extra=_extra(extra),
    )


def _extra(members: JSONObject) -> Extra:
    return {"chat": members} if members else {}
