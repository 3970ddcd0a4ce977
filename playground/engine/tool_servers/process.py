"""The process in which tool servers are spoken with, from the window's side: started, told, listened to, ended.

Its input ends with this process, however that ends, and then it ends all servers by itself. When it is killed, its
servers are ended from here. Two threads read and write its pipes, and hand what came to the loop; nothing here waits in
the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Final, Protocol

from playground.engine.questions.child_process import ChildProcess
from playground.jsonkit.framed import pack, unpack
from playground.jsonkit.values import JSON, JSONObject

ARGUMENT: Final = "--tool-host"  # of the command line
_START: Final = 60.0  # seconds in which the process has to be there: a cold disk may need some
_END: Final = 20.0  # seconds in which it has to have ended all servers
_GO: Final = 0.004  # seconds that what it tells may take in one go


class HostError(Exception):
    """The process did not do what was asked; the text is for people."""


class ToolHost(Protocol):
    """A process in which tool servers are spoken with, as ``Servers`` uses it; see ``HostProcess``."""

    @property
    def alive(self) -> bool: ...

    @property
    def pid(self) -> int: ...

    async def start(self) -> None: ...

    def tell(self, message: JSONObject) -> None: ...

    async def ask(self, message: JSONObject, began: Callable[[int], None] = ...) -> JSON: ...

    async def close(self) -> None: ...


class HostProcess:
    """One process. ``heard`` is called in the loop with what it tells; ``gone`` when it ended by itself."""

    def __init__(self, heard: Callable[[JSONObject], None], gone: Callable[[], None]) -> None:
        self._heard, self._gone = heard, gone
        self._loop = asyncio.get_running_loop()
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._inbox: list[JSONObject] = []
        self._lock = threading.Lock()
        self._process: ChildProcess | None = None
        self._there: asyncio.Future[None] = self._loop.create_future()
        self._over = asyncio.Event()
        self._answers: dict[int, asyncio.Future[JSON]] = {}
        self._number = 0
        self._closing = False
        self._groups: set[int] = set()  # of the servers that run

    async def start(self) -> None:
        """Return when it is there. Raises HostError."""
        threading.Thread(target=self._run, name="tool host", daemon=True).start()
        try:
            await asyncio.wait_for(asyncio.shield(self._there), _START)
        except TimeoutError:
            self.kill()
            raise HostError("The process for tool servers did not start in time. Try again.") from None

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._there.done() and not self._closing and not self._over.is_set()

    @property
    def pid(self) -> int:
        """Its number; 0 before it was started."""
        return self._process.pid if self._process is not None else 0

    def tell(self, message: JSONObject) -> None:
        """Tell it something that has no answer."""
        self._outbox.put(pack(message))

    async def ask(self, message: JSONObject, began: Callable[[int], None] = lambda number: None) -> JSON:
        """Ask for something; cancelled, it is called off. Raises HostError."""
        if not self.alive:
            raise HostError("The process for tool servers does not run.")
        self._number += 1
        number = self._number
        future = self._answers[number] = self._loop.create_future()
        began(number)
        try:
            try:
                self.tell({**message, "of": number})
            except (ValueError, RecursionError, TypeError) as error:
                raise HostError(f"It cannot be sent: {error}") from None
            return await future
        except asyncio.CancelledError:
            self.tell({"do": "cancel", "of": number})
            raise
        finally:
            del self._answers[number]

    async def close(self) -> None:
        """End it and all servers; return when it is gone."""
        self._closing = True
        self._outbox.put(None)
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._over.wait(), _END)
        except TimeoutError:
            self.kill()

    def kill(self) -> None:
        """End it at once, and the servers with it."""
        self._closing = True
        self._outbox.put(None)
        if (process := self._process) is not None:
            process.kill()
        self._kill_servers()

    def _kill_servers(self) -> None:
        """End the groups of servers whose host was killed: it could not do so itself."""
        if sys.platform != "win32":
            for group in self._groups:
                with contextlib.suppress(OSError):
                    os.killpg(group, signal.SIGKILL)
        self._groups.clear()

    # In the loop

    def _take(self) -> None:
        with self._lock:
            messages, self._inbox = self._inbox, []
        until, taken = time.monotonic() + _GO, 0
        try:
            while taken < len(messages) and time.monotonic() <= until:
                taken += 1
                self._take_one(messages[taken - 1])
        finally:  # whoever hears one may fail, and the others are heard all the same
            if left := messages[taken:]:
                with self._lock:
                    self._inbox[:0] = left
                self._loop.call_soon(self._take)

    def _take_one(self, message: JSONObject) -> None:
        kind = message.get("is")
        if kind in ("answer", "failed"):
            future = self._answers.get(message["of"])
            if future is not None and not future.done():
                if kind == "answer":
                    future.set_result(message["value"])
                else:
                    future.set_exception(HostError(message["words"]))
        elif kind == "there":
            if not self._there.done():
                self._there.set_result(None)
        elif kind == "runs":
            (self._groups.add if message["on"] else self._groups.discard)(message["group"])
        else:
            self._heard(message)

    def _ended(self, words: str) -> None:
        self._over.set()
        error = HostError(words)
        if not self._there.done():
            self._there.set_exception(error)
        for future in self._answers.values():
            if not future.done():
                future.set_exception(error)
        if not self._closing:
            self._kill_servers()
            self._gone()

    # In threads

    def _run(self) -> None:
        """Start it, and hand over what it says until it ends."""
        words = "The process for tool servers ended by itself, and the servers with it. They can be started again."
        try:
            process = self._process = ChildProcess(ARGUMENT)
        except OSError as error:
            self._in_loop(self._ended, f"The process for tool servers could not be started: {error.strerror or error}.")
            return
        threading.Thread(target=self._write, args=(process,), name="tool host, in", daemon=True).start()
        try:
            while True:
                message = unpack(process.output)
                with self._lock:
                    self._inbox.append(message)
                    first = len(self._inbox) == 1
                if first:
                    self._in_loop(self._take)
        except (EOFError, OSError, ValueError):
            pass
        process.wait(_END)
        self._in_loop(self._ended, words)

    def _write(self, process: ChildProcess) -> None:
        with contextlib.suppress(OSError, ValueError):
            while (data := self._outbox.get()) is not None:
                process.input.write(data)
                process.input.flush()
        with contextlib.suppress(OSError):
            process.input.close()

    def _in_loop(self, work: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is there to be told
            self._loop.call_soon_threadsafe(work, *arguments)
