"""Prompts and resources of tool servers, on their way into the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import EDIT, Action

if TYPE_CHECKING:
    from playground.ui.features.offered.control import OfferedControl

ACTIONS: tuple[Action[OfferedControl], ...] = (
    Action("servers.prompts", "Prompt of a tool server…", EDIT, 430, lambda it: it.open_prompts()),
    Action("servers.resources", "Resource of a tool server…", EDIT, 440, lambda it: it.open_resources()),
)
