"""CPU a chunk of a chat stream costs in our whole client path, against the openai SDK and against a floor."""

from __future__ import annotations

from tests.benchmarks.registry import Figure, at_least, at_most
from tests.benchmarks.wire_readers import cpu_per_chunk
from tests.benchmarks.wire_server import WireServer

COUNT = 100_000
SHORT = 20_000
TIMES_LESS = 10
TIMES_FLOOR = 2
SINGLY_TIMES_FLOOR = 1.5


def run(short: bool) -> list[Figure]:
    """Microseconds of CPU a chunk for each reader, and the two ratios held to a goal."""
    count = SHORT if short else COUNT
    with WireServer("chat", count) as server:
        # Ours and the floor take turns, so that a slow moment of the machine is not one's alone.
        turns = [(cpu_per_chunk("ours chat", server, 3), cpu_per_chunk("floor", server, 3)) for _ in range(5)]
        ours, floor = map(min, zip(*turns, strict=True))
        peer = cpu_per_chunk("openai", server, 1)
    found = [
        at_least("openai SDK / ours, CPU per chunk", peer / ours, "times", TIMES_LESS),
        at_most("ours / floor, CPU per chunk", ours / floor, "times", TIMES_FLOOR),
        Figure("ours", ours, "µs/chunk"),
        Figure("floor", floor, "µs/chunk"),
        Figure("openai SDK", peer, "µs/chunk"),
    ]
    return [*found, *_singly(count), *([] if short else _other_fragments(count))]


def _singly(count: int) -> list[Figure]:
    """The same with one HTTP chunk an event, where most of the work is the HTTP parser's, for everyone alike."""
    with WireServer("chat", count, "singly") as server:
        ours, floor = cpu_per_chunk("ours chat", server, 2), cpu_per_chunk("floor", server, 2)
    return [
        at_most("one HTTP chunk an event: ours / floor", ours / floor, "times", SINGLY_TIMES_FLOOR),
        Figure("one HTTP chunk an event: ours", ours, "µs/chunk"),
    ]


def _other_fragments(count: int) -> list[Figure]:
    """Events that do not repeat themselves, and what is not content."""
    with WireServer("unlike", count) as server:
        ours, floor = cpu_per_chunk("ours chat", server, 2), cpu_per_chunk("floor", server, 2)
    found = [
        at_most("no two events alike: ours / floor", ours / floor, "times", TIMES_FLOOR),
        Figure("no two events alike: ours", ours, "µs/chunk"),
    ]
    for kind in ("reasoning", "arguments"):
        with WireServer(kind, count) as server:
            found.append(Figure(f"{kind}: ours", cpu_per_chunk("ours chat", server, 2), "µs/chunk"))
    return found
