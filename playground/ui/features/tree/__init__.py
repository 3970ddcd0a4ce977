"""The tree of an experiment's turns as a small map: to look at and to jump in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import EDIT, VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.tree.control import TreeControl

ACTIONS: tuple[Action[TreeControl], ...] = (
    Action("view.tree", "Tree of turns", VIEW, 290, lambda it: it.open(), ("Ctrl+Shift+B",)),
    Action("turn.delete-branch", "Delete the branch from this turn on", EDIT, 350, lambda it: it.delete_focused()),
)
