"""Check this gateway: a series of small requests, their results, and earlier reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import Action

if TYPE_CHECKING:
    from playground.ui.features.gateway_check.control import CheckControl

ACTIONS: tuple[Action[CheckControl], ...] = (
    Action("gateway.check", "Check gateway…", lambda it: it.open_current(), synonyms="test capabilities"),
)
