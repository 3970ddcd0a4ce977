"""Messages over a process's input and output, a line each, with a limit on how long a line may be and how many come.

The library's own reads lines of any length and starts the process itself, which is why this one is here.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter

from playground.jsonkit.foreign import parse
from playground.tool_host.limits import LONGEST_FRAME, LONGEST_LINE, LONGEST_LOG, LONGEST_MESSAGE, MOST_WAITING
from playground.tool_host.processes import CHUNK, ServerProcess
from playground.tool_host.tap import Tap
from playground.tool_host.throttle import Throttle

_ID: Final = re.compile(rb'"id"\s*:\s*(?:(\d{1,18})|"([^"\\]{1,200})")')
OURS: Final = "said by the client"  # in an error that stands for an answer which cannot be read
_NO_MESSAGE: Final = "The answer is not what JSON-RPC 2.0 asks for. The tape has it as it came."
EDGE: Final = 4_096  # bytes at either end of a line in which its id is looked for


class EndlessLineError(Exception):
    """A server wrote too much without the end of a line. The text is for people."""


class Outgoing:
    """What the library writes messages to: each is a line of the server's input."""

    def __init__(self, process: ServerProcess, tap: Tap) -> None:
        self._process, self._tap = process, tap
        self._lock = asyncio.Lock()
        self._waiting = 0  # messages that the server has not read yet, but for those on their way
        self.room = asyncio.Event()  # there are not too many of them
        self.room.set()

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message. Raises BrokenResourceError where the server reads no more."""
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        self._tap.sent(text, item.message)
        self._count(1)
        try:
            await self._write(text)
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        self._waiting += more
        (self.room.set if self._waiting <= MOST_WAITING else self.room.clear)()

    async def _write(self, text: str) -> None:
        async with self._lock:
            stdin = self._process.stdin
            try:
                if stdin is None or stdin.is_closing():
                    raise BrokenPipeError
                stdin.write(text.encode("utf-8", "surrogatepass") + b"\n")
                await stdin.drain()
            except (OSError, RuntimeError) as error:
                raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        """Nothing: the process's end closes its input."""

    async def __aenter__(self) -> Outgoing:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


async def read(
    process: ServerProcess,
    tap: Tap,
    outgoing: Outgoing,
    to: MemoryObjectSendStream[SessionMessage | Exception],
    said: Callable[[str], None],
) -> None:
    """Hand over what the server writes until it ends; ``to`` stays open. Raises EndlessLineError.

    ``said`` is told of a line that is no message, as a log is.
    """
    throttle = Throttle()
    async for line, size, whole in lines(process, throttle):
        await throttle.message()
        await outgoing.room.wait()  # it asks, and does not read the answers
        if not line.strip():
            continue
        if size > len(line):
            words = f"The answer is {size:,} bytes long; at most {LONGEST_MESSAGE:,} are read. It was let go."
            message: JSONRPCMessage | None = _failed(line, tap, words)
            tap.received(line[:LONGEST_FRAME].decode("utf-8", "replace"), size, message)
            tap.note(f"A message of {size:,} bytes was let go: at most {LONGEST_MESSAGE:,} are read.", error=True)
        elif (message := _message(line)) is not None:
            tap.received(line.decode("utf-8", "replace"), size, message)
        elif not whole:
            message = None
            tap.received(line.decode("utf-8", "replace"), size, None)
            tap.note("The server ended in the middle of a message.", error=True)
        else:
            text = line.decode("utf-8", "replace")
            message = _failed(line, tap, _NO_MESSAGE)
            tap.received(text, size, message)
            said(f"Written to its output, and no message: {text[:LONGEST_LOG]}")
        if message is not None:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await to.send(SessionMessage(message))


async def lines(process: ServerProcess, throttle: Throttle) -> AsyncIterator[tuple[bytes, int, bool]]:
    """Each line without its end, how long it was, and whether it had an end.

    Of one that is too long only its beginning and its end are there. Raises EndlessLineError.
    """
    if process.stdout is None:
        return
    line = _Line()
    while chunk := await process.stdout.read(CHUNK):
        await throttle.bytes(len(chunk))
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            line.add(piece)
            yield line.kept(), line.size, True
            line = _Line()
        line.add(rest)
        if line.size > LONGEST_LINE:
            raise EndlessLineError(
                f"The server wrote {LONGEST_LINE >> 20} MiB without the end of a line, and was stopped."
            )
    if line.size:
        yield line.kept(), line.size, False


class _Line:
    """A line as it comes, in pieces."""

    def __init__(self) -> None:
        self.size = 0
        self._whole = bytearray()
        self._head, self._tail = b"", b""

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        if self._head:
            self._tail = (self._tail + piece)[-EDGE:]
            return
        self._whole += piece
        if self.size > LONGEST_MESSAGE:
            self._head, self._tail = bytes(self._whole[:LONGEST_FRAME]), bytes(self._whole[-EDGE:])
            self._whole.clear()

    def kept(self) -> bytes:
        return self._head + self._tail if self._head else bytes(self._whole)


def _message(line: bytes) -> JSONRPCMessage | None:
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except (ValueError, RecursionError):
        pass
    try:  # very deep, or with odd numbers or halves of characters: readable with more care
        value = parse(line.decode("utf-8", "replace"))
        return jsonrpc_message_adapter.validate_python(value, by_name=False) if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        return None


def _failed(line: bytes, tap: Tap, words: str) -> JSONRPCError | None:
    """The error that stands for an answer which cannot be read; None where it cannot be told what it answers."""
    error = ErrorData(code=INTERNAL_ERROR, message=words, data=OURS)
    head, tail = line[:EDGE], line[-EDGE:]
    if b'"method"' in head:
        return None
    for found in (*_ID.finditer(head), *reversed(list(_ID.finditer(tail)))):
        number = int(found[1]) if found[1] is not None else found[2].decode("utf-8", "replace")
        if tap.is_open(number):
            return JSONRPCError(jsonrpc="2.0", id=number, error=error)
    return None
