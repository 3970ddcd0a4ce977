"""What is in a preset, as a list to look at."""

from __future__ import annotations

from playground.engine.files.presets import Preset
from playground.ui.features.presets.preset_words import rows
from playground.ui.widgets.outline_tree import OutlineTree


class PresetContents(OutlineTree):
    """``show_preset`` shows one."""

    def __init__(self) -> None:
        super().__init__("What is in the preset")

    def show_preset(self, preset: Preset | None) -> None:
        """Show what is in that preset, or nothing."""
        self.show_groups(rows(preset) if preset is not None else ())
