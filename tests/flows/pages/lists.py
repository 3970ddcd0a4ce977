"""Lists and tables of the window, found by their accessible names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView

if TYPE_CHECKING:
    from tests.flows.conftest import Person


def row_texts(view: QAbstractItemView) -> list[str]:
    """The text of each row: that of its cells, or what a screen reader says of it."""
    model = view.model()
    rows = range(model.rowCount())
    columns = range(model.columnCount())
    return ["\t".join(_text(model.index(row, column)) for column in columns) for row in rows]


def _text(index: QModelIndex) -> str:
    return str(index.data() or index.data(Qt.ItemDataRole.AccessibleTextRole) or "")


async def wait_for_selected_rows(person: Person, name: str) -> list[int]:
    """Wait until rows are selected in the list of this name, and return their numbers."""

    def selected() -> list[int]:
        views = person.find(QAbstractItemView, name)
        return sorted({index.row() for view in views for index in view.selectionModel().selectedIndexes()})

    await person.until(selected, f"a selected row in {name}")
    return selected()


async def click_row(person: Person, view: QAbstractItemView, row: int, column: int = 0) -> None:
    """Click a row of a list."""
    view.scrollTo(view.model().index(row, column))
    centre = view.visualRect(view.model().index(row, column)).center()
    await person.do(lambda: QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=centre))
