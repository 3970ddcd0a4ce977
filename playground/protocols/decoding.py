"""The base class of decoders: detect a stream or a JSON body, parse frames, and judge the end of the body.

The content type is a hint, the body decides. A body that is neither a stream nor JSON becomes a failure that quotes it.
Subclasses know the shape of answers. No bytes make a decoder raise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import ClassVar, Final, NamedTuple

from playground.domain.errors import Failure, FailureKind
from playground.domain.events import Deviation, Event, Failed, StreamEnd
from playground.domain.transcript import new_id
from playground.jsonkit import foreign
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import verdicts
from playground.protocols.answers import LAST_EVENTS, TITLES_IN_SENTENCE, protocol_of_answer
from playground.protocols.cumulative import CUMULATIVE, NOTE, CumulativeDeltas
from playground.protocols.error_fields import is_certain_error, looks_like_error
from playground.protocols.errors import read_error
from playground.protocols.sse import DEFAULT_CAP, Frame, SSEParser

_SPACE: Final = b" \t\r\n\x00"
_BOM: Final = b"\xef\xbb\xbf"


def make_call_id() -> str:
    """Return an id for a tool call without one, unique in all conversations."""
    return f"call_{new_id()}"


class Traced(NamedTuple):
    """A frame and the events it gave."""

    frame: Frame
    events: list[Event]


class Decoder(ABC):
    """Turns one response body into events, whatever the chunks it arrives in. No bytes make it raise.

    ``content_type`` is the response's header, a hint only. ``cap`` is the largest event or JSON body in bytes; a larger
    one ends in ``Failed`` with TOO_LARGE. ``make_id`` makes ids for calls without one. ``finished`` is True as soon as
    the protocol's end marker was read: the reader may stop although the connection stays open.

    Subclasses read one JSON object (``_read_object``) and check the answer at the end (``_check_complete``).
    """

    _protocol: ClassVar[str]  # its name
    _end_marker: ClassVar[str]

    def __init__(
        self, content_type: str | None = None, cap: int = DEFAULT_CAP, make_id: Callable[[], str] | None = None
    ) -> None:
        self.finished = False
        self._make_id = make_id or make_call_id
        self._content_type = (content_type or "").partition(";")[0].strip().lower()
        self._cap = cap
        self._mode = ""  # "", then "stream", "json" or "page"
        self._received = bytearray()  # bytes that no frame holds yet
        self._body_start = 0  # where the body begins in them, after a byte order mark and white space
        self._line_tried = False
        self._searched = 0  # bytes of a JSON body in which no line ends
        self._parser = SSEParser(cap)
        self._cumulative = CumulativeDeltas()
        self._noted: set[str] = set()
        self._holes: dict[str, str] = {}  # notes by code, where a part of the answer may be missing
        self._failed = False
        self._closed = False
        self._delimited = False  # the body was read to an end of its own
        self._objects = 0  # JSON objects understood as part of an answer
        self._loose: list[str] = []  # text outside the format, for the verdict
        self._loose_room = 4096  # characters of it that may be added
        self._remark: Failure | None = None  # the last object that may report an error or progress
        self._remark_at = 0  # objects of the answer before it
        self._strange = ""  # note on the first unknown object
        self._other_protocol = ""  # title of another protocol whose objects were received
        self._odd_numbers: list[str] = []  # not noted yet
        self._has_halves = False  # the object being read may hold halves of surrogate pairs
        self._halves: dict[Hashable, str] = {}  # first halves at the end of a fragment, by the place of its text
        self._has_values = False  # JSON values were kept of the object being read
        self._is_whole_body = False  # the object being read is the complete answer
        self._source = ""  # its text
        self._pending: list[Event] = []  # events whose frame is not complete yet

    @property
    def is_one_body(self) -> bool:
        """The body is one JSON text, no stream."""
        return self._mode == "json"

    # -- bytes -------------------------------------------------------------------------------------------------

    def decode_bytes(self, data: bytes) -> list[Event]:
        """Return the events of one network read."""
        frames = self._parse_frames(data)
        events = self._take_pending()
        for frame in frames:
            self._read_frame(frame, events)
        self._note_cumulative(events)
        return events

    def close(self, *, delimited: bool = False) -> list[Event]:
        """Return the events of the end of the body: unfinished frames, then the verdict. A second call returns none.

        ``delimited`` means that the body was read to an end of its own, marked by a length or a last chunk, and not
        only to the end of the connection. An incomplete answer ends in ``Failed`` with kind CUT_OFF or EMPTY.
        """
        return [event for traced in self.trace_close(delimited=delimited) for event in traced.events]

    def trace(self, data: bytes) -> list[Traced]:
        """Return the frames that one network read completes, each with its events.

        The frames' raw bytes, joined, are the bytes received.
        """
        return [self._trace_frame(frame) for frame in self._parse_frames(data)]

    def trace_close(self, *, delimited: bool = False) -> list[Traced]:
        """Return the last frames of the body; see ``close``.

        A verdict comes with a frame of kind "end" without bytes. A body that is no stream is one frame of kind "body"
        with empty ``data``.
        """
        if self._closed:
            return []
        self._closed, self._delimited = True, delimited
        if self._mode == "stream":
            traced = [self._trace_frame(frame, last=True) for frame in self._with_start(self._parser.close())]
        else:
            traced = self._trace_body()
        verdict: list[Event] = []
        self._flush(verdict)
        if not self._failed:
            self._judge_end(verdict)
        if verdict:
            traced.append(Traced(Frame(None, "", b"", "end"), verdict))
        return traced

    def _parse_frames(self, data: bytes) -> list[Frame]:
        """Return the frames of a stream that one network read completes."""
        if self._mode != "stream" and (self._closed or not (data := self._detect_format(data))):
            return []
        return self._with_start(self._parser.parse_bytes(data))

    def _with_start(self, frames: list[Frame]) -> list[Frame]:
        """Return the frames with the bytes before the stream, from which its format was detected, in the first."""
        if frames and self._received:
            frames[0].raw = bytes(self._received) + frames[0].raw
            self._received.clear()
        return frames

    def _take_pending(self) -> list[Event]:
        """Return the events that belong to the next frame."""
        events, self._pending = self._pending, []
        return events

    def _trace_frame(self, frame: Frame, *, last: bool = False) -> Traced:
        """Return a frame with its events; ``last`` means that only the end of the body completed it."""
        events = self._take_pending()
        self._read_frame(frame, events, last=last)
        self._note_cumulative(events)
        return Traced(frame, events)

    def _note_cumulative(self, events: list[Event]) -> None:
        """Insert a deviation behind the event that proves a text to be cumulative."""
        position = self._cumulative.watch(events)
        if position is not None:
            events.insert(position, Deviation(CUMULATIVE, NOTE))

    def _trace_body(self) -> list[Traced]:
        """Read a whole body that is no stream."""
        raw = bytes(self._received)
        self._received.clear()
        events = self._take_pending()
        if self._mode == "json" and not self._failed:
            self._read_json_body(str(memoryview(raw)[self._body_start :], "utf-8", "replace"), events)
        elif self._mode == "page":
            self._note(events, "not_json", "the body is a web page, not an answer of this protocol")
            self._fail(events, read_error(raw[self._body_start :], None, FailureKind.DECODE))
        return [Traced(Frame(None, "", raw, "body" if self._mode else "comment"), events)] if raw else []

    def _detect_format(self, data: bytes) -> bytes:
        """Collect the body until its format is clear. Return the bytes of a stream once it is one, else none."""
        self._received += data
        if not self._mode:
            if not self._body_start:
                if len(self._received) < len(_BOM) and _BOM.startswith(self._received):
                    return b""
                self._body_start = len(_BOM) if self._received.startswith(_BOM) else 0
            body = bytes(self._received[self._body_start :]).lstrip(_SPACE)
            self._body_start = len(self._received) - len(body)
            if not body:
                return b""
            self._mode = {b"{": "json", b"[": "json", b'"': "json", b"<": "page"}.get(body[:1], "stream")
            if self._mode == "stream":
                if self._content_type in ("application/json", "text/html"):
                    self._note(self._pending, "content_type", f"an event stream was sent as {self._content_type}")
                del self._received[self._body_start :]
                return body
        if len(self._received) - self._body_start > self._cap:
            self._fail_too_large(self._pending)
        elif self._mode == "json" and not self._line_tried:
            return self._detect_lines()
        return b""

    def _detect_lines(self) -> bytes:
        """Return the bytes of a stream that lost its framing: a JSON text on a line of its own with more below it."""
        start = self._body_start
        end = self._received.find(b"\n", max(start, self._searched))
        if end < 0:
            self._searched = len(self._received)  # search a large body in many reads once
        if end < 0 or not self._received[end:].strip(_SPACE):
            return b""
        self._line_tried = True
        try:
            foreign.parse(self._received[start:end].decode("utf-8", "replace"))
        except ValueError:
            return b""
        self._mode = "stream"
        body = bytes(self._received[start:])
        del self._received[start:]
        return body

    def _read_json_body(self, text: str, out: list[Event]) -> None:
        try:
            value = foreign.parse(text, self._odd_numbers)
        except ValueError as error:
            self._fail_unreadable(text, str(error), out)
            return
        self._note_numbers(out)
        if self._content_type == "text/event-stream":
            self._note(out, "json_body", "one JSON body was received although the content type says event stream")
        self._is_whole_body = True
        self._read_value(value, text, None, out)
        self._is_whole_body = False
        if not self._failed:
            self._end_stream(out)

    # -- frames ------------------------------------------------------------------------------------------------

    def _read_frame(self, frame: Frame, out: list[Event], *, last: bool = False) -> None:
        """Read a frame; ``last`` means that only the end of the body completed it."""
        text = frame.data.strip()
        if frame.kind != "data" or text[:1] != "{":
            if frame.kind == "comment":
                return
            if frame.kind == "oversize":
                self._fail_too_large(out)
                return
            if text[:5] == "data:" and frame.kind == "data":
                self._note(out, "data_twice", "events have “data:” before “data:”")
                self._read_frame(Frame(frame.event, text[5:].strip(), frame.raw), out, last=last)
                return
            if text.strip('"') == "[DONE]":
                self._end_stream(out)
                return
            if not text and frame.event != "error":
                return
            if frame.kind == "stray":
                self._note(out, "stray_text", "text is outside the event format, without “data:”")
        try:
            value = foreign.parse(text, self._odd_numbers) if text else None
        except ValueError as error:
            self._note_invalid_json(frame, str(error), out, last)
            return
        if self._odd_numbers:
            self._note_numbers(out)
        if isinstance(value, str) and value[:1] == "{":
            try:
                value, text = foreign.parse(value, self._odd_numbers), value
            except ValueError:
                pass
            else:
                self._note(out, "json_twice", "events are JSON within the text of a JSON string")
        if self.finished:
            self._source = text
            self._read_after_end(value, frame.event, out)
        else:
            self._read_value(value, text, frame.event, out)

    def _end_stream(self, out: list[Event]) -> None:
        if self.finished:
            self._note(out, "end_twice", "the end marker was sent more than once")
            return
        self._flush(out)
        self.finished = True
        out.append(StreamEnd())

    def _read_after_end(self, value: JSON, event: str | None, out: list[Event]) -> None:
        if event == "error" or (isinstance(value, dict) and looks_like_error(value) and is_certain_error(value)):
            self._fail(out, read_error(value, text=self._source))
        else:
            self._note(out, "data_after_end", "data follows the end marker; it is not part of the answer")

    def _note_invalid_json(self, frame: Frame, reason: str, out: list[Event], last: bool) -> None:
        text = frame.data.strip()
        if frame.event == "error":
            self._fail(out, read_error(text))
        elif self.finished:
            self._read_after_end(None, frame.event, out)
        elif last and frame.kind == "data":
            self._note(out, "broken_event", "the last event is incomplete")
        else:
            # Text without framing or a brace is a stray log line or an unknown field, not a chunk.
            hole = frame.kind == "data" or "{" in text
            note = f"an event is not JSON ({reason[:120]}): {foreign.whole(text[:120])}"
            self._note(out, "not_json", note, hole=hole)
            self._keep_loose(text)

    def _read_value(self, value: JSON, text: str, event: str | None, out: list[Event]) -> None:
        """Read any JSON value in place of an object."""
        self._source = text
        self._has_halves = "\\u" in text and foreign.has_halves(text)
        if event == "error":
            self._fail(out, read_error(value, text=text))
        elif isinstance(value, dict):
            self._read_object(value, event, out)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            self._note(out, "list_of_objects", "objects are wrapped in a list")
            for item in value:
                if isinstance(item, dict):
                    self._read_object(item, event, out)
                elif item:
                    self._note_non_object(item, foreign.write(item), out)
        elif self._is_whole_body:
            self._fail(out, verdicts.no_answer("neither an object nor a list of objects", text))
        else:
            self._note_non_object(value, text, out)
        if self._has_values:
            self._has_values = False
            self._note_overflow(out)

    def _note_non_object(self, value: JSON, text: str, out: list[Event]) -> None:
        note = f"an event is JSON but not an object: {foreign.whole(text[:120])}"
        self._note(out, "not_object", note, hole=bool(value))
        self._keep_loose(foreign.text_of(value))

    def _read_error_or_remark(self, value: JSONObject, out: list[Event]) -> None:
        """Fail at an object that reports an error; one that may report progress only fails if no answer follows."""
        failure = read_error(value, text=self._source)
        if self._is_whole_body or is_certain_error(value):
            self._fail(out, failure)
        else:
            self._remark, self._remark_at = failure, self._objects
            self._note(out, "remark", f"a message is no part of the answer: “{failure.message[:120]}”")

    def _keep_loose(self, text: str) -> None:
        if text and self._loose_room > 0:
            self._loose.append(text[: self._loose_room])
            self._loose_room -= len(text)

    # -- what subclasses add -------------------------------------------------------------------------------------

    @abstractmethod
    def _read_object(self, value: JSONObject, event: str | None, out: list[Event]) -> None:
        """Read one object of the stream, or the whole body (then ``_is_whole_body`` is True)."""

    @abstractmethod
    def _flush(self, out: list[Event]) -> None:
        """Emit all that is held back."""

    @abstractmethod
    def _check_complete(self, out: list[Event]) -> None:
        """Judge whether the answer is complete; called at the end of a body that held one, when nothing failed."""

    # -- verdicts --------------------------------------------------------------------------------------------------

    def _judge_end(self, out: list[Event]) -> None:
        if not self._mode:
            self._note(out, "no_body", "the body is empty")
            self._fail(out, verdicts.no_body())
        elif self._other_protocol and not self._objects:
            expected = TITLES_IN_SENTENCE[self._protocol]
            self._fail(out, verdicts.other_protocol(expected, self._other_protocol, self._source))
        elif not self._objects and self._remark is not None:
            self._fail(out, self._remark)
        elif not self._objects and self._loose:
            self._fail(out, read_error("\n".join(self._loose), None, FailureKind.DECODE))
        elif not self._objects and self._strange:
            self._fail(out, verdicts.nothing_readable(self._strange))
        elif not self._objects and not self.finished:
            self._fail_cut_off(out)
        else:
            self._check_complete(out)

    def _fail_cut_off(self, out: list[Event]) -> None:
        self._note(out, "cut_off", "the stream ended without a finish reason, possibly cut off")
        last = read_error("\n".join(self._loose), None, FailureKind.DECODE).message if self._loose else ""
        if self._remark is not None and self._remark_at == self._objects:
            last = last or self._remark.message
        self._fail(out, verdicts.stopped_short(self._objects, self._end_marker, last))

    def _note_missing_reason(self, out: list[Event]) -> None:
        """Note that the gateway ended a complete body without a finish reason."""
        note = f"the answer ended with neither a finish reason nor {self._end_marker}; it may be cut off"
        self._note(out, "no_finish_reason", note)

    def _fail_empty(self, out: list[Event], reason: str | None) -> None:
        """Fail because a complete answer is empty; ``reason`` is its finish reason."""
        if self._holes:
            self._fail(out, verdicts.nothing_readable(next(iter(self._holes.values()))))
            return
        self._note(out, "empty", "the answer is complete and holds nothing")
        self._fail(out, verdicts.nothing_in_it(reason))

    def _fail_unreadable(self, text: str, reason: str, out: list[Event]) -> None:
        failure = verdicts.not_json(text, reason)
        if failure.kind is FailureKind.CUT_OFF:
            self._note(out, "cut_off", "the JSON body breaks off, possibly cut off")
        self._fail(out, failure)

    def _fail_too_large(self, out: list[Event]) -> None:
        if not self._failed:
            self._fail(out, verdicts.too_large(self._cap))
        self.finished = True

    def _is_foreign(self, value: JSONObject, out: list[Event]) -> bool:
        """Return whether an object belongs to an answer of another protocol; note it, and end at its end."""
        name = protocol_of_answer(value)
        if name in ("", self._protocol):
            return False
        self._other_protocol = TITLES_IN_SENTENCE[name]
        self._note(out, "other_protocol", f"objects of {self._other_protocol} were received", hole=True)
        if value.get("type") in LAST_EVENTS:
            self._end_stream(out)
        return True

    def _note_numbers(self, out: list[Event]) -> None:
        if self._odd_numbers:
            note = f"{self._odd_numbers[0]} is no number in JSON; it is kept as text"
            self._odd_numbers.clear()
            self._note(out, "number_not_json", note)

    def _join_halves(self, place: Hashable, text: str) -> str:
        """Return a fragment with surrogate pairs joined; a first half at its end is kept for the next one there."""
        if not (self._has_halves or self._halves):
            return text
        text, half = foreign.split_half(self._halves.pop(place, "") + text)
        if half:
            self._halves[place] = half
        return text

    def _emit_values(self, event: Event, out: list[Event]) -> None:
        """Emit an event with JSON values of the object being read, in which a number may be too large."""
        out.append(event)
        self._has_values = True

    def _note_overflow(self, out: list[Event]) -> None:
        """Note a number in the current object that is too large for a double."""
        if number := foreign.overflow(self._source):
            note = f"{number[:40]} is too large a number; “Infinity” replaces it"
            self._note(out, "number_too_large", note)

    def _fail(self, out: list[Event], failure: Failure) -> None:
        if self._failed:
            self._note(out, "second_error", "more than one error was received; the first is shown")
            return
        self._flush(out)
        self._failed = True
        out.append(Failed(failure))

    def _note(self, out: list[Event], code: str, note: str, *, hole: bool = False) -> None:
        """Emit a deviation once; ``hole`` means that a part of the answer may be missing because of it."""
        if code not in self._noted or (hole and code not in self._holes):
            self._noted.add(code)
            if hole:
                self._holes[code] = note
            out.append(Deviation(code, note, hole))
