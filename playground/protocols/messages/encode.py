"""Encode turns as the messages of POST /messages (public protocol; specification, section 4.2).

System and developer turns go to the top level, wherever they are. Neighbouring turns of one side become one message,
because user and assistant must alternate. Thinking is sent back byte for byte with its signature, or without one if it
was received so over this protocol; other reasoning is not sent. Empty texts are left out and refused ids of calls are
replaced (``ids``). Unknown members of a block (citations, say) are sent back with it; those of a message are not,
because a message of a request has only a role and content.
"""

from __future__ import annotations

import re
from typing import Final

from playground.domain.members import with_members
from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.served import carries, sent_text
from playground.domain.transcript import Role, Turn
from playground.jsonkit import foreign
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.messages.ids import CallIds
from playground.protocols.reading import write_extra

REDACTED: Final = "redacted_thinking"
_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64,", re.IGNORECASE)


def encode_turns(turns: tuple[Turn, ...], *, with_extra: bool = False) -> list[JSONObject]:
    """Return user and assistant messages, alternating. Raises ValueError naming a call whose arguments are no object.

    With ``with_extra`` a message has the received members of all its answers; of different values the first counts.
    """
    messages: list[JSONObject] = []
    ids = CallIds()
    for turn in turns:
        if turn.role.is_instruction:
            continue
        side = "assistant" if turn.role is Role.ASSISTANT else "user"
        if not messages or messages[-1]["role"] != side:
            messages.append({"role": side, "content": []})
        messages[-1]["content"].extend(_blocks(turn, ids))
        if with_extra:
            messages[-1] = with_members(messages[-1], write_extra(turn))
    return [{**message, "content": _content(message["content"])} for message in messages]


def _content(blocks: list[JSONObject]) -> str | list[JSONObject]:
    """Return a string for a single text or nothing, else the blocks."""
    if not blocks:
        return ""
    if len(blocks) == 1 and set(blocks[0]) == {"type", "text"} and blocks[0]["type"] == "text":
        return str(blocks[0]["text"])
    return blocks


def encode_system(turns: tuple[Turn, ...]) -> str | list[JSONObject]:
    """Return the system prompt: the content of all system and developer turns."""
    blocks: list[JSONObject] = []
    ids = CallIds()
    for turn in turns:
        if turn.role.is_instruction:
            blocks += _blocks(turn, ids)
    return _content(blocks)


def _blocks(turn: Turn, ids: CallIds) -> list[JSONObject]:
    """Return the blocks of one turn. Thinking is moved to the front, except in a received turn."""
    blocks = [block for part in turn.parts if (block := _block(part, ids)) is not None]
    if turn.outcome is None and blocks and blocks[0].get("type") not in ("thinking", REDACTED):
        blocks.sort(key=lambda block: block.get("type") not in ("thinking", REDACTED))
    return blocks


def _block(part: Part, ids: CallIds) -> JSONObject | None:
    match part:
        case Text(text=text):
            return _with_extra({"type": "text", "text": text}, part) if text else None
        case Refusal(text=text):
            return {"type": "text", "text": text} if text else None
        case Reasoning():
            block = _thinking(part)
            return _with_extra(block, part) if block is not None else None
        case ToolCall():
            call: JSONObject = {"type": "tool_use", "id": ids.of_call(part), "name": part.name, "input": _input(part)}
            return _with_extra(call, part)
        case ToolResult():
            return _result(part, ids.of_result(part))
        case Image():
            return _with_extra({"type": "image", "source": _source(part.url)}, part)
        case Unknown():
            return None if part.from_file else part.value


def _result(part: ToolResult, call_id: str) -> JSONObject:
    """Return a result with text, text and pictures, or its received blocks if their text is unchanged."""
    extra = part.extra.get("messages", {})
    content = extra.get("content")
    if part.images:
        content = _with_pictures(part)
    elif not (isinstance(content, list) and foreign.whole(texts_in(content)) == part.text):
        content = part.text
    block: JSONObject = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if part.is_error:
        block["is_error"] = True
    return with_members(block, extra)


def _with_pictures(part: ToolResult) -> JSON:
    """Return the text, then the pictures; an error may hold text only and gets a line for each picture."""
    text = sent_text(part, pictures=True)
    if not carries(part, pictures=True):
        return text
    texts: list[JSONObject] = [{"type": "text", "text": text}] if text else []
    return [*texts, *({"type": "image", "source": _source(image.url)} for image in part.images)]


def texts_in(content: list[JSON]) -> str:
    """Return the texts in the blocks of a result, joined."""
    texts = [block.get("text") for block in content if isinstance(block, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _with_extra(block: JSONObject, part: Text | Reasoning | ToolCall | Image) -> JSONObject:
    extra = part.extra.get("messages")
    if not extra:
        return block
    if isinstance(extra.get("citations"), list):
        extra = {**extra, "citations": [_citation(item) for item in extra["citations"]]}
    return with_members(block, extra)


def _citation(value: JSON) -> JSON:
    """Return a citation without ``file_id: null``, which answers have and requests must not have."""
    if isinstance(value, dict) and value.get("file_id", "") is None:
        return {name: item for name, item in value.items() if name != "file_id"}
    return value


def _thinking(part: Reasoning) -> JSONObject | None:
    if part.redacted is not None:
        return {"type": REDACTED, "data": part.redacted}
    if part.signature is not None:
        return {"type": "thinking", "thinking": part.text, "signature": part.signature}
    if "messages" in part.extra:  # received over this protocol without a signature
        return {"type": "thinking", "thinking": part.text}
    return None


def _input(call: ToolCall) -> JSON:
    """Return the arguments as an object; empty ones are ``{}``, a free text is its member ``input``."""
    if call.free_text:
        return {"input": call.arguments}
    if not call.arguments.strip():
        return {}
    problem = "they are not a JSON object"
    try:
        value = foreign.parse(call.arguments)
    except ValueError as error:
        problem = f"they are not JSON ({error})"
    else:
        if isinstance(value, dict):
            return value
    raise ValueError(
        f"the arguments of the call “{call.name}” ({call.id}) cannot be sent over the messages protocol: {problem}. "
        "Correct them, or take the call out."
    )


def _source(url: str) -> JSONObject:
    match = _DATA_URL.match(url)
    if match:
        return {"type": "base64", "media_type": match.group(1).lower(), "data": url[match.end() :]}
    return {"type": "url", "url": url}
