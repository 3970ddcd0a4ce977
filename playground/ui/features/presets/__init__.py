"""Presets in the window: used, saved and looked after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import RUN, Action

if TYPE_CHECKING:
    from playground.ui.features.presets.control import PresetControl

ACTIONS: tuple[Action[PresetControl], ...] = (
    Action("presets.use", "Use a preset…", RUN, 200, lambda it: it.choose(), ("Ctrl+P",)),
    Action("presets.save", "Save as preset…", RUN, 210, lambda it: it.save()),
    Action("presets.look", "Manage presets…", RUN, 220, lambda it: it.look()),
)
