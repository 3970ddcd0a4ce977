"""What tool servers ask of the person: forms to fill in, pages to go to, models to be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import RUN, Action

if TYPE_CHECKING:
    from playground.ui.features.server_asks.control import AsksControl

ACTIONS: tuple[Action[AsksControl], ...] = (
    Action("tools.asks", "Answer a tool server…", RUN, 490, lambda it: it.open_first()),
)
