"""Extra body fields, extra headers and past reasoning, sent besides the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.extra_fields.control import ExtraFieldsControl

TITLE: Final = "Extra fields and headers"  # its fold in the Parameters tab

ACTIONS: tuple[Action[ExtraFieldsControl], ...] = (
    Action("view.raw", TITLE, VIEW, 240, lambda it: it.show(), ("Ctrl+Shift+R",)),
)
