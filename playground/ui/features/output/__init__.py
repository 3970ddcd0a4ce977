"""The format of the answer: text, JSON, or JSON that follows a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import SIDE, Action

if TYPE_CHECKING:
    from playground.ui.features.output.control import OutputControl

PAGE: Final = "Output"  # its tab in the panel at the side

ACTIONS: tuple[Action[OutputControl], ...] = (
    Action(
        "view.output", "Show output", lambda it: it.show(), SIDE, 322, "Ctrl+Shift+O", synonyms="format json schema"
    ),
)
