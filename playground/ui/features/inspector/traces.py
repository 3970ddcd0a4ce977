"""The frames and the timeline of an exchange, made when somebody looks and kept while they may look again."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from playground.engine.inspect.frames import FrameIndex
from playground.engine.inspect.timeline import Timeline

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange

KEPT = 6  # exchanges whose frames are kept
MOST = 512 * 1024  # bytes that are read at a time
READ_MS = 80  # between two readings of an answer


class Trace:
    """What is derived from one exchange. ``read_frames`` takes in what is new."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.index = FrameIndex(exchange)
        self.timeline = Timeline(self.index)

    def read_frames(self, most: int | None = MOST) -> None:
        """Read new frames, about ``most`` bytes of them, or all. ``index.behind`` says whether more are left."""
        if self.index.behind:
            self.index.extend(most)
            self.timeline.extend()


class Traces:
    """By exchange; the ones asked for last are kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Trace] = OrderedDict()

    def of(self, exchange: Exchange) -> Trace:
        """The trace of an exchange; nothing is read for it here."""
        found = self._kept.pop(exchange.id, None)
        if found is None or found.exchange is not exchange:
            found = Trace(exchange)
        self._kept[exchange.id] = found
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found
