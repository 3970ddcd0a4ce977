"""Calls of tools by sessions: permitted calls, the limit of simultaneous calls, and checks of the answers.

The decision whether a call runs by itself is made in ``domain.debugging``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from playground.domain.hidden import short_name, show_hidden
from playground.domain.tool_servers import ServerAnswer, ToolServer, Via
from playground.domain.tools import ToolDefinition
from playground.engine.questions import checking
from playground.engine.questions.kinds import StructuredFits
from playground.engine.session.tool_calls import Ticket, ToolCallError
from playground.engine.tool_servers.events import State
from playground.engine.tool_servers.tools import refusal, trust_of
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSONObject

if TYPE_CHECKING:
    from playground.engine.tool_servers.servers import Servers

AT_ONCE: Final = 8  # simultaneous calls of one server; further calls wait
LOOKED_AT: Final = 100  # tools that are checked before a run for servers to start ahead
MOST_PROBLEMS: Final = 20  # of structured content that are reported


class ServerToolCaller:
    """Calls the tools of a workspace's or a command's servers. ``servers`` creates them at the first use.

    ``named`` are patterns of the tools that may run by themselves: ``server.tool`` or the name of a tool alone, with
    ``*`` for any characters. A destructive tool is matched by its whole name only.
    """

    def __init__(self, servers: Callable[[], Servers], named: Collection[str] = ()) -> None:
        self._servers = servers
        self._named = tuple(named)
        self._slots: dict[str, asyncio.Semaphore] = {}
        #: Asks a person to confirm a server by its id; None without a person.
        self.confirm: Callable[[str], Awaitable[bool]] | None = None

    def server(self, tool: ToolDefinition) -> ToolServer | None:
        """Return the server of a tool, or None."""
        return self._servers().book.by_name(tool.server) if tool.server else None

    # Permissions

    def refusal(self, tool: ToolDefinition) -> str:
        """Return the reason why a tool cannot be called on its server now; empty where it can."""
        name = show_hidden(short_name(tool.server))
        if not tool.server:
            return f"{short_name(tool.name)} belongs to no tool server."
        server = self.server(tool)
        if server is None:
            return f"There is no tool server “{name}”. Add it in “Tool servers”, or type a result."
        if not self._servers().book.confirmed(server):
            what = "command line" if server.via is Via.STDIO else "address"
            return f"The {what} of “{name}” has to be confirmed first, in “Tool servers”."
        return self._trust_refusal(server, tool)

    def _trust_refusal(self, server: ToolServer, tool: ToolDefinition) -> str:
        live = self._servers().live(server.id)
        offered = next((item for item in live.tools if item.name == tool.name_there), None)
        listed = ({} if offered is None else {offered.name: offered}) if live.listed else None
        return refusal(tool, trust_of(tool, self._servers().book.accepted(server.id), listed))

    def mendable(self, tool: ToolDefinition) -> bool:
        """Return whether a person's confirmation is missing and a person can be asked for it."""
        server = self.server(tool) if self.confirm is not None else None
        return server is not None and not self._servers().book.confirmed(server)

    async def mend(self, tool: ToolDefinition) -> None:
        """Ask a person to confirm the tool's server."""
        server = self.server(tool)
        if server is not None and self.confirm is not None:
            await self.confirm(server.id)

    def trusted(self, tool: ToolDefinition) -> bool:
        """Return whether a person allows read-only tools of this server to run by themselves."""
        server = self.server(tool)
        return server is not None and server.trusted

    def allowed(self, tool: ToolDefinition) -> bool:
        """Return whether a person named this tool as one that may run by itself."""
        return is_named(tool, self._named)

    def expect(self, tools: Iterable[ToolDefinition]) -> None:
        """Start the stopped servers of these tools in the background, where calls are permitted.

        A server that failed or may ask the person to sign in starts with its next call instead.
        """
        checked = 0
        started: set[str] = set()
        for tool in tools:
            server = self.server(tool)
            if server is None or server.id in started or server.oauth or checked >= LOOKED_AT:
                continue
            if self._servers().live(server.id).state is not State.STOPPED:
                continue
            checked += 1
            if not self.refusal(tool):
                started.add(server.id)
                self._servers().begin(server.id)

    # Calls

    async def ask(self, tool: ToolDefinition, arguments: str, ticket: Ticket) -> ServerAnswer:
        """Call a tool with a JSON text of arguments; a stopped server is started. Raises ToolCallError."""
        words, server = self.refusal(tool), self.server(tool)
        if words or server is None:
            raise ToolCallError(words)
        values = _parse_arguments(arguments)
        servers = self._servers()
        async with self._slot(server, ticket):
            await servers.start(server.id)
            if words := self.refusal(tool):  # the server has listed its tools since
                raise ToolCallError(words)
            current = self.server(tool)
            if current is None or current.id != server.id:
                name = show_hidden(short_name(tool.server))
                raise ToolCallError(
                    f"“{name}” is another server by now, so it was not called. Call it again if you want that."
                )
            answer = await servers.call(server.id, tool.name_there, values, ticket)
        return await _with_problems(answer, tool)

    @asynccontextmanager
    async def _slot(self, server: ToolServer, ticket: Ticket) -> AsyncIterator[None]:
        slot = self._slots.setdefault(server.id, asyncio.Semaphore(AT_ONCE))
        if waits := slot.locked():
            ticket.words = f"Waits for its turn: {AT_ONCE} calls are under way at “{show_hidden(server.name)}”."
            ticket.changed()
        async with slot:
            if waits:
                ticket.words = ""
                ticket.changed()
            yield


def is_named(tool: ToolDefinition, patterns: Collection[str]) -> bool:
    """Return whether one of the patterns (see ``ServerToolCaller``) names a tool."""
    names = (f"{tool.server}.{tool.name_there}", f"{tool.server}.{tool.name}", tool.name_there, tool.name)
    if any(pattern in names for pattern in patterns):
        return True
    if tool.hints is not None and tool.hints.destructive:
        return False
    return any(fnmatchcase(name, pattern) for pattern in patterns if "*" in pattern for name in names)


def _parse_arguments(arguments: str) -> JSONObject:
    try:
        value = parse_json(arguments) if arguments.strip() else {}
    except ValueError as error:
        raise ToolCallError(f"The arguments are not JSON, so no server can be called: {error}.") from None
    if not isinstance(value, dict):
        raise ToolCallError("The arguments are not a JSON object, so no server can be called. Correct them first.")
    return value


async def _with_problems(answer: ServerAnswer, tool: ToolDefinition) -> ServerAnswer:
    """Return the answer with the problems of its structured content."""
    if tool.output is None or answer.is_error:
        return answer
    if answer.structured is None:
        return answer.model_copy(update={"problems": ("It lacks the structured content that its schema requires.",)})
    question = StructuredFits(answer.structured, tool.output)
    problems = checking.now(question)
    if problems is None:
        problems = await checking.answer(question)
    words = [f"{problem.where}: {problem.message}" if problem.where else problem.message for problem in problems]
    if len(words) > MOST_PROBLEMS:
        words[MOST_PROBLEMS:] = [f"{len(words) - MOST_PROBLEMS:,} more"]
    return answer.model_copy(update={"problems": tuple(words)}) if words else answer
