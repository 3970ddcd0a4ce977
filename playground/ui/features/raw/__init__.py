"""Extra fields and headers of a request, and past reasoning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import SIDE, Action

if TYPE_CHECKING:
    from playground.ui.features.raw.control import RawControl

PAGE: Final = "Raw"  # its tab in the panel at the side

ACTIONS: tuple[Action[RawControl], ...] = (
    Action(
        "view.raw", "Show extra fields", lambda it: it.show(), SIDE, 323, "Ctrl+Shift+R", synonyms="raw body headers"
    ),
)
