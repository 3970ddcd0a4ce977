"""Ids of tool calls as this protocol takes them: letters, digits, "_" and "-" only, 64 at most, each id once.

Ids of other protocols are less strict (``functions.f:0``). They are replaced when a request is encoded; the turns keep
theirs. An id that was received over this protocol is sent back unchanged.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict, deque
from collections.abc import Iterable
from typing import Final

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.transcript import Turn

LONGEST: Final = 64
_VALID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_REFUSED: Final = re.compile(r"[^A-Za-z0-9_-]")


def is_valid(call_id: str) -> bool:
    """Return whether the protocol takes an id."""
    return _VALID.match(call_id) is not None


class CallIds:
    """Assigns ids to the calls and results of one request, in their order.

    An id depends only on the calls before it, so it does not change while a conversation grows.
    """

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._numbers: dict[str, int] = {}  # last number appended to an id
        self._open: defaultdict[str, deque[str]] = defaultdict(deque)  # sent ids of calls without a result, by id
        self._last: dict[str, str] = {}

    def of_call(self, call: ToolCall) -> str:
        """Return the id to send for a call."""
        base = call.id if is_valid(call.id) or (call.id and "messages" in call.extra) else _spell(call.id)
        sent, number = base, self._numbers.get(base, 1)
        while sent in self._used:
            number += 1
            ending = f"_{number}"
            sent = base[: LONGEST - len(ending)] + ending
        self._numbers[base] = number
        self._used.add(sent)
        self._open[call.id].append(sent)
        self._last[call.id] = sent
        return sent

    def of_result(self, result: ToolResult) -> str:
        """Return the id to send for a result: that of the oldest call of its id without a result, else its own."""
        waiting = self._open.get(result.call_id)
        return waiting.popleft() if waiting else self._last.get(result.call_id, result.call_id)


def renamed_ids(turns: Iterable[Turn]) -> list[tuple[int, str, str]]:
    """Return the calls whose id is sent in another spelling: number of the turn from 0, id, id as sent."""
    ids = CallIds()
    out = []
    for number, turn in enumerate(turns):
        for part in turn.parts:
            if type(part) is ToolCall and (sent := ids.of_call(part)) != part.id:
                out.append((number, part.id, sent))
            elif type(part) is ToolResult:
                ids.of_result(part)
    return out


def _spell(call_id: str) -> str:
    """Return an id of the allowed characters; a long one ends in a digest of the original."""
    text = _REFUSED.sub("_", call_id) or "call"
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - 9]}_{hashlib.sha256(call_id.encode()).hexdigest()[:8]}"
