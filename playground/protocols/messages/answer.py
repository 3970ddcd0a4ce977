"""What a stream said, as the message it would have been without streaming (the public protocol)."""

from __future__ import annotations

from playground.domain.accumulator import Accumulator
from playground.domain.members import with_members
from playground.domain.transcript import Role, make_turn
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.messages.encode import encode_turns


def write_answer(answer: Accumulator) -> JSONObject:
    """The message. Raises ValueError for a call whose arguments are not a JSON object: it has no place for them."""
    choice = answer.choice(0)
    turn = make_turn(Role.ASSISTANT, "", *choice.freeze())
    content: JSON = encode_turns((turn,))[0]["content"]
    body: JSONObject = {
        "id": answer.id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [{"type": "text", "text": content}] * bool(content) if isinstance(content, str) else content,
        "stop_reason": choice.finish_reason,
        "stop_sequence": None,
    }
    if answer.usage is not None and answer.usage.raw is not None:
        body["usage"] = answer.usage.raw
    return with_members(body, choice.extra.get("messages", {}))
