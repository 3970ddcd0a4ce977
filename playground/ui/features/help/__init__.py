"""Help inside the application: pages to read, its version and licences, and whether there is a newer version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import HELP, Action

if TYPE_CHECKING:
    from playground.ui.features.help.control import HelpControl

ACTIONS: tuple[Action[HelpControl], ...] = (
    Action("help.open", "Help", lambda it: it.open_help(), HELP, 100, "F1", synonyms="manual documentation"),
    Action("help.about", "About Gateway Playground", lambda it: it.open_about(), HELP, 310, synonyms="version licence"),
)
