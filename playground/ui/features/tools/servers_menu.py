"""Menu of tool servers: the configured servers with their actions, and commands to add another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QMenu, QWidget

from playground.domain.tools import ToolDefinition
from playground.engine.tool_servers.tools import ToolTrust
from playground.jsonkit.texts import cut
from playground.ui.features.tools.standings import ABSENT, Seen, Standings
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.state_dot import state_dot

LONGEST = 40  # characters of a name in the menu
DEMO = "demo"  # action of "Try the demo's server"
ADD = "add server"


class ServersMenu(QMenu):
    """Menu of servers. ``look`` returns their states and the tools; ``do`` receives an action and a server name.

    It is filled each time it opens; ``fill`` updates it while it is open.
    """

    def __init__(
        self,
        look: Callable[[], tuple[Standings, Sequence[ToolDefinition]]],
        do: Callable[[str, str], None],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._do = do
        self.setToolTipsVisible(True)
        self.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """Fill the menu with the servers and their actions."""
        self.clear()
        standings, tools = self._look()
        regular = [seen for seen in standings.servers if not seen.demo]
        names = {seen.name for seen in standings.servers}
        missing = dict.fromkeys(tool.server for tool in tools if tool.server and tool.server not in names)
        demo = [seen for seen in standings.servers if seen.demo and (seen.state != "stopped" or _has(tools, seen.name))]
        for seen in (*demo, *regular, *(standings.server(name) for name in missing)):
            self.addMenu(self._server(seen, standings, tools))
        if not self.isEmpty():
            self.addSeparator()
        self._offer(self, "Add a server…", ADD, "")
        if not demo:
            self._offer(self, "Try the demo's server", DEMO, "")

    def _server(self, seen: Seen, standings: Standings, tools: Sequence[ToolDefinition]) -> QMenu:
        menu = QMenu(_title(seen), self)
        menu.setIcon(state_dot(seen.state))
        fill_server(menu, seen, standings, tools, self._do)
        return menu

    def _offer(self, menu: QMenu, text: str, what: str, name: str) -> None:
        menu.addAction(text).triggered.connect(partial(_call, self._do, what, name))


def fill_server(
    menu: QMenu,
    seen: Seen,
    standings: Standings,
    tools: Sequence[ToolDefinition],
    do: Callable[[str, str], None],
) -> None:
    """Add the actions on a server and its tools to ``menu``."""

    def offer(text: str, what: str, *, enabled: bool = True) -> None:
        action = menu.addAction(text)
        action.setEnabled(enabled)
        action.triggered.connect(partial(_call, do, what, seen.name))

    ours = [tool for tool in tools if tool.server == seen.name]
    if seen.state == ABSENT:
        offer("Set it up…", "set up")
        offer(f"Remove its {_count(len(ours))}", "remove", enabled=bool(ours))
        return
    existing = {tool.name_there for tool in ours}
    missing = sum(name not in existing for name in seen.listed or ())
    if not ours:
        offer("Add its tools", "add")
    elif missing or seen.listed is None:
        offer(f"Add {_count(missing)} it has besides" if missing else "Add what else it has", "add")
    fresh = standings.count(seen.name, ToolTrust.NEW)
    if fresh:
        offer(f"Accept {_count(fresh)} not reviewed yet…", "accept new")
    if ours:
        offer(f"Remove its {_count(len(ours))}", "remove")
    menu.addSeparator()
    running = seen.state in ("ready", "starting")
    if running:
        offer("Stop", "stop")
        offer("Restart", "restart")
    else:
        offer("Start", "start")
    menu.addSeparator()
    offer("Prefix of its names…", "prefix")
    if not seen.demo:
        offer("Settings…", "settings")


def _title(seen: Seen) -> str:
    name = show_hidden(cut(seen.name, LONGEST)).replace("&", "&&")
    details = [seen.words, *([_count(seen.tool_count)] if seen.tool_count else [])]
    return f"{name}   {', '.join(details)}"


def _count(number: int) -> str:
    return f"{number:,} tool" if number == 1 else f"{number:,} tools"


def _has(tools: Sequence[ToolDefinition], server: str) -> bool:
    return any(tool.server == server for tool in tools)


def _call(do: Callable[[str, str], None], what: str, name: str, _checked: bool = False) -> None:
    do(what, name)
