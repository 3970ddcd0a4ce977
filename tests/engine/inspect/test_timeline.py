"""Lanes, marks, stalls and speed of an answer."""

from __future__ import annotations

import pytest

from playground.engine.inspect.timeline import Lane, Timeline
from playground.gateway.tape import Exchange, Read
from tests.engine.exchanges import exchange, indexed
from tests.protocols.streams import DONE, call_chunk, chunk, fragment


def timeline(tape: Exchange) -> Timeline:
    created = Timeline(indexed(tape))
    created.extend()
    return created


def test_lanes_and_marks() -> None:
    reads = [
        (0.5, chunk({"role": "assistant", "content": ""})),
        (1.0, chunk({"reasoning_content": "a"})),
        (1.5, chunk({"reasoning_content": "b"})),
        (2.0, chunk({"content": "c"})),
        (2.5, chunk({"content": "d"})),
        (3.0, call_chunk(fragment("{}", index=0, id="i", name="f"))),
        (3.5, chunk({}, "tool_calls") + DONE),
    ]
    line = timeline(exchange(reads, connected=0.01))
    assert line.segments == (
        (Lane.WAITING, 0.0, 1.0, -1, -1),
        (Lane.REASONING, 1.0, 1.5, 1, 2),
        (Lane.CONTENT, 2.0, 2.5, 3, 4),
        (Lane.ARGUMENTS, 3.0, 3.0, 5, 5),
    )
    first = {"first byte": 0.5, "first reasoning": 1.0, "first content": 2.0, "first tool call": 3.0}
    marks = {"sent": 0.001, "headers": 0.002, "connected": 0.01, **first, "finish": 3.5, "end": 3.5}
    assert [(mark.name, mark.time) for mark in line.marks] == list(marks.items())
    assert line.end == 3.5


def test_gap_above_three_times_the_median_is_a_stall() -> None:
    times = [1.0, 1.1, 1.2, 1.3, 1.4, 1.69, 2.5, 2.6]
    body = [(time, chunk({"content": "x"})) for time in times]
    body.insert(6, (2.0, b": keep-alive\n\n"))
    line = timeline(exchange(body))
    assert line.median_gap == pytest.approx(0.1)
    assert line.stalls == ((1.69, 2.5, 5, 7),)


def test_gap_below_half_a_second_is_no_stall() -> None:
    times = [1.0 + number * 0.02 for number in range(20)]
    delayed = [position + 0.47 if number > 9 else position for number, position in enumerate(times)]
    line = timeline(exchange([(position, chunk({"content": "x"})) for position in delayed]))
    assert line.stalls == ()


def test_text_at_once_has_no_gaps_and_fast_text_no_stalls() -> None:
    assert timeline(exchange([(0.1, chunk({"content": "x"}) * 50)])).median_gap is None
    times = [0.1 + number * 1e-4 for number in range(20)]
    line = timeline(exchange([(time + (0.004 if time > 0.101 else 0), chunk({"content": "x"})) for time in times]))
    assert line.stalls == ()


def test_growing_timeline_judges_earlier_gaps_again() -> None:
    tape = exchange([(position, chunk({"content": "x"})) for position in (1.0, 1.6, 2.2, 2.8, 3.4)], ended=False)
    index = indexed(tape)
    line = Timeline(index)
    line.extend()
    assert not line.stalls
    for number in range(1, 200):
        tape.reads.append(Read(3.4 + number * 0.02, chunk({"content": "y"})))
        index.extend()
        line.extend()
        assert line.median_gap is not None
    assert line.median_gap == pytest.approx(0.02)
    assert [stall.start for stall in line.stalls] == [1.0, 1.6, 2.2, 2.8]
    assert [segment.lane for segment in line.segments] == [Lane.WAITING, Lane.CONTENT]


def test_rates_count_fragments_until_usage_arrives() -> None:
    body = [(1.0 + number * 0.1, chunk({"content": "x"})) for number in range(20)]
    line = timeline(exchange(body))
    assert line.estimated
    rates = line.rates(1.0)
    assert [round(rate.per_second) for rate in rates] == [10, 10]
    usage = chunk({}, "stop", usage={"completion_tokens": 40})
    line = timeline(exchange([*body, (3.0, usage + DONE)]))
    assert not line.estimated
    assert [round(rate.per_second) for rate in line.rates(1.0)] == [20, 20]


def test_answer_in_one_piece_has_no_rate_and_choices_share_segments() -> None:
    body = b'{"choices":[{"message":{"content":"all"},"finish_reason":"stop"}],"usage":{"completion_tokens":1}}'
    line = timeline(exchange([(2.0, body)], content_type="application/json"))
    assert line.rates() == ()
    assert [segment.lane for segment in line.segments] == [Lane.WAITING, Lane.CONTENT]
    assert timeline(exchange(status=None, complete=False)).segments == ((Lane.WAITING, 0.0, 0.002, -1, -1),)
    mixed = []
    for number in range(100):
        mixed.append((1 + number * 0.02, chunk({"content": "x"})))
        mixed.append((1 + number * 0.02 + 0.01, chunk({"reasoning_content": "y"}, index=1)))
    line = timeline(exchange(mixed))
    assert [segment.lane for segment in line.segments] == [Lane.WAITING, Lane.CONTENT, Lane.REASONING]
    assert (line.segments[1].first, line.segments[1].last) == (0, 198)
