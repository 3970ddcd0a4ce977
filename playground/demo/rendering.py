"""How an answer is spelled: the interface all protocols fill in, and the spelling of JSON and events they share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from playground.demo.generation import GenerationRequest
from playground.demo.plan import Plan
from playground.demo.steps import Step


@dataclass(frozen=True)
class Answer:
    """The content of an answer to spell: the plans for a request, an id, and counts.

    ``created`` is in Unix seconds, ``cached`` the part of the prompt known from before, in tokens.
    """

    request: GenerationRequest
    plans: tuple[Plan, ...]
    id: str
    created: int
    cached: int


class Rendering(Protocol):
    """One answer in one protocol. Streamed: opening, steps, closing; else whole. All of it is bytes to send."""

    def opening(self) -> bytes:
        """Return the bytes before the first step."""
        ...

    def step(self, step: Step) -> bytes:
        """One piece of reasoning, text or a call."""
        ...

    def closing(self, complete: bool) -> bytes:
        """Finish and usage; without the very last mark of the stream unless ``complete``."""
        ...

    def keep_alive(self) -> bytes:
        """A sign of life without content."""
        ...

    def error(self, message: str, code: int) -> bytes:
        """An error inside a stream that has begun."""
        ...

    def full_answer(self) -> dict[str, object]:
        """The answer in one piece."""
        ...


Renderer = Callable[[Answer], Rendering]


def to_json(value: object) -> bytes:
    """Compact JSON in UTF-8, with characters beyond ASCII as they are; lone surrogates stay escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def event(value: object, name: str = "") -> bytes:
    """One server-sent event."""
    head = b"event: " + name.encode("ascii") + b"\n" if name else b""
    return head + b"data: " + to_json(value) + b"\n\n"
