"""Frames of an exchange, and the mapping between their bytes and the characters of the answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.accumulator import Accumulator
from playground.domain.errors import Failure, FailureKind
from playground.engine.inspect.frame_summary import summarize_frame
from playground.engine.inspect.frames import FrameIndex, Kind
from playground.gateway.tape import Exchange, Read
from playground.protocols.protocol import get_protocol
from tests.engine.exchanges import exchange, indexed
from tests.protocols.responses.events import begin, call, end, items_of, message, reasoning, stream
from tests.protocols.streams import DONE, call_chunk, chunk, fragment
from tests.protocols.test_rechunking import CHAT, MESSAGES
from tests.support.each_case import each_case

CALLS = b"".join(
    [
        chunk({"reasoning_content": "Hm, "}),
        chunk({"reasoning_content": "\U0001f600"}),
        chunk({"content": "a"}),
        chunk({"content": "\u00e9b"}),
        call_chunk(fragment("", index=0, id="a", name="f"), fragment('{"x"', index=1, id="b", name="g")),
        call_chunk(fragment('{"y":', index=0)),
        call_chunk(fragment(":1}", index=1), fragment("2}", index=0)),
        chunk({}, "tool_calls"),
        DONE,
    ]
)
ITEMS = [
    *reasoning("First.", "Second."),
    *message("Let me look.", 1),
    *call(2),
    *reasoning(index=3, encrypted="", text="raw thought"),
    *message("Done.", 4, "msg_4"),
]
MIXED = [ITEMS[0], *message("Answer.", 1)[:4], *ITEMS[1:10], *message("Answer.", 1)[4:]]
FIXTURES = {
    "responses": ("responses", stream(begin(), ITEMS, end(items_of(ITEMS)))),
    "responses mixed": ("responses", stream(begin(), MIXED, end(items_of(MIXED)))),
    **{f"chat {name}": ("chat", body) for name, body in CHAT.items()},
    **{f"messages {name}": ("messages", body) for name, body in MESSAGES.items()},
    "calls": ("chat", CALLS),
}


def reads(body: bytes, sizes: list[int]) -> list[tuple[float, bytes]]:
    results, index = [], 0
    for size in sizes:
        results.append(body[index : index + size])
        index += size
    return [(0.01 * number, data) for number, data in enumerate([*results, body[index:]], 1) if data]


@settings(max_examples=60)
@given(name=st.sampled_from(sorted(FIXTURES)), sizes=st.lists(st.integers(1, 90), max_size=60))
def test_frames_hold_every_byte_and_each_character_has_its_frame(name: str, sizes: list[int]) -> None:
    protocol, body = FIXTURES[name]
    tape = exchange(reads(body, sizes), protocol=protocol)
    index = indexed(tape)
    assert b"".join(index.raw(number) for number in range(len(index))) == body
    check_places(index, tape)


def check_places(index: FrameIndex, tape: Exchange) -> None:
    """Assert that each character of the finished answer maps to a frame whose span holds it."""
    answer = Accumulator()
    for _, events in tape.replay(get_protocol(tape.protocol).decoder(tape.content_type)):
        answer.add_events(events)
    for number, choice in answer.choices.items():
        parts = choice.freeze()
        assert [info.kind for info in index.parts(number)] == [part.kind for part in parts]
        for place, part in enumerate(parts):
            text = str(getattr(part, "arguments", None) or getattr(part, "text", ""))
            assert index.parts(number)[place].length == len(text)
            covered = []
            for position in range(len(text)):
                (frame,) = index.frames_of(number, place, position, position + 1)
                spans = [span for span in index.span_of(frame) if (span.choice, span.part) == (number, place)]
                assert any(span.start <= position < span.end for span in spans)
                covered.append(frame)
            assert index.frames_of(number, place, len(text), len(text) + 1) == []
            assert index.frames_of(number, place, 0, len(text)) == sorted(set(covered))


def test_frames_have_their_kinds_and_times() -> None:
    body = b": alive\n\n" + CALLS
    index = indexed(exchange([(0.5, body[:30]), (0.75, body[30:])]))
    calls = (Kind.TOOL_CALL, Kind.ARGUMENTS, Kind.ARGUMENTS)
    texts = (Kind.REASONING, Kind.REASONING, Kind.CONTENT, Kind.CONTENT)
    kinds = (Kind.COMMENT, *texts, *calls, Kind.FINISH, Kind.END)
    assert tuple(index.row(number).kind for number in range(len(index))) == kinds
    assert index.row(1).kinds == (Kind.REASONING, Kind.START)
    assert [(index.row(number).time, index.row(number).delta) for number in range(2)] == [(0.5, 0.5), (0.75, 0.25)]
    assert (index.row(0).excerpt, index.row(9).excerpt) == (": alive", "[DONE]")
    assert index.finish == {0: "tool_calls"}
    assert (index.model, index.response_id) == ("m-1", "c-1")


def test_characters_of_interleaved_calls_have_their_frames() -> None:
    index = indexed(exchange([(0.1, CALLS)]))
    assert [info.kind for info in index.parts(0)] == ["reasoning", "text", "tool_call", "tool_call"]
    assert index.span_of(6) == ((0, 3, 4, 7), (0, 2, 5, 7))
    assert index.frames_of(0, 2, 0, 6) == [5, 6]
    assert index.frames_of(0, 0, 4, 5) == [1]
    assert index.frames_of(0, 0, 3, 3) == []
    assert index.frames_of(3, 0, 0, 9) == []
    assert index.parts(0)[2].frame == 4
    assert index.span_of(8) == ()


def held(*frames: bytes) -> FrameIndex:
    index = indexed(exchange([(0.1 * n, data) for n, data in enumerate([*frames, chunk({}, "tool_calls"), DONE], 1)]))
    check_places(index, index.exchange)
    return index


def test_delayed_arguments_belong_to_the_frames_they_came_in() -> None:
    alone = held(call_chunk(fragment("{}", index=0, id="a", name="f")))
    assert alone.frames_of(0, 0, 0, 2) == [0]
    assert [alone.row(n).kinds for n in range(2)] == [(Kind.TOOL_CALL, Kind.ARGUMENTS, Kind.START), (Kind.FINISH,)]
    assert alone.span_of(1) == (), "the end brought none of it"

    named = call_chunk(fragment(index=0, id="a", name="f"))
    spread = held(named, call_chunk(fragment("{}", index=0)), call_chunk(fragment(" ", index=0)))
    assert [spread.frames_of(0, 0, index, index + 1) for index in range(3)] == [[1], [1], [2]]
    assert spread.span_of(0) == ((0, 0, 0, 0),)
    assert [spread.row(n).kind for n in range(4)] == [Kind.TOOL_CALL, Kind.ARGUMENTS, Kind.ARGUMENTS, Kind.FINISH]

    gone_on = held(call_chunk(fragment("{}", index=0, id="a", name="f")), call_chunk(fragment(" x", index=0)))
    assert [gone_on.frames_of(0, 0, index, index + 1) for index in range(4)] == [[0], [0], [1], [1]]

    left_out = held(call_chunk(fragment("{}", index=0, id="a", name="f")), call_chunk(fragment('{"x":1}', index=0)))
    assert left_out.frames_of(0, 0, 0, 7) == [1]
    assert Kind.ARGUMENTS in left_out.row(0).kinds, "it did carry some, although they count for nothing"


def test_index_grows_with_the_exchange_and_closes_with_it() -> None:
    first, second = chunk({"content": "a"}), chunk({"content": "b"}, "stop")
    tape = exchange([(0.1, first + second[:10])], ended=False)
    index = FrameIndex(tape)
    assert index.extend() == 1
    assert index.extend() == 0
    tape.reads.append(Read(0.3, second[10:]))
    assert index.extend() == 1
    assert (index.row(1).time, index.closed) == (0.3, False)
    tape.reads.append(Read(0.4, DONE))
    tape.ended, tape.complete = 0.4, True
    assert index.extend() == 1
    assert index.closed
    assert index.extend() == 0


def test_failure_is_a_row_without_bytes_unless_a_person_stopped_the_answer() -> None:
    reads = [(0.1, chunk({"content": "a"}))]
    index = indexed(exchange(reads))
    row = index.row(1)
    assert (row.kind, row.size, index.raw(1), index.data(1, 100_000)) == (Kind.ERROR, 0, b"", "")
    assert [code for code, _ in row.deviations] == ["cut_off"]
    assert index.failure is not None
    assert index.failure.kind is FailureKind.CUT_OFF
    stopped = indexed(exchange(reads, complete=False))
    assert (len(stopped), stopped.failure, len(stopped.deviations)) == (1, None, 0)
    broken = Failure(kind=FailureKind.CONNECTION, message="reset")
    index = indexed(exchange(reads, complete=False, failure=broken))
    assert [index.row(number).kind for number in range(len(index))] == [Kind.CONTENT, Kind.ERROR]
    assert index.failure == broken
    assert len(indexed(exchange(status=None, complete=False))) == 0
    with pytest.raises(IndexError):
        indexed(exchange()).row(5)


@each_case(
    ("body", "status", "kinds"),
    [
        (CHAT["body"], 200, (Kind.BODY, Kind.REASONING, Kind.CONTENT, Kind.FINISH, Kind.START, Kind.USAGE, Kind.END)),
        (b'{"code":1,"message":"no","data":null}', 401, (Kind.ERROR, Kind.BODY)),
        (CHAT["page"], 200, (Kind.ERROR, Kind.BODY)),
    ],
)
def test_body_that_is_no_stream_is_one_frame(body: bytes, status: int, kinds: tuple[Kind, ...]) -> None:
    index = indexed(exchange(reads(body, [7, 9]), status=status))
    assert [index.row(number).kinds for number in range(len(index))] == [kinds]
    assert index.raw(0) == body


def test_payload_is_indented_up_to_the_length_shown() -> None:
    two = b'event: x\ndata: {"a":1,\ndata:  "b":[]}\n\n'
    index = indexed(exchange([(0.1, two + b"data: [DONE]\n\n: c\n\n" + b'data: {"u":"\\ud83d"}\n\n')]))
    assert index.data(0, 100_000) == '{\n  "a": 1,\n  "b": []\n}'
    assert index.data(1, 100_000) == "[DONE]"
    index.data(3, 100_000).encode()
    deep = b"data: " + b"[" * 5000 + b"]" * 5000 + b"\n\n"
    assert indexed(exchange([(0.1, deep)])).data(0, 100_000) == "[" * 5000 + "]" * 5000
    body = "[" * 240 + "1," * 20_000 + "1" + "]" * 240
    text = indexed(exchange([(0.1, b"data: " + body.encode() + b"\n\n")])).data(0, 100_000)
    assert len(text) == 100_001
    assert text.replace(" ", "").replace("\n", "") == body[: 240 + text.count("1,") * 2]


def test_dropped_tape_keeps_rows_without_bytes() -> None:
    tape = exchange([(0.1, CALLS)])
    index = indexed(tape)
    tape.drop()
    assert tape.dropped == len(CALLS) + len(exchange().request_body)
    assert index.row(3).kind is Kind.CONTENT
    assert (index.raw(3), index.data(3, 100_000), index.row(3).excerpt) == (b"", "", "")
    assert index.frames_of(0, 1, 0, 1) == [2]
    late = FrameIndex(tape)
    assert late.extend() == 0
    assert late.closed


def test_empty_parts_have_no_number() -> None:
    held(chunk({"content": ""}), call_chunk(fragment("{}", index=0, id="a", name="f")), chunk({"content": "after"}))


def test_frames_of_responses_are_named_by_what_they_hold() -> None:
    index = indexed(exchange([(0.1, stream(begin(), ITEMS, end(items_of(ITEMS))))], protocol="responses"))
    rows = [index.row(number) for number in range(len(index))]
    kinds = {kind: [row.number for row in rows if kind in row.kinds] for kind in Kind}
    assert kinds[Kind.UNKNOWN] == []
    assert kinds[Kind.CONTENT][0] > kinds[Kind.REASONING][0]
    lines = [summarize_frame(index, row) for row in rows]
    assert lines[kinds[Kind.REASONING][0]] == '"First."'
    assert not [line for line in lines if "unknown" in line]
    assert any("encrypted_content" in line for line in lines)
