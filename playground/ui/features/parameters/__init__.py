"""The form of a request's parameters, built from their annotated fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import SIDE, Action

if TYPE_CHECKING:
    from playground.ui.features.parameters.control import ParametersControl

PAGE: Final = "Parameters"  # its tab in the panel at the side

ACTIONS: tuple[Action[ParametersControl], ...] = (
    Action(
        "view.parameters",
        "Show parameters",
        lambda it: it.show(),
        SIDE,
        320,
        "Ctrl+Shift+P",
        synonyms="temperature settings",
    ),
)
