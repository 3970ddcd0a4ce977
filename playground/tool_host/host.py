"""The main loop of the tool host: requests of the window arrive on its input, results leave on its output.

It ends when its input does, as when the window was killed, and ends all servers that it started.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Coroutine
from typing import Any, Final

from playground.domain.tool_servers import ToolServer
from playground.jsonkit.framed import unpack
from playground.jsonkit.values import JSON, JSONObject
from playground.system.tasks import Tasks
from playground.tool_host.connection import Connection
from playground.tool_host.outlet import Outlet
from playground.tool_host.processes import adopt_orphans, end_orphans
from playground.tool_host.words import FaultError

_ENDING: Final = 8.0  # seconds that all servers together have to end


class Host:
    """All servers, and the requests of the window. ``do`` takes one request."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._work_tasks = Tasks()
        self._servers: dict[str, Connection] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._requests: dict[int, asyncio.Task[None]] = {}

    def do(self, message: JSONObject) -> None:
        """Start work on a request of the window, or cancel an earlier one."""
        kind, number, server_id = message.get("do"), message.get("of", 0), message.get("server", "")
        if kind == "cancel":
            if (task := self._requests.get(number)) is not None:
                task.cancel()
        elif kind == "answer":
            for connection in self._servers.values():
                connection.questions.answer(message["ask"], message["given"])
        else:
            task = self._work_tasks.start(self._answer(number, server_id, self._work(message, server_id)))
            self._requests[number] = task
            task.add_done_callback(lambda _: self._requests.pop(number, None))

    async def close(self) -> None:
        """End all servers."""
        for connection in self._servers.values():
            connection.leave()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks.values(), timeout=_ENDING)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=_ENDING)

    async def _answer(self, number: int, server_id: str, work: Coroutine[Any, Any, JSON]) -> None:
        try:
            self._outlet.send({"is": "answer", "of": number, "value": await work})
        except FaultError as error:
            self._outlet.send({"is": "failed", "of": number, "words": str(error)})
        except asyncio.CancelledError:
            self._outlet.send({"is": "failed", "of": number, "words": "The call was called off."})
        except Exception as error:  # noqa: BLE001 - the window waits for a result
            details = self._servers[server_id].report.cut(str(error)) if server_id in self._servers else ""
            words = f"It failed ({type(error).__name__}{': ' if details else ''}{details})."
            self._outlet.send({"is": "failed", "of": number, "words": words})

    async def _work(self, message: JSONObject, server_id: str) -> JSON:
        kind = message["do"]
        if kind == "start":
            return await self._start(message)
        if kind == "stop":
            return await self._stop(server_id)
        connection = self._servers.get(server_id)
        if connection is None or connection.report.state != "ready":
            raise FaultError("The server does not run.")
        if kind == "change":
            return await connection.change(ToolServer.model_validate(message["spec"]))
        if kind == "call":
            number = message["of"]

            def send_progress(progress: JSONObject) -> None:
                self._outlet.send_latest(("progress", number), {"is": "progress", "of": number, **progress})

            return await connection.call(message["tool"], message["arguments"], message["ticket"], send_progress)
        if kind == "prompt":
            return await connection.prompt(message["name"], message["arguments"])
        if kind == "read":
            return await connection.read(message["uri"])
        if kind == "complete":
            return await connection.complete(message["ref"], message["argument"], message["value"], message["known"])
        if kind == "watch":
            return await connection.watch(message["uri"], message["on"])
        if kind == "level":
            return await connection.set_level(message["level"])
        raise FaultError(f"“{kind}” is no known request.")

    async def _start(self, message: JSONObject) -> JSON:
        server = ToolServer.model_validate(message["spec"])
        await self._stop(server.id)
        connection = self._servers[server.id] = Connection(
            server, message["secrets"], message.get("oauth", ""), self._outlet
        )
        task = self._tasks[server.id] = self._work_tasks.start(connection.run())
        try:
            problem = await asyncio.shield(connection.ready)
        except asyncio.CancelledError:
            connection.leave()
            task.cancel()
            raise
        if problem:
            raise FaultError(problem)
        return None

    async def _stop(self, server_id: str) -> JSON:
        connection, task = self._servers.get(server_id), self._tasks.get(server_id)
        if connection is not None and task is not None:
            connection.leave()
            if connection.report.state == "starting":
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([task])
            if self._servers.get(server_id) is connection:
                del self._servers[server_id], self._tasks[server_id]
        return None


def serve() -> int:
    """Serve requests from the standard input until it ends. Return the exit code."""
    inbox = os.fdopen(os.dup(0), "rb")
    outbox = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)  # keeps prints and child processes away from the pipes
    os.dup2(null, 1)
    adopt_orphans()
    asyncio.run(_serve(inbox, outbox))
    # At once: a thread may still wait at a pipe that has no writer.
    sys.stdout.flush()
    os._exit(0)


async def _serve(inbox: Any, outbox: Any) -> None:
    loop = asyncio.get_running_loop()
    outlet = Outlet(outbox)
    host = Host(outlet)
    ended = asyncio.Event()

    def read() -> None:
        try:
            while True:
                loop.call_soon_threadsafe(host.do, unpack(inbox))
        except (EOFError, OSError, RuntimeError):
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read, name="inbox", daemon=True).start()
    outlet.send({"is": "there"})
    await ended.wait()
    try:
        await host.close()
    finally:
        end_orphans()
        outlet.close()
