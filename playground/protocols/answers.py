"""Tell which protocol a JSON object of an answer belongs to."""

from __future__ import annotations

from typing import Final

from playground.jsonkit.values import JSONObject

#: Name of each protocol in the middle of a sentence.
TITLES_IN_SENTENCE: Final = {
    "chat": "Chat completions",
    "messages": "the Messages protocol",
    "responses": "the Responses protocol",
}
#: Types of the events that end a stream.
LAST_EVENTS: Final = frozenset({"message_stop", "response.completed", "response.incomplete", "response.failed"})

_MESSAGE_TYPES: Final = frozenset(
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


def protocol_of_answer(value: JSONObject) -> str:
    """Return the name of the protocol whose answer, or stream event, ``value`` is; empty for none."""
    if isinstance(value.get("choices"), list):
        return "chat"
    kind = value.get("type")
    if value.get("object") == "response" or (isinstance(kind, str) and kind.startswith("response.")):
        return "responses"
    return "messages" if isinstance(kind, str) and kind in _MESSAGE_TYPES else ""
