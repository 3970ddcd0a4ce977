"""The parts between a client and its gateway: forward proxies, and a TLS front before a plain server.

All are real and run an event loop in a thread of their own, as ``tests.support.fault_server`` does. The proxies have a
table of names instead of a resolver, so that a test can reach a local server under any name; ``stalls`` lets it take a
request and never answer.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import socket
import ssl
import threading
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from tests.support.listening import stop_listening

Place = tuple[str, int]
_AUTHORITY = "Proxy-Authorization"


class _Listener:
    """Accepts connections on a loopback port and talks to each in a task."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name=type(self).__name__, daemon=True)

    def __enter__(self) -> Any:
        self._thread.start()
        self._ready.wait(5)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        self._loop.set_exception_handler(lambda _loop, _context: None)  # a client that refuses us is no news
        server = await asyncio.start_server(self._accept, sock=self._socket, ssl=self._tls)
        self._ready.set()
        await self._stop.wait()
        await stop_listening(server, self._tasks)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._guard(self.talk(reader, writer), writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guard(self, work: Coroutine[Any, Any, None], writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await work
        finally:
            writer.close()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError


class Front(_Listener):
    """Ends TLS and passes everything on to a plain server on ``port``."""

    def __init__(self, tls: ssl.SSLContext, port: int) -> None:
        super().__init__(tls)
        self._target: Place = ("127.0.0.1", port)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _join(reader, writer, *await asyncio.open_connection(*self._target))


class Proxy(_Listener):
    """A forward proxy: CONNECT for https, absolute addresses for http. ``asked`` holds each first line and login."""

    def __init__(self, names: Mapping[str, Place], login: str = "", *, stalls: bool = False) -> None:
        super().__init__()
        self.asked: list[tuple[str, str]] = []
        self._names = names
        self._login = login
        self._stalls = stalls

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip("\r\n").split("\r\n")
        method, target, version = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        _, _, coded = headers.get(_AUTHORITY.lower(), "").partition(" ")
        login = base64.b64decode(coded).decode()
        self.asked.append((first, login))
        if self._stalls:
            await self._stop.wait()
        if login != self._login:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            return
        parts = urlsplit(target if "//" in target else f"//{target}")
        place = self._names.get(parts.hostname or "")
        if place is None:
            writer.write(b"HTTP/1.1 502 Unknown Host\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            return
        out_reader, out_writer = await asyncio.open_connection(*place)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
        else:
            saved = [line for line in lines if not line.lower().startswith(("proxy-", "connection:"))]
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            head = [f"{method} {path} {version}", *saved, "Connection: close", "", ""]
            out_writer.write("\r\n".join(head).encode("latin-1"))
        await _join(reader, writer, out_reader, out_writer)


class Socks(_Listener):
    """A SOCKS 5 proxy. ``asked`` holds each host and port, as it was told them, and the login.

    Each of its replies goes out byte by byte. ``refuses`` is the number that it answers every request with; ``says``
    goes out in place of the reply of that number, counted from 0, and the connection is then closed, but for an empty
    one: after that it waits for ever. It has an empty table of names where it knows none.
    """

    def __init__(
        self, names: Mapping[str, Place], login: str = "", *, refuses: int = 0, says: tuple[int, bytes] | None = None
    ) -> None:
        super().__init__()
        self.asked: list[tuple[str, int, str]] = []
        self._names = names
        self._login = login
        self._refuses = refuses
        self._says = says

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = 0

        async def reply(data: bytes) -> None:
            nonlocal sent
            if self._says is not None and self._says[0] == sent:
                await self._say_otherwise(writer)
            sent += 1
            for number in data:
                writer.write(bytes((number,)))
                await writer.drain()
                await asyncio.sleep(0.002)

        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        expected = 2 if self._login else 0
        await reply(bytes((5, expected if expected in methods else 0xFF)))
        if expected not in methods:
            return
        login = ""
        if expected:
            _, length = await reader.readexactly(2)
            name = await reader.readexactly(length)
            login = f"{name.decode()}:{(await reader.readexactly((await reader.readexactly(1))[0])).decode()}"
            await reply(bytes((1, login != self._login)))
            if login != self._login:
                return
        *_, kind = await reader.readexactly(4)
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = str(ipaddress.ip_address(await reader.readexactly(4 if kind == 1 else 16)))
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append((host, port, login))
        place = self._names.get(host)
        refused = self._refuses or (0 if place else 4)
        await reply(bytes((5, refused, 0, 3, 3)) + b"out" + bytes(2))
        if place is not None and not refused:
            await _join(reader, writer, *await asyncio.open_connection(*place))

    async def _say_otherwise(self, writer: asyncio.StreamWriter) -> None:
        assert self._says is not None
        if not self._says[1]:
            await self._stop.wait()
        writer.write(self._says[1])
        await writer.drain()
        raise ConnectionResetError


async def _join(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    other_reader: asyncio.StreamReader,
    other_writer: asyncio.StreamWriter,
) -> None:
    """Pass bytes both ways until either side ends."""
    loop = asyncio.get_running_loop()
    ways = [loop.create_task(_pump(reader, other_writer)), loop.create_task(_pump(other_reader, writer))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        other_writer.close()
        await asyncio.gather(*ways, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
