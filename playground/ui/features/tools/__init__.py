"""Tools of a session: a list, and the form and JSON of the selected tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import SIDE, Action

if TYPE_CHECKING:
    from playground.ui.features.tools.control import ToolsControl

PAGE: Final = "Tools"  # its tab in the panel at the side

ACTIONS: tuple[Action[ToolsControl], ...] = (
    Action(
        "view.tools", "Show tools", lambda it: it.show(), SIDE, 321, "Ctrl+Shift+T", synonyms="functions definitions"
    ),
)
