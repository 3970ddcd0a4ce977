"""Evaluate in the window: cases × variants × repeats, their answers, and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import RUN, VIEW, Action

if TYPE_CHECKING:
    from playground.ui.features.evaluate.control import EvaluateControl

TITLE: Final = "Evaluate"  # the page of the centre

ACTIONS: tuple[Action[EvaluateControl], ...] = (
    Action(
        "evaluate.open", "Evaluate", lambda it: it.show(not it.on), VIEW, 210, "Ctrl+Shift+A", synonyms="cases checks"
    ),
    Action(
        "evaluate.step",
        "Repeat this step",
        lambda it: it.repeat_step(),
        RUN,
        200,
        "Ctrl+Shift+Enter Ctrl+Shift+Return",
        synonyms="evaluate case",
    ),
    Action("evaluate.pause", "Pause or resume", lambda it: it.pause(), RUN, 140, page=TITLE, synonyms="evaluation"),
)
