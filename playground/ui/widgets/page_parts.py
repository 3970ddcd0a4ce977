"""What pages of the inspector have in common: words where there is nothing to show, and tables of rows."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel, QTableView

from playground.ui.widgets.form_parts import paragraph


def empty_words(words: str) -> QLabel:
    """What a page says in its middle while it has nothing to show."""
    label = paragraph(words, "muted")
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setContentsMargins(24, 8, 24, 24)
    return label


def look_like_rows(table: QTableView) -> None:
    """Make it a list of whole rows to read and choose from, not a grid of cells to write into."""
    table.setShowGrid(False)
    table.setTabKeyNavigation(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.setCornerButtonEnabled(False)
    table.verticalHeader().setVisible(False)
    table.horizontalHeader().setHighlightSections(False)


def set_row_height(table: QTableView, height: int) -> None:
    """All rows that high, in pixels, with one line of text in each: nothing is measured, however many there are."""
    table.setWordWrap(False)
    table.setTextElideMode(Qt.TextElideMode.ElideRight)
    table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
    rows = table.verticalHeader()
    rows.setMinimumSectionSize(height)
    rows.setDefaultSectionSize(height)
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
