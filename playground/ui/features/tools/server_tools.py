"""Tools of servers in the current experiment: add, accept, remove them, and switch them off when they change.

The workspace provides the servers and their states. It is first asked when a server's tool is shown or the menu opens,
so that tool servers are loaded on demand. Setup, confirmation and start are done elsewhere.
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

MOST_AT_ONCE: Final = 200  # tools that are added without a confirmation
LISTED_S: Final = 30.0  # longest wait for the tool list of a server that is ready
REST_MS: Final = 80  # delay that merges many events of servers into one update
PREFIX_TIP: Final = "Prefix of the names of its tools (empty: only for names that two tools share)"


@dataclass(frozen=True, slots=True)
class ServerWays:
    """Callbacks: ``start`` confirms and starts a server by its id and returns whether it runs; ``settings`` opens the
    settings of a server by its id; ``add`` opens the dialog for a new server with this name, which may be empty.
    """

    start: Callable[[str], Awaitable[bool]]
    settings: Callable[[str], object]
    add: Callable[[str], object]


class ServerTools(QObject):
    """Controller of servers' tools: ``look`` schedules an update, ``do`` runs an action of a menu or button."""

    def __init__(self, host: Host, panel: ToolsPanel, ways: ServerWays) -> None:
        super().__init__(panel)
        self._host = host
        self._panel = panel
        self._ways = ways
        self._servers: Servers | None = None
        self._seen: dict[str, Seen] = {}  # by id
        self._lists: dict[str, tuple[tuple[ServerTool, ...], Mapping[str, ServerTool]]] = {}
        self._switched_off: dict[tuple[str, str, str], ServerTool] = {}  # definitions for which a tool was switched off
        self._updating = self._update_pending = False
        self._last_sweep: tuple[str, tuple[ToolDefinition, ...], tuple[Seen, ...]] | None = (
            None  # session, tools and servers of the last sweep
        )
        self.standings = Standings()
        self.menu = ServersMenu(lambda: (self.standings, self._tools), self.do, panel)
        self.menu.aboutToShow.connect(self._menu_opened)
        self._delay = QTimer(self, singleShot=True, interval=REST_MS)
        self._delay.timeout.connect(self._start_update)
        panel.set_servers_menu(self.menu)
        panel.menu.fill_server = self.fill_server
        panel.accept_asked.connect(lambda numbers: loop.spawn(self._accept(list(numbers)), name="accept tools"))
        panel.server_asked.connect(self.do)

    @property
    def _tools(self) -> tuple[ToolDefinition, ...]:
        return self._host.session.settings.tools

    def tools_changed(self) -> None:
        """Schedule an update if some of the new tools belong to servers."""
        if self._servers is not None or any(tool.server for tool in self._tools):
            self.look()

    def look(self) -> None:
        """Schedule an update of the states of servers and the trust of their tools."""
        self._update_pending = True
        if not self._delay.isActive() and not self._updating:
            self._delay.start()

    def fill_server(self, menu: QMenu, name: str) -> None:
        """Add the actions on a server to a menu."""
        fill_server(menu, self.standings.server(name), self.standings, self._tools, self.do)

    def do(self, what: str, name: str) -> None:
        """Run an action on a server."""
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

        servers = self._get_servers()
        try:
            if what == DEMO:
                await self._add(DEMO_ID)
            elif seen.state == ABSENT:
                self._notify(f"No server called “{_label(seen.name)}” is set up on this computer.")
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
            self._notify(str(error))
        self.look()

    def _notify(self, words: str, action: str = "", act: Callable[[], None] | None = None) -> None:
        self._host.notice.say(show_hidden(words), action, act)

    # -- state of servers --------------------------------------------------------------------------------------

    def _menu_opened(self) -> None:
        if not self.standings.looked:
            self._read_servers()
            self.menu.fill()
        self.look()

    def _get_servers(self) -> Servers:
        """Return the servers of the workspace, and subscribe to them on the first call."""
        if self._servers is None:
            servers = self._servers = self._host.workspace.tool_servers
            leave = [servers.subscribe(self._on_event), servers.book.subscribe(self.look)]
            self.destroyed.connect(lambda: [end() for end in leave])
        return self._servers

    def _on_event(self, event: object) -> None:
        from playground.engine.tool_servers.events import ServersChanged

        if isinstance(event, ServersChanged):
            self.look()

    def _start_update(self) -> None:
        if not self._updating:
            self._updating = True
            loop.spawn(self._update(), name="look at tool servers")

    async def _update(self) -> None:
        try:
            while self._update_pending and isValid(self):
                self._update_pending = False
                await self._load_accepted()
                self._read_servers()
                state = self._host.session.id, self._tools, self.standings.servers
                if self._last_sweep is None or state[1] is not self._last_sweep[1] or state != self._last_sweep:
                    self._sweep()
                    self._last_sweep = state
        finally:
            self._updating = False

    async def _load_accepted(self) -> None:
        """Load the accepted definitions of the servers in use, in a thread because they may be many."""
        book = self._get_servers().book
        for name in {tool.server for tool in self._tools if tool.server}:
            server = book.by_name(name)
            if server is not None:
                await asyncio.to_thread(book.accepted, server.id)

    def _read_servers(self) -> None:
        servers = self._get_servers()
        self._follow_settings()
        names_in_use = {tool.server for tool in self._tools}
        snapshots = [
            self._snapshot(servers.live(server.id), server, servers.book, server.name in names_in_use)
            for server in servers.book.servers
        ]
        self._seen = {snapshot.id: snapshot for snapshot in snapshots}
        self.standings.put(snapshots)

    def _snapshot(self, live: ServerSnapshot, server: ToolServer, book: ServerRegistry, in_use: bool) -> Seen:
        before = self._seen.get(server.id)
        listed: Mapping[str, ServerTool] | None = None
        if live.listed:
            cached = self._lists.get(server.id)
            if cached is None or cached[0] is not live.tools:
                cached = self._lists[server.id] = live.tools, by_name(live.tools)
            listed = cached[1]
        accepted: Mapping[str, ServerTool] | None = book.accepted(server.id) if in_use else None
        if before is not None and accepted is not None and _same_values(before.accepted, accepted):
            accepted = before.accepted  # the same object lets comparisons reuse their results
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
        """Rename the tools of servers whose name or prefix changed."""
        tools = self._tools
        for server in self._get_servers().book.servers:
            before = self._seen.get(server.id)
            if before is not None and (before.name, before.prefix) != (server.name, server.prefix):
                tools = renamed([_with_server_name(tool, before.name, server.name) for tool in tools], server)
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
        """Switch off the tools that servers changed, once for each change, so that the user can undo it."""
        numbers: list[int] = []
        for number, tool in enumerate(tools):
            if not (tool.server and tool.enabled and self.standings.trust(tool) is ToolTrust.CHANGED):
                continue
            listed = (self.standings.server(tool.server).listed or {}).get(tool.name_there)
            key = (session_id, tool.server, tool.name_there)
            previous = self._switched_off.get(key)
            if listed is not None and (previous is None or not alike(previous, listed)):
                self._switched_off[key] = listed
                numbers.append(number)
        if not numbers:
            return
        names = dict.fromkeys(tools[number].server for number in numbers)
        with self._host.session.history.group():  # an undo step of its own
            self._panel.switch(numbers, on=False)
        sources = " and ".join(f"“{_label(name)}”" for name in names)
        what = (
            f"{len(numbers):,} tools, which are" if len(numbers) > 1 else f"{_label(tools[numbers[0]].name)}, which is"
        )
        self._notify(
            f"{sources} changed the definition of {what} off until you review the difference.",
            "Show the difference",
            partial(self._show, tools[numbers[0]]),
        )

    def _show(self, tool: ToolDefinition) -> None:
        self._host.show_side("Tools")
        for number, candidate in enumerate(self._tools):
            if (candidate.server, candidate.name_there) == (tool.server, tool.name_there):
                self._panel.select(number)

    # -- actions -----------------------------------------------------------------------------------------------

    async def _add(self, server_id: str) -> None:
        """Add the listed tools that the experiment lacks; start the server first if it does not run."""
        servers, session = self._get_servers(), self._host.session
        if not await self._ways.start(server_id) or not await self._has_listed(server_id):
            return
        server, listed = servers.book.get(server_id), servers.live(server_id).tools
        if server is None:
            return
        accepted = await asyncio.to_thread(servers.book.accepted, server_id)
        if server.demo:  # part of this application, so all its tools are trusted
            accepted = {}
        tools = session.settings.tools
        coming = await asyncio.to_thread(new_tools, tools, server, listed, accepted)
        name = _label(server.name)
        if not coming:
            more = "all its tools are here already" if listed else "it lists no tools"
            self._notify(f"Nothing to add from “{name}”: {more}.")
            return
        if len(coming) > MOST_AT_ONCE:
            if not await dialogs.agreed(
                self._host.window,
                "Add all tools?",
                f"“{name}” offers {len(coming):,} tools.",
                "Each tool that is on is sent with every request. They are added switched off.",
                f"Add {len(coming):,} tools",
            ):
                return
            coming = tuple(tool.model_copy(update={"enabled": False}) for tool in coming)
        if not accepted:
            await servers.book.accept_in_thread(server_id, by_name(listed).values())
        if session.settings.tools is not tools:  # the user edited them in the meantime
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
        """Return whether a server that is ready lists its tools in time."""
        servers = self._get_servers()
        changed = asyncio.Event()
        leave = servers.subscribe(lambda _event: changed.set())
        try:
            async with asyncio.timeout(LISTED_S):
                while not servers.live(server_id).listed:
                    changed.clear()
                    await changed.wait()
        except TimeoutError:
            self._notify("The server is ready but has not listed its tools. Try again, or restart it.")
            return False
        finally:
            leave()
        return True

    async def _accept(self, numbers: Iterable[int]) -> None:
        """Accept the current definitions of tools on their servers, in the experiment and the registry."""
        from playground.engine.tool_servers.registry import ServerRegistryError

        session = self._host.session
        listed_by_server: dict[str, dict[str, ServerTool]] = {}
        tools = self._tools
        for tool in [tools[number] for number in numbers if number < len(tools)]:
            seen = self.standings.server(tool.server)
            listed_tool = (seen.listed or {}).get(tool.name_there)
            if listed_tool is not None:
                listed_by_server.setdefault(seen.id, {})[tool.name_there] = listed_tool
        try:
            for server_id, listed in listed_by_server.items():
                await self._get_servers().book.accept_in_thread(server_id, listed.values())
        except ServerRegistryError as error:
            self._notify(str(error))
            return
        ids = {seen.name: seen.id for seen in self._seen.values()}
        updated = tuple(
            accepted_copy(tool, listed_tool)
            if (listed_tool := listed_by_server.get(ids.get(tool.server, ""), {}).get(tool.name_there)) is not None
            else tool
            for tool in session.settings.tools
        )
        with session.history.group():
            if session is self._host.session:
                self._panel.put_tools(updated)
            else:
                session.change(tools=updated)
        self.look()

    async def _accept_new(self, seen: Seen) -> None:
        """Accept the new tools of a server after the user confirmed their names."""
        numbers = [
            number
            for number, tool in enumerate(self._tools)
            if tool.server == seen.name and self.standings.trust(tool) is ToolTrust.NEW
        ]
        names = ", ".join(_label(self._tools[number].name_there) for number in numbers[:30])
        more = f" and {len(numbers) - 30:,} more" if len(numbers) > 30 else ""
        if numbers and await dialogs.agreed(
            self._host.window,
            "Accept these tools?",
            f"“{_label(seen.name)}” offers these definitions. Their descriptions are sent to the model and can contain "
            "any instructions.",
            f"{names}{more}",
            "Accept tools",
        ):
            await self._accept(numbers)

    async def _set_prefix(self, server_id: str) -> None:
        book = self._get_servers().book
        server = book.get(server_id)
        if server is None:
            return
        problem, text = "", server.prefix
        while True:
            label = f"{PREFIX_TIP}{f' · {problem}' if problem else ''}"
            dialog = dialogs.line_dialog(self._host.window, f"Prefix of {_label(server.name)}", label, text, "Set")
            try:
                if not await loop.ask(dialog):
                    return
                text = dialog.textValue().strip()
            finally:
                dialog.deleteLater()
            problem = prefix_problem(text)
            if not problem:
                break
        book.update(server.model_copy(update={"prefix": text}))


def _with_server_name(tool: ToolDefinition, before: str, name: str) -> ToolDefinition:
    """Return a tool with the new name of its server."""
    if tool.server != before or before == name:
        return tool
    return tool.model_copy(update={"server": name, "group": name if tool.group == before else tool.group})


def _same_values(first: Mapping[str, ServerTool] | None, second: Mapping[str, ServerTool]) -> bool:
    return (
        first is not None
        and len(first) == len(second)
        and all(second.get(name) is tool for name, tool in first.items())
    )


def _label(name: str) -> str:
    return show_hidden(short_name(name))
