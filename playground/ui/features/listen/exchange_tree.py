"""The list of exchanges: a tree of groups with a row for each exchange, and the Qt model behind it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from PySide6.QtCore import (
    QAbstractItemModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeView

from playground.ui.features.listen.exchange_rows import (
    HEADERS,
    Column,
    ExchangeRow,
    Filter,
    cell_text,
    cell_tip,
    group_title,
)
from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.theme import tokens

Index = QModelIndex | QPersistentModelIndex
AT_RIGHT: Final = frozenset({Column.MESSAGES, Column.TOKENS, Column.DURATION, Column.COST, Column.RETRY})
WIDTHS: Final = {
    Column.TIME: 96,
    Column.MODEL: 190,
    Column.API: 130,
    Column.MESSAGES: 110,
    Column.TOKENS: 190,
    Column.DURATION: 76,
    Column.COST: 80,
    Column.RETRY: 46,
}
#: Columns that are hidden below a width in pixels of the list.
HIDDEN_BELOW: Final = {Column.RETRY: 1200, Column.API: 1100, Column.COST: 900, Column.MESSAGES: 740, Column.TOKENS: 620}
ROW_HEIGHT: Final = 24
LEAST_STATE: Final = 120
ABOUT: Final = "Arrow keys select an exchange. The menu key opens its actions. Ctrl+click selects several."


class _Group:
    """The rows of one program and session that pass the filter."""

    def __init__(self, program: str, session: str) -> None:
        self.program, self.session = program, session
        self.rows: list[ExchangeRow] = []


class ExchangeModel(QAbstractItemModel):
    """Groups on the first level, exchanges below. ``show_rows`` adds rows or replaces those of the same number."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: dict[int, ExchangeRow] = {}
        self._groups: list[_Group] = []
        self._group_numbers: dict[tuple[str, str], int] = {}
        self._places: dict[int, tuple[int, int]] = {}  # group and row of each exchange that passes the filter
        self._filter = Filter()

    @property
    def total(self) -> int:
        """The number of exchanges, with those that the filter hides."""
        return len(self._all)

    @property
    def listed(self) -> int:
        """The number of exchanges that pass the filter."""
        return len(self._places)

    def row(self, number: int) -> ExchangeRow | None:
        """Return an exchange by its number."""
        return self._all.get(number)

    def rows(self) -> list[ExchangeRow]:
        """Return all exchanges, in the order of their arrival."""
        return list(self._all.values())

    def clear(self) -> None:
        """Remove all rows."""
        self._all = {}
        self._rebuild()

    def set_filter(self, filter: Filter) -> None:
        """Show the rows that pass another filter."""
        if filter != self._filter:
            self._filter = filter
            self._rebuild()

    def _rebuild(self) -> None:
        self.beginResetModel()
        self._groups, self._group_numbers, self._places = [], {}, {}
        for row in self._all.values():
            if self._filter.fits(row):
                group = self._group_of(row)
                self._places[row.summary.number] = (group, len(self._groups[group].rows))
                self._groups[group].rows.append(row)
        self.endResetModel()

    def _group_of(self, row: ExchangeRow) -> int:
        """Return the number of the group of a row, which is added without a notice if it is new."""
        number = self._group_numbers.setdefault(row.group, len(self._groups))
        if number == len(self._groups):
            self._groups.append(_Group(*row.group))
        return number

    def show_rows(self, rows: Iterable[ExchangeRow]) -> None:
        """Add new rows and update known ones."""
        for row in rows:
            before = self._all.get(row.summary.number)
            if before == row:
                continue
            self._all[row.summary.number] = row
            place = self._places.get(row.summary.number)
            fits = self._filter.fits(row)
            if place is None and fits:
                self._insert(row)
            elif place is not None and (not fits or (before is not None and before.group != row.group)):
                self._rebuild()  # rare: a decision was made, or the first bytes named the program
            elif place is not None:
                self._groups[place[0]].rows[place[1]] = row
                parent = self.index(place[0], 0)
                last = len(HEADERS) - 1
                self.dataChanged.emit(self.index(place[1], 0, parent), self.index(place[1], last, parent))

    def _insert(self, row: ExchangeRow) -> None:
        if row.group not in self._group_numbers:
            self.beginInsertRows(QModelIndex(), len(self._groups), len(self._groups))
            self._group_of(row)
            self.endInsertRows()
        number = self._group_numbers[row.group]
        rows = self._groups[number].rows
        parent = self.index(number, 0)
        self.beginInsertRows(parent, len(rows), len(rows))
        self._places[row.summary.number] = (number, len(rows))
        rows.append(row)
        self.endInsertRows()
        self.dataChanged.emit(parent, parent)

    def exchange_at(self, index: Index) -> ExchangeRow | None:
        """Return the exchange of an index; None for a group."""
        if not index.isValid() or index.internalId() == 0:
            return None
        return self._groups[index.internalId() - 1].rows[index.row()]

    def index_of(self, number: int) -> QModelIndex:
        """Return the first index of an exchange; an invalid one if it is not listed."""
        place = self._places.get(number)
        return QModelIndex() if place is None else self.index(place[1], 0, self.index(place[0], 0))

    # Qt

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 - Qt's own
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else 0)

    def parent(self, index: Index = QModelIndex()) -> Any:  # noqa: B008 - Qt's own
        if not index.isValid() or index.internalId() == 0:
            return QModelIndex()
        return self.createIndex(index.internalId() - 1, 0, 0)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        if not parent.isValid():
            return len(self._groups)
        return len(self._groups[parent.row()].rows) if parent.internalId() == 0 and parent.column() == 0 else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return len(HEADERS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.exchange_at(index)
        if row is None:
            return self._group_data(index, role)
        column = Column(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return cell_text(row, column)
            case Qt.ItemDataRole.SizeHintRole:
                return QSize(0, ROW_HEIGHT)
            case Qt.ItemDataRole.ToolTipRole:
                return tip(cell_tip(row, column))
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{HEADERS[column][0]}: {cell_text(row, column)}"
            case Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignRight if column in AT_RIGHT else Qt.AlignmentFlag.AlignLeft
                return side | Qt.AlignmentFlag.AlignVCenter
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(_colour(row, column))
            case Qt.ItemDataRole.DecorationRole:
                sign = _sign(row) if column is Column.STATE else None
                return icon(*sign) if sign is not None else None
        return None

    def _group_data(self, index: Index, role: int) -> Any:
        if not index.isValid() or index.column() != 0:
            return None
        group = self._groups[index.row()]
        match role:
            case Qt.ItemDataRole.SizeHintRole:
                return QSize(0, ROW_HEIGHT)
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return group_title(group.program, group.session, len(group.rows))
            case Qt.ItemDataRole.FontRole:
                font = QFont()
                font.setBold(True)
                return font
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(tokens().muted)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        title, about = HEADERS[Column(section)]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return title
            case Qt.ItemDataRole.ToolTipRole:
                return tip(about)
            case Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignRight if section in AT_RIGHT else Qt.AlignmentFlag.AlignLeft
                return side | Qt.AlignmentFlag.AlignVCenter
        return None


def _colour(row: ExchangeRow, column: Column) -> str:
    colours = tokens()
    if column is Column.STATE:
        if row.is_failed:
            return colours.error
        return colours.tool if row.is_paused else colours.muted if row.is_under_way else colours.text
    return colours.text if column is Column.MODEL else colours.muted


def _sign(row: ExchangeRow) -> tuple[str, str] | None:
    if row.is_paused:
        return "pause", "tool"
    if row.is_failed:
        return "error", "error"
    return ("edit", "accent") if row.summary.changes else None


class ExchangeTree(QTreeView):
    """The list. ``chosen`` is emitted after the selection changed, ``menu_asked`` with a global position."""

    chosen = Signal()
    menu_asked = Signal(QPoint)

    def __init__(self, model: ExchangeModel) -> None:
        super().__init__()
        self._model = model
        self.setObjectName("listenExchanges")
        self.setAccessibleName("Requests of programs")
        self.setAccessibleDescription(ABOUT)
        self.setModel(model)
        self.setUniformRowHeights(True)
        self.setIndentation(14)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header = self.header()
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(30)
        header.setSectionsMovable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.customContextMenuRequested.connect(self._ask_menu)
        model.rowsInserted.connect(self._unfold)
        model.modelReset.connect(self._unfold_all)

    # Groups

    def _unfold(self, parent: QModelIndex, first: int, last: int) -> None:
        if not parent.isValid():
            for row in range(first, last + 1):
                self._show_group(row)
        elif first == 0:
            self.expand(parent)

    def _unfold_all(self) -> None:
        for row in range(self._model.rowCount()):
            self._show_group(row)

    def _show_group(self, row: int) -> None:
        self.setFirstColumnSpanned(row, QModelIndex(), True)
        self.expand(self._model.index(row, 0))

    # Selection

    @property
    def selected(self) -> list[ExchangeRow]:
        """The selected exchanges in the order of their arrival."""
        rows = (self._model.exchange_at(index) for index in self.selectionModel().selectedRows())
        return sorted((row for row in rows if row is not None), key=lambda row: row.summary.number)

    def select(self, number: int) -> bool:
        """Select one exchange and scroll to it. Return whether it is listed."""
        index = self._model.index_of(number)
        if not index.isValid():
            return False
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self.scrollTo(index)
        return True

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        self.chosen.emit()

    def _ask_menu(self, position: QPoint) -> None:
        if self._model.exchange_at(self.indexAt(position)) is not None:
            self.menu_asked.emit(self.viewport().mapToGlobal(position))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Menu and self.selected:
            self.menu_asked.emit(self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft()))
        else:
            super().keyPressEvent(event)

    # Columns

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        """Hide columns for which there is no room, and give the result the rest of the width."""
        room = self.viewport().width()
        used = 0
        for column, width in WIDTHS.items():
            hidden = room < HIDDEN_BELOW.get(column, 0)
            self.setColumnHidden(column, hidden)
            if not hidden:
                self.header().resizeSection(column, width)
                used += width
        self.header().resizeSection(Column.STATE, max(LEAST_STATE, room - used))
