from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from playground.protocols.sse import Frame, SSEParser
from tests.support.each_case import each_case


def frames(*reads: bytes, cap: int = 1 << 20) -> list[Frame]:
    parser = SSEParser(cap)
    return [frame for read in reads for frame in parser.parse_bytes(read)] + parser.close()


ODD = "a\u2028b\u2029c\u0085d\x0be\x0cf"


@each_case(
    ("reads", "expected"),
    [
        ([b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n"], [("data", None, "a\nb")]),  # CR and LF in two reads
        ([b"data:a\n\n"], [("data", None, "a")]),
        ([b"data:  a \n\n"], [("data", None, " a ")]),
        ([b"data\n\n"], [("data", None, "")]),
        ([b'data: {"a":\ndata: 1}\n\n'], [("data", None, '{"a":\n1}')]),
        (
            [b'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n'],  # objects without a blank line between them
            [("data", None, '{"a":1}'), ("data", None, '{"b":2}'), ("data", None, "[DONE]")],
        ),
        ([b"id: 7\nretry: 10\ndata: a\n\n"], [("data", None, "a")]),
        ([f"data: {ODD}\n\n".encode()], [("data", None, ODD)]),  # only CR and LF end a line
        ([b"data: a\xffb\n\n"], [("data", None, "a\ufffdb")]),
        ([b"data: a"], [("data", None, "a")]),  # open at the end
        (
            [b": keep-alive\n\ndata: a\n: in between\ndata: b\n\n"],
            [("comment", None, " keep-alive"), ("data", None, "a\nb")],
        ),
        (
            [b'{\n  "error": "x"\n}\n\ndata: a\n\n'],
            [("stray", None, '{\n  "error": "x"\n}'), ("data", None, "a")],
        ),
        ([b'event: error\n{"message":"x"}\n\n'], [("stray", "error", '{"message":"x"}')]),
    ],
)
def test_frames_are_read(reads: list[bytes], expected: list[tuple[str, str | None, str]]) -> None:
    assert [(frame.kind, frame.event, frame.data) for frame in frames(*reads)][: len(expected)] == expected


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_may_end_in_lf_crlf_or_cr(end: bytes) -> None:
    body = b"data: a" + end * 2 + b"event: x" + end + b"data: b" + end * 2
    assert [(f.event, f.data) for f in frames(body)] == [(None, "a"), ("x", "b")]
    assert [(f.event, f.data) for f in frames(*(body[i : i + 1] for i in range(len(body)))) if f.kind == "data"] == [
        (None, "a"),
        ("x", "b"),
    ]


def test_event_ended_by_cr_is_given_out_before_the_next_byte() -> None:
    parser = SSEParser()
    assert [f.data for f in parser.parse_bytes(b"data: a\r\r")] == ["a"]
    rest = parser.parse_bytes(b"\ndata: b\r\n\r\n") + parser.close()
    assert [f.data for f in rest] == ["b"]
    assert b"".join(f.raw for f in rest) == b"\ndata: b\r\n\r\n"


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_byte_order_mark_may_lead(size: int) -> None:
    body = b"\xef\xbb\xbfdata: a\n\n"
    result = frames(*(body[i : i + size] for i in range(0, len(body), size)))
    assert [f.data for f in result] == ["a"]
    assert result[0].raw == body


def test_json_without_data_is_a_stray_frame_at_once() -> None:
    parser = SSEParser()
    assert [(f.kind, f.data) for f in parser.parse_bytes(b'data: {"a":1}\n\n{"error":"x"}\n')] == [
        ("data", '{"a":1}'),
        ("stray", '{"error":"x"}'),
    ]


def test_end_marker_needs_no_blank_line() -> None:
    assert [f.data for f in SSEParser().parse_bytes(b"data: [DONE]\n")] == ["[DONE]"]


def test_event_above_the_cap_ends_the_parsing_without_holding_it() -> None:
    parser = SSEParser(cap=100)
    first = parser.parse_bytes(b"data: ok\n\ndata: " + b"x" * 60)
    second = parser.parse_bytes(b"y" * 60)
    third = parser.parse_bytes(b"\n\ndata: later\n\n")
    assert [f.kind for f in (*first, *second, *third)] == ["data", "oversize", "oversize"]
    assert b"".join(f.raw for f in (*first, *second, *third)) == b"data: ok\n\ndata: " + b"x" * 60 + b"y" * 60 + (
        b"\n\ndata: later\n\n"
    )
    assert parser.close() == []


def test_read_above_the_cap_of_small_events_is_fine() -> None:
    assert [f.data for f in frames(b"data: x\n\n" * 50, cap=40)] == ["x"] * 50


PIECES = st.sampled_from(
    [
        b"data: ", b"data:", b"data", b"event: e", b": c", b"{}", b'{"a":1}', b"[DONE]", b"\n", b"\r", b"\r\n", b"\n\n",
        b"\r\n\r\n", b"\xef\xbb\xbf", b"\xff", "\u2028".encode(), b"text", b" ", b"id: 1", b"x" * 30,
    ]
)  # fmt: skip


@example(b"\r\n\r\ndata: data: data:{}{}\n\xef\xbb\xbf", [3], 25)
@example(b"\r\n\r\ndata: data: data:{}\n\xef\xbb\xbf\xff\r\n", [2, 9, 9, 9], 25)
@settings(max_examples=150, deadline=None)
@given(
    st.lists(PIECES, max_size=30).map(b"".join),
    st.lists(st.integers(1, 9), max_size=60),
    st.sampled_from([25, 1 << 20]),
)
def test_frames_hold_every_byte_and_no_chunking_changes_the_events(body: bytes, sizes: list[int], cap: int) -> None:
    reads, index = [], 0
    for size in sizes:
        reads.append(body[index : index + size])
        index += size
    reads.append(body[index:])
    pieces, complete = frames(*reads, cap=cap), frames(body, cap=cap)
    assert b"".join(f.raw for f in pieces) == body
    assert b"".join(f.raw for f in complete) == body

    def contents(expected: list[Frame]) -> list[tuple[str, str | None, str]]:
        return [(f.kind, f.event, f.data) for f in expected if f.kind in ("data", "stray")]

    assert contents(pieces) == contents(complete)
