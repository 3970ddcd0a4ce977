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
    UnknownPart,
)
from playground.domain.parts import Text, Unknown


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


def test_parts_with_places_arrive_mixed_and_are_in_the_order_of_their_places() -> None:
    out = answer(
        PartStart(0, (1, 0)),
        TextDelta(0, "ans"),
        PartStart(0, (0, 0)),
        ReasoningDelta(0, "thou", "summary"),
        PartStart(0, (1, 0)),
        TextDelta(0, "wer"),
        PartStart(0, (0, 0)),
        ReasoningDelta(0, "ght", "summary"),
    )
    assert [(part.kind, part.text) for part in out.choice(0).parts] == [("reasoning", "thought"), ("text", "answer")]


def test_cleared_part_takes_the_complete_text() -> None:
    out = answer(PartStart(0, (0, 0)), TextDelta(0, "ab"), PartStart(0, (0, 0), clear=True), TextDelta(0, "abc"))
    assert [part.text for part in out.choice(0).parts] == ["abc"]


def test_unknown_part_at_a_place_replaces_the_one_before() -> None:
    place = (0, 0)
    events = (PartStart(0, place), UnknownPart(0, {"status": "open"}), TextDelta(0, "a"))
    out = answer(*events, PartStart(0, place), UnknownPart(0, {"status": "done"}))
    assert [part.freeze() for part in out.choice(0).parts] == [Unknown(value={"status": "done"}), Text(text="a")]
