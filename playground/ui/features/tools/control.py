"""The Tools tab: what is edited there goes to the current session and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext

from PySide6.QtCore import QObject

from playground.domain.tools import ToolDefinition
from playground.engine.requests.capability_warnings import TOOLS, settings_warnings, warning_sentences
from playground.ui.features.host import Host
from playground.ui.features.tools.panel import ToolsPanel
from playground.ui.features.tools.server_tools import ServerTools, ServerWays

#: Is called with the tools there were and those there are.
Edited = Callable[[Sequence[ToolDefinition], Sequence[ToolDefinition]], None]


class ToolsControl(QObject):
    """``show_session`` brings the tab up to the session looked at; ``show`` brings it forward.

    ``edited`` is called before tools become others.
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
        self._tell = edited
        self._show_count = show_count
        panel.changed.connect(self._edited)
        self.servers = ServerTools(host, panel, ways)

    def show_session(self) -> None:
        """Show what is set."""
        tools = self._host.session.settings.tools
        self._panel.set_tools(tools)
        self._panel.head.show_told(warning_sentences(settings_warnings(self._host.session), TOOLS))
        self._show_count(len(tools))
        self.servers.tools_changed()

    def _edited(self, tools: tuple[ToolDefinition, ...]) -> None:
        session = self._host.session
        before = [tool.offer for tool in session.settings.tools if tool.sendable]
        one_of_its_own = len(tools) != len(session.settings.tools)  # nothing that was typed
        with session.history.group() if one_of_its_own else nullcontext():
            self._tell(session.settings.tools, tools)
            session.change(tools=tools)
        if [tool.offer for tool in tools if tool.sendable] != before:
            self._host.pane.tools_changed()
