"""A raw TCP server that plays a script byte for byte, to be a gateway that misbehaves in one chosen way.

It runs an event loop in a thread of its own, so it serves tests with any loop or none::

    with FaultServer() as server:
        server.play(send(head()), send(sse('{"a":1}')), reset())
        ...                                     # talk to server.url
        server.requests[0].json["model"]        # what it was sent
        server.wait_closed()                    # how and when the peer closed: "fin" or "reset"

A script is a list of steps; one script is played per request, on whatever connection it comes. ``play`` sets the
script for all further requests, ``play_next`` queues one for a single request. After its last step the server
closes the connection, unless that step is ``keep()`` (wait for another request) or ``hold()`` (say nothing more).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any

from tests.support.listening import stop_listening


@dataclass(frozen=True)
class Step:
    """One thing the server does. Made by the functions below."""

    kind: str
    data: bytes = b""
    seconds: float = 0.0


def send(*data: bytes) -> Step:
    """These bytes, in one write."""
    return Step("send", b"".join(data))


def sleep(seconds: float) -> Step:
    """A pause; it ends early when the peer closes."""
    return Step("sleep", seconds=seconds)


def pause() -> Step:
    """Nothing until ``go_on`` is called, so that what follows comes after what a test has seen; or the peer closes."""
    return Step("pause")


def hold() -> Step:
    """Nothing more, with the socket open, until the peer closes it."""
    return Step("hold")


def keep() -> Step:
    """Wait for another request on the same connection."""
    return Step("keep")


def reset() -> Step:
    """A TCP reset instead of an orderly close."""
    return Step("reset")


def drip(data: bytes, sizes: int = 1, seconds: float = 0.0) -> list[Step]:
    """``data`` in writes of ``sizes`` bytes, with a pause after each."""
    pieces = [data[index : index + sizes] for index in range(0, len(data), sizes)]
    return [step for piece in pieces for step in (Step("send", piece), Step("sleep", seconds=seconds))]


def head(
    status: int = 200, content_type: str | None = "text/event-stream", *lines: str, chunked: bool = False
) -> bytes:
    """A status line and headers. Without a length and not chunked, the body ends when the connection does."""
    out = [f"HTTP/1.1 {status} Scripted"]
    if content_type is not None:
        out.append(f"Content-Type: {content_type}")
    if chunked:
        out.append("Transfer-Encoding: chunked")
    return "\r\n".join([*out, *lines, "", ""]).encode("latin-1")


def whole(status: int, content_type: str | None, body: bytes, *lines: str) -> bytes:
    """A complete answer with a true Content-Length."""
    return head(status, content_type, f"Content-Length: {len(body)}", *lines) + body


def sse(*payloads: str) -> bytes:
    """Each payload as a server-sent event."""
    return "".join(f"data: {payload}\n\n" for payload in payloads).encode()


def chunk(data: bytes) -> bytes:
    """``data`` as one chunk of the chunked encoding; empty data is the last chunk."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def text_chunk(content: str, finish: str | None = None) -> str:
    """A chat completion chunk (specification, section 2.5) as JSON."""
    choice = {"index": 0, "delta": {"content": content} if content else {}, "finish_reason": finish}
    return json.dumps({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})


@dataclass(frozen=True)
class Captured:
    """One request as received."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    raw: bytes
    connection: int

    def header(self, name: str) -> str | None:
        """The first header of that name."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


@dataclass
class _Peer:
    """One connection: its reader task fills ``buffer`` and sets ``closed`` when the other side goes away."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int
    buffer: bytearray = field(default_factory=bytearray)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)


class FaultServer:
    """The server. ``url`` is its base URL; ``tls`` makes it speak TLS."""

    def __init__(self, tls: ssl.SSLContext | None = None, *, reads_request: bool = True) -> None:
        self.requests: list[Captured] = []
        self.closings: list[tuple[str, float]] = []  # ("fin" or "reset", time.monotonic())
        self.connections = 0
        self._tls = tls
        self._reads_request = reads_request
        self._script: list[Step] = []
        self._queue: deque[list[Step]] = deque()
        self._places: dict[str, list[Step]] = {}
        self._once_at: dict[str, deque[list[Step]]] = {}
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._stop = asyncio.Event()
        self._going_on = asyncio.Semaphore(0)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fault server", daemon=True)

    @property
    def url(self) -> str:
        """The base URL, version segment included."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}/v1"

    def play(self, *steps: Step | list[Step]) -> None:
        """The script for all further requests."""
        self._script = _flat(steps)

    def play_next(self, *steps: Step | list[Step]) -> None:
        """The script for one request, before ``play``'s; several calls queue up."""
        self._queue.append(_flat(steps))

    def play_at(self, path: str, *steps: Step | list[Step]) -> None:
        """The script for requests to that path, with or without its query, before ``play``'s."""
        self._places[path] = _flat(steps)

    def play_once_at(self, path: str, *steps: Step | list[Step]) -> None:
        """The script for one request to that path, before ``play_at``'s; several calls queue up."""
        self._once_at.setdefault(path, deque()).append(_flat(steps))

    def go_on(self) -> None:
        """End one ``pause``, or the next one."""
        self._loop.call_soon_threadsafe(self._going_on.release)

    def wait_closed(self, count: int = 1, timeout: float = 60.0) -> tuple[str, float]:
        """Wait until the peer closed ``count`` connections; the last one's kind and time. Raises TimeoutError."""
        self._wait(lambda: len(self.closings) >= count, timeout, "the peer did not close")
        return self.closings[count - 1]

    def wait_requests(self, count: int = 1, timeout: float = 60.0) -> None:
        """Wait until ``count`` requests were received whole. Raises TimeoutError."""
        self._wait(lambda: len(self.requests) >= count, timeout, "no request came")

    def __enter__(self) -> FaultServer:
        self._thread.start()
        self._ready.wait(5)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    def _wait(self, ready: Callable[[], bool], timeout: float, words: str) -> None:
        with self._changed:
            if not self._changed.wait_for(ready, timeout):
                raise TimeoutError(words)

    def _tell(self, change: Callable[[], None]) -> None:
        with self._changed:
            change()
            self._changed.notify_all()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            asyncio.set_event_loop(None)
            self._loop.close()

    async def _serve(self) -> None:
        # A hostile or impatient peer is the point of these tests; what it does to a transport is not news.
        self._loop.set_exception_handler(lambda _loop, _context: None)
        server = await asyncio.start_server(self._accept, sock=self._socket, ssl=self._tls)
        self._ready.set()
        await self._stop.wait()
        await stop_listening(server, self._tasks)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:  # connections with unwritten data, and those not answered yet
            with contextlib.suppress(AttributeError):  # one that wrote its last after close() has no loop
                writer.transport.abort()
        while self._writers:
            await self._lost(self._writers.pop())

    async def _lost(self, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(20):
                await writer.wait_closed()

    def _spawn(self, coro: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(coro)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        self._spawn(self._talk(_Peer(reader, writer, self.connections)))

    async def _talk(self, peer: _Peer) -> None:
        listener = self._spawn(self._listen(peer))
        try:
            while not peer.closed.is_set():
                if self._reads_request and not await self._receive(peer):
                    return
                script = self._queue.popleft() if self._queue else self._script_here()
                if not await self._perform(peer, script):
                    return
        finally:
            if not peer.writer.transport.is_closing():
                peer.writer.close()
            listener.cancel()

    def _script_here(self) -> list[Step]:
        target = self.requests[-1].target if self._reads_request else ""
        if once := self._once_at.get(target):
            return once.popleft()
        return self._places.get(target) or self._places.get(target.partition("?")[0]) or self._script

    async def _listen(self, peer: _Peer) -> None:
        """Read all the time, so that a close is seen while a script plays."""
        kind = "fin"
        try:
            while data := await peer.reader.read(65536):
                peer.buffer += data
                peer.news.set()
        except OSError:
            kind = "reset"
        self._tell(lambda: self.closings.append((kind, time.monotonic())))
        peer.closed.set()
        peer.news.set()

    async def _receive(self, peer: _Peer) -> bool:
        """Wait for a whole request and keep it; False when the peer closed instead."""
        while True:
            peer.news.clear()
            request = _parse(bytes(peer.buffer), peer.number)
            if request is not None:
                del peer.buffer[: len(request.raw)]
                self._tell(partial(self.requests.append, request))
                return True
            if peer.closed.is_set():
                return False
            await peer.news.wait()

    async def _perform(self, peer: _Peer, script: list[Step]) -> bool:
        """Play one script; True when the connection stays for another request."""
        for step in script:
            if step.kind == "send":
                try:
                    peer.writer.write(step.data)
                    await peer.writer.drain()
                except OSError:
                    return False
            elif step.kind == "sleep":
                if step.seconds == 0:
                    await asyncio.sleep(0)
                elif await _happens(peer.closed, step.seconds):
                    return False
            elif step.kind == "pause":
                await self._paused(peer)
            elif step.kind == "hold":
                await peer.closed.wait()
                return False
            elif step.kind == "keep":
                return True
            elif step.kind == "reset":
                raw = peer.writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                peer.writer.transport.abort()
                return False
        return False

    async def _paused(self, peer: _Peer) -> None:
        ends = {self._spawn(_is_over(self._going_on.acquire())), self._spawn(_is_over(peer.closed.wait()))}
        _, others = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for second in others:
            second.cancel()


async def _is_over(wait: Coroutine[Any, Any, bool]) -> None:
    await wait


async def _happens(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True


def _flat(steps: tuple[Step | list[Step], ...]) -> list[Step]:
    return [item for step in steps for item in (step if isinstance(step, list) else [step])]


def _parse(raw: bytes, connection: int) -> Captured | None:
    """The request at the start of ``raw``; None while it is not whole."""
    top, blank, rest = raw.partition(b"\r\n\r\n")
    if not blank:
        return None
    first, *lines = top.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = tuple((name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines))
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    if len(rest) < length:
        return None
    return Captured(method, target, headers, rest[:length], raw[: len(top) + 4 + length], connection)
