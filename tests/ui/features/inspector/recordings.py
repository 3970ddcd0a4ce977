"""A recording with known frames."""

from __future__ import annotations

from playground.gateway.tape import Exchange
from tests.engine.exchanges import exchange
from tests.protocols.streams import chunk


def weather() -> Exchange:
    """Reasoning, content with Markdown and a stall, one call in pieces, the end."""
    reads: list[tuple[float, bytes]] = [(0.25, chunk({"role": "assistant", "content": ""}))]
    index = 0.25
    for word in ("The ", "user ", "asks ", "for ", "the ", "weather."):
        index += 0.05
        reads.append((index, chunk({"reasoning_content": word})))
    for word in ("I'll ", "look ", "**Lis", "bon** ", "up ", "now."):
        index += 1.0 if word == "up " else 0.05
        reads.append((index, chunk({"content": word})))
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
    reads.append((index + 0.05, chunk({"tool_calls": [call]})))
    for piece in ('{"city"', ': "Lis', 'bon"}'):
        index += 0.05
        reads.append((index + 0.05, chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})))
    reads.append((index + 0.1, chunk({}, "tool_calls")))
    reads.append((index + 0.1, b"data: [DONE]\n\n"))
    return exchange(reads)
