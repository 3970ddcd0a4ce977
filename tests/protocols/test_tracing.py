"""Frame by frame: the result of each, and that together they are the received bytes. See also ``streams``."""

from __future__ import annotations

from playground.domain.errors import FailureKind
from playground.domain.events import Deviation, Event, Failed, Finish, StreamEnd, TextDelta
from playground.protocols.chat.decode import ChatDecoder
from playground.protocols.decoding import Decoder, Traced
from tests.protocols.streams import DONE, chunk, trace
from tests.protocols.test_rechunking import CHAT


def events(traced: list[Traced]) -> list[Event]:
    return [event for _, result in traced for event in result]


def traced(body: bytes, decoder: Decoder | None = None) -> list[Traced]:
    return trace(decoder or ChatDecoder(), [body])


def test_each_frame_gives_its_own_events() -> None:
    first, second, last = chunk({"content": "a"}), chunk({"content": "b"}, "stop"), DONE
    result = traced(first + b": alive\n\n" + second + last)
    assert [frame.raw for frame, _ in result] == [first, b": alive\n\n", second, last]
    assert [frame.kind for frame, _ in result] == ["data", "comment", "data", "data"]
    assert result[1].events == []
    assert [type(event) for event in result[2].events] == [TextDelta, Finish]
    assert result[3].events == [StreamEnd()]


def test_verdict_comes_with_a_frame_without_bytes() -> None:
    body = chunk({"content": "a"})
    *_, (frame, result) = traced(body)
    assert (frame.kind, frame.raw) == ("end", b"")
    assert [event.code for event in result if isinstance(event, Deviation)] == ["cut_off"]
    assert any(isinstance(event, Failed) and event.failure.kind is FailureKind.CUT_OFF for event in result)


def test_whole_body_is_one_frame() -> None:
    body = b"\n\n" + CHAT["body"].strip() + b"\n"
    ((frame, result),) = traced(body)
    assert (frame.kind, frame.raw) == ("body", body)
    assert result[-1] == StreamEnd()
    assert [frame.kind for frame, _ in traced(CHAT["page"])] == ["body"]


def test_bytes_before_the_stream_belong_to_its_first_frame() -> None:
    decoder = ChatDecoder("application/json")
    assert decoder.trace(b"\xef\xbb\xbf\n") == []
    first, *_ = decoder.trace(chunk({"content": "a"}))
    assert first.frame.raw == b"\xef\xbb\xbf\n" + chunk({"content": "a"})
    assert isinstance(first.events[0], Deviation)
    assert first.events[0].code == "content_type"


def test_frames_above_the_cap_keep_all_bytes() -> None:
    body = chunk({"content": "a"}) + chunk({"content": "b" * 4000}) + chunk({"content": "c"})
    result = traced(body, ChatDecoder(cap=1000))
    assert b"".join(frame.raw for frame, _ in result) == body
    assert any(isinstance(event, Failed) and event.failure.kind is FailureKind.TOO_LARGE for event in events(result))
    large = b"{" + b" " * 4000
    decoder = ChatDecoder(cap=1000)
    assert b"".join(frame.raw for frame, _ in trace(decoder, [large[:500], large[500:]])) == large
