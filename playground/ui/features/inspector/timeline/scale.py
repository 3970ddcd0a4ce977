"""Time to pixels and back: what part of an exchange is seen, how it is zoomed and moved. No Qt."""

from __future__ import annotations

from collections.abc import Iterator

LEAST_SPAN = 0.001  # seconds; the most that can be zoomed in
STEPS = (1.0, 2.0, 5.0)
TICK_ROOM = 72  # pixels between two ticks at least


class TimeScale:
    """Shows ``start`` to ``end`` (seconds) on ``width`` pixels from ``left`` on. Unless zoomed, it shows everything."""

    def __init__(self) -> None:
        self.total = 0.0
        self.left = 0.0
        self.width = 1.0
        self._start = 0.0
        self._end: float | None = None  # None: everything is shown

    @property
    def zoomed(self) -> bool:
        """Whether only a part is seen."""
        return self._end is not None

    @property
    def start(self) -> float:
        """The first moment seen."""
        return self._start if self._end is not None else 0.0

    @property
    def end(self) -> float:
        """The last moment seen."""
        return self._end if self._end is not None else max(self.total, LEAST_SPAN)

    def set_total(self, total: float) -> None:
        """How long the whole is; what is zoomed to stays."""
        self.total = total
        if self._end is not None and self._end > max(total, LEAST_SPAN):
            self.show(self._start, self._end)

    def fit(self) -> None:
        """Show everything."""
        self._start, self._end = 0.0, None

    def show(self, start: float, end: float) -> None:
        """Show from ``start`` to ``end``, as far as there is anything."""
        whole = max(self.total, LEAST_SPAN)
        span = min(max(end - start, LEAST_SPAN), whole)
        if span >= whole:
            self.fit()
            return
        self._start = min(max(start, 0.0), whole - span)
        self._end = self._start + span

    def zoom(self, factor: float, around: float) -> None:
        """Show ``factor`` times as much time; the moment ``around`` stays where it is."""
        self.show(around - (around - self.start) * factor, around + (self.end - around) * factor)

    def pan(self, seconds: float) -> None:
        """Move what is seen; past the ends it stays."""
        if self.zoomed:
            self.show(self.start + seconds, self.end + seconds)

    def reveal(self, at: float) -> None:
        """Move as little as makes ``at`` seen, with some room around it."""
        room = (self.end - self.start) * 0.1
        if at < self.start:
            self.pan(at - room - self.start)
        elif at > self.end:
            self.pan(at + room - self.end)

    def x(self, at: float) -> float:
        """Where a moment is, in pixels; outside of what is seen, too."""
        return self.left + (at - self.start) / (self.end - self.start) * self.width

    def at(self, x: float) -> float:
        """The moment at a pixel, between the first and the last one there is."""
        seconds = self.start + (x - self.left) / max(self.width, 1.0) * (self.end - self.start)
        return min(max(seconds, 0.0), max(self.total, 0.0))

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Round moments that are seen, and what to write at them."""
        span = self.end - self.start
        most = max(int(self.width / TICK_ROOM), 1)
        unit = 10.0**-4
        while True:
            step = next((unit * n for n in STEPS if span / (unit * n) <= most), None)
            if step is not None:
                break
            unit *= 10
        number = int(self.start / step)
        while (at := number * step) <= self.end:
            if at >= self.start:
                yield at, tick_words(at, step)
            number += 1


def tick_words(at: float, step: float) -> str:
    """A round moment, as exact as the steps need."""
    if step < 0.1 and at < 1.0:
        return f"{at * 1000:.1f} ms" if step < 0.001 else f"{at * 1000:.0f} ms"
    places = 3 if step < 0.01 else 2 if step < 0.1 else 1 if step < 1 else 0
    return f"{at:.{places}f} s"
