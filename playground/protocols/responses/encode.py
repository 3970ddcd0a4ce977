"""Encode turns as the input items of POST /responses.

Every item of an answer goes back in its shape and order, with the members that it was received with. Without state on
the server, reasoning goes back only if it holds its encrypted content or its raw text: an id alone cannot be resolved
there. The ids of the items after one that is left out are left out too, because the server pairs them. From an edited
answer on, neither reasoning nor ids are sent: they belong to what the model wrote itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.served import carries, sent_text
from playground.domain.transcript import Role, Turn
from playground.jsonkit.foreign import whole
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.reading import write_extra
from playground.protocols.responses.items import (
    CALLS,
    CONTINUES,
    DIGEST,
    ITEM,
    ITEM_ORDER,
    MARKS,
    MESSAGE,
    NAME,
    ORDER,
    PLAIN,
    REASONING,
    TEXTS,
    digest,
    ordered,
    reasoning_texts,
)

_SHORT: Final = frozenset({"role", "content"})  # members of a message that was not received
_TEXT: Final = frozenset({"type", "text"})


def encode_input(turns: tuple[Turn, ...], *, stored: bool, with_extra: bool = False) -> list[JSONObject]:
    """Return the items of ``turns``; ``stored`` means that the server can resolve the ids of items."""
    out: list[JSONObject] = []
    texts: set[str] = set()  # ids of calls of custom tools
    after_edit = False
    for turn in turns:
        texts.update(call.id for call in turn.calls if call.free_text)
        after_edit = after_edit or _is_edited(turn)
        if turn.role is Role.ASSISTANT:
            items = _answer(turn, stored=stored, after_edit=after_edit)
        else:
            items = list(_others(turn, texts))
        if with_extra and (extra := write_extra(turn)):
            number = next((number for number, item in enumerate(items) if item.get("role") == "assistant"), None)
            if number is not None:
                items[number] = {**items[number], **extra}
        out += items
    return out


def instructions_of(turns: tuple[Turn, ...]) -> str | None:
    """Return the text of a system turn at the top; None if it has to go as an item."""
    first = turns[0] if turns else None
    if first is None or first.role is not Role.SYSTEM or len(first.parts) != 1:
        return None
    part = first.parts[0]
    return part.text if isinstance(part, Text) and NAME not in part.extra and part.text else None


def is_received(part: Part) -> bool:
    """Return whether a part was received over this protocol."""
    return part.kind == "unknown" or ITEM in members_of(part)


def is_plain_input(turn: Turn) -> bool:
    """Return whether a turn was the whole input, as a text."""
    return len(turn.parts) == 1 and members_of(turn.parts[0]).keys() == {PLAIN}


def members_of(part: Part) -> JSONObject:
    """Return the members that a part was received with over this protocol, the marks included."""
    return getattr(part, "extra", {}).get(NAME, {})  # type: ignore[no-any-return]


def without_sealed(turn: Turn) -> Turn:
    """Return a turn without encrypted reasoning, and without the ids that the server pairs with it."""
    parts: list[Part] = []
    is_dropping = is_without = False
    for part in turn.parts:
        if part.kind == "reasoning":
            is_sealed = bool((members_of(part).get(ITEM) or {}).get("encrypted_content"))
            is_dropping = is_sealed or (is_dropping and CONTINUES in members_of(part))
            is_without = is_without or is_dropping
        if part.kind != "reasoning" or not is_dropping:
            parts.append(_without_id(part) if is_without else part)
    return turn.model_copy(update={"parts": tuple(parts)}) if is_without else turn


def _without_id(part: Part) -> Part:
    members = members_of(part)
    if "id" not in (members.get(ITEM) or {}):
        return part
    item = {name: value for name, value in members[ITEM].items() if name != "id"}
    extra = getattr(part, "extra", {})
    return part.model_copy(update={"extra": {**extra, NAME: {**members, ITEM: item}}})


# ---- answers ---------------------------------------------------------------------------------------------------------


def _is_edited(turn: Turn) -> bool:
    """Return whether a person changed a text or a call of an answer that was received over this protocol."""
    if turn.outcome is None or not any(map(is_received, turn.parts)):
        return False
    texts = [(part.text, members_of(part)) for part in turn.parts if part.kind == "text"]
    has_new_text = any(not members or members.get(DIGEST, digest(text)) != digest(text) for text, members in texts)
    return has_new_text or any(call.received is not None for call in turn.calls)


def _answer(turn: Turn, *, stored: bool, after_edit: bool) -> list[JSONObject]:
    """Return the items of an answer. Adjacent parts of one item are joined."""
    items: list[JSONObject] = []
    orders: list[JSON] = []
    for part in turn.parts:
        item = _answer_item(part)
        if item is None:
            continue
        if items and _continues(part, item, items[-1]):
            _join(items[-1], item)
        else:
            items.append(item)
            orders.append(members_of(part).get(ITEM_ORDER))
    items = [ordered(item, names) for item, names in zip(items, orders, strict=True)]
    if after_edit:
        items = [item for item in items if _type(item) != REASONING]
    if after_edit or not stored:
        items = list(_without_ids(items, is_left_out=after_edit))
    return [_short(item) for item in items]


def _continues(part: Part, item: JSONObject, last: JSONObject) -> bool:
    """Return whether a part belongs to the same item as the part before it."""
    kind = _type(item)
    if kind not in (MESSAGE, REASONING) or kind != _type(last):
        return False
    if CONTINUES in members_of(part) or (item.get("id") and item["id"] == last.get("id")):
        return True
    return item.keys() == last.keys() == _SHORT and isinstance(last["content"], list)


def _join(last: JSONObject, item: JSONObject) -> None:
    """Add the content of an item to that of the item that it continues."""
    is_repeated = _type(item) == REASONING and reasoning_texts(item.get("content")) == reasoning_texts(
        last.get("content")
    )
    for name in ("summary", "content"):
        more, before = item.get(name), last.get(name)
        if isinstance(more, list) and more and not (name == "content" and is_repeated):
            last[name] = [*(before if isinstance(before, list) else []), *more]


def _type(item: JSONObject) -> JSON:
    return item.get("type", MESSAGE if "role" in item else "")


def _short(item: JSONObject) -> JSONObject:
    """Return a message that was not received with a text as its content."""
    content = item.get("content")
    if item.keys() == _SHORT and isinstance(content, list) and len(content) == 1 and content[0].keys() == _TEXT:
        return {**item, "content": content[0]["text"]}
    return item


def _without_ids(items: list[JSONObject], *, is_left_out: bool) -> Iterator[JSONObject]:
    """Leave out reasoning known by its id only, ids of the items after it or of all, and reasoning at the end.

    Servers refuse reasoning without the item that followed it, as in an answer that was stopped.
    """
    while items and _type(items[-1]) == REASONING:
        items.pop()
    for item in items:
        if _type(item) == REASONING and not item.get("encrypted_content") and not item.get("content"):
            is_left_out = True
        elif is_left_out and _type(item) in (MESSAGE, *CALLS):
            yield {name: value for name, value in item.items() if name != "id"}
        else:
            yield item


def _answer_item(part: Part) -> JSONObject | None:
    """Return the item with this part alone; None if it is not sent."""
    members = members_of(part)
    item: JSONObject = members.get(ITEM) or {}
    match part:
        case Text() | Refusal():
            inner = {name: value for name, value in members.items() if name not in MARKS}
            kind = "refusal" if isinstance(part, Refusal) else "output_text"
            content = ordered({"type": kind, TEXTS[kind]: part.text, **inner}, members.get(ORDER))
            if not part.text and ITEM not in members:
                return None
            return {**item, "role": "assistant", "content": part.text if PLAIN in members else [content]}
        case Reasoning():
            return _reasoning(part, item) if ITEM in members or CONTINUES in members else None
        case ToolCall():
            kind = "custom_tool_call" if part.free_text else "function_call"
            text = part.arguments if part.free_text or part.arguments.strip() else "{}"
            return {"type": kind, "call_id": part.id, "name": part.name, CALLS[kind][0]: text, **item}
        case Unknown():
            return None if part.from_file else dict(part.value)
        case _:
            return None


def _reasoning(part: Reasoning, item: JSONObject) -> JSONObject:
    """Return a reasoning item; raw reasoning of several parts is sent in them while its text is unchanged."""
    out: JSONObject = {"type": REASONING, "summary": [], **item}
    if part.text and part.field == "summary_text":
        out["summary"] = [{"type": "summary_text", "text": part.text}]
    elif part.text and reasoning_texts(item.get("content")) != part.text:
        out["content"] = [{"type": "reasoning_text", "text": part.text}]
    return out


# ---- other turns -----------------------------------------------------------------------------------------------------


def _others(turn: Turn, texts: set[str]) -> Iterator[JSONObject]:
    """Yield the items of a turn that is no answer: results, then a message with all else."""
    for part in turn.parts:
        if isinstance(part, ToolResult):
            yield _result(part, is_text=part.call_id in texts)
        elif isinstance(part, Unknown) and turn.role is Role.TOOL and not part.from_file:
            yield part.value
    content = [part for part in turn.parts if not isinstance(part, ToolResult | Reasoning | ToolCall)]
    if turn.role is Role.TOOL:
        content = [part for part in content if not isinstance(part, Unknown)]
    role = "user" if turn.role is Role.TOOL else turn.role.value
    if content or turn.role is not Role.TOOL:
        yield _message(role, content)


def _message(role: str, parts: Sequence[Part]) -> JSONObject:
    """Return a message; its content is a text if it is one that was not received as a list."""
    first = members_of(parts[0]) if parts else {}
    item: JSONObject = first.get(ITEM) or {}
    content = [value for part in parts if (value := _content(part)) is not None]
    is_plain = len(content) == 1 and content[0].keys() == _TEXT and (ITEM not in first or PLAIN in first)
    sent: JSON = content[0]["text"] if is_plain else content or ""
    return ordered({**item, "role": role, "content": sent}, first.get(ITEM_ORDER))


def _content(part: Part) -> JSONObject | None:
    received = members_of(part)
    members = {name: value for name, value in received.items() if name not in MARKS}
    match part:
        case Text() | Refusal():
            return ordered({"type": "input_text", "text": part.text, **members}, received.get(ORDER))
        case Image():
            detail = {} if part.detail is None else {"detail": part.detail}
            image = {"type": "input_image", "image_url": part.url, **detail, **members}
            return ordered(image, received.get(ORDER))
        case Unknown():
            return None if part.from_file else part.value
        case _:
            return None


def output_text(output: JSON) -> str:
    """Return the texts in the output of a result, joined."""
    if isinstance(output, str):
        return output
    texts = [part.get("text") for part in output if isinstance(part, dict)] if isinstance(output, list) else []
    return "".join(text for text in texts if isinstance(text, str))


def _result(part: ToolResult, *, is_text: bool) -> JSONObject:
    """Return a result with its text, its text and pictures, or the received list while its text is unchanged."""
    members = members_of(part)
    kind = CALLS["custom_tool_call" if is_text else "function_call"][1]
    output: JSON = members.get("output")
    if part.images and carries(part, pictures=True):
        text = sent_text(part, pictures=True)
        texts: list[JSONObject] = [{"type": "input_text", "text": text}] if text else []
        output = [*texts, *({"type": "input_image", "image_url": image.url} for image in part.images)]
    elif part.images or not (isinstance(output, list) and whole(output_text(output)) == part.text):
        output = sent_text(part, pictures=True) if part.images else part.text
    item: JSONObject = {**(members.get(ITEM) or {}), "type": kind, "call_id": part.call_id, "output": output}
    return ordered(item, members.get(ITEM_ORDER))
