"""Messages to and from tool servers, listed in the inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import INSPECTOR, Action

if TYPE_CHECKING:
    from playground.ui.features.server_tape.control import TapeControl

ACTIONS: tuple[Action[TapeControl], ...] = (
    Action(
        "view.servers", "Show server messages", lambda it: it.open(), INSPECTOR, 312, "Ctrl+Shift+Y", synonyms="mcp"
    ),
)
