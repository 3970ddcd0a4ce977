"""Messages over the input and output of a server's process: one line each, of limited length and rate.

The library's own transport reads lines of any length and starts the process itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter

from playground.jsonkit.foreign import parse
from playground.system.tasks import Tasks
from playground.tool_host.limits import LONGEST_FRAME, LONGEST_LINE, LONGEST_LOG, LONGEST_MESSAGE, MOST_WAITING
from playground.tool_host.processes import CHUNK, ServerProcess
from playground.tool_host.report import ServerReport
from playground.tool_host.tap import Tap
from playground.tool_host.throttle import Throttle
from playground.tool_host.words import exit_words

Incoming = SessionMessage | Exception

_ID: Final = re.compile(rb'"id"\s*:\s*(?:(\d{1,18})|"([^"\\]{1,200})")')
_NOT_JSON_RPC: Final = "The answer violates JSON-RPC 2.0. The tape holds it unchanged."
_EDGE: Final = 4_096  # bytes at either end of a line in which its id is searched
_LAST_LINES: Final = 5  # of the error output, in the reason of an end
_EXIT_WAIT: Final = 0.5  # seconds for the last error output and the exit code after the output has ended


class EndlessLineError(Exception):
    """A server wrote too much without the end of a line. The text is for people."""


class MessageStream:
    """A stream of messages that nothing has to be done for when it is closed."""

    async def aclose(self) -> None:
        """Close the stream."""

    async def __aenter__(self) -> MessageStream:
        return self

    async def __aexit__(self, *details: object) -> None:
        await self.aclose()


class LineWriter(MessageStream):
    """Writes each message as a line to the server's input, which the end of the process closes."""

    def __init__(self, process: ServerProcess, tap: Tap) -> None:
        self._process, self._tap = process, tap
        self._lock = asyncio.Lock()
        self._unread = 0  # messages that the server has not read
        self.has_room = asyncio.Event()  # not set while there are too many of them
        self.has_room.set()

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message. Raises BrokenResourceError if the server has closed its input."""
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        self._tap.sent(text, item.message)
        self._count(1)
        try:
            await self._write(text)
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        self._unread += change
        (self.has_room.set if self._unread <= MOST_WAITING else self.has_room.clear)()

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


@asynccontextmanager
async def open_command(report: ServerReport) -> AsyncIterator[tuple[MemoryObjectReceiveStream[Incoming], LineWriter]]:
    """Start the server's command and yield its streams of messages; end it afterwards. Raises OSError, ValueError."""
    server, secrets = report.server, report.secrets
    environment = get_default_environment() | server.environment
    environment |= {name: secrets.get(f"env:{name}", "") for name in server.secret_environment}
    process = await ServerProcess.start(server.command, server.arguments, environment, server.folder)
    tasks = Tasks()
    report.set_process_group(process.pid, runs=True)
    send, receive = anyio.create_memory_object_stream[Incoming](0)
    errors = tasks.start(_read_stderr(process, report))
    writer = LineWriter(process, report.tap)

    async def read() -> None:
        reason = "What it says could not be read any more."
        try:
            await read_messages(process, report, writer, send)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(errors), _EXIT_WAIT)
            await process.wait(_EXIT_WAIT)
            last_lines = list(report.stderr)[-_LAST_LINES:]
            reason = exit_words(process.exit_code)
            reason += " Its last words: " + " | ".join(last_lines) if last_lines else ""
        except EndlessLineError as error:
            reason = str(error)
        finally:
            report.end(reason)
            send.close()  # after the report: pending requests fail with its reason

    tasks.start(read())
    try:
        yield receive, writer
    finally:
        receive.close()
        try:
            await process.end()
        finally:
            report.set_process_group(process.pid, runs=False)
            await tasks.end()
            send.close()


async def _read_stderr(process: ServerProcess, report: ServerReport) -> None:
    if process.stderr is None:
        return
    rest = b""
    while chunk := await process.stderr.read(CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines[-200:]:
            report.add_stderr_line(line[: LONGEST_LOG * 4].decode("utf-8", "replace").rstrip("\r"))
        rest = rest[: LONGEST_LOG * 4]
        await asyncio.sleep(0.001 if len(lines) < 100 else 0.05)
    if rest:
        report.add_stderr_line(rest.decode("utf-8", "replace"))


async def read_messages(
    process: ServerProcess, report: ServerReport, writer: LineWriter, target: MemoryObjectSendStream[Incoming]
) -> None:
    """Pass on the server's messages until its output ends; ``target`` stays open. Raises EndlessLineError."""
    throttle, tap = Throttle(), report.tap
    async for line, size, is_complete in read_lines(process, throttle):
        await throttle.message()
        await writer.has_room.wait()  # a server that sends requests has to read their answers
        if not line.strip():
            continue
        if size > len(line):
            problem = f"The answer is {size:,} bytes long; at most {LONGEST_MESSAGE:,} are read. It was discarded."
            message: JSONRPCMessage | None = _unreadable_answer(line, tap, problem)
            tap.received(line[:LONGEST_FRAME].decode("utf-8", "replace"), size, message)
            tap.note(f"A message of {size:,} bytes was discarded: at most {LONGEST_MESSAGE:,} are read.", error=True)
        elif (message := _parse(line)) is not None:
            tap.received(line.decode("utf-8", "replace"), size, message)
        elif not is_complete:
            tap.received(line.decode("utf-8", "replace"), size, None)
            tap.note("The server ended in the middle of a message.", error=True)
        else:
            text = line.decode("utf-8", "replace")
            message = _unreadable_answer(line, tap, _NOT_JSON_RPC)
            tap.received(text, size, message)
            report.log("warning", "", f"Written to its output, and no message: {text[:LONGEST_LOG]}")
        if message is not None:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await target.send(SessionMessage(message))


async def read_lines(process: ServerProcess, throttle: Throttle) -> AsyncIterator[tuple[bytes, int, bool]]:
    """Yield each line of the output without its end, its size in bytes, and whether it has an end.

    A line above LONGEST_MESSAGE is cut to its first LONGEST_FRAME bytes and its tail. Raises EndlessLineError.
    """
    if process.stdout is None:
        return
    line = _Line()
    while chunk := await process.stdout.read(CHUNK):
        await throttle.bytes(len(chunk))
        *ends, rest = chunk.split(b"\n")
        for piece in ends:
            line.add(piece)
            yield line.content(), line.size, True
            line = _Line()
        line.add(rest)
        if line.size > LONGEST_LINE:
            raise EndlessLineError(
                f"The server wrote {LONGEST_LINE >> 20} MiB without the end of a line, and was stopped."
            )
    if line.size:
        yield line.content(), line.size, False


class _Line:
    """A line that arrives in pieces; of a long one only the head and the tail are stored."""

    def __init__(self) -> None:
        self.size = 0
        self._buffer = bytearray()
        self._head, self._tail = b"", b""

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        if self._head:
            self._tail = (self._tail + piece)[-_EDGE:]
            return
        self._buffer += piece
        if self.size > LONGEST_MESSAGE:
            self._head, self._tail = bytes(self._buffer[:LONGEST_FRAME]), bytes(self._buffer[-_EDGE:])
            self._buffer.clear()

    def content(self) -> bytes:
        return self._head + self._tail if self._head else bytes(self._buffer)


def _parse(line: bytes) -> JSONRPCMessage | None:
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except (ValueError, RecursionError):
        pass
    try:  # our own parser reads deep nesting, odd numbers and lone surrogates
        value = parse(line.decode("utf-8", "replace"))
        return jsonrpc_message_adapter.validate_python(value, by_name=False) if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        return None


def _unreadable_answer(line: bytes, tap: Tap, problem: str) -> JSONRPCError | None:
    """Return an error that takes the place of an answer, and set its problem; None if it answers no open request."""
    head, tail = line[:_EDGE], line[-_EDGE:]
    if b'"method"' in head:
        return None
    for match in (*_ID.finditer(head), *reversed(list(_ID.finditer(tail)))):
        number = int(match[1]) if match[1] is not None else match[2].decode("utf-8", "replace")
        if tap.set_problem(number, problem):
            return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=INTERNAL_ERROR, message=problem))
    return None
