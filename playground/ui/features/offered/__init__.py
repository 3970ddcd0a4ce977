"""Prompts and resources of tool servers, and their insertion into the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import Action

if TYPE_CHECKING:
    from playground.ui.features.offered.control import OfferedControl

ACTIONS: tuple[Action[OfferedControl], ...] = (
    Action("servers.prompts", "Insert server prompt…", lambda it: it.open_prompts(), synonyms="tool mcp"),
    Action("servers.resources", "Insert server resource…", lambda it: it.open_resources(), synonyms="tool mcp"),
)
