"""When an answer is complete, and which of several verdicts counts; the decoders' tests have its parts."""

from __future__ import annotations

import sys

from playground.domain.accumulator import Accumulator
from playground.domain.errors import Failure, FailureKind
from playground.domain.events import (
    Deviation,
    Event,
    Failed,
    Finish,
    PartStart,
    ReasoningDelta,
    StreamEnd,
    TextDelta,
    ToolCallDelta,
)


def answer(*events: Event) -> Accumulator:
    out = Accumulator()
    out.add_events(events)
    return out


def test_complete_needs_an_end_and_no_failure() -> None:
    failure = Failure(kind=FailureKind.STREAM, message="x")
    assert not answer().complete
    assert not answer(TextDelta(0, "a")).complete
    assert answer(TextDelta(0, "a"), Finish(0, "stop")).complete
    assert not answer(TextDelta(0, "a"), TextDelta(1, "b"), Finish(0, "stop")).complete
    assert answer(TextDelta(0, "a"), StreamEnd()).complete
    assert not answer(TextDelta(0, "a"), Finish(0, "stop"), Failed(failure)).complete


def test_first_failure_and_the_first_note_stay() -> None:
    first, second = (Failure(kind=FailureKind.STREAM, message=m) for m in "ab")
    out = answer(Failed(first), Failed(second), Deviation("c", "1"), Deviation("c", "2"))
    assert out.failure == first
    assert out.deviations == {"c": "1"}


def test_empty_means_nothing_to_see() -> None:
    assert answer(PartStart(0), TextDelta(0, "")).empty
    assert not answer(ToolCallDelta(0, 0, id="a")).empty


def test_received_part_keeps_no_room_for_unknown_fields() -> None:
    out = answer(ReasoningDelta(0, "a", "thinking"), TextDelta(0, "b"), ToolCallDelta(0, 0, "c", "f", "{}"))
    parts = out.choice(0).freeze()
    assert [part.kind for part in parts] == ["reasoning", "text", "tool_call"]
    assert {sys.getsizeof(part.model_extra) for part in parts} == {sys.getsizeof({})}
