"""What goes out besides the parameters: the extra body, extra headers, and reasoning sent back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.raw.control import RawControl

PAGE: Final = "Raw"  # its tab in the panel at the side

ACTIONS: tuple[Action[RawControl], ...] = (
    Action("view.raw", "Extra body and headers", VIEW, 240, lambda it: it.show(), ("Ctrl+Shift+R",)),
)
