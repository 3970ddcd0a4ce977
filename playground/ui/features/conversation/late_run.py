"""A run that was asked for before all is known that decides on it: it waits for that, visibly, and is one run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from playground.ui.features.conversation.composer import Composer
from playground.ui.widgets.loop import spawn

#: What is still on its way and may make a run possible that would be refused now; None where nothing is.
NotKnown = Callable[[], Callable[[], Awaitable[None]] | None]


class LateRun:
    """``run`` begins it. ``not_known`` is given by whoever knows of more than one experiment."""

    def __init__(self, composer: Composer, run: Callable[[], None]) -> None:
        self._composer = composer
        self._run = run
        self.not_known: NotKnown = _nothing

    def put_off(self, still_meant: Callable[[], bool]) -> bool:
        """Have the run wait, if there is something to wait for. Then it begins where it is ``still_meant``."""
        known = self.not_known()
        if known is not None and not self._composer.busy:
            self._composer.set_starting(True)
            spawn(self._begin(known, still_meant), name="run when all is known")
        return known is not None

    async def _begin(self, known: Callable[[], Awaitable[None]], still_meant: Callable[[], bool]) -> None:
        try:
            await known()
        finally:
            self._composer.set_starting(False)
        if still_meant():
            self._run()


def _nothing() -> None:
    return None
