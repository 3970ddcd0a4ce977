"""What is in a preset, as a list to look at."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem

from playground.engine.presets import Preset
from playground.ui.plain_text import show_hidden, tip
from playground.ui.presets.preset_words import rows


class PresetContents(QTreeWidget):
    """``show_preset`` shows one; headings can be folded, values stand on one line each, whole in their tooltips."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("What is in the preset")
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setIndentation(14)
        self.setUniformRowHeights(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.header().setStretchLastSection(True)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_preset(self, preset: Preset | None) -> None:
        """Show what is in that preset, or nothing."""
        self.clear()
        for heading, value, below in rows(preset) if preset is not None else ():
            top = _item(heading, value)
            self.addTopLevelItem(top)
            top.addChildren([_item(name, text) for name, text in below])
            top.setExpanded(True)


def _item(name: str, value: str) -> QTreeWidgetItem:
    item = QTreeWidgetItem([show_hidden(name), show_hidden(value)])
    item.setToolTip(1, tip(value))
    return item
