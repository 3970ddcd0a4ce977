"""Requests of tool servers to the person: forms to fill in, pages to open, models to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import TOOLS, Action

if TYPE_CHECKING:
    from playground.ui.features.server_asks.control import AsksControl

ACTIONS: tuple[Action[AsksControl], ...] = (
    Action("tools.asks", "Answer tool server…", lambda it: it.open_first(), TOOLS, 220, synonyms="mcp elicitation"),
)
