"""How sessions ask tool servers: which tool of which server may be asked, how many calls at once, what to make of an
answer that does not fit what was promised.

Nothing here decides whether a call is asked; that is ``domain.debugging``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from playground.domain.hidden import short_name, show_hidden
from playground.domain.tool_servers import ServerAnswer, ServerTool, ToolServer, Via
from playground.domain.tools import ToolDefinition
from playground.engine.questions import checking
from playground.engine.questions.kinds import StructuredFits
from playground.engine.session.tool_calls import Ticket, ToolCallError
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSONObject

if TYPE_CHECKING:
    from playground.engine.tool_servers.acceptance import Standing
    from playground.engine.tool_servers.servers import Servers

AT_ONCE: Final = 8  # calls under way at one server; the others wait for their turn
LOOKED_AT: Final = 100  # tools for one of which a server may be started ahead, before a run goes on
MOST_PROBLEMS: Final = 20  # of structured content that are told


@dataclass(slots=True)
class _Known:
    """What was found out of a server's tools, as long as it lists the same and no more of them was accepted."""

    tools: tuple[ServerTool, ...]
    listed: dict[str, ServerTool] | None
    accepted: dict[str, ServerTool]
    standings: dict[int, tuple[ToolDefinition, Standing]]  # by the identity of the definition


class Serving:
    """Asks the servers of a workspace or of a command. ``servers`` gives them when they are first needed.

    ``named`` are the tools that a person named as ones that may be asked by themselves: ``server.tool``, or the name of
    a tool alone, with ``*`` for anything. A tool that says that it destroys is meant by its whole name only.
    """

    def __init__(self, servers: Callable[[], Servers], named: Collection[str] = ()) -> None:
        self._servers = servers
        self._named = tuple(named)
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._known: dict[str, _Known] = {}
        self._watched: Servers | None = None
        #: Asks a person to agree to what a server runs, by its id; None where there is nobody to ask.
        self.confirm: Callable[[str], Awaitable[bool]] | None = None

    @property
    def servers(self) -> Servers:
        """The servers that are asked."""
        found = self._servers()
        if found is not self._watched:
            self._watched = found
            found.book.subscribe(self._known.clear)
        return found

    def server(self, tool: ToolDefinition) -> ToolServer | None:
        """The server that a tool is of; None where there is none of that name here."""
        return self.servers.book.by_name(tool.server) if tool.server else None

    # What is known before a call

    def refusal(self, tool: ToolDefinition) -> str:
        """Why a tool cannot be asked of its server now; empty where it can."""
        from playground.engine.tool_servers.acceptance import refusal

        name = show_hidden(short_name(tool.server))
        if not tool.server:
            return f"{short_name(tool.name)} is of no tool server."
        server = self.server(tool)
        if server is None:
            return f"There is no tool server “{name}” here. Add it in “Tool servers”, or type a result."
        if not self.servers.book.confirmed(server):
            what = "command line" if server.via is Via.STDIO else "address"
            return f"The {what} of “{name}” has to be confirmed first, in “Tool servers”."
        return refusal(tool, self._standing(server, tool))

    def mendable(self, tool: ToolDefinition) -> bool:
        """Whether nothing keeps a tool from being asked but that nobody has agreed yet, and somebody can be asked."""
        server = self.server(tool) if self.confirm is not None else None
        return server is not None and not self.servers.book.confirmed(server)

    async def mend(self, tool: ToolDefinition) -> None:
        """Ask a person to agree to what the tool's server runs."""
        server = self.server(tool)
        if server is not None and self.confirm is not None:
            await self.confirm(server.id)

    def _standing(self, server: ToolServer, tool: ToolDefinition) -> Standing:
        from playground.engine.tool_servers.acceptance import by_name, standing

        live = self.servers.live(server.id)
        known = self._known.get(server.id)
        if known is None or known.tools is not live.tools or (known.listed is not None) is not live.listed:
            listed = by_name(live.tools) if live.listed else None
            known = self._known[server.id] = _Known(live.tools, listed, self.servers.book.accepted(server.id), {})
        found = known.standings.get(id(tool))
        if found is None or found[0] is not tool:
            found = known.standings[id(tool)] = tool, standing(tool, known.accepted, known.listed)
        return found[1]

    def trusted(self, tool: ToolDefinition) -> bool:
        """Whether a person said that tools of this server that only read may run by themselves."""
        server = self.server(tool)
        return server is not None and server.trusted

    def allowed(self, tool: ToolDefinition) -> bool:
        """Whether a person named this very tool as one that may be asked by itself."""
        return is_named(tool, self._named)

    def expect(self, tools: Iterable[ToolDefinition]) -> None:
        """Have servers of these tools started that are stopped and may be asked; nothing waits for that.

        One that failed is left to its next call, and so is one that may have the person sign in.
        """
        from playground.engine.tool_servers.live import State

        looked = 0
        begun: set[str] = set()
        for tool in tools:
            server = self.server(tool)
            if server is None or server.id in begun or server.oauth or looked >= LOOKED_AT:
                continue
            if self.servers.live(server.id).state is not State.STOPPED:
                continue
            looked += 1
            if not self.refusal(tool):
                begun.add(server.id)
                self.servers.begin(server.id)

    # A call

    async def ask(self, tool: ToolDefinition, arguments: str, ticket: Ticket) -> ServerAnswer:
        """The answer to a call. A server that is stopped is started. Raises ToolCallError."""
        words, server = self.refusal(tool), self.server(tool)
        if words or server is None:
            raise ToolCallError(words)
        given = _read(arguments)
        servers = self.servers
        async with self._slot(server, ticket):
            await servers.start(server.id)
            if words := self.refusal(tool):  # it has said by now what it lists
                raise ToolCallError(words)
            now = self.server(tool)
            if now is None or now.id != server.id:
                name = show_hidden(short_name(tool.server))
                raise ToolCallError(
                    f"“{name}” is another server by now, so it was not asked. Ask again if you want that."
                )
            answer = await servers.call(server.id, tool.name_there, given, ticket)
        return await _checked(answer, tool)

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
    """Whether one of these means a tool; see ``Serving``."""
    names = (f"{tool.server}.{tool.name_there}", f"{tool.server}.{tool.name}", tool.name_there, tool.name)
    if any(pattern in names for pattern in patterns):
        return True
    if tool.hints is not None and tool.hints.destructive:
        return False
    return any(fnmatchcase(name, pattern) for pattern in patterns if "*" in pattern for name in names)


def _read(arguments: str) -> JSONObject:
    try:
        found = parse_json(arguments) if arguments.strip() else {}
    except ValueError as error:
        raise ToolCallError(f"The arguments are not JSON, so no server can be asked: {error}.") from None
    if not isinstance(found, dict):
        raise ToolCallError("The arguments are not a JSON object, so no server can be asked. Correct them first.")
    return found


async def _checked(answer: ServerAnswer, tool: ToolDefinition) -> ServerAnswer:
    """The answer with what is wrong with its structured content."""
    if tool.output is None or answer.is_error:
        return answer
    if answer.structured is None:
        return answer.model_copy(update={"problems": ("It came without the structured content that it promises.",)})
    question = StructuredFits(answer.structured, tool.output)
    found = checking.now(question)
    problems = found if found is not None else await checking.answer(question)
    words = [f"{one.where}: {one.message}" if one.where else one.message for one in problems[:MOST_PROBLEMS]]
    if len(problems) > MOST_PROBLEMS:
        words.append(f"{len(problems) - MOST_PROBLEMS:,} more")
    return answer.model_copy(update={"problems": tuple(words)}) if words else answer
