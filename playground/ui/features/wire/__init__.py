"""Links between the conversation and what went over the wire: events of a text, texts of an event, comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import INSPECTOR, Action

if TYPE_CHECKING:
    from playground.ui.features.wire.control import WireControl

ACTIONS: tuple[Action[WireControl], ...] = (
    Action(
        "wire.timeline", "Show timeline", lambda it: it.open_timeline(), INSPECTOR, 314, "Ctrl+T", synonyms="latency"
    ),
    Action(
        "wire.frames",
        "Show selected events",
        lambda it: it.show_selection(),
        INSPECTOR,
        315,
        "Ctrl+E",
        synonyms="frames",
    ),
    Action(
        "wire.lint", "Show spec check", lambda it: it.open_spec_check(), INSPECTOR, 316, synonyms="lint specification"
    ),
    Action(
        "wire.diff",
        "Compare requests",
        lambda it: it.open_comparison(),
        INSPECTOR,
        317,
        "Ctrl+Shift+E",
        synonyms="diff exchanges",
    ),
)
