"""Controller of the Tools tab: exchange tools between the panel and the current session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext

from PySide6.QtCore import QObject

from playground.domain.tools import ToolDefinition
from playground.engine.requests.capability_warnings import TOOLS, settings_warnings, warning_sentences
from playground.ui.features.host import Host
from playground.ui.features.tools.panel import ToolsPanel
from playground.ui.features.tools.server_tools import ServerTools, ServerWays

#: Called with the previous and the new tools.
Edited = Callable[[Sequence[ToolDefinition], Sequence[ToolDefinition]], None]


class ToolsControl(QObject):
    """Controller of the Tools tab: ``show_session`` updates it from the current session, ``show`` raises it.

    ``edited`` is called before the session's tools change.
    """

    def __init__(
        self,
        host: Host,
        panel: ToolsPanel,
        show: Callable[[], None],
        edited: Edited,
        show_count: Callable[[int], None],
        ways: ServerWays,
    ) -> None:
        super().__init__(panel)
        self._host = host
        self._panel = panel
        self.show: Callable[[], None] = show
        self._before_change = edited
        self._show_count = show_count
        panel.changed.connect(self._edited)
        self.servers = ServerTools(host, panel, ways)

    def show_session(self) -> None:
        """Show the session's tools, its warnings and the number of tools."""
        tools = self._host.session.settings.tools
        self._panel.set_tools(tools)
        self._panel.head.show_warnings(warning_sentences(settings_warnings(self._host.session), TOOLS))
        self._show_count(len(tools))
        self.servers.tools_changed()

    def _edited(self, tools: tuple[ToolDefinition, ...]) -> None:
        session = self._host.session
        before = [tool.offer for tool in session.settings.tools if tool.sendable]
        count_changed = len(tools) != len(session.settings.tools)  # an undo step of its own; typing is merged
        with session.history.group() if count_changed else nullcontext():
            self._before_change(session.settings.tools, tools)
            session.change(tools=tools)
        if [tool.offer for tool in tools if tool.sendable] != before:
            self._host.pane.tools_changed()
