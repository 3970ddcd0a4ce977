"""The proxy on an event loop in a thread of its own, so that a flood of requests does not freeze the window."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from playground.engine.listen.exchanges import Listened
from playground.engine.listen.server import ListenServer, ListenSettings

T = TypeVar("T")

#: Seconds between two reports of changes.
INTERVAL: Final = 0.25


class ListenThread:
    """Runs a ``ListenServer``. ``start`` and ``stop`` block; call them in a thread.

    ``changed`` is called in the proxy's thread, with the exchanges that changed since the last call, each once, at most
    ``1 / interval`` times a second. Values of an exchange under way may change while they are read.
    """

    def __init__(
        self, settings: ListenSettings, changed: Callable[[list[Listened]], None], interval: float = INTERVAL
    ) -> None:
        self.server = ListenServer(settings, self._note_change)
        self._report = changed
        self._interval = interval
        self._changes: dict[int, Listened] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> str:
        """Listen; return the address to give to programs, without ``/v1``. Raises OSError and ValueError in words."""
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(loop,), name="listen", daemon=True)
        self._thread.start()
        try:
            return self.submit(self.server.start()).result()
        except (OSError, ValueError):
            self.stop()
            raise

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine on the proxy's event loop."""
        if self._loop is None:
            raise RuntimeError("start comes first")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self) -> None:
        """Close the port, end the exchanges under way, and report the last changes. Safe to call twice."""
        loop, thread, self._thread = self._loop, self._thread, None
        if loop is None or thread is None:
            return
        try:
            self.submit(self._close()).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    async def _close(self) -> None:
        await self.server.aclose()
        self._flush()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    def _note_change(self, listened: Listened) -> None:
        self._changes[listened.number] = listened
        if self._timer is None and self._loop is not None:
            self._timer = self._loop.call_later(self._interval, self._flush)

    def _flush(self) -> None:
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        changes, self._changes = list(self._changes.values()), {}
        if changes:
            self._report(changes)
