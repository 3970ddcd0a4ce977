from __future__ import annotations

from playground.domain.accumulator import Accumulator
from playground.domain.errors import Failure, FailureKind
from playground.domain.events import (
    Deviation,
    Event,
    Failed,
    Finish,
    Opened,
    PartStart,
    ReasoningDelta,
    RefusalDelta,
    StreamEnd,
    TextDelta,
    ToolCallDelta,
    UnknownPart,
    UsageReport,
)
from playground.domain.parts import Part, Reasoning, Refusal, Text, ToolCall, Unknown
from playground.domain.usage import Usage
from tests.support.each_case import each_case


def answer(*events: Event) -> Accumulator:
    out = Accumulator()
    out.add_events(events)
    return out


@each_case(
    ("events", "parts"),
    [
        (
            [TextDelta(0, "a"), TextDelta(0, "b"), RefusalDelta(0, "c"), RefusalDelta(0, "d"), TextDelta(0, "e")],
            [Text(text="ab"), Refusal(text="cd"), Text(text="e")],
        ),
        ([TextDelta(0, "a"), PartStart(0), TextDelta(0, "b")], [Text(text="a"), Text(text="b")]),
        (
            [
                ReasoningDelta(0, "a", "thinking"),
                ReasoningDelta(0, "", "thinking", signature="S"),
                ReasoningDelta(0, "b", "other", signature="T"),
                ReasoningDelta(0, "", "thinking", details=({"x": 1},)),
                PartStart(0),
                ReasoningDelta(0, "", "redacted_thinking", redacted="R"),
            ],
            [
                Reasoning(text="ab", field="thinking", signature="ST", details=({"x": 1},)),
                Reasoning(text="", field="redacted_thinking", redacted="R"),
            ],
        ),
        (
            [
                TextDelta(0, "t"),
                ToolCallDelta(0, 0, id="a", name="f"),
                ToolCallDelta(0, 1, id="x", name="g", id_is_ours=True),
                ToolCallDelta(0, 0, arguments="{"),
                ToolCallDelta(0, 1, arguments="["),
                ToolCallDelta(0, 0, arguments="}"),
                ToolCallDelta(0, 1, id="b"),
            ],
            [Text(text="t"), ToolCall(id="a", name="f", arguments="{}"), ToolCall(id="b", name="g", arguments="[")],
        ),
        (
            [TextDelta(0, ""), ReasoningDelta(0, "", "x"), ToolCallDelta(0, 0, id="a", name="f")],
            [ToolCall(id="a", name="f", arguments="")],
        ),
        (
            [TextDelta(0, "a"), UnknownPart(0, {"type": "x"}), TextDelta(0, "b")],
            [Text(text="a"), Unknown(value={"type": "x"}), Text(text="b")],
        ),
    ],
)
def test_events_make_parts(events: list[Event], parts: list[Part]) -> None:
    assert answer(*events).choices[0].freeze() == tuple(parts)


def test_choices_are_apart() -> None:
    out = answer(TextDelta(1, "b"), TextDelta(0, "a"))
    assert [out.choices[i].freeze() for i in (0, 1)] == [(Text(text="a"),), (Text(text="b"),)]


def test_usage_replaces_and_the_name_stays() -> None:
    out = answer(Opened("i", ""), Opened("", "m"), UsageReport(Usage(completion=1)), UsageReport(Usage(completion=2)))
    assert (out.id, out.model) == ("i", "m")
    assert out.usage == Usage(completion=2)


def test_complete_needs_an_end_and_no_failure() -> None:
    failure = Failure(kind=FailureKind.STREAM, message="x")
    assert not answer().complete
    assert not answer(TextDelta(0, "a")).complete
    assert answer(TextDelta(0, "a"), Finish(0, "stop")).complete
    assert not answer(TextDelta(0, "a"), TextDelta(1, "b"), Finish(0, "stop")).complete
    assert answer(TextDelta(0, "a"), StreamEnd()).complete
    assert not answer(TextDelta(0, "a"), Finish(0, "stop"), Failed(failure)).complete


def test_the_first_failure_and_the_first_note_stay() -> None:
    first, second = (Failure(kind=FailureKind.STREAM, message=m) for m in "ab")
    out = answer(Failed(first), Failed(second), Deviation("c", "1"), Deviation("c", "2"))
    assert out.failure == first
    assert out.deviations == {"c": "1"}


def test_empty_means_nothing_to_see() -> None:
    assert answer(PartStart(0), TextDelta(0, "")).empty
    assert not answer(ToolCallDelta(0, 0, id="a")).empty
