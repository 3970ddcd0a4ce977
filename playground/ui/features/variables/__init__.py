"""Values for the variables of a conversation, and the text with the values in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import Action

if TYPE_CHECKING:
    from playground.ui.features.variables.control import VariablesControl

ACTIONS: tuple[Action[VariablesControl], ...] = (
    Action(
        "view.variables",
        "Show variables",
        lambda it: it.bar.open(),
        keys="Ctrl+Shift+V",
        synonyms="placeholders values",
    ),
)
