"""The frames and the timeline of an exchange, made when somebody looks and kept while they may look again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from playground.engine.inspect.frames import FrameIndex
from playground.engine.inspect.timeline import Timeline

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange

KEPT = 6  # exchanges whose frames are kept
AT_ONCE = 32 * 1024  # bytes taken in between two looks at the clock


class Trace:
    """What is derived from one exchange. ``read_frames`` takes in what is new."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.index = FrameIndex(exchange)
        self.timeline = Timeline(self.index)

    def read_frames(self) -> Iterator[None]:
        """Take in what is new, with pauses in which other work can be done."""
        while self.index.behind:
            self.index.extend(AT_ONCE)
            self.timeline.extend()
            yield

    def read_all_frames(self) -> None:
        """Take in what is new, at once."""
        for _ in self.read_frames():
            pass


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
