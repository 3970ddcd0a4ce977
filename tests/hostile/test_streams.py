"""However a stream is made, reading it costs what it is long, in time and in memory."""

from __future__ import annotations

import dataclasses
import time
import tracemalloc

import pytest

from playground.domain.accumulator import Accumulator
from playground.protocols.protocol import get_protocol
from tests.hostile.shapes import STREAMS, StreamShape

MARGIN = 3  # times what it would be if it were linear: the machine does other things, too
MEMORY = 5  # times what came
ROOM = 1_000_000  # bytes beside it: one read with all its events, tables that are made once
OF_A_PART = 4096  # bytes of memory that one part of an answer may take


def read(shape: StreamShape, body: bytes) -> Accumulator:
    """Decode a body and gather its parts, as a run does."""
    decoder, answer = get_protocol(shape.protocol).decoder("text/event-stream"), Accumulator()
    for at in range(0, len(body), shape.read):
        answer.add(decoder.feed(body[at : at + shape.read]))
    answer.add(decoder.close())
    for choice in answer.choices.values():
        choice.freeze()
    return answer


def cost(shape: StreamShape, count: int) -> float:
    """Seconds of CPU for a byte, at best."""
    body = shape.make(count)
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        read(shape, body)
        best = min(best, time.process_time() - start)
    return best / len(body)


@pytest.mark.parametrize("shape", STREAMS, ids=lambda shape: shape.name)
def test_a_byte_costs_the_same_however_many_came_before(shape: StreamShape) -> None:
    read(shape, shape.make(50))
    few = cost(shape, 200)
    many = cost(shape, 200 * 8)
    assert many < MARGIN * max(few, 20e-9), f"{few * 1e9:.0f} ns a byte became {many * 1e9:.0f} ns"


@pytest.mark.parametrize("shape", STREAMS, ids=lambda shape: shape.name)
def test_what_is_kept_is_a_few_times_what_came(shape: StreamShape) -> None:
    count = 1500
    body = shape.make(count)
    shape = dataclasses.replace(shape, read=min(shape.read, 8192))
    read(shape, shape.make(10))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        answer = read(shape, body)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    parts = OF_A_PART * count * shape.parts
    assert peak < MEMORY * len(body) + ROOM + parts, f"{len(body):,} bytes came, {peak:,} were taken"
    assert answer is not None


@pytest.mark.parametrize("name", ["blank lines", "carriage returns", "blank lines of all kinds"])
def test_lines_that_say_nothing_cost_less_than_those_that_do(name: str) -> None:
    shapes = {shape.name: shape for shape in STREAMS}
    assert cost(shapes[name], 2000) < cost(shapes["text"], 2000)
