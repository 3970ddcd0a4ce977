"""The fields that every chunk, event or completion is to have, looked for in the frames one after the other.

The decoders read past a field that says nothing to them; a client of another make may not. Of each thing that is
missing the first frame is told. Chunks that differ in their delta only are parsed once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from playground.engine.inspect.frames import FrameIndex, Kind, bits
from playground.jsonkit import foreign
from playground.jsonkit.values import JSONObject

_AT_ONCE: Final = 64  # frames between two pauses
_SKIPPED: Final = bits(Kind.COMMENT)
_BODY: Final = bits(Kind.BODY)
_NAME: Final = re.compile(rb"(?:\A|[\r\n])event:([^\r\n]*)")
_DELTA: Final = b'"delta"'
_CALLS: Final = b'"tool_calls"'
_FINISH: Final = b'"finish_reason"'
_FAR: Final = 1024  # bytes before or after a delta
_MOST_KNOWN: Final = 32

Look = Callable[[JSONObject], str]


def _text(name: str, what: str) -> Look:
    def look(value: JSONObject) -> str:
        found = value.get(name)
        return "" if isinstance(found, str) and found else f"{what} has no {name}"

    return look


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
        "id_missing": _text("id", what),
        "object_other": _object(what, expected),
        "created_missing": _created(what),
        "model_missing": _text("model", what),
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
_MESSAGE: Final = {"id_missing": _text("id", "the message"), "model_missing": _text("model", "the message")}


class Shapes:
    """Goes through the frames of ``index``; ``found`` holds (note, frame) by code."""

    def __init__(self, index: FrameIndex) -> None:
        self.found: dict[str, tuple[str, int]] = {}
        self._index = index
        self._roles: set[int] = set()  # choices whose first chunk was seen
        self._known: set[bytes] = set()  # what stood around the deltas of chunks that were looked at

    def read(self) -> Iterator[None]:
        """Look at every frame, with pauses."""
        look = self._event if self._index.exchange.protocol == "messages" else self._chunk
        for number in range(len(self._index)):
            kind = self._index.kind_bits(number)
            if kind & _BODY:
                self._body(number)
            elif not kind & _SKIPPED:
                look(number)
            if not number % _AT_ONCE:
                yield

    def _body(self, number: int) -> None:
        value = _parsed(self._index.raw(number))
        if self._index.exchange.protocol == "messages":
            if value is not None and "content" in value:
                self._look(_MESSAGE, value, number)
        elif value is not None and "choices" in value:
            self._look(_COMPLETION, value, number)

    def _chunk(self, number: int) -> None:
        raw = self._index.raw(number)
        frame = _around_delta(raw)
        if frame in self._known and _CALLS not in raw:
            return
        value = _parsed(raw.partition(b"data:")[2])
        if value is None or not isinstance(value.get("choices"), list) or value.get("error"):
            return
        before = len(self.found)
        self._look(_CHUNK, value, number)
        self._first_role(value, number)
        if len(self.found) == before and len(self._known) < _MOST_KNOWN and _is_all_in(frame):
            self._known.add(frame)

    def _first_role(self, value: JSONObject, number: int) -> None:
        for choice in value["choices"]:
            index = choice.get("index") if isinstance(choice, dict) else None
            if type(index) is not int or index in self._roles:
                continue
            self._roles.add(index)
            delta = choice.get("delta")
            if isinstance(delta, dict) and delta.get("role") != "assistant":
                self.found.setdefault("role_missing", ("the first chunk of a choice has no role", number))

    def _event(self, number: int) -> None:
        raw = self._index.raw(number)
        named, rest = _NAME.search(raw), raw.partition(b"data:")[2]
        name = named[1].strip() if named else b""
        quick = (b'{"type":"' + name + b'"', b'{"type": "' + name + b'"')
        if name and name != b"message_start" and rest.lstrip(b" ").startswith(quick):
            return
        value = _parsed(rest)
        kind = value.get("type") if value is not None else None
        if value is None or not isinstance(kind, str):
            return
        if name.decode("utf-8", "replace") != kind:
            note = f"an event is named “{name.decode('utf-8', 'replace')[:60]}” and its type is “{kind[:60]}”"
            self.found.setdefault("event_name", (note if name else "an event has no name beside its data", number))
        message = value.get("message")
        if kind == "message_start" and isinstance(message, dict):
            self._look(_MESSAGE, message, number)

    def _look(self, looks: dict[str, Look], value: JSONObject, number: int) -> None:
        for code, look in looks.items():
            if code not in self.found and (note := look(value)):
                self.found[code] = (note, number)


def _around_delta(raw: bytes) -> bytes:
    """A chunk without its delta: what is the same from one to the next; empty where that is not told so easily."""
    start, end = raw.find(_DELTA, 0, _FAR), raw.rfind(b"}]")
    end = raw.rfind(_FINISH, max(start, 0), end) if _FINISH in raw[-_FAR:] else end
    return raw[:start] + raw[end:] if 0 < start < end and len(raw) - end < _FAR else b""


def _is_all_in(frame: bytes) -> bool:
    """Whether all that is looked for in a chunk, but for calls, stands there."""
    return all(name in frame for name in (b'"id"', b'"object"', b'"created"', b'"model"', b'"index"'))


def _parsed(text: bytes) -> JSONObject | None:
    try:
        value = foreign.parse(text.decode("utf-8", "replace").strip())
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
