"""Check this gateway: a series of small requests, what came of each, and the reports that were made earlier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import RUN, Action

if TYPE_CHECKING:
    from playground.ui.features.gateway_check.control import CheckControl

CHECK: Action[CheckControl] = Action(
    "gateway.check", "Check this gateway…", RUN, 465, lambda it: it.open_current(), in_settings=True
)
ACTIONS: tuple[Action[CheckControl], ...] = (CHECK,)
