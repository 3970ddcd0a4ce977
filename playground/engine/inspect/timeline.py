"""How the time of one exchange was spent: lanes to scale, marks, stalls and the speed, from its frames.

It grows with a ``FrameIndex``, at a cost that depends only on what is new. Times are seconds since the request began.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from playground.engine.inspect.frames import FrameIndex, Kind, bits

STALL: Final = 3.0  # times the median gap
LEAST_STALL: Final = 0.5  # seconds; a shorter gap is not noticed
ENOUGH: Final = 4  # gaps without which there is no telling what is usual
JOINED: Final = 0.1  # seconds within which a lane goes on although another one came between
BURST: Final = 0.0005  # seconds; reads this close together are one arrival, split by the network
_SLOT: Final = 0.1  # seconds; rates are counted in these


class Lane(StrEnum):
    """The activity that a stretch of time was spent on, in words for people."""

    WAITING = "waiting"
    REASONING = "reasoning"
    CONTENT = "content"
    ARGUMENTS = "tool arguments"


_LANES: Final = (
    (bits(Kind.REASONING), Lane.REASONING),
    (bits(Kind.CONTENT, Kind.REFUSAL, Kind.UNKNOWN), Lane.CONTENT),
    (bits(Kind.TOOL_CALL, Kind.ARGUMENTS), Lane.ARGUMENTS),
)
_FIRSTS: Final = {
    Lane.REASONING: "first reasoning",
    Lane.CONTENT: "first content",
    Lane.ARGUMENTS: "first tool call",
}
_CARRIES: Final = sum(mask for mask, _ in _LANES)
_FINISH: Final = bits(Kind.FINISH)
_WHOLE: Final = bits(Kind.BODY)


class Segment(NamedTuple):
    """A stretch of one lane, from its first to its last frame; of waiting, frame numbers are -1."""

    lane: Lane
    start: float
    end: float
    first: int
    last: int


class Served(NamedTuple):
    """A stretch in which a tool server worked at a call of the answer."""

    server: str
    start: float
    end: float
    ok: bool


class Mark(NamedTuple):
    """A moment with a name."""

    name: str
    time: float


class Stall(NamedTuple):
    """A gap far above the usual, between the frames ``before`` and ``after``."""

    start: float
    end: float
    before: int
    after: int


class Rate(NamedTuple):
    """Tokens (or fragments) per second from ``time`` on."""

    time: float
    per_second: float


@dataclass(slots=True)
class _Growing:
    lane: Lane
    start: float
    end: float
    first: int
    last: int


class Timeline:
    """Of the frames of ``index``. Call ``extend`` after the index's own; both may be called often."""

    def __init__(self, index: FrameIndex) -> None:
        self.index = index
        self._seen = 0
        self._segments: list[_Growing] = []
        self._open: dict[Lane, _Growing] = {}
        self._last: _Growing | None = None
        self._marks: dict[str, float] = {}
        self._arrival = -1  # the last frame of the last arrival that carried something
        self._gaps = array("d")
        self._around: list[tuple[int, int]] = []  # frames before and after each gap
        self._counts: dict[int, int] = {}
        self._fragments = 0
        self._judged = (0, 0.0, 0.0)  # gaps looked at for the median, the median, the limit that follows
        self._stalls: list[int] = []
        self._looked = 0  # gaps compared with the limit
        #: The work of tool servers at the calls of the answer; set from outside.
        self.served: tuple[Served, ...] = ()

    def extend(self) -> None:
        """Take in the frames that are new."""
        index, count = self.index, len(self.index)
        for number in range(self._seen, count):
            mask = index.kind_bits(number)
            if mask & _CARRIES:
                self._carried(number, mask, index.time_of(number))
            if mask & _FINISH:
                self._marks.setdefault("finish", index.time_of(number))
        self._seen = count

    @property
    def end(self) -> float:
        """Where the scale ends: the exchange's end, or while it runs its last read."""
        exchange = self.index.exchange
        if exchange.ended is not None:
            return exchange.ended
        last = exchange.reads[-1].time if exchange.reads else exchange.answered
        return last or 0.0

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All stretches in the order in which they began; waiting first, up to the first fragment or the end."""
        waited = self._segments[0].start if self._segments else self.end
        first = Segment(Lane.WAITING, 0.0, waited, -1, -1)
        return (first, *(Segment(g.lane, g.start, g.end, g.first, g.last) for g in self._segments))

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The known milestones, in order of time."""
        exchange = self.index.exchange
        moments = {
            "connected": exchange.connected,
            "sent": exchange.sent,
            "headers": exchange.answered,
            "first byte": exchange.reads[0].time if exchange.reads else None,
            **self._marks,
            "end": exchange.ended,
        }
        marks = [Mark(name, moment) for name, moment in moments.items() if moment is not None]
        return tuple(sorted(marks, key=lambda mark: mark.time))

    @property
    def median_gap(self) -> float | None:
        """The usual time between two arrivals that carried something; None while there were too few."""
        return self._judge()[1] if len(self._gaps) >= ENOUGH else None

    @property
    def stalls(self) -> tuple[Stall, ...]:
        """Gaps above three times the median and above 0.5 s, between the first and the last fragment."""
        if len(self._gaps) < ENOUGH:
            return ()
        limit = self._judge()[2]
        for number in range(self._looked, len(self._gaps)):
            if self._gaps[number] > limit:
                self._stalls.append(number)
        self._looked = len(self._gaps)
        time_of = self.index.time_of
        around = [self._around[number] for number in self._stalls]
        return tuple(Stall(time_of(before), time_of(after), before, after) for before, after in around)

    @property
    def estimated(self) -> bool:
        """Return whether ``rates`` counts fragments, because no usage was received for them."""
        return self._tokens_a_fragment() is None

    def rates(self, width: float = 0.5) -> tuple[Rate, ...]:
        """Tokens per second in steps of ``width`` seconds (a multiple of 0.1), from the first fragment to the last.

        An answer that came in one piece has no rate.
        """
        if len(self._counts) < 2:
            return ()
        slots = max(1, round(width / _SLOT))
        scale = (self._tokens_a_fragment() or 1.0) / (slots * _SLOT)
        first, last = min(self._counts), max(self._counts)
        rates = []
        for start in range(first, last + 1, slots):
            count = sum(self._counts.get(slot, 0) for slot in range(start, start + slots))
            rates.append(Rate(start * _SLOT, count * scale))
        return tuple(rates)

    def _tokens_a_fragment(self) -> float | None:
        usage = self.index.usage
        if usage is None or not usage.completion or not self._fragments:
            return None
        return usage.completion / self._fragments

    def _carried(self, number: int, mask: int, time: float) -> None:
        for bit, lane in _LANES:
            if mask & bit:
                self._stretch(lane, number, time)
        if not mask & _WHOLE:
            self._counts[int(time / _SLOT)] = self._counts.get(int(time / _SLOT), 0) + 1
            self._fragments += 1
        before = self._arrival
        if before >= 0 and time - self.index.time_of(before) > BURST:
            self._gaps.append(time - self.index.time_of(before))
            self._around.append((before, number))
        self._arrival = number

    def _stretch(self, lane: Lane, number: int, time: float) -> None:
        segment = self._open.get(lane)
        if segment is None:
            self._marks[_FIRSTS[lane]] = time
        if segment is None or (self._last is not segment and time - segment.end > JOINED):
            segment = self._open[lane] = _Growing(lane, time, time, number, number)
            self._segments.append(segment)
        segment.end, segment.last = time, number
        self._last = segment

    def _judge(self) -> tuple[int, float, float]:
        """Return the count, median and limit of the gaps; recomputed after ten per cent more gaps, with all stalls."""
        count = len(self._gaps)
        judged = self._judged[0]
        if count * 10 > judged * 11 or (self.index.closed and count != judged):
            ordered = sorted(self._gaps)
            middle = count // 2
            median = ordered[middle] if count % 2 else (ordered[middle - 1] + ordered[middle]) / 2
            self._judged = (count, median, max(STALL * median, LEAST_STALL))
            self._stalls, self._looked = [], 0
        return self._judged
