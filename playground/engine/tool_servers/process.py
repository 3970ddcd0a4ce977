"""The client of the tool-host process, in which all tool servers are connected.

The input of the process ends with this one, however that ends, and then it ends all servers. If the process is killed,
its servers are killed from here. Two threads read and write its pipes; messages are handled in the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from playground.engine.questions.child_process import ChildProcess
from playground.jsonkit.framed import pack, unpack
from playground.jsonkit.values import JSON, JSONObject

ARGUMENT: Final = "--tool-host"  # of the command line
_START_SECONDS: Final = 60.0  # until the process runs: reading its code from a cold disk takes long
_END_SECONDS: Final = 20.0  # until all servers have ended
_BACKLOG: Final = 16  # messages that wait for the loop before reading pauses


class HostError(Exception):
    """The process failed at a request; the text is for people."""


class HostProcess:
    """One tool-host process. ``on_message`` gets its notices; ``on_end`` is called when it ended by itself."""

    def __init__(self, on_message: Callable[[JSONObject], None], on_end: Callable[[], None]) -> None:
        self._on_message, self._on_end = on_message, on_end
        self._loop = asyncio.get_running_loop()
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._backlog = threading.Semaphore(_BACKLOG)
        self._process: ChildProcess | None = None
        self._started: asyncio.Future[None] = self._loop.create_future()
        self._ended = asyncio.Event()
        self._answers: dict[int, asyncio.Future[JSON]] = {}
        self._number = 0
        self._closing = False
        self._groups: set[int] = set()  # process groups of the running servers

    async def start(self) -> None:
        """Return when the process runs. Raises HostError."""
        threading.Thread(target=self._run, name="tool host", daemon=True).start()
        try:
            await asyncio.wait_for(asyncio.shield(self._started), _START_SECONDS)
        except TimeoutError:
            self.kill()
            raise HostError("The process for tool servers did not start in time. Try again.") from None

    @property
    def alive(self) -> bool:
        """True while the process takes requests."""
        return self._started.done() and not self._closing and not self._ended.is_set()

    @property
    def pid(self) -> int:
        """The process id; 0 before the start."""
        return self._process.pid if self._process is not None else 0

    def tell(self, message: JSONObject) -> None:
        """Send a message that has no answer."""
        self._outbox.put(pack(message))

    async def ask(self, message: JSONObject, began: Callable[[int], None] = lambda number: None) -> JSON:
        """Send a request and return its answer. ``began`` gets its number, by which progress refers to it.

        Cancelling the coroutine cancels the request. Raises HostError.
        """
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
        """End the process with all servers and return when it has ended."""
        self._closing = True
        self._outbox.put(None)
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._ended.wait(), _END_SECONDS)
        except TimeoutError:
            self.kill()

    def kill(self) -> None:
        """Kill the process and the servers."""
        self._closing = True
        self._outbox.put(None)
        if self._process is not None:
            self._process.kill()
        self._kill_servers()

    def _kill_servers(self) -> None:
        """Kill the process groups of the servers, which a killed host leaves behind."""
        if sys.platform != "win32":
            for group in self._groups:
                with contextlib.suppress(OSError):
                    os.killpg(group, signal.SIGKILL)
        self._groups.clear()

    # In the loop

    def _receive(self, message: JSONObject) -> None:
        self._backlog.release()
        match message.get("is"):
            case "answer" | "failed" as kind:
                future = self._answers.get(message["of"])
                if future is None or future.done():
                    return
                if kind == "answer":
                    future.set_result(message["value"])
                else:
                    future.set_exception(HostError(message["words"]))
            case "there":
                if not self._started.done():
                    self._started.set_result(None)
            case "runs":
                (self._groups.add if message["on"] else self._groups.discard)(message["group"])
            case _:
                self._on_message(message)

    def _finish(self, words: str) -> None:
        self._ended.set()
        for future in (self._started, *self._answers.values()):
            if not future.done():
                future.set_exception(HostError(words))
        if not self._closing:
            self._kill_servers()
            self._on_end()

    # In threads

    def _run(self) -> None:
        """Start the process and read its messages until it ends."""
        try:
            process = self._process = ChildProcess(ARGUMENT)
        except OSError as error:
            words = f"The process for tool servers could not be started: {error.strerror or error}."
            self._in_loop(self._finish, words)
            return
        threading.Thread(target=self._write, args=(process,), name="tool host, in", daemon=True).start()
        with contextlib.suppress(EOFError, OSError, ValueError, RuntimeError):  # the last one of a closed loop
            while True:
                message = unpack(process.output)
                self._backlog.acquire(timeout=_END_SECONDS)  # a loop that ended takes no messages
                self._loop.call_soon_threadsafe(self._receive, message)
        process.wait(_END_SECONDS)
        words = "The process for tool servers ended by itself, and the servers with it. They can be started again."
        self._in_loop(self._finish, words)

    def _write(self, process: ChildProcess) -> None:
        with contextlib.suppress(OSError, ValueError):
            while (data := self._outbox.get()) is not None:
                process.input.write(data)
                process.input.flush()
        with contextlib.suppress(OSError):
            process.input.close()

    def _in_loop(self, work: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # a closed loop has no listeners
            self._loop.call_soon_threadsafe(work, *arguments)
