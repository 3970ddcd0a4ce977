"""The memory and the time of decoding a hostile stream grow with its length, not faster."""

from __future__ import annotations

import dataclasses
import sys
import time
import tracemalloc

import pytest

from playground.domain.accumulator import Accumulator
from playground.protocols.protocol import get_protocol
from tests.hostile.shapes import STREAMS, StreamShape
from tests.hostile.streams import BEGIN, block, delta, each, named, piece, pieces
from tests.support.slow import slow_except

MARGIN = 3  # times linear
MEMORY = 6 if sys.version_info < (3, 13) else 7  # times the bytes received
ROOM = 1_000_000  # bytes: one read with its events, tables that are made once
OF_A_PART = 1100  # bytes of a part with hardly any content, while it is received and as a value
EVENTS = 2500

SMOKE = [shape for shape in STREAMS if shape.name in ("text", "comments", "blocks of calls", "usage")]
FIELDS = "content", "reasoning_content"
SHORT_PARTS = (
    StreamShape("letters in turn", each(lambda n: delta({FIELDS[n % 2]: "x"}))),
    StreamShape("calls", each(lambda n: pieces(piece("{}", n, f"c{n}", "f")))),
    StreamShape("calls of a letter", each(lambda n: pieces(piece("x", n, f"c{n}", "f")))),
    StreamShape("calls without an index", each(lambda n: pieces({"id": f"c{n}", "function": {"name": "f"}}))),
    StreamShape("blocks", each(lambda n: block(n, type="text", text="x"), before=BEGIN), "messages"),
    StreamShape(
        "blocks of calls",
        each(lambda n: block(n, type="tool_use", id=f"t{n}", name="f", input={}), before=BEGIN),
        "messages",
    ),
    StreamShape(
        "blocks with their ends",
        each(lambda n: block(n, type="text", text="x") + named("content_block_stop", index=n), before=BEGIN),
        "messages",
    ),
)


def decode(shape: StreamShape, body: bytes) -> Accumulator:
    """Decode a body and make its parts, as a run does."""
    decoder, answer = get_protocol(shape.protocol).decoder("text/event-stream"), Accumulator()
    for index in range(0, len(body), shape.read):
        answer.add_events(decoder.decode_bytes(body[index : index + shape.read]))
    answer.add_events(decoder.close())
    for choice in answer.choices.values():
        choice.freeze()
    return answer


def seconds_per_byte(shape: StreamShape, count: int) -> float:
    """Return the CPU seconds of a byte, the best of three."""
    body = shape.make(count)
    times = []
    for _ in range(3):
        start = time.process_time()
        decode(shape, body)
        times.append(time.process_time() - start)
    return min(times) / len(body)


def peak_memory(shape: StreamShape, body: bytes) -> int:
    """Return the most bytes allocated while a body is read in small pieces and its parts are made."""
    shape = dataclasses.replace(shape, read=min(shape.read, 8192))
    decode(shape, shape.make(10))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        answer = decode(shape, body)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert answer is not None
    return peak


@pytest.mark.slow
@pytest.mark.parametrize("shape", STREAMS, ids=lambda shape: shape.name)
def test_decoding_time_of_a_byte_does_not_grow(shape: StreamShape) -> None:
    decode(shape, shape.make(50))
    few, many = seconds_per_byte(shape, 200), seconds_per_byte(shape, 200 * 8)
    assert many < MARGIN * max(few, 20e-9), f"{few * 1e9:.0f} ns a byte became {many * 1e9:.0f} ns"


@pytest.mark.parametrize("shape", slow_except(SMOKE, STREAMS), ids=lambda shape: shape.name)
def test_memory_of_a_stream_is_a_few_times_its_bytes(shape: StreamShape) -> None:
    body = shape.make(EVENTS)
    peak = peak_memory(shape, body)
    parts = OF_A_PART * EVENTS * shape.parts
    assert peak < MEMORY * len(body) + ROOM + parts, f"{len(body):,} bytes received, {peak:,} allocated"


@pytest.mark.parametrize("shape", slow_except(SHORT_PARTS[:1], SHORT_PARTS), ids=lambda shape: shape.name)
def test_memory_of_short_parts_is_at_most_1100_bytes_each(shape: StreamShape) -> None:
    peak = peak_memory(shape, shape.make(10_000))
    assert peak < OF_A_PART * 10_000, f"{peak:,} bytes allocated"
