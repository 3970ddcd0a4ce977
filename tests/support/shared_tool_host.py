"""A tool-host process that the tests of a module share, checked to be empty after each test."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from playground.engine.tool_servers.process import HostError, HostProcess
from playground.jsonkit.values import JSON, JSONObject
from tests.support.eventually import eventually

T = TypeVar("T")
SECONDS = 30.0  # for whatever has to end


class SharedToolHost:
    """One ``HostProcess`` in a thread and event loop of its own, so that tests with loops of their own can share it."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.process: HostProcess | None = None
        self.lease: HostLease | None = None
        self._thread = threading.Thread(target=self.loop.run_forever, name="shared tool host", daemon=True)
        self._thread.start()

    def open(self, heard: Callable[[JSONObject], None], removed: Callable[[], None]) -> HostProcess:
        """Lend the process to one ``Servers`` at a time; a second one gets a process of its own."""
        if self.lease is not None:
            return HostProcess(heard, removed)
        self.lease = HostLease(self, heard, removed)
        return self.lease

    async def start(self) -> None:
        """Start the process unless it runs. Runs in its own loop."""
        if self.process is None or not self.process.alive:
            self.process = HostProcess(self._heard, self._gone)
            await self.process.start()

    def close(self) -> None:
        """End the process and the thread."""
        if self.process is not None:
            asyncio.run_coroutine_threadsafe(self.process.close(), self.loop).result(SECONDS)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(SECONDS)
        self.loop.close()

    def _heard(self, message: JSONObject) -> None:
        if self.lease is not None:
            self.lease.hear(message)

    def _gone(self) -> None:
        if self.lease is not None:
            self.lease.lose()


class HostLease(HostProcess):
    """The shared process as one ``Servers`` sees it, from ``start`` to ``close``."""

    def __init__(self, host: SharedToolHost, heard: Callable[[JSONObject], None], removed: Callable[[], None]) -> None:
        super().__init__(heard, removed)
        self._host, self._heard, self._gone = host, heard, removed
        self._is_started = self._closed = False
        self._servers: set[str] = set()
        self._pending: set[asyncio.Future[JSON]] = set()

    @property
    def alive(self) -> bool:
        """Return whether the host runs."""
        process = self._host.process
        return self._is_started and not self._closed and process is not None and process.alive

    @property
    def pid(self) -> int:
        """The number of the process; 0 before it is started."""
        process = self._host.process
        return process.pid if process is not None and self._is_started else 0

    async def start(self) -> None:
        """Return when the process runs. Raises HostError."""
        await self._on_host_loop(self._host.start())
        self._is_started = True

    def tell(self, message: JSONObject) -> None:
        """Send a message that has no answer."""
        self._host.loop.call_soon_threadsafe(self._shared.tell, message)

    async def ask(self, message: JSONObject, began: Callable[[int], None] = lambda number: None) -> JSON:
        """Send a message and return its answer. Raises HostError."""
        if not self.alive:
            raise HostError("The process for tool servers does not run.")
        if message["do"] == "start":
            self._servers.add(message["server"])

        def begin(number: int) -> None:
            self._loop.call_soon_threadsafe(began, number)

        future = self._on_host_loop(self._shared.ask(message, begin))
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return await future

    async def close(self) -> None:
        """Stop the servers that were started and give the process back. Fails if anything of them is left."""
        if self._closed:
            return
        try:
            if self.alive:
                self._closed = True
                for server in self._servers:
                    await self._on_host_loop(self._shared.ask({"do": "stop", "server": server}))
                if self._pending:
                    await asyncio.wait(self._pending, timeout=SECONDS)
                assert not self._pending, "calls are pending though all servers are stopped"
                await eventually(lambda: not children(self._shared.pid), "all processes of stopped servers to end")
        finally:
            self._closed = True
            self._host.lease = None

    def hear(self, message: JSONObject) -> None:
        """Hand a message to the loop of the test."""
        self._loop.call_soon_threadsafe(self._hear, message)

    def lose(self) -> None:
        """Tell the loop of the test that the process ended by itself."""
        self._loop.call_soon_threadsafe(self._gone)

    def _hear(self, message: JSONObject) -> None:
        if not self._closed:
            self._heard(message)

    @property
    def _shared(self) -> HostProcess:
        assert self._host.process is not None
        return self._host.process

    def _on_host_loop(self, work: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
        """Run ``work`` in the loop of the process."""
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._host.loop))


def children(pid: int) -> list[int]:
    """Return the child processes of ``pid`` that are no zombies; none where the system has no /proc."""
    if not sys.platform.startswith("linux"):
        return []
    numbers = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    return [int(number) for number in numbers if not _is_zombie(int(number))]


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
