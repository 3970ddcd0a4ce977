"""Extra body fields, extra headers and past reasoning, sent besides the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import SIDE, Action

if TYPE_CHECKING:
    from playground.ui.features.extra_fields.control import ExtraFieldsControl

TITLE: Final = "Extra fields and headers"  # its fold in the Parameters tab

ACTIONS: tuple[Action[ExtraFieldsControl], ...] = (
    Action(
        "view.raw", "Show extra fields", lambda it: it.show(), SIDE, 323, "Ctrl+Shift+R", synonyms="raw body headers"
    ),
)
