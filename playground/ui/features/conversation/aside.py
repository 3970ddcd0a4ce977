"""Rows and heights of experiments that are not in view: of those that were left last, and of one that is shown next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

from playground.engine.session.session import Session
from playground.ui.features.conversation.heights import LOT, Heights
from playground.ui.features.conversation.rows import Row, Rows

KEPT = 4  # experiments left last that are gone back to without walking along all of their turns
STEP = 2_000  # turns that rows are made of at once: a quarter of a frame


class Aside:
    """What ``take`` gives is not here any more: it is changed by whoever shows it."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[Session, tuple[Rows, Heights]] = WeakKeyDictionary()  # latest last

    def keep(self, session: Session, rows: Rows, heights: Heights) -> None:
        """This experiment is not in view now."""
        self._of.pop(session, None)
        self._of[session] = rows, heights
        for oldest in list(self._of)[:-KEPT]:
            del self._of[oldest]

    def take(self, session: Session) -> tuple[Rows, Heights]:
        """Those of an experiment, as they were when it was left; empty ones if it was not here."""
        return self._of.pop(session, None) or (Rows(), Heights())

    async def make(self, session: Session, guess: Callable[[Row], int]) -> None:
        """Make those of an experiment that is shown next, where that would take long at once, in turns of the loop."""
        rows, heights = self.take(session)
        transcript, growing = session.transcript, session.growing
        for end in range(len(rows.path) + STEP, len(transcript.path), STEP):
            rows.follow(transcript, growing, end)
            await asyncio.sleep(0)
        if len(transcript.path) > len(heights.rows) + LOT:
            made = rows.follow(transcript, growing)
            await asyncio.sleep(0)
            heights.set_rows(made, guess, ())
            await asyncio.sleep(0)
        self.keep(session, rows, heights)
