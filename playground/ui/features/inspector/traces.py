"""The events and the timeline of an exchange, read when they are shown and cached for the last few exchanges."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from playground.engine.inspect.frames import FrameIndex
from playground.engine.inspect.timeline import Timeline

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange


MAX_TRACES = 6
MAX_BATCH = 512 * 1024  # bytes that are read at a time
READ_MS = 80  # between two batches


class Trace:
    """The events of one exchange. Call ``read_frames`` whenever more has been received."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.index = FrameIndex(exchange)
        self.timeline = Timeline(self.index)

    def read_frames(self, most: int | None = MAX_BATCH) -> None:
        """Read new events, about ``most`` bytes of them, or all. ``index.behind`` tells whether more are left."""
        if self.index.behind:
            self.index.extend(most)
            self.timeline.extend()


class Traces:
    """Traces by exchange; the least recently used ones are dropped."""

    def __init__(self) -> None:
        self._traces: OrderedDict[str, Trace] = OrderedDict()

    def trace_of(self, exchange: Exchange) -> Trace:
        """Return the trace of an exchange, without reading events."""
        trace = self._traces.pop(exchange.id, None)
        if trace is None or trace.exchange is not exchange:
            trace = Trace(exchange)
        self._traces[exchange.id] = trace
        while len(self._traces) > MAX_TRACES:
            self._traces.popitem(last=False)
        return trace
