"""Links between the conversation and what went over the wire: events of a text, texts of an event, comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.wire.control import WireControl

ACTIONS: tuple[Action[WireControl], ...] = (
    Action("wire.timeline", "Timeline", VIEW, 300, lambda it: it.open_timeline(), ("Ctrl+T",)),
    Action("wire.frames", "Events for selected text", VIEW, 310, lambda it: it.show_selection(), ("Ctrl+E",)),
    Action("wire.lint", "Spec check", VIEW, 320, lambda it: it.open_spec_check()),
    Action("wire.diff", "Compare requests", VIEW, 330, lambda it: it.open_comparison(), ("Ctrl+Shift+E",)),
)
