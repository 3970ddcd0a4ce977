"""The frames of one exchange: what each was, when it came, what it carried, what was odd about it.

Built from the exchange's reads as they come, at a cost that depends only on what is new, and kept in arrays: a frame's
bytes stay where they are, on the tape. Nothing here knows a protocol; frames and events come from its decoder.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from playground.domain.errors import GUESSES, Failure
from playground.domain.events import (
    AnswerMembers,
    Deviation,
    Event,
    ExtraDelta,
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
from playground.domain.usage import Usage
from playground.engine.inspect.frame_text_index import PLACED, FrameTextIndex, PartInfo, Position
from playground.gateway.tape import Exchange, Read
from playground.jsonkit import foreign
from playground.jsonkit.layout import indented_front
from playground.jsonkit.texts import cut
from playground.protocols.protocol import Decoder, Traced, get_protocol
from playground.protocols.sse import Frame, SSEParser

__all__ = ["FrameIndex", "Kind", "PartInfo", "Position", "Row"]

EXCERPT: Final = 160  # characters
_LINE_END: Final = re.compile(r"[\r\n]+")
LAID_OUT: Final = 256 * 1024  # bytes of JSON that are laid out; more is shown as it came
#: The whole body is in memory already: no event of it is too large to be looked at.
_NO_CAP: Final = 1 << 62


class Kind(StrEnum):
    """The kind of a frame, in a word for people. A frame may have several; the first of these names it."""

    ERROR = "error"
    BODY = "body"  # the whole answer in one
    REASONING = "reasoning"
    CONTENT = "content"
    REFUSAL = "refusal"
    TOOL_CALL = "tool call"  # a call's name or id
    ARGUMENTS = "arguments"
    UNKNOWN = "unknown"  # a part or members of a kind not known here
    FINISH = "finish"
    START = "start"
    USAGE = "usage"
    END = "end"
    COMMENT = "comment"
    EMPTY = "other"  # nothing that says anything: a ping, an empty delta


_KINDS: Final = tuple(Kind)
_BIT: Final = {kind: 1 << number for number, kind in enumerate(_KINDS)}
_OF_EVENT: Final[dict[type[Event], int]] = {
    TextDelta: _BIT[Kind.CONTENT],
    ReasoningDelta: _BIT[Kind.REASONING],
    RefusalDelta: _BIT[Kind.REFUSAL],
    UnknownPart: _BIT[Kind.UNKNOWN],
    AnswerMembers: 0,  # they come with something else, or say little
    Finish: _BIT[Kind.FINISH],
    UsageReport: _BIT[Kind.USAGE],
    StreamEnd: _BIT[Kind.END],
    Opened: _BIT[Kind.START],
    PartStart: _BIT[Kind.START],
    Failed: _BIT[Kind.ERROR],
    Deviation: 0,
    ToolCallDelta: 0,  # name or arguments: looked at one by one
    ExtraDelta: 0,  # reasoning, or members known or not: looked at one by one
}
_OF_FRAME: Final = {
    "comment": _BIT[Kind.COMMENT],
    "body": _BIT[Kind.BODY],
    "end": _BIT[Kind.END],
}


@dataclass(frozen=True, slots=True)
class Row:
    """One frame in the list.

    ``number`` counts from 0. ``time`` is when the read that completed it came, in seconds since the request began;
    ``delta`` the time since the frame before it, of the first one since the start. ``kinds`` has ``kind`` first.
    ``size`` is in bytes, ``excerpt`` one line of the payload, ``deviations`` are (code, note).
    """

    number: int
    time: float
    delta: float
    kind: Kind
    kinds: tuple[Kind, ...]
    size: int
    excerpt: str
    deviations: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Called:
    """One tool call: the name and id that it has so far, the frame that began it, and the one that named it, if any."""

    frame: int
    name: str = ""
    named_at: int | None = None
    id: str = ""


class FrameIndex(FrameTextIndex):
    """The frames of ``exchange``. Call ``extend`` whenever more of it is known; it closes itself when that has ended.

    ``deviations`` maps frame numbers to (code, note); ``holes`` are the frames in which something could not be read
    that may belong to the answer. ``usage``, ``failure``, ``finish`` (by choice), ``calls`` (by choice and call),
    ``model`` and ``response_id`` are what the frames said so far; the frame that said it last is in ``finish_at``,
    ``usage_at`` and ``model_at``, the first failure's in ``failed_at``.
    """

    def __init__(self, exchange: Exchange) -> None:
        super().__init__()
        self.exchange = exchange
        self.closed = False
        self.deviations: dict[int, tuple[tuple[str, str], ...]] = {}
        self.holes: list[int] = []
        self.usage: Usage | None = None
        self.failure: Failure | None = None
        self.failed_at: int | None = None
        self.finish: dict[int, str] = {}
        self.finish_at: dict[int, int] = {}
        self.calls: dict[tuple[int, int], Called] = {}
        self.usage_at: int | None = None
        self.model_at: int | None = None
        self.model = ""
        self.response_id = ""
        self._decoder: Decoder | None = None
        self._seen = 0  # reads taken in
        self._read_ends = array("Q")
        self._ends = array("Q")  # where in the body each frame ends
        self._times = array("d")
        self._kinds = array("H")

    def __len__(self) -> int:
        return len(self._times)

    @property
    def behind(self) -> bool:
        """Return whether the exchange has reads or an end that ``extend`` has not processed."""
        exchange = self.exchange
        return not self.closed and (
            bool(exchange.dropped) or exchange.ended is not None or self._seen < len(exchange.reads)
        )

    def extend(self, most: int | None = None) -> int:
        """Take in what is new, or about ``most`` bytes of it; gives the number of new frames."""
        if self.closed:
            return 0
        before, exchange = len(self._times), self.exchange
        if exchange.dropped:
            self.closed = True
            return 0
        if self._seen < len(exchange.reads):
            self._take(_first(exchange.reads, self._seen, most))
        if exchange.ended is not None and self._seen == len(exchange.reads):
            self._close(exchange.ended)
        return len(self._times) - before

    def row(self, number: int) -> Row:
        """One frame for the list. Raises IndexError."""
        start, end = self._bounds(number)
        time = self._times[number]
        mask = self._kinds[number]
        kinds = tuple(kind for kind in _KINDS if mask & _BIT[kind])
        return Row(
            number,
            time,
            time - (self._times[number - 1] if number else 0.0),
            kinds[0],
            kinds,
            end - start,
            _excerpt(self._bytes(start, min(end, start + 8 * EXCERPT))),
            self.deviations.get(number, ()),
        )

    def time_of(self, number: int) -> float:
        """Return when a frame arrived: seconds since the request began."""
        return self._times[number]

    def end_of(self, number: int) -> int:
        """Where in the body a frame ends, in bytes."""
        return self._ends[number]

    def kind_bits(self, number: int) -> int:
        """All kinds of a frame as bits; see ``bits``. For going through many frames."""
        return self._kinds[number]

    def raw(self, number: int) -> bytes:
        """The frame as received. Empty for the verdict at the end, and after the tape was dropped."""
        return self._bytes(*self._bounds(number))

    def data(self, number: int, most: int) -> str:
        """The frame's payload: JSON laid out, other text as it is. Very large JSON stays as it came.

        Of what is laid out come ``most`` characters, and one more where there are some.
        """
        raw = self.raw(number)
        if self._kinds[number] & _BIT[Kind.BODY]:
            text = raw.decode("utf-8", "replace").removeprefix("\ufeff").strip(" \t\r\n\0")
        else:
            text = _payload(raw)
        if len(text) > LAID_OUT or text[:1] not in ("{", "["):
            return text
        try:
            return foreign.whole(indented_front(foreign.parse(text), most)[: most + 1])
        except (ValueError, RecursionError):
            return text

    def _take(self, reads: list[Read]) -> None:
        decoder = self._decoder or self._decode()
        position = self._read_ends[-1] if self._read_ends else 0
        for time, data in reads:
            position += len(data)
            self._read_ends.append(position)
            if decoder is not None:
                self._add_frames(decoder.trace(data), time)
        self._seen += len(reads)

    def _decode(self) -> Decoder | None:
        """The decoder of the answer; None for a body that is none, such as that of an error status."""
        exchange = self.exchange
        if not exchange.protocol or (exchange.status or 0) >= 300:
            return None
        self._decoder = get_protocol(exchange.protocol).decoder(exchange.content_type, _NO_CAP)
        return self._decoder

    def _add_frames(self, traced: list[Traced], time: float) -> None:
        ends, kinds, take = self._ends, self._kinds, self.take
        end = ends[-1] if ends else 0
        for frame, events in traced:
            number = len(ends)
            mask = _OF_FRAME.get(frame.kind, 0)
            for event in events:
                kind = type(event)
                mask |= _OF_EVENT[kind]
                if kind in PLACED:
                    take(event, number)
                if kind is not TextDelta:
                    mask |= self._note(event, number)
            end += len(frame.raw)
            ends.append(end)
            self._times.append(time)
            kinds.append(mask or _BIT[Kind.EMPTY])

    def _note(self, event: Event, number: int) -> int:
        """Remember what a frame said besides its text; gives bits of its kind."""
        match event:
            case ToolCallDelta():
                named = event.id is not None or event.name is not None
                if named:
                    self._name(event, number)
                has_arguments = event.held or len(event.arguments) > event.late
                return (_BIT[Kind.TOOL_CALL] if named else 0) | (_BIT[Kind.ARGUMENTS] if has_arguments else 0)
            case ExtraDelta():
                return self._extra_kind(event)
            case Deviation(code, note, hole):
                self.deviations[number] = (*self.deviations.get(number, ()), (code, note))
                if hole:
                    self.holes.append(number)
            case Failed(failure):
                self.failure = self.failure or failure
                self.failed_at = number if self.failed_at is None else self.failed_at
            case Finish(choice, reason):
                self.finish[choice], self.finish_at[choice] = reason, number
            case UsageReport(usage):
                self.usage, self.usage_at = usage, number
            case Opened(id, model):
                self.response_id, self.model = id or self.response_id, model or self.model
                self.model_at = number
            case _:
                pass
        return 0

    @staticmethod
    def _extra_kind(event: ExtraDelta) -> int:
        """Return the bit of members that no field holds: unknown, of reasoning, or none."""
        protocol = get_protocol(event.protocol)
        if protocol.unknown_names(event.members):
            return _BIT[Kind.UNKNOWN]
        has_reasoning = event.owner == "reasoning" and protocol.visible_members(event.members)
        return _BIT[Kind.REASONING] if has_reasoning else 0

    def _name(self, event: ToolCallDelta, number: int) -> None:
        call = self.calls.setdefault((event.choice, event.call), Called(number))
        if event.id is not None:
            call.id = event.id
        if event.name is not None:
            call.name, call.named_at = event.name, number

    def _close(self, ended: float) -> None:
        self.closed = True
        exchange = self.exchange
        time = exchange.reads[-1].time if exchange.reads else ended
        decoder = self._decoder
        if decoder is not None:
            for traced in decoder.trace_close(delimited=exchange.delimited):
                end = not traced.frame.raw  # the verdict came when all was over
                if remaining := self._without_guesses(traced):
                    self._add_frames([remaining], max(ended, time) if end else time)
        elif exchange.reads:
            bits = _BIT[Kind.BODY] | (_BIT[Kind.ERROR] if (exchange.status or 0) >= 400 else 0)
            self._ends.append(self._read_ends[-1])
            self._times.append(time)
            self._kinds.append(bits)
        if exchange.failure is not None and self.failure is None:
            self.failure = exchange.failure
            if decoder is not None:  # a failure that no frame shows
                self._add_frames([Traced(Frame(None, "", b"", "end"), [Failed(exchange.failure)])], max(ended, time))

    def _without_guesses(self, traced: Traced) -> Traced | None:
        """Drop the decoder's guesses about the end if the body was not read to its end."""
        if self.exchange.complete:
            return traced
        remaining = [event for event in traced.events if not _is_guess(event)]
        return Traced(traced.frame, remaining) if remaining or traced.frame.raw else None

    def _bounds(self, number: int) -> tuple[int, int]:
        number = range(len(self._ends))[number]
        return self._ends[number - 1] if number else 0, self._ends[number]

    def _bytes(self, start: int, end: int) -> bytes:
        """A piece of the body, wherever the reads cut it."""
        if self.exchange.dropped or start >= end:
            return b""
        ends, reads = self._read_ends, self.exchange.reads
        first = bisect_right(ends, start)
        last = bisect_right(ends, end - 1)
        begins = ends[first - 1] if first else 0
        joined = reads[first].data if first == last else b"".join(read.data for read in reads[first : last + 1])
        return joined[start - begins : end - begins]


def _first(reads: list[Read], start: int, most: int | None) -> list[Read]:
    """The reads from ``start`` on until there are ``most`` bytes; at least one."""
    end, size = start, 0
    while end < len(reads) and (most is None or size < most):
        size += len(reads[end].data)
        end += 1
    return reads[start:end]


def bits(*kinds: Kind) -> int:
    """Those kinds as bits."""
    return sum(_BIT[kind] for kind in kinds)


def _is_guess(event: Event) -> bool:
    if isinstance(event, Failed):
        return event.failure.kind in GUESSES
    return isinstance(event, Deviation) and (event.code in GUESSES or event.code == "broken_event")


def _payload(raw: bytes) -> str:
    """Return the data of a frame without the event-stream syntax."""
    parser = SSEParser(_NO_CAP)
    frames = [*parser.parse_bytes(raw.lstrip(b"\0")), *parser.close()]
    return "\n".join(frame.data for frame in frames if frame.data)


def _excerpt(raw: bytes) -> str:
    """One line of a frame's payload; ``raw`` may be only its beginning."""
    lines = _LINE_END.split(raw.decode("utf-8", "replace").lstrip("\ufeff"))
    data = [line[5:] for line in lines if line.startswith("data:")] or lines
    text = " ".join(" ".join(data).split())
    return cut(text, EXCERPT)
