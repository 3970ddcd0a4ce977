"""What only native messages have."""

from __future__ import annotations

from typing import Final

from playground.jsonkit.values import JSONObject
from playground.protocols.marks import Marks, members_of
from playground.protocols.messages.parameters import MessagesParameters

_OF_ANSWER: Final = frozenset(
    {
        "message",
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    }
)


def _is_answer(value: JSONObject) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and kind in _OF_ANSWER


MARKS: Final = Marks(
    members=members_of(MessagesParameters, "system", "anthropic_version"),
    tool="input_schema",
    tool_type="custom",
    blocks=frozenset(
        {"tool_use", "tool_result", "image", "thinking", "redacted_thinking", "document", "server_tool_use"}
    ),
    sure_blocks=frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"}),
    choices=frozenset({"auto", "any", "tool", "none"}),
    is_answer=_is_answer,
    last="message_stop",
    headers=frozenset({"anthropic-version", "x-api-key"}),
)
