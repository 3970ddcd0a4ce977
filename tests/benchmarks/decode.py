"""Measure the CPU time of an event in the whole client path, against the vendors' SDKs and against a floor."""

from __future__ import annotations

from tests.benchmarks.registry import Figure, at_least, at_most
from tests.benchmarks.wire_readers import cpu_per_event
from tests.benchmarks.wire_server import WireServer

COUNT, SHORT_COUNT = 100_000, 20_000
TIMES_LESS_THAN_OPENAI, TIMES_LESS_THAN_ANTHROPIC, TIMES_FLOOR = 8, 4, 3


def run(short: bool) -> list[Figure]:
    """Return microseconds an event for each reader, and the ratios with a budget."""
    count = SHORT_COUNT if short else COUNT
    with WireServer("chat", count) as server:
        # Alternate, so that a slow moment of the machine is not one reader's alone.
        pairs = [(cpu_per_event("ours chat", server, 3), cpu_per_event("floor", server, 3)) for _ in range(3)]
        ours, floor = map(min, zip(*pairs, strict=True))
        openai = cpu_per_event("openai", server, 1)
    with WireServer("chat", count, "singly") as server:
        singly, singly_floor = cpu_per_event("ours chat", server, 2), cpu_per_event("floor", server, 2)
    with WireServer("messages", count) as server:
        messages, anthropic = cpu_per_event("ours messages", server, 3), cpu_per_event("anthropic", server, 1)
    return [
        at_least("openai SDK / ours, CPU per event", openai / ours, "times", TIMES_LESS_THAN_OPENAI),
        at_least("anthropic SDK / ours, CPU per event", anthropic / messages, "times", TIMES_LESS_THAN_ANTHROPIC),
        at_most("ours / floor, CPU per event", ours / floor, "times", TIMES_FLOOR),
        at_most("one HTTP chunk an event: ours / floor", singly / singly_floor, "times", TIMES_FLOOR),
        Figure("ours, chat", ours, "µs/event"),
        Figure("ours, messages", messages, "µs/event"),
    ]
