"""The tool-call debugger: responses to tool calls, mock tables, the list of calls, the sequence of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import RUN, VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.debugger.control import DebugControl

ACTIONS: tuple[Action[DebugControl], ...] = (
    Action("debug.rules", "Tool responses…", RUN, 300, lambda it: it.open_rules(), ("Ctrl+Shift+D",)),
    Action("debug.answers", "Compare answers…", RUN, 310, lambda it: it.compare_answers()),
    Action("debug.record", "Record server answers", RUN, 320, lambda it: it.record()),
    Action("view.calls", "Tool calls", VIEW, 270, lambda it: it.pages.open_calls(), ("Ctrl+Shift+L",)),
    Action("view.sequence", "Sequence", VIEW, 280, lambda it: it.pages.open_sequence(), ("Ctrl+Shift+J",)),
)
