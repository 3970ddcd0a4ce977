"""The streams of messages to one server, however it is reached, each message on its tape."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from playground.domain.tool_servers import Via
from playground.tasks import Tasks
from playground.tool_host import stdio
from playground.tool_host.limits import LONGEST_LOG
from playground.tool_host.owner import Owner
from playground.tool_host.processes import CHUNK, ServerProcess
from playground.tool_host.words import exit_words

_LAST: Final = 5  # lines of its error output that are said when it dies
_LAST_WORDS: Final = 0.5  # seconds in which what it wrote last has to be there


@asynccontextmanager
async def opened(connection: Owner) -> AsyncIterator[tuple[Any, Any]]:
    """Streams to read from and to write to. Raises OSError and what the library raises."""
    if connection.server.via == Via.STDIO:
        async with _command(connection) as streams:
            yield streams
    else:
        from playground.tool_host.remote import remote

        async with remote(connection) as streams:
            yield streams


@asynccontextmanager
async def _command(connection: Owner) -> AsyncIterator[tuple[Any, Any]]:
    server, secrets = connection.server, connection.secrets
    environment = get_default_environment() | server.environment
    environment |= {name: secrets.get(f"env:{name}", "") for name in server.secret_environment}
    process = await ServerProcess.start(server.command, server.arguments, environment, server.folder)
    tasks = Tasks()
    connection.runs(process.pid, True)
    send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    errors = tasks.start(_errors(connection, process))

    outgoing = stdio.Outgoing(process, connection.tap)

    async def read() -> None:
        words = ""
        try:
            await stdio.read(process, connection.tap, outgoing, send, lambda line: connection.log("warning", "", line))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(errors), _LAST_WORDS)
            await process.ends(_LAST_WORDS)
            words = _death(connection, process)
        except stdio.EndlessLineError as error:
            words = str(error)
        finally:
            connection.ended(words or "What it says could not be read any more.")
            send.close()  # only now: whoever waits for an answer hears why there is none

    tasks.start(read())
    try:
        yield receive, outgoing
    finally:
        receive.close()
        try:
            await process.end()
        finally:
            connection.runs(process.pid, False)
            await tasks.end()
            send.close()


async def _errors(connection: Owner, process: ServerProcess) -> None:
    if process.stderr is None:
        return
    rest = b""
    while chunk := await process.stderr.read(CHUNK):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole[-200:]:
            connection.heard_error(line[: LONGEST_LOG * 4].decode("utf-8", "replace").rstrip("\r"))
        rest = rest[: LONGEST_LOG * 4]
        await asyncio.sleep(0.001 if len(whole) < 100 else 0.05)
    if rest:
        connection.heard_error(rest.decode("utf-8", "replace"))


def _death(connection: Owner, process: ServerProcess) -> str:
    last = list(connection.stderr)[-_LAST:]
    said = " Its last words: " + " | ".join(last) if last else ""
    return exit_words(process.ended) + said
