"""The numbers behind a plot, or of a report: rows to read, sort and copy, which lead to an answer as its points do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHeaderView, QTableView

from playground.ui.features.evaluate.plots.scene import Row
from playground.ui.widgets.page_parts import look_like_rows, set_row_height
from playground.ui.widgets.plain_text import one_line_of, tip

HIGH: Final = 26  # pixels of a row
WIDE: Final = 74  # pixels of a column
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class RowsTable(QTableView):
    """``pressed`` tells the target of a row that was opened: by Enter or a double click."""

    pressed = Signal(object)

    def __init__(self, says: str) -> None:
        super().__init__()
        self._rows = _Rows()
        self.setModel(self._rows)
        self.setAccessibleName(says)
        look_like_rows(self)
        set_row_height(self, HIGH)
        head = self.horizontalHeader()
        head.setDefaultSectionSize(WIDE)
        head.setMinimumSectionSize(40)
        self.doubleClicked.connect(self._open)

    def show_rows(self, header: Sequence[str], rows: Sequence[Row]) -> None:
        """Show the rows, and keep the selected row and the scroll position."""
        row, place = self.currentIndex().row(), self.verticalScrollBar().value()
        self._rows.show_rows(header, rows)
        if header:
            self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        if 0 <= row < len(rows):
            self.setCurrentIndex(self._rows.index(row, 0))
        self.verticalScrollBar().setValue(place)

    @property
    def text(self) -> str:
        """The whole table as tab-separated text."""
        return "\n".join("\t".join(cells) for cells in (self._rows.header, *(row.cells for row in self._rows.rows)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._open(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _open(self, index: QModelIndex) -> None:
        target = self._rows.rows[index.row()].target
        if target is not None:
            self.pressed.emit(target)


class _Rows(QAbstractTableModel):
    def __init__(self) -> None:
        super().__init__()
        self.header: tuple[str, ...] = ()
        self.rows: Sequence[Row] = ()

    def show_rows(self, header: Sequence[str], rows: Sequence[Row]) -> None:
        self.beginResetModel()
        self.header, self.rows = tuple(header), rows
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.header)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and section < len(self.header):
            if role == Qt.ItemDataRole.DisplayRole:
                return one_line_of(self.header[section])
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return _LEFT if section == 0 else _RIGHT
        return None

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        cells = self.rows[index.row()].cells
        if index.column() >= len(cells):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return one_line_of(cells[index.column()])
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(cells[index.column()])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if index.column() == 0 else _RIGHT
        return None
