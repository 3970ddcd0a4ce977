"""Lanes side by side in place of the conversation: the same question in several ways at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import EXPERIMENT, RUN, VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.compare.control import CompareControl

TITLE = "Compare"

ACTIONS: tuple[Action[CompareControl], ...] = (
    Action("compare.open", "Compare side by side", VIEW, 150, lambda it: it.show(not it.on), ("Ctrl+Shift+K",)),
    Action("compare.add", "Add a lane", VIEW, 160, lambda it: it.add()),
    Action("compare.models", "Add lanes of other models…", VIEW, 165, lambda it: it.add_models()),
    Action(
        "compare.alternatives", "Open the turn's alternatives in Compare", VIEW, 170, lambda it: it.add_alternatives()
    ),
    Action("compare.together", "Scroll lanes together, or each by itself", VIEW, 175, lambda it: it.scroll_together()),
    Action("compare.after", "Lane after", VIEW, 172, lambda it: it.go(1), ("F6",)),
    Action("compare.before", "Lane before", VIEW, 173, lambda it: it.go(-1), ("Shift+F6",)),
    Action("compare.left", "Move the lane left", VIEW, 176, lambda it: it.move(-1), ("Ctrl+Alt+PgUp",)),
    Action("compare.right", "Move the lane right", VIEW, 177, lambda it: it.move(1), ("Ctrl+Alt+PgDown",)),
    Action("compare.mark", "Mark what differs from A", VIEW, 180, lambda it: it.mark_differences()),
    Action("compare.words", "Export the lanes…", EXPERIMENT, 255, lambda it: it.export()),
    Action("compare.copy", "Copy the lanes as a table", EXPERIMENT, 256, lambda it: it.copy_table()),
    Action("compare.regenerate", "Regenerate in all lanes", RUN, 125, lambda it: it.regenerate()),
    Action("compare.stop", "Stop all lanes", RUN, 115, lambda it: it.stop_all(), ("Shift+Esc",)),
)
