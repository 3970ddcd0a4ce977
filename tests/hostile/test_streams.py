"""However a stream is made, reading it costs what it is long, in time and in memory."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import sys
import time
import tracemalloc

import pytest

from playground.domain.accumulator import Accumulator
from playground.domain.parts import Reasoning, Refusal, Text, ToolCall
from playground.protocols.protocol import get_protocol
from tests.hostile.shapes import STREAMS, StreamShape
from tests.hostile.streams import BEGIN, block, delta, each, named, piece, pieces, same
from tests.support.slow import slow_except

MARGIN = 3  # times what it would be if it were linear: the machine does other things, too
MEMORY = 6 if sys.version_info < (3, 13) else 7  # times what came; there a value of two fields takes twice as much
ROOM = 1_000_000  # bytes beside it: one read with all its events, tables that are made once
OF_A_PART = 1024  # bytes that a part may take which is hardly longer on the wire than its number
EVENTS = 2500  # enough for what each of them takes to outweigh the room beside it

SMOKE = [
    shape
    for shape in STREAMS
    if shape.name in ("text", "blank lines", "comments", "usage", "blocks of calls", "errors")
]
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
        "blocks at their ends",
        each(lambda n: block(n, type="text", text="x") + named("content_block_stop", index=n), before=BEGIN),
        "messages",
    ),
)


def read(shape: StreamShape, body: bytes) -> Accumulator:
    """Decode a body and gather its parts, as a run does."""
    decoder, answer = get_protocol(shape.protocol).decoder("text/event-stream"), Accumulator()
    for at in range(0, len(body), shape.read):
        answer.add_events(decoder.decode_bytes(body[at : at + shape.read]))
    answer.add_events(decoder.close())
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


@pytest.mark.parametrize("shape", slow_except(SMOKE, STREAMS), ids=lambda shape: shape.name)
def test_a_byte_costs_the_same_however_many_came_before(shape: StreamShape) -> None:
    read(shape, shape.make(50))
    few = cost(shape, 200)
    many = cost(shape, 200 * 8)
    assert many < MARGIN * max(few, 20e-9), f"{few * 1e9:.0f} ns a byte became {many * 1e9:.0f} ns"


@pytest.mark.parametrize("shape", slow_except(SMOKE, STREAMS), ids=lambda shape: shape.name)
def test_what_is_kept_is_a_few_times_what_came(shape: StreamShape) -> None:
    body = shape.make(EVENTS)
    peak = peak_of(shape, body)
    parts = OF_A_PART * EVENTS * shape.parts
    assert peak < MEMORY * len(body) + ROOM + parts, f"{len(body):,} bytes came, {peak:,} were taken"


def peak_of(shape: StreamShape, body: bytes) -> int:
    """Bytes of memory at the most while a body is read in small pieces and its parts are made."""
    shape = dataclasses.replace(shape, read=min(shape.read, 8192))
    read(shape, shape.make(10))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        answer = read(shape, body)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert answer is not None
    return peak


@pytest.mark.parametrize("shape", slow_except(SHORT_PARTS[:1], SHORT_PARTS), ids=lambda shape: shape.name)
def test_parts_of_a_letter_take_a_few_times_what_came_and_nothing_beside(shape: StreamShape) -> None:
    body = shape.make(10_000)
    peak = peak_of(shape, body)
    assert peak < MEMORY * len(body), f"{len(body):,} bytes came, {peak:,} were taken"


def test_a_part_that_came_is_the_same_value_as_one_that_was_checked() -> None:
    body = delta({"content": "said"}) + delta({"reasoning_content": "thought"}) + delta({"refusal": "no"})
    body += pieces(piece("{}", 0, "c", "f"))
    answer = read(StreamShape("", same(b"")), body)
    came = answer.choices[0].freeze()
    checked = Text(text="said"), Reasoning(text="thought", field="reasoning_content"), Refusal(text="no")
    assert came == (*checked, ToolCall(id="c", name="f", arguments="{}"))
    for part, again in zip(came, (*checked, ToolCall(id="c", name="f", arguments="{}")), strict=True):
        assert (repr(part), part.model_dump_json()) == (repr(again), again.model_dump_json())
        assert pickle.loads(pickle.dumps(part)) == part.model_copy() == copy.deepcopy(again)
    changed = came[0].model_copy(update={"text": "else"})
    changed.model_fields_set.add("another")
    assert came[0].model_fields_set == set(Text.model_fields)


@pytest.mark.parametrize("name", ["blank lines", "carriage returns", "blank lines of all kinds"])
def test_lines_that_say_nothing_cost_less_than_those_that_do(name: str) -> None:
    shapes = {shape.name: shape for shape in STREAMS}
    assert cost(shapes[name], 2000) < cost(shapes["text"], 2000)
