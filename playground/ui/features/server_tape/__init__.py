"""Messages to and from tool servers, listed in the inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.server_tape.control import TapeControl

ACTIONS: tuple[Action[TapeControl], ...] = (
    Action("view.servers", "Tool server messages", VIEW, 285, lambda it: it.open(), ("Ctrl+Shift+Y",)),
)
