"""The line above the parameters: a menu of presets, and a button to save the settings as one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from playground.engine.files.presets import Preset
from playground.ui.features.presets.texts import summary
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.plain_text import show_hidden, tip


class PresetBar(QWidget):
    """``menu`` is to be filled with ``show_presets`` when it is about to open."""

    chosen = Signal(str)  # the id of a preset
    save_asked = Signal()
    edit_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        button = QPushButton("Presets   ")
        button.setToolTip("Named sets of parameters, system message, tools and output format (Ctrl+P)")
        button.setAccessibleName("Presets")
        self.menu = QMenu(button)
        self.menu.setToolTipsVisible(True)
        button.setMenu(self.menu)
        save_button = styled(QPushButton("Save as preset…"), "quiet")
        save_button.clicked.connect(self.save_asked)
        in_row(button, 1, save_button, parent=self, margins=(16, 8, 12, 0), spacing=6)

    def show_presets(self, presets: Sequence[Preset], active: frozenset[str]) -> None:
        """Fill the menu; the presets with ``active`` ids, whose settings are all in use, are ticked."""
        self.menu.clear()
        for preset in presets:
            action = self.menu.addAction(show_hidden(preset.name).replace("&", "&&"))
            action.setToolTip(tip(summary(preset)))
            action.setCheckable(preset.id in active)
            action.setChecked(preset.id in active)
            action.triggered.connect(partial(self.chosen.emit, preset.id))
        if not presets:
            self.menu.addAction("No presets yet").setEnabled(False)
        self.menu.addSeparator()
        self.menu.addAction("Save as preset…").triggered.connect(self.save_asked)
        edit = self.menu.addAction("Manage presets…")
        edit.setEnabled(bool(presets))
        edit.triggered.connect(self.edit_asked)
