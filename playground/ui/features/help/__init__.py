"""Help inside the application: pages to read, what it is made of, and whether there is a newer version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import HELP, Action

if TYPE_CHECKING:
    from playground.ui.features.help.control import HelpControl

ACTIONS: tuple[Action[HelpControl], ...] = (
    Action("help.open", "Help", HELP, 100, lambda it: it.open_help(), ("F1",)),
    Action("help.updates", "Updates…", HELP, 200, lambda it: it.updates.open()),
    Action("help.about", "About Gateway Playground", HELP, 210, lambda it: it.open_about()),
)
