"""Exchanges made by hand, for what is derived from them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from playground.engine.inspect.frames import FrameIndex
from playground.gateway.tape import Exchange, Read

ASKED = {"model": "m-1", "messages": [{"role": "user", "content": "Hello"}], "stream": True}


def exchange(
    reads: Iterable[tuple[float, bytes]] = (),
    *,
    protocol: str = "chat",
    asked: Any = ASKED,
    content_type: str = "text/event-stream",
    ended: bool = True,
    **more: Any,
) -> Exchange:
    """An exchange with those reads, complete unless told otherwise; it ends with its last read."""
    results = [Read(position, data) for position, data in reads]
    path = "messages" if protocol == "messages" else "chat/completions"
    fields: dict[str, Any] = {
        "id": "e-1",
        "method": "POST",
        "url": f"http://gateway.example/v1/{path}",
        "request_headers": (("Content-Type", "application/json"), ("Authorization", "Bearer ••••")),
        "request_body": json.dumps(asked).encode(),
        "started_at": 1_700_000_000.0,
        "status": 200,
        "reason": "OK",
        "response_headers": (("Content-Type", content_type), ("X-Request-Id", "r-1")),
        "sent": 0.001,
        "answered": 0.002,
        "ended": (results[-1].time if results else 0.002) if ended else None,
        "complete": ended,
        "protocol": protocol,
        "reads": results,
    }
    return Exchange(**{**fields, **more})


def indexed(tape: Exchange) -> FrameIndex:
    """Its frames, all of them."""
    index = FrameIndex(tape)
    index.extend()
    return index
