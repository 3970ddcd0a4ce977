"""The tool-call debugger: results of tool calls, mock tables, the list of calls, the sequence of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import INSPECTOR, TOOLS, Action

if TYPE_CHECKING:
    from playground.ui.features.debugger.control import DebugControl

ACTIONS: tuple[Action[DebugControl], ...] = (
    Action(
        "debug.rules", "Tool results…", lambda it: it.open_rules(), TOOLS, 200, "Ctrl+Shift+D", synonyms="rules mock"
    ),
    Action("debug.answers", "Compare tool results…", lambda it: it.compare_answers(), TOOLS, 230, synonyms="answers"),
    Action("debug.record", "Record server results", lambda it: it.record(), TOOLS, 240, synonyms="mock"),
    Action(
        "view.calls",
        "Show tool calls",
        lambda it: it.pages.open_calls(),
        INSPECTOR,
        310,
        "Ctrl+Shift+L",
        synonyms="list",
    ),
    Action(
        "view.sequence",
        "Show call sequence",
        lambda it: it.pages.open_sequence(),
        INSPECTOR,
        311,
        "Ctrl+Shift+J",
        synonyms="diagram",
    ),
)
