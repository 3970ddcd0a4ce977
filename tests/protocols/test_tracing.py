"""Frame by frame: what came of each, and that together they are what was received. See also ``streams``."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.errors import FailureKind
from playground.domain.events import Deviation, Event, Failed, Finish, StreamEnd, TextDelta
from playground.protocols.chat.decode import ChatDecoder
from playground.protocols.decoding import BodyDecoder
from playground.protocols.messages.decode import MessagesDecoder
from playground.protocols.protocol import Traced
from tests.protocols.streams import DONE, chunk, trace
from tests.protocols.test_rechunking import CHAT, MESSAGES

FIXTURES: dict[str, tuple[type[ChatDecoder] | type[MessagesDecoder], bytes]] = {
    **{f"chat-{name}": (ChatDecoder, body) for name, body in CHAT.items()},
    **{f"messages-{name}": (MessagesDecoder, body) for name, body in MESSAGES.items()},
    "mark": (ChatDecoder, b"\xef\xbb\xbf"),
    "blank": (ChatDecoder, b" \r\n\r\n"),
    "nothing": (ChatDecoder, b""),
    "lines-behind-a-mark": (ChatDecoder, b"\xef\xbb\xbf \n" + CHAT["lines"]),
}


def pieces(body: bytes, sizes: list[int]) -> list[bytes]:
    reads, at = [], 0
    for size in sizes:
        reads.append(body[at : at + size])
        at += size
    return [read for read in (*reads, body[at:]) if read]


def shown(traced: list[Traced]) -> list[tuple[bytes, list[Event]]]:
    """Frames without their line ends: of a CR and LF that came apart, the LF stands before the next frame."""
    found = [(frame.raw.strip(b"\r\n"), events) for frame, events in traced]
    return [(raw, events) for raw, events in found if raw or events]


def events(traced: list[Traced]) -> list[Event]:
    return [event for _, found in traced for event in found]


def traced(body: bytes, decoder: BodyDecoder | None = None) -> list[Traced]:
    return trace(decoder or ChatDecoder(), [body])


@settings(max_examples=80, deadline=None)
@given(name=st.sampled_from([*FIXTURES]), sizes=st.lists(st.integers(1, 80), max_size=100))
def test_frames_do_not_depend_on_the_reads(name: str, sizes: list[int]) -> None:
    make, body = FIXTURES[name]
    whole = trace(make(make_id=lambda: "made"), [body] if body else [])
    cut = trace(make(make_id=lambda: "made"), pieces(body, sizes))
    assert b"".join(frame.raw for frame, _ in cut) == body
    assert shown(whole) == shown(cut)


def test_each_frame_gives_its_own_events() -> None:
    first, second, last = chunk({"content": "a"}), chunk({"content": "b"}, "stop"), DONE
    found = traced(first + b": alive\n\n" + second + last)
    assert [frame.raw for frame, _ in found] == [first, b": alive\n\n", second, last]
    assert [frame.kind for frame, _ in found] == ["data", "comment", "data", "data"]
    assert found[1].events == []
    assert [type(event) for event in found[2].events] == [TextDelta, Finish]
    assert found[3].events == [StreamEnd()]


def test_the_verdict_comes_with_a_frame_without_bytes() -> None:
    body = chunk({"content": "a"})
    *_, (frame, found) = traced(body)
    assert (frame.kind, frame.raw) == ("end", b"")
    assert [event.code for event in found if isinstance(event, Deviation)] == ["cut_off"]
    assert any(isinstance(event, Failed) and event.failure.kind is FailureKind.CUT_OFF for event in found)


def test_a_whole_body_is_one_frame() -> None:
    body = b"\n\n" + CHAT["body"].strip() + b"\n"
    ((frame, found),) = traced(body)
    assert (frame.kind, frame.raw) == ("body", body)
    assert found[-1] == StreamEnd()
    assert [frame.kind for frame, _ in traced(CHAT["page"])] == ["body"]


def test_what_came_before_the_stream_belongs_to_its_first_frame() -> None:
    decoder = ChatDecoder("application/json")
    assert decoder.trace(b"\xef\xbb\xbf\n") == []
    first, *_ = decoder.trace(chunk({"content": "a"}))
    assert first.frame.raw == b"\xef\xbb\xbf\n" + chunk({"content": "a"})
    assert isinstance(first.events[0], Deviation)
    assert first.events[0].code == "content_type"


def test_what_is_above_the_cap_is_still_all_there() -> None:
    body = chunk({"content": "a"}) + chunk({"content": "b" * 4000}) + chunk({"content": "c"})
    found = traced(body, ChatDecoder(cap=1000))
    assert b"".join(frame.raw for frame, _ in found) == body
    assert any(isinstance(event, Failed) and event.failure.kind is FailureKind.TOO_LARGE for event in events(found))
    large = b"{" + b" " * 4000
    decoder = ChatDecoder(cap=1000)
    assert b"".join(frame.raw for frame, _ in trace(decoder, [large[:500], large[500:]])) == large
