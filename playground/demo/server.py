"""Starts and stops the demo gateway: uvicorn in a thread of its own, with its own event loop.

The caller need not be an asyncio program. The web server's libraries are imported when a server starts, not before.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import uvicorn

    from playground.demo.service import ReceivedRequest, Service

_START_WAIT = 10.0  # seconds a start may take on a busy machine


@dataclass(frozen=True)
class DemoConfig:
    """How a demo gateway is to run.

    ``port`` 0 takes a free one. ``key`` None accepts any key that is not empty. ``tokens_per_second`` 0 or infinity
    writes as fast as it can; ``time_to_first_token`` and ``rate_window`` are in seconds, ``rate_limit`` in requests a
    window, 0 for none. It answers to loopback names and to those in ``allowed_hosts`` (in lower case, without a port).
    """

    host: str = "127.0.0.1"
    port: int = 0
    key: str | None = field(default=None, repr=False)
    tokens_per_second: float = 60
    time_to_first_token: float = 0.35
    rate_limit: int = 60
    rate_window: float = 60.0
    allowed_hosts: tuple[str, ...] = ()


class DemoServer:
    """One demo gateway, started and stopped from any thread but its own; also a context manager."""

    def __init__(self, config: DemoConfig = DemoConfig()) -> None:
        self._config = config
        self._base_url = ""
        self._server: uvicorn.Server | None = None
        self._service: Service | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failure: BaseException | None = None

    @property
    def base_url(self) -> str:
        """The address to enter into a client, ending in /v1; empty before the first start."""
        return self._base_url

    @property
    def running(self) -> bool:
        """True while the server accepts requests."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def requests(self) -> list[ReceivedRequest]:
        """The last 100 requests received since the start, oldest first (fewer when their bodies are large)."""
        return list(self._service.received) if self._service else []

    def start(self) -> str:
        """Start, wait until requests are accepted, and return the base address; nothing happens when it runs.

        Raises OSError when the address cannot be used, with the reason in words.
        """
        if self.running:
            return self._base_url
        listener = listen(self._config.host, self._config.port)
        import uvicorn

        from playground.demo.delivery import Pace
        from playground.demo.framing import RefusesAmbiguousLength
        from playground.demo.limits import RateLimit
        from playground.demo.routes import build
        from playground.demo.service import Service

        config = self._config
        self._service = Service(
            config.key,
            Pace(config.time_to_first_token, config.tokens_per_second),
            RateLimit(config.rate_limit, config.rate_window),
        )
        self._server = uvicorn.Server(
            uvicorn.Config(
                RefusesAmbiguousLength(build(self._service, frozenset(config.allowed_hosts))),
                http="h11",
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="critical",  # dropped connections are meant here, and would be logged as errors
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=60,
            )
        )
        self._failure = None
        self._thread = threading.Thread(target=self._run, args=(listener,), name="demo-gateway", daemon=True)
        self._thread.start()
        deadline = time.monotonic() + _START_WAIT
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                self.stop()
                listener.close()
                raise OSError(f"The demo gateway did not start: {self._reason()}.")
            time.sleep(0.002)
        host, port = listener.getsockname()[:2]
        self._base_url = f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"
        return self._base_url

    def stop(self, timeout: float = 3.0) -> None:
        """Stop, ending open streams where they are; waits at most ``timeout`` seconds. May be called again."""
        thread, loop = self._thread, self._loop
        if loop is not None and thread is not None and thread.is_alive():
            with contextlib.suppress(RuntimeError):  # the loop may close at this moment
                loop.call_soon_threadsafe(self._end_streams)
        if thread is not None:
            thread.join(timeout)
            if not thread.is_alive():
                self._thread = None

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the server has stopped, at most ``timeout`` seconds; says whether it has."""
        if self._thread is not None:
            self._thread.join(timeout)
        return not self.running

    def __enter__(self) -> DemoServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _reason(self) -> str:
        """Why the server's thread ended."""
        return "it took too long" if self._failure is None else str(self._failure)

    def _run(self, listener: socket.socket) -> None:
        """The server's thread."""
        try:
            asyncio.run(self._serve(listener))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - start() reports it
            self._failure = error
        finally:
            self._loop = None
            listener.close()

    async def _serve(self, listener: socket.socket) -> None:
        self._loop = asyncio.get_running_loop()
        if self._server is not None:
            await self._server.serve(sockets=[listener])

    def _end_streams(self) -> None:
        """Cancel every answer on its way; runs on the server's loop."""
        if self._service is None or self._server is None:
            return
        self._service.running.closing = True
        for task in list(self._service.running.tasks):
            task.cancel()
        self._server.should_exit = True
        self._server.force_exit = True


def serve_forever(config: DemoConfig, announce: Callable[[str], None]) -> None:
    """Run a demo gateway in the foreground until it is interrupted; ``announce`` receives the base address.

    Raises OSError when the address cannot be used.
    """
    server = DemoServer(config)
    try:
        announce(server.start())
        while not server.wait(0.5):  # short waits, so that Ctrl+C is noticed on every system
            pass
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()


def listen(host: str, port: int) -> socket.socket:
    """A bound socket. Raises OSError that says what is wrong and what to do."""
    listener: socket.socket | None = None
    try:
        if not 0 <= port <= 65535:  # some systems would take the remainder instead
            raise OverflowError("a port is a number from 0 to 65535")
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        if sys.platform != "win32":  # elsewhere it lets two servers share a port; here it only skips a waiting time
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except (OSError, OverflowError) as error:
        if listener is not None:
            listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        message = f"The demo gateway cannot listen on {host} port {port}: {reason}. Choose another port, or 0 for any."
        raise OSError(getattr(error, "errno", None) or 0, message) from error
    return listener


class Demo:
    """The embedded demo gateway, started when first asked for."""

    def __init__(self, config: DemoConfig) -> None:
        self._server = DemoServer(config)
        self._starting = threading.Lock()
        self._ended = False

    def start(self) -> str:
        """The base URL of the running server. Raises OSError when it cannot start, or was ended."""
        with self._starting:
            if self._ended:
                raise OSError("The demo gateway was ended with the application.")
            return self._server.base_url if self._server.running else self._server.start()

    def stop(self) -> None:
        """End it for good, with whatever it is sending; a start under way is waited for."""
        with self._starting:
            self._ended = True
            self._server.stop()

    @property
    def server(self) -> DemoServer:
        """The server itself, for tests that look at what arrived."""
        return self._server
