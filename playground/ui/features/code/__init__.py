"""The request as code, and a request from what is pasted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import EXPERIMENT, RUN, Action

if TYPE_CHECKING:
    from playground.ui.features.code.control import CodeControl

ACTIONS: tuple[Action[CodeControl], ...] = (
    Action("experiment.import", "Import request…", EXPERIMENT, 240, lambda it: it.open_import()),
    Action("run.code", "Get code", RUN, 440, lambda it: it.open_code(), ("Ctrl+Shift+C",)),
)
