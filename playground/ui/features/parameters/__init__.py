"""The form of a request's parameters, built from their annotated fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.parameters.control import ParametersControl

PAGE: Final = "Parameters"  # its tab in the panel at the side

ACTIONS: tuple[Action[ParametersControl], ...] = (
    Action("view.parameters", "Parameters", VIEW, 210, lambda it: it.show(), ("Ctrl+Shift+P",)),
)
