"""Setting up tool servers: by hand or from other applications, confirmed, started, looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import RUN, Action

if TYPE_CHECKING:
    from playground.ui.features.tool_servers.control import ToolServersControl

ACTIONS: tuple[Action[ToolServersControl], ...] = (
    Action("tools.servers", "Tool servers…", RUN, 470, lambda it: it.show_servers(), in_settings=True),
    Action("tools.servers.import", "Import tool servers…", RUN, 480, lambda it: it.import_servers()),
)
