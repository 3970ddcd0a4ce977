"""Servers' tools in the experiment looked at: brought in, accepted, switched off when they change, removed.

What servers there are and how they are is asked of the workspace, and not before tools of one are shown or somebody
opens the menu: nothing of tool servers is loaded until then. Setting up, confirming and starting are done elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QMenu
from shiboken6 import isValid

from playground.domain.tool_servers import ServerTool, ToolServer
from playground.domain.tools import ToolDefinition
from playground.engine.tool_servers.tools import (
    ToolTrust,
    accepted_copy,
    alike,
    by_name,
    new_tools,
    prefix_problem,
    renamed,
)
from playground.ui.features.host import Host
from playground.ui.features.tools.panel import ToolsPanel
from playground.ui.features.tools.servers_menu import ADD, DEMO, ServersMenu, fill_server
from playground.ui.features.tools.standings import ABSENT, Seen, Standings
from playground.ui.widgets import dialogs, loop
from playground.ui.widgets.plain_text import short_name, show_hidden

if TYPE_CHECKING:
    from playground.engine.tool_servers.events import ServerSnapshot
    from playground.engine.tool_servers.registry import ServerRegistry
    from playground.engine.tool_servers.servers import Servers

MOST_AT_ONCE: Final = 200  # tools that are added without a question
LISTED_S: Final = 30.0  # seconds in which a server that is ready is to say what tools it has
REST_MS: Final = 80  # before what servers told is looked at: many changes at once make one
PREFIX_TIP: Final = "What stands before the names of its tools (empty: only where two tools would share a name)"


@dataclass(frozen=True, slots=True)
class ServerWays:
    """What is done elsewhere: ``start`` confirms and starts a server, by its id, and says whether it runs; ``settings``
    opens what is set for it; ``add`` the way to a new one, of that name where one is wanted.
    """

    start: Callable[[str], Awaitable[bool]]
    settings: Callable[[str], object]
    add: Callable[[str], object]


class ServerTools(QObject):
    """``look`` brings what is known up to date, soon; ``do`` does what a menu or a button asks for."""

    def __init__(self, host: Host, panel: ToolsPanel, ways: ServerWays) -> None:
        super().__init__(panel)
        self._host = host
        self._panel = panel
        self._ways = ways
        self._servers: Servers | None = None
        self._seen: dict[str, Seen] = {}  # by id
        self._lists: dict[str, tuple[tuple[ServerTool, ...], Mapping[str, ServerTool]]] = {}
        self._off: dict[tuple[str, str, str], ServerTool] = {}  # what was switched off, and for which definition
        self._looking = self._again = False
        self._swept: tuple[str, tuple[ToolDefinition, ...], tuple[Seen, ...]] | None = None  # what was gone through
        self.standings = Standings()
        self.menu = ServersMenu(lambda: (self.standings, self._tools), self.do, panel)
        self.menu.aboutToShow.connect(self._opened)
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._begin)
        panel.set_servers_menu(self.menu)
        panel.menu.fill_server = self.fill_server
        panel.accept_asked.connect(lambda numbers: loop.spawn(self._accept(list(numbers)), name="accept tools"))
        panel.server_asked.connect(self.do)

    @property
    def _tools(self) -> tuple[ToolDefinition, ...]:
        return self._host.session.settings.tools

    def tools_changed(self) -> None:
        """Other tools are shown: where some are of servers, find how they stand."""
        if self._servers is not None or any(tool.server for tool in self._tools):
            self.look()

    def look(self) -> None:
        """Ask how servers are, and what of their tools is otherwise than it was."""
        self._again = True
        if not self._rest.isActive() and not self._looking:
            self._rest.start()

    def fill_server(self, menu: QMenu, name: str) -> None:
        """Put into a menu what can be done with a server."""
        fill_server(menu, self.standings.server(name), self.standings, self._tools, self.do)

    def do(self, what: str, name: str) -> None:
        """Do something with a server."""
        seen = self.standings.server(name)
        match what:
            case "remove":
                self._panel.remove_server(name)
            case "settings":
                self._ways.settings(seen.id)
            case "set up":
                self._ways.add(name)
            case _ if what == ADD:
                self._ways.add("")
            case _:
                loop.spawn(self._do(what, seen), name=f"{what} of a tool server")

    async def _do(self, what: str, seen: Seen) -> None:
        from playground.engine.tool_servers.registry import DEMO_ID, ServerRegistryError
        from playground.engine.tool_servers.servers import ServerError

        servers = self._use()
        try:
            if what == DEMO:
                await self._add(DEMO_ID)
            elif seen.state == ABSENT:
                self._say(f"No server called “{_shown(seen.name)}” is set up on this computer.")
            elif what == "add":
                await self._add(seen.id)
            elif what == "start":
                await self._ways.start(seen.id)
            elif what == "stop":
                await servers.stop(seen.id)
            elif what == "restart":
                await servers.stop(seen.id)
                await self._ways.start(seen.id)
            elif what == "prefix":
                await self._set_prefix(seen.id)
            elif what == "accept new":
                await self._accept_new(seen)
        except (ServerError, ServerRegistryError) as error:
            self._say(str(error))
        self.look()

    def _say(self, words: str, action: str = "", act: Callable[[], None] | None = None) -> None:
        self._host.notice.say(show_hidden(words), action, act)

    # -- what is known -----------------------------------------------------------------------------------------

    def _opened(self) -> None:
        if not self.standings.looked:
            self._read_servers()
            self.menu.fill()
        self.look()

    def _use(self) -> Servers:
        """The servers of the workspace; they are told of from now on."""
        if self._servers is None:
            servers = self._servers = self._host.workspace.tool_servers
            leave = [servers.subscribe(self._told), servers.book.subscribe(self.look)]
            self.destroyed.connect(lambda: [end() for end in leave])
        return self._servers

    def _told(self, event: object) -> None:
        from playground.engine.tool_servers.events import ServersChanged

        if isinstance(event, ServersChanged):
            self.look()

    def _begin(self) -> None:
        if not self._looking:
            self._looking = True
            loop.spawn(self._look(), name="look at tool servers")

    async def _look(self) -> None:
        try:
            while self._again and isValid(self):
                self._again = False
                await self._learn_accepted()
                self._read_servers()
                now = self._host.session.id, self._tools, self.standings.servers
                if self._swept is None or now[1] is not self._swept[1] or now != self._swept:
                    self._sweep()
                    self._swept = now
        finally:
            self._looking = False

    async def _learn_accepted(self) -> None:
        """What was accepted of the servers whose tools are shown is read in a thread: it may be much."""
        book = self._use().book
        for name in {tool.server for tool in self._tools if tool.server}:
            server = book.by_name(name)
            if server is not None:
                await asyncio.to_thread(book.accepted, server.id)

    def _read_servers(self) -> None:
        servers = self._use()
        self._follow_settings()
        wanted = {tool.server for tool in self._tools}
        seen = [self._see(servers.live(it.id), it, servers.book, it.name in wanted) for it in servers.book.servers]
        self._seen = {one.id: one for one in seen}
        self.standings.put(seen)

    def _see(self, live: ServerSnapshot, server: ToolServer, book: ServerRegistry, wanted: bool) -> Seen:
        before = self._seen.get(server.id)
        listed: Mapping[str, ServerTool] | None = None
        if live.listed:
            known = self._lists.get(server.id)
            if known is None or known[0] is not live.tools:
                known = self._lists[server.id] = live.tools, by_name(live.tools)
            listed = known[1]
        accepted: Mapping[str, ServerTool] | None = book.accepted(server.id) if wanted else None
        if before is not None and accepted is not None and _same_values(before.accepted, accepted):
            accepted = before.accepted  # by which is known that nothing else follows from it
        return Seen(
            name=server.name,
            id=server.id,
            state=str(live.state),
            problem=live.problem,
            listed=listed,
            accepted=accepted,
            prefix=server.prefix,
            demo=server.demo,
            tool_count=len(live.tools),
        )

    def _follow_settings(self) -> None:
        """A server that got another name or prefix keeps its tools here, under the names they have by that."""
        tools = self._tools
        for server in self._use().book.servers:
            before = self._seen.get(server.id)
            if before is not None and (before.name, before.prefix) != (server.name, server.prefix):
                tools = renamed([_moved(tool, before.name, server.name) for tool in tools], server)
                self._seen.pop(server.id)
        if tools != self._tools:
            self._panel.put_tools(tools)

    def _sweep(self) -> None:
        """Compare all tools with those of their servers, and show the result."""
        session, tools = self._host.session, self._tools
        self.standings.sweep(tools)
        self._panel.show_standings(self.standings)
        self._switch_changed_off(session.id, tools)

    def _switch_changed_off(self, session_id: str, tools: Sequence[ToolDefinition]) -> None:
        """What a server changed is off from now on, once: who undoes that is not answered by doing it again."""
        numbers: list[int] = []
        for number, tool in enumerate(tools):
            if not (tool.server and tool.enabled and self.standings.of(tool) is ToolTrust.CHANGED):
                continue
            now = (self.standings.server(tool.server).listed or {}).get(tool.name_there)
            key = (session_id, tool.server, tool.name_there)
            known = self._off.get(key)
            if now is not None and (known is None or not alike(known, now)):
                self._off[key] = now
                numbers.append(number)
        if not numbers:
            return
        names = dict.fromkeys(tools[number].server for number in numbers)
        with self._host.session.history.group():  # so that it alone can be taken back
            self._panel.switch(numbers, on=False)
        said = " and ".join(f"“{_shown(name)}”" for name in names)
        what = (
            f"{len(numbers):,} tools, which are" if len(numbers) > 1 else f"{_shown(tools[numbers[0]].name)}, which is"
        )
        self._say(
            f"{said} changed the definition of {what} off until you have seen the difference.",
            "Show the difference",
            partial(self._show, tools[numbers[0]]),
        )

    def _show(self, tool: ToolDefinition) -> None:
        self._host.show_side("Tools")
        for number, other in enumerate(self._tools):
            if (other.server, other.name_there) == (tool.server, tool.name_there):
                self._panel.select(number)

    # -- what is done ------------------------------------------------------------------------------------------

    async def _add(self, server_id: str) -> None:
        """Bring in what the server lists and the experiment has not, and start it first where it does not run."""
        servers, session = self._use(), self._host.session
        if not await self._ways.start(server_id) or not await self._has_listed(server_id):
            return
        server, listed = servers.book.get(server_id), servers.live(server_id).tools
        if server is None:
            return
        accepted = await asyncio.to_thread(servers.book.accepted, server_id)
        if server.demo:  # our own: there is nobody to be wary of
            accepted = {}
        tools = session.settings.tools
        coming = await asyncio.to_thread(new_tools, tools, server, listed, accepted)
        name = _shown(server.name)
        if not coming:
            more = "all its tools are here already" if listed else "it lists no tools"
            self._say(f"Nothing to add from “{name}”: {more}.")
            return
        if len(coming) > MOST_AT_ONCE:
            if not await dialogs.agreed(
                self._host.window,
                "Add all of them?",
                f"“{name}” offers {len(coming):,} tools.",
                "Each one that is on goes with every request. They come switched off; switch on those you want.",
                f"Add {len(coming):,} tools",
            ):
                return
            coming = tuple(tool.model_copy(update={"enabled": False}) for tool in coming)
        if not accepted:
            await servers.book.accept_in_thread(server_id, by_name(listed).values())
        if session.settings.tools is not tools:  # it was edited meanwhile
            tools = session.settings.tools
            coming = new_tools(tools, server, listed, accepted, enabled=len(coming) <= MOST_AT_ONCE)
            if not coming:
                return
        if session is not self._host.session:
            session.change(tools=(*tools, *coming))
            return
        if len(coming) > MOST_AT_ONCE:
            self._panel.model.fold(server.name, folded=True)
        self._panel.put_tools((*tools, *coming), len(tools) if len(coming) <= MOST_AT_ONCE else None)

    async def _has_listed(self, server_id: str) -> bool:
        """Whether it says what tools it has, soon after it is ready."""
        servers = self._use()
        changed = asyncio.Event()
        leave = servers.subscribe(lambda _event: changed.set())
        try:
            async with asyncio.timeout(LISTED_S):
                while not servers.live(server_id).listed:
                    changed.clear()
                    await changed.wait()
        except TimeoutError:
            self._say("The server is ready, and has not said what tools it has. Try once more, or restart it.")
            return False
        finally:
            leave()
        return True

    async def _accept(self, numbers: Iterable[int]) -> None:
        """Take what servers list now for what these tools are, here and in the book."""
        from playground.engine.tool_servers.registry import ServerRegistryError

        session = self._host.session
        wanted: dict[str, dict[str, ServerTool]] = {}
        tools = self._tools
        for tool in [tools[number] for number in numbers if number < len(tools)]:
            seen = self.standings.server(tool.server)
            now = (seen.listed or {}).get(tool.name_there)
            if now is not None:
                wanted.setdefault(seen.id, {})[tool.name_there] = now
        try:
            for server_id, listed in wanted.items():
                await self._use().book.accept_in_thread(server_id, listed.values())
        except ServerRegistryError as error:
            self._say(str(error))
            return
        ids = {seen.name: seen.id for seen in self._seen.values()}
        taken = tuple(
            accepted_copy(tool, now)
            if (now := wanted.get(ids.get(tool.server, ""), {}).get(tool.name_there)) is not None
            else tool
            for tool in session.settings.tools
        )
        with session.history.group():
            if session is self._host.session:
                self._panel.put_tools(taken)
            else:
                session.change(tools=taken)
        self.look()

    async def _accept_new(self, seen: Seen) -> None:
        """Accept those that nobody on this computer has looked at, after naming them."""
        numbers = [
            number
            for number, tool in enumerate(self._tools)
            if tool.server == seen.name and self.standings.of(tool) is ToolTrust.NEW
        ]
        names = ", ".join(_shown(self._tools[number].name_there) for number in numbers[:30])
        more = f" and {len(numbers) - 30:,} more" if len(numbers) > 30 else ""
        if numbers and await dialogs.agreed(
            self._host.window,
            "Accept these tools?",
            f"“{_shown(seen.name)}” lists them as they stand in this experiment. Their descriptions go to the model; "
            "whoever wrote them can say there whatever they like.",
            f"{names}{more}",
            "Accept them",
        ):
            await self._accept(numbers)

    async def _set_prefix(self, server_id: str) -> None:
        book = self._use().book
        server = book.get(server_id)
        if server is None:
            return
        said, text = "", server.prefix
        while True:
            label = f"{PREFIX_TIP}{f' · {said}' if said else ''}"
            dialog = dialogs.line_dialog(self._host.window, f"Prefix of {_shown(server.name)}", label, text, "Set")
            try:
                if not await loop.ask(dialog):
                    return
                text = dialog.textValue().strip()
            finally:
                dialog.deleteLater()
            said = prefix_problem(text)
            if not said:
                break
        book.update(server.model_copy(update={"prefix": text}))


def _moved(tool: ToolDefinition, before: str, name: str) -> ToolDefinition:
    """A tool of a server that is called otherwise now."""
    if tool.server != before or before == name:
        return tool
    return tool.model_copy(update={"server": name, "group": name if tool.group == before else tool.group})


def _same_values(one: Mapping[str, ServerTool] | None, other: Mapping[str, ServerTool]) -> bool:
    return one is not None and len(one) == len(other) and all(other.get(name) is tool for name, tool in one.items())


def _shown(name: str) -> str:
    return show_hidden(short_name(name))
