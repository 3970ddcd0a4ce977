"""Setting up tool servers: by hand or from other applications, approved, started, watched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import TOOLS, Action

if TYPE_CHECKING:
    from playground.ui.features.tool_servers.control import ToolServersControl

ACTIONS: tuple[Action[ToolServersControl], ...] = (
    Action("tools.servers", "Tool servers…", lambda it: it.show_servers(), TOOLS, 210, synonyms="mcp"),
    Action("tools.servers.import", "Import tool servers…", lambda it: it.import_servers(), synonyms="mcp"),
)
