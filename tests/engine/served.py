"""A tool server of a session's, over a real process: one line asks it, and it answers on command."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Final, Self

from playground.domain.tool_servers import DataBlock, Hints, ServerAnswer, TextBlock
from playground.domain.tools import ToolDefinition
from playground.engine.session.tool_calls import Ticket, ToolCallError

PICTURE: Final = DataBlock(kind="image", data="iVBORw0KGgo=", mime="image/png")


def weather(**fields: Any) -> ToolDefinition:
    """The tool that the demo's model calls, of the server."""
    from tests.engine.debugging import WEATHER

    return WEATHER.model_copy(update={"server": "Sky", "group": "Sky", "hints": Hints(read_only=True), **fields})


class Sky:
    """Asks the process. It holds every call until ``let_go``.

    ``calls`` are those it was sent, by the tool's name there, ``cancelled`` those that it was told to forget.
    """

    def __init__(self) -> None:
        self.refused, self.trusts, self.named = "", True, False
        self.calls: list[tuple[str, str]] = []
        self.cancelled: list[str] = []
        self.expected: list[str] = []
        self.picture = False
        self._open: dict[str, tuple[Ticket, asyncio.Future[dict[str, Any]]]] = {}
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.engine.sky_server", stdin=pipe, stdout=pipe, stderr=pipe
        )
        self._reading = asyncio.get_running_loop().create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        if self._reading is not None:
            await self._reading

    def let_go(self) -> None:
        """Have it answer what it holds, and all that follows at once."""
        self._send({"do": "release"})

    def _send(self, line: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line).encode() + b"\n")

    async def _read(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        async for line in self._process.stdout:
            document = json.loads(line)
            if "cancelled" in document:
                self.cancelled.append(document["cancelled"])
            elif document["id"] in self._open:
                ticket, answer = self._open[document["id"]]
                if "progress" in document:
                    ticket.done, ticket.total = document["progress"], 2
                    ticket.log.append(document["log"])
                    ticket.changed()
                elif not answer.done():
                    answer.set_result(document)
        words = (await self._process.stderr.read()).decode().strip()
        for _, answer in self._open.values():
            if not answer.done():
                answer.set_exception(ToolCallError(f"“Sky” ended while it was asked. It said last: {words}"))

    # What a session asks

    def refusal(self, tool: ToolDefinition) -> str:
        return self.refused

    def mendable(self, tool: ToolDefinition) -> bool:
        return False

    async def mend(self, tool: ToolDefinition) -> None:
        raise AssertionError("there is nothing to agree to")

    def trusted(self, tool: ToolDefinition) -> bool:
        return self.trusts

    def allowed(self, tool: ToolDefinition) -> bool:
        return self.named

    def expect(self, tools: Iterable[ToolDefinition]) -> None:
        self.expected += [tool.name_there for tool in tools]

    async def ask(self, tool: ToolDefinition, arguments: str, ticket: Ticket) -> ServerAnswer:
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._open[ticket.id] = ticket, answer
        self.calls.append((tool.name_there, arguments))
        self._send({"do": "call", "id": ticket.id, "tool": tool.name_there, "arguments": json.loads(arguments)})
        try:
            message = await answer
        except asyncio.CancelledError:
            self._send({"do": "cancel", "id": ticket.id})
            raise
        finally:
            del self._open[ticket.id]
        blocks = (TextBlock(text=message["text"]), *((PICTURE,) if self.picture else ()))
        return ServerAnswer(
            server="Sky", tool=tool.name_there, blocks=blocks, is_error=message["error"], seconds=ticket.seconds
        )
