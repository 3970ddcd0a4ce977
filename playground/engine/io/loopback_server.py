"""An HTTP server on 127.0.0.1 for one ASGI application, on the event loop that starts it."""

from __future__ import annotations

import asyncio
import socket
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp, Receive

from playground.system.tasks import Tasks

IDLE_TIMEOUT: Final = 60  # seconds without a request after which a connection is closed


class _Server(uvicorn.Server):
    """A server that leaves signals to the program that it runs in."""

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()


class LoopbackServer:
    """Serves ``application``. ``start`` and ``aclose`` it on the same event loop.

    ``limit`` is the most connections at a time, None for no limit; more are answered with 503. A connection that sends
    no request within about ``idle`` seconds is closed.
    """

    def __init__(
        self, application: ASGIApp, port: int = 0, *, limit: int | None = None, idle: float = IDLE_TIMEOUT
    ) -> None:
        self._port = port
        self._idle = idle
        self._server = _Server(
            uvicorn.Config(
                application,
                http="h11",
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="critical",  # an answer that breaks off is meant to, and would be logged as an error
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_keep_alive=IDLE_TIMEOUT,
                limit_concurrency=limit,
            )
        )
        self._tasks = Tasks()
        self._serving: asyncio.Task[None] | None = None
        self._closing_idle: asyncio.Task[None] | None = None

    async def start(self) -> tuple[str, int]:
        """Listen, and return address and port. Raises OSError in words."""
        listener = _listen(self._port)
        self._serving = self._tasks.start(self._server.serve(sockets=[listener]))
        while not self._server.started and not self._serving.done():  # noqa: ASYNC110 - uvicorn sets a flag only
            await asyncio.sleep(0.005)
        if self._serving.done():
            self._serving.result()
        self._closing_idle = self._tasks.start(self._close_idle())
        host, port = listener.getsockname()[:2]
        return host, port

    async def _close_idle(self) -> None:
        """Close connections without a first request; uvicorn closes those that are idle between two requests."""
        waiting: set[Any] = set()
        while True:
            await asyncio.sleep(self._idle)
            silent = {item for item in self._server.server_state.connections if getattr(item, "cycle", None) is None}
            for connection in silent & waiting:
                connection.transport.abort()
            waiting = silent

    def hang_up(self, client: Any) -> None:
        """Close the connection of a client, the ``client`` of its scope, without ending its answer."""
        for connection in tuple(self._server.server_state.connections):
            if getattr(connection, "client", None) == client:
                connection.transport.close()

    def abort(self) -> None:
        """Close all connections, also in the middle of an answer."""
        for connection in tuple(self._server.server_state.connections):
            connection.transport.abort()

    async def aclose(self) -> None:
        """Close the server and all connections, also in the middle of an answer. Safe to call twice."""
        serving, self._serving = self._serving, None
        if serving is None:
            return
        self.abort()
        if self._closing_idle is not None:
            self._closing_idle.cancel()
        self._server.should_exit = self._server.force_exit = True
        await serving
        await asyncio.gather(*self._server.server_state.tasks, return_exceptions=True)


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has closed the connection, or its request was answered."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _listen(port: int) -> socket.socket:
    # With the protocol named, asyncio sets TCP_NODELAY on accepted connections; without, small writes wait 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # on Windows, the option would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        raise OSError(f"Cannot listen on port {port}: {reason}. Choose another, or 0 for any.") from None
    return listener
