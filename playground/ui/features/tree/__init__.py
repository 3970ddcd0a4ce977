"""The map of an experiment's turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import EDIT, INSPECTOR, Action

if TYPE_CHECKING:
    from playground.ui.features.tree.control import TreeControl

ACTIONS: tuple[Action[TreeControl], ...] = (
    Action("view.tree", "Show branches", lambda it: it.open(), INSPECTOR, 313, "Ctrl+Shift+B", synonyms="tree map"),
    Action(
        "turn.delete-branch", "Delete branch", lambda it: it.delete_focused(), EDIT, 310, synonyms="remove message turn"
    ),
)
