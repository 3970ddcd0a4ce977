"""Evaluate in the window: cases × variants × repeats, their answers, and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import RUN, VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.evaluate.control import EvaluateControl

TITLE = "Evaluate"

ACTIONS: tuple[Action[EvaluateControl], ...] = (
    Action("evaluate.open", "Evaluate", VIEW, 190, lambda it: it.show(not it.on), ("Ctrl+Shift+A",)),
    Action(
        "evaluate.step",
        "Repeat this step",
        RUN,
        330,
        lambda it: it.repeat_step(),
        ("Ctrl+Shift+Return", "Ctrl+Shift+Enter"),
    ),
    Action("evaluate.pause", "Pause the evaluation, or go on", RUN, 135, lambda it: it.pause()),
)
