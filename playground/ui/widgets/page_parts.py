"""Common parts of the inspector's pages: labels of empty pages, and tables of rows."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
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


class RowsTable(QTableView):
    """A table of rows of one height; Ctrl+C asks for a copy of the selected ones."""

    copy_asked = Signal()

    def __init__(self, model: QAbstractItemModel, name: str, about: str, height: int) -> None:
        super().__init__()
        self.setModel(model)
        self.setAccessibleName(name)
        self.setAccessibleDescription(about)
        look_like_rows(self)
        set_row_height(self, height)
        self.horizontalHeader().setMinimumSectionSize(30)

    def set_widths(self, widths: Sequence[int]) -> None:
        """Set the widths of the first columns in pixels."""
        for column, width in enumerate(widths):
            self.horizontalHeader().resizeSection(column, width)

    def give_rest(self, column: int, least: int) -> None:
        """Give a column the width that the other ones leave, at least ``least`` pixels."""
        header = self.horizontalHeader()
        others = sum(header.sectionSize(second) for second in range(header.count()) if second != column)
        header.resizeSection(column, max(least, self.viewport().width() - others))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit()
        else:
            super().keyPressEvent(event)
