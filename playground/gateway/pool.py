"""Which connection carries which request: the one that was free last, else a new one.

In the place of httpcore's own pool, which looks at every connection there is when a request begins and when it ends:
with 64 under way that was half of what an answer cost. Here nothing is bounded and nothing waits, so there is no queue;
a free connection is looked at when its turn comes. What a connection is, to a proxy or not, is httpcore's.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import Any

import httpcore

LOOK_S = 0.5  # seconds between two looks at whether some have been unused for too long: each asks the system


class Pool:
    """Makes connections as ``made`` would, which is not used otherwise. HTTP/1.1: one request at a time on each."""

    def __init__(self, made: httpcore.AsyncConnectionPool) -> None:
        self._connect = made.create_connection
        self._free: list[httpcore.AsyncConnectionInterface] = []  # the one that was used last behind
        self._busy: set[httpcore.AsyncConnectionInterface] = set()
        self._closed = False
        self._looked = 0.0  # when the oldest was looked at, by the monotonic clock

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send it and wait for status and headers. Raises what a connection raises, which is closed then."""
        if self._closed:
            raise RuntimeError("Its connections are closed.")
        while True:
            found = await self._take(request.url.origin)
            connection = found or self._connect(request.url.origin)
            self._busy.add(connection)
            try:
                response = await connection.handle_async_request(request)
            except httpcore.ConnectionNotAvailable:  # closed meanwhile
                await self._put(connection)
            except BaseException:
                await self._put(connection)
                raise
            else:
                if found is None:
                    _unlock(connection)
                response.stream = _Body(response.stream, partial(self._put, connection))
                return response

    async def aclose(self) -> None:
        """Close all connections, those in use among them; one that is still being made, as soon as it is let go."""
        self._closed = True
        closing, self._free, self._busy = [*self._free, *self._busy], [], set()
        for connection in closing:
            await connection.aclose()

    async def __aenter__(self) -> Pool:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _take(self, origin: httpcore.Origin) -> httpcore.AsyncConnectionInterface | None:
        """One that is free. What was unused for too long, or closed at the other end, is let go."""
        while found := next((one for one in reversed(self._free) if one.can_handle_request(origin)), None):
            self._free.remove(found)
            if not found.has_expired():
                break
            await found.aclose()
        now = time.monotonic()
        if now - self._looked >= LOOK_S:
            self._looked = now
            while self._free and self._free[0].has_expired():  # unused for longest: the others are no older
                await self._free.pop(0).aclose()
        return found

    async def _put(self, connection: httpcore.AsyncConnectionInterface) -> None:
        """Have it for others where its answer was read to its end; else it is closed."""
        if self._closed and not connection.is_closed():
            await connection.aclose()
        if connection not in self._busy:
            return  # it was let go before, or closed with all
        self._busy.remove(connection)
        if connection.is_idle() and not connection.is_closed():  # one that failed to connect is both
            self._free.append(connection)
        elif not connection.is_closed():
            await connection.aclose()


class _Unlocked:
    """Stands where httpcore has a lock: each costs a turn of the loop, and no two requests are on one connection."""

    async def __aenter__(self) -> None:
        return

    async def __aexit__(self, *_: object) -> None:
        return


def _unlock(connection: Any) -> None:
    """A connection that is made, and what it is made of, goes without locks from now on."""
    while connection is not None:
        for name in ("_request_lock", "_connect_lock", "_state_lock"):
            if hasattr(connection, name):
                setattr(connection, name, _Unlocked())
        connection = getattr(connection, "_connection", None)


class _Body:
    """The body of an answer, as it comes; let go, its connection is free again."""

    def __init__(self, stream: Any, ended: Callable[[], Awaitable[None]]) -> None:
        self._stream, self._ended = stream, ended

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._stream)

    async def aclose(self) -> None:
        """Let the connection go, closed where the body was not read to its end. Safe to call twice."""
        try:
            await self._stream.aclose()
        finally:
            await self._ended()
