"""The fields that every chunk, or a completion, is to have, looked for in the frames one after the other.

The decoder reads past a field that says nothing to it; a client of another make may not. Chunks that differ in their
delta only are parsed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from playground.jsonkit.values import JSONObject
from playground.protocols.expected import Look, OnceEach, parsed, text_in

_DELTA: Final = b'"delta"'
_CALLS: Final = b'"tool_calls"'
_FINISH: Final = b'"finish_reason"'
_FAR: Final = 1024  # bytes before or after a delta
_MOST_KNOWN: Final = 32


def _created(what: str) -> Look:
    def look(value: JSONObject) -> str:
        found = value.get("created")
        if type(found) is int and found > 0:
            return ""
        return f"{what} has no created" if found is None else f"created of {what} is not a time in Unix seconds"

    return look


def _object(what: str, expected: str) -> Look:
    def look(value: JSONObject) -> str:
        found = value.get("object")
        if found == expected:
            return ""
        return f"object of {what} is “{found[:60]}”" if found and isinstance(found, str) else f"{what} has no object"

    return look


def _head(what: str, expected: str) -> dict[str, Look]:
    return {
        "id_missing": text_in("id", what),
        "object_other": _object(what, expected),
        "created_missing": _created(what),
        "model_missing": text_in("model", what),
    }


def _entries(value: JSONObject, name: str) -> Iterator[JSONObject]:
    """The tool calls in the ``name`` (delta or message) of every choice."""
    choices = value.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        holder = choice.get(name) if isinstance(choice, dict) else None
        calls = holder.get("tool_calls") if isinstance(holder, dict) else None
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict):
                yield call


def _first_type(value: JSONObject) -> str:
    odd = any(call.get("id") and call.get("type") is None for call in _entries(value, "delta"))
    return "the first fragment of a call has no type" if odd else ""


def _no_finish(value: JSONObject) -> str:
    choices = value.get("choices")
    entries = choices if isinstance(choices, list) else []
    odd = any(isinstance(entry, dict) and "delta" in entry and "finish_reason" not in entry for entry in entries)
    return "a choice has no finish_reason, not even null" if odd else ""


def _type(value: JSONObject) -> str:
    return "a call has no type" if any(call.get("type") is None for call in _entries(value, "message")) else ""


def _role(value: JSONObject) -> str:
    choices = value.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        message = choice.get("message") if isinstance(choice, dict) else None
        if isinstance(message, dict) and message.get("role") != "assistant":
            return "the role of a message is not assistant"
    return ""


_CHUNK: Final = {
    **_head("a chunk", "chat.completion.chunk"),
    "tool_type_missing": _first_type,
    "finish_missing": _no_finish,
}
_COMPLETION: Final = {
    **_head("the completion", "chat.completion"),
    "tool_type_missing": _type,
    "role_missing": _role,
}


class ChatShapes:
    """Goes through the frames of one answer. See ``playground.protocols.expected.Shapes``."""

    def __init__(self) -> None:
        self._once = OnceEach()
        self._roles: set[int] = set()  # choices whose first chunk was seen
        self._known: set[bytes] = set()  # what stood around the deltas of chunks that were looked at

    def body(self, raw: bytes) -> Iterator[tuple[str, str]]:
        """What a completion lacks."""
        value = parsed(raw)
        if value is not None and "choices" in value:
            yield from self._once.look(_COMPLETION, value)

    def frame(self, raw: bytes) -> list[tuple[str, str]]:
        """What a chunk lacks."""
        around = _around_delta(raw)
        if around in self._known and _CALLS not in raw:
            return []
        value = parsed(raw.partition(b"data:")[2])
        if value is None or not isinstance(value.get("choices"), list) or value.get("error"):
            return []
        found = [*self._once.look(_CHUNK, value), *self._first_role(value)]
        if not found and len(self._known) < _MOST_KNOWN and _is_all_in(around):
            self._known.add(around)
        return found

    def _first_role(self, value: JSONObject) -> Iterator[tuple[str, str]]:
        for choice in value["choices"]:
            index = choice.get("index") if isinstance(choice, dict) else None
            if type(index) is not int or index in self._roles:
                continue
            self._roles.add(index)
            delta = choice.get("delta")
            if isinstance(delta, dict) and delta.get("role") != "assistant":
                yield from self._once.first("role_missing", "the first chunk of a choice has no role")


def _around_delta(raw: bytes) -> bytes:
    """A chunk without its delta: what is the same from one to the next; empty where that is not told so easily."""
    start, end = raw.find(_DELTA, 0, _FAR), raw.rfind(b"}]")
    end = raw.rfind(_FINISH, max(start, 0), end) if _FINISH in raw[-_FAR:] else end
    return raw[:start] + raw[end:] if 0 < start < end and len(raw) - end < _FAR else b""


def _is_all_in(frame: bytes) -> bool:
    """Whether all that is looked for in a chunk, but for calls, stands there."""
    return all(name in frame for name in (b'"id"', b'"object"', b'"created"', b'"model"', b'"index"'))
