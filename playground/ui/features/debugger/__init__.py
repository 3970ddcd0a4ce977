"""The tool-call debugger's own places in the window: rules, answer tables, the list of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import RUN, VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.debugger.control import DebugControl

ACTIONS: tuple[Action[DebugControl], ...] = (
    Action("debug.rules", "Tool rules…", RUN, 300, lambda it: it.open_rules(), ("Ctrl+Shift+D",)),
    Action("debug.answers", "Compare several answers…", RUN, 310, lambda it: it.compare_answers()),
    Action("debug.record", "Record what tool servers answered", RUN, 320, lambda it: it.record()),
    Action("view.calls", "List of tool calls", VIEW, 270, lambda it: it.pages.open_calls(), ("Ctrl+Shift+L",)),
    Action("view.sequence", "Sequence of the run", VIEW, 280, lambda it: it.pages.open_sequence(), ("Ctrl+Shift+J",)),
)
