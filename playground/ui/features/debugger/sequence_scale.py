"""From seconds to pixels: to scale where something happens, honestly broken where there is only waiting. No Qt.

Between two moments at which something begins or ends the scale is even. A stretch that would be far longer than a
usual step becomes a *break* of one width, to be marked as such; a very short one is drawn wide enough to be seen.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from playground.engine.inspect.calls import Span

STEP_PX = 150.0  # a usual step, at zoom 1
BREAK_PX = 64.0
LEAST_PX = 4.0  # anything that takes any time at all
IDLE_LIMIT, BUSY_LIMIT = 1.0, 4.0  # usual steps until a stretch is broken: while answers are waited for, and otherwise
NOT_THE_GATEWAY = "result"
SHORTEST_STEP = 0.001  # seconds


@dataclass(frozen=True, slots=True)
class Break:
    """A stretch that is not drawn to scale: from and to in seconds and in pixels."""

    start: float
    end: float
    left: float
    right: float


class Scale:
    """The scale for ``spans`` (sorted by their start) at a ``zoom``, at least ``room`` pixels wide where that helps."""

    def __init__(self, spans: Sequence[Span], zoom: float = 1.0, room: float = 0.0) -> None:
        self.breaks: list[Break] = []
        self._times = sorted({moment for span in spans for moment in (span.start, span.end)})
        step = usual_step(spans)
        busy = _busy(spans, self._times)
        pieces = list(zip(self._times, self._times[1:], busy, strict=False))
        broken = [end - start > step * (BUSY_LIMIT if is_busy else IDLE_LIMIT) for start, end, is_busy in pieces]
        whole = sum(end - start for (start, end, _), cut in zip(pieces, broken, strict=True) if not cut)
        left_over = room - BREAK_PX * sum(broken)
        self.per_second = max(STEP_PX / step, left_over / whole if whole > 0 else 0.0) * zoom
        self._xs = [0.0] if self._times else []
        for (start, end, _), cut in zip(pieces, broken, strict=True):
            x = self._xs[-1]
            width = BREAK_PX if cut else max((end - start) * self.per_second, LEAST_PX)
            if cut:
                self.breaks.append(Break(start, end, x, x + width))
            self._xs.append(x + width)

    @property
    def width(self) -> float:
        """Pixels from the first moment to the last."""
        return self._xs[-1] if self._xs else 0.0

    def x(self, moment: float) -> float:
        """Where a moment is."""
        times, xs = self._times, self._xs
        at = bisect_right(times, moment) - 1
        if at < 0 or not xs:
            return 0.0
        if at >= len(xs) - 1:
            return xs[-1]
        share = (moment - times[at]) / (times[at + 1] - times[at])
        return xs[at] + share * (xs[at + 1] - xs[at])

    def ticks(self, least: float) -> tuple[float, list[tuple[float, float]]]:
        """Round moments that are at least so many pixels apart, none of them in a break.

        The step between them in seconds, and each in seconds and pixels.
        """
        if not self._times or self.per_second <= 0:
            return 1.0, []
        step = _round_up(least / self.per_second)
        out: list[tuple[float, float]] = []
        edges = [self._times[0], *(moment for cut in self.breaks for moment in (cut.start, cut.end)), self._times[-1]]
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            first = int(start / step) + (start % step > 0)
            for number in range(first, int(end / step) + 1):
                x = self.x(number * step)
                if not out or x - out[-1][1] >= least:
                    out.append((number * step, x))
        return step, out


def usual_step(spans: Sequence[Span]) -> float:
    """How long the gateway usually takes for one request, in seconds: the median."""
    turns: dict[str, tuple[float, float]] = {}
    for span in spans:
        if span.kind != NOT_THE_GATEWAY:
            start, end = turns.get(span.turn_id, (span.start, span.end))
            turns[span.turn_id] = (min(start, span.start), max(end, span.end))
    return max(median([end - start for start, end in turns.values()]), SHORTEST_STEP) if turns else 1.0


def _busy(spans: Sequence[Span], times: Sequence[float]) -> list[bool]:
    """For each stretch between two moments, whether the gateway is at work in it."""
    change = dict.fromkeys(times, 0)
    for span in spans:
        if span.kind != NOT_THE_GATEWAY:
            change[span.start] += 1
            change[span.end] -= 1
    out: list[bool] = []
    depth = 0
    for moment in times:
        depth += change[moment]
        out.append(depth > 0)
    return out[:-1]


def _round_up(value: float) -> float:
    """The next number of the form 1, 2 or 5 times a power of ten."""
    power = 1e-6
    while power * 10 <= value:
        power *= 10
    return next((power * factor for factor in (1, 2, 5, 10) if power * factor >= value), value)
