"""Presets in the window: used, saved and managed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import Action

if TYPE_CHECKING:
    from playground.ui.features.presets.control import PresetControl

ACTIONS: tuple[Action[PresetControl], ...] = (
    Action("presets.use", "Use preset…", lambda it: it.choose(), keys="Ctrl+P"),
    Action("presets.save", "Save as preset…", lambda it: it.save()),
    Action("presets.look", "Manage presets…", lambda it: it.look(), synonyms="rename delete"),
)
