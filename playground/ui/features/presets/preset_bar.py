"""The line above the parameters: the presets to choose from, and a way to keep what is set now as one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.plain_text import show_hidden, tip

if TYPE_CHECKING:
    from playground.engine.files.presets import Preset

NONE = "No presets yet"


class PresetBar(QWidget):
    """``menu`` is to be filled with ``show_presets`` when it is about to open."""

    chosen = Signal(str)  # a preset's id
    save_asked = Signal()
    edit_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.button = QPushButton("Presets   ")
        self.button.setToolTip("Named sets of parameters, system turn, tools and output format (Ctrl+P)")
        self.button.setAccessibleName("Presets")
        self.menu = QMenu(self.button)
        self.menu.setToolTipsVisible(True)
        self.button.setMenu(self.menu)
        self.save_button = styled(QPushButton("Save as preset…"), "quiet")
        self.save_button.clicked.connect(self.save_asked)
        in_row(self.button, 1, self.save_button, of=self, margins=(16, 8, 12, 0), spacing=6)

    def show_presets(self, presets: Sequence[Preset], fitting: frozenset[str]) -> None:
        """Fill the menu; those whose ids are ``fitting`` are in force already and get a mark."""
        from playground.ui.features.presets.preset_words import summary

        self.menu.clear()
        for preset in presets:
            action = self.menu.addAction(show_hidden(preset.name).replace("&", "&&"))
            action.setToolTip(tip(summary(preset)))
            action.setCheckable(preset.id in fitting)
            action.setChecked(preset.id in fitting)
            action.triggered.connect(partial(self.chosen.emit, preset.id))
        if not presets:
            self.menu.addAction(NONE).setEnabled(False)
        self.menu.addSeparator()
        self.menu.addAction("Save as preset…").triggered.connect(self.save_asked)
        edit = self.menu.addAction("Manage presets…")
        edit.setEnabled(bool(presets))
        edit.triggered.connect(self.edit_asked)
