"""Common parts of the inspector's pages: labels of empty pages, and tables of rows."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel, QTableView

from playground.ui.widgets.form_parts import paragraph


def empty_words(words: str) -> QLabel:
    """Create a centred label for a page without content."""
    label = paragraph(words, "muted")
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setContentsMargins(24, 8, 24, 24)
    return label


def look_like_rows(table: QTableView) -> None:
    """Make a table a read-only list with row selection and without a grid."""
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
    """Give all rows a fixed height in pixels with one line of text, so that Qt measures no row."""
    table.setWordWrap(False)
    table.setTextElideMode(Qt.TextElideMode.ElideRight)
    table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
    rows = table.verticalHeader()
    rows.setMinimumSectionSize(height)
    rows.setDefaultSectionSize(height)
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
