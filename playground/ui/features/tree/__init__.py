"""The map of an experiment's turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import EDIT, VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.tree.control import TreeControl

ACTIONS: tuple[Action[TreeControl], ...] = (
    Action("view.tree", "Branches", VIEW, 290, lambda it: it.open(), ("Ctrl+Shift+B",)),
    Action("turn.delete-branch", "Delete branch from here", EDIT, 350, lambda it: it.delete_focused()),
)
