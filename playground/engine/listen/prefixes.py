"""Which requests of a program extend each other: their messages begin with those of an earlier request."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from dataclasses import dataclass
from typing import Final

from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.protocol import get_protocol

_MOST_EARLIER: Final = 200  # requests of a session that are compared
#: Members that move from request to request and are no part of the text that a model reads.
_MARKERS: Final = frozenset({"cache_control"})
_PROMPTS: Final = ("system", "instructions")


@dataclass(frozen=True, slots=True)
class Prefix:
    """The messages that a request shares with an earlier one; see ``Summary`` for the fields."""

    extends: int = 0
    common: int = 0
    broken_at: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Request:
    number: int
    messages: tuple[bytes, ...]
    prompt: bytes
    tools: bytes


class PrefixIndex:
    """Compares each request with the earlier ones of its session."""

    def __init__(self) -> None:
        self._sessions: dict[str, deque[_Request]] = {}

    def add(self, number: int, session: str, protocol: str, body: JSONObject) -> Prefix:
        """Return the longest prefix that a request shares with an earlier one, the latest of equal ones."""
        request = _Request(
            number,
            tuple(_digest(entry) for entry in get_protocol(protocol).entries(body)),
            _digest([body.get(name) for name in _PROMPTS]),
            _digest(body.get("tools")),
        )
        earlier_requests = self._sessions.setdefault(f"{protocol}/{session}", deque(maxlen=_MOST_EARLIER))
        best: _Request | None = None
        common = 0
        for earlier in earlier_requests:
            if earlier.number == number:  # its body was changed by a person
                continue
            shared = _shared(earlier.messages, request.messages)
            if shared and shared >= common:
                best, common = earlier, shared
        earlier_requests.append(request)
        if best is None:
            return Prefix()
        is_whole = common == len(best.messages)
        notes = []
        if best.prompt != request.prompt:
            notes.append(f"The system prompt differs from that of request {best.number}.")
        if best.tools != request.tools:
            notes.append(f"The tools differ from those of request {best.number}.")
        return Prefix(best.number if is_whole else 0, common, None if is_whole else common, tuple(notes))


def _shared(first: tuple[bytes, ...], second: tuple[bytes, ...]) -> int:
    """Return the number of leading items that are equal."""
    for index, (item, counterpart) in enumerate(zip(first, second, strict=False)):
        if item != counterpart:
            return index
    return min(len(first), len(second))


def _digest(value: JSON) -> bytes:
    """Return a digest of a value without the markers of caches; written by the encoder in C, which nests deeper."""
    text = json.dumps(value, separators=(",", ":"))
    if any(f'"{name}"' in text for name in _MARKERS):
        text = json.dumps(json.loads(text, object_hook=_without_markers), separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _without_markers(members: JSONObject) -> JSONObject:
    return {name: item for name, item in members.items() if name not in _MARKERS}
