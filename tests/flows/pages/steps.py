"""Steps with Qt's own widgets that several pages take: choose in a list, replace a text, read a table, turn a tab."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self

from PySide6.QtCore import QAbstractItemModel, QItemSelectionModel, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPlainTextEdit,
    QTabBar,
)

from tests.flows.pages.page import Page, find_by_object_name
from tests.flows.pages.page import read_label as read_label

if TYPE_CHECKING:
    from tests.flows.conftest import Person


class Dialog(Page):
    """A dialog or page that has an object name of its own."""

    object_name: ClassVar[str]

    @classmethod
    def find_all(cls, person: Person) -> list[Self]:
        """All of them that a person sees."""
        return [cls(person, widget) for widget in find_by_object_name(person, cls.object_name)]

    @classmethod
    def count(cls, person: Person) -> int:
        """How many of them a person sees."""
        return len(find_by_object_name(person, cls.object_name))

    @classmethod
    async def wait(cls, person: Person) -> Self:
        """Wait until it is open."""
        await person.until(lambda: cls.count(person) == 1, f"the {cls.object_name}")
        return cls(person, find_by_object_name(person, cls.object_name)[0])

    async def close(self, button: str) -> None:
        """Press a button and wait until the dialog is closed."""
        await self.press(button)
        await self.wait_until(lambda: not self.visible, f"the {self.object_name} to close")


async def open_tab(person: Person, title: str, bar_name: str = "") -> None:
    """Turn to the tab whose title begins with this word, in the bar with this accessible name if it is given."""

    def place() -> tuple[QTabBar, int] | None:
        bars = person.find(QTabBar, bar_name)
        places = [(bar, index) for bar in bars for index in range(bar.count())]
        return next(((bar, index) for bar, index in places if bar.tabText(index).split()[:1] == [title]), None)

    await person.until(place, f"the tab {title}")
    match = place()
    assert match is not None
    bar, index = match
    point = bar.mapTo(bar.window(), bar.tabRect(index).center())
    no_key = Qt.KeyboardModifier.NoModifier
    await person.do(partial(QTest.mouseClick, bar.window().windowHandle(), Qt.MouseButton.LeftButton, no_key, point))
    await person.until(lambda: bar.currentIndex() == index, f"the tab {title}")


async def replace_text(person: Person, field: QLineEdit | QPlainTextEdit, text: str) -> None:
    """Mark the text of a field and type another one in its place, key by key."""
    await person.until(field.isEnabled, f"{field} to be enabled")
    await person.do(field.selectAll)
    if text:
        await person.do(partial(QTest.keyClicks, field, text))
    else:
        await person.do(partial(QTest.keyClick, field, Qt.Key.Key_Delete))


async def trigger(person: Person, menu: QMenu, *path: str) -> None:
    """Choose the entry of a menu that begins with the last text of the path; those before it name submenus.

    A menu is filled as it is when it opens, again and again until the entry is there.
    """

    def entry() -> QAction | None:
        inner: QMenu | None = menu
        match: QAction | None = None
        for text in path:
            if inner is None:
                return None
            inner.aboutToShow.emit()
            entries = [action for action in inner.actions() if action.text().replace("&", "").startswith(text)]
            match = entries[0] if entries and entries[0].isEnabled() else None
            submenu = match.menu() if match is not None else None
            inner = submenu if isinstance(submenu, QMenu) else None
        return match

    await person.until(entry, " › ".join(path))
    action = entry()
    assert action is not None
    await person.do(action.trigger)


async def answer_question(person: Person, button: str) -> str:
    """Press a button of the message box that is open, wait until it is closed, and return its text."""
    box = await person.seen(QMessageBox)
    text = f"{box.text()}\n{box.informativeText()}"
    await person.press(button, box)
    await person.until(lambda: not person.find(QMessageBox), "the question to close")
    return text


def column_texts(
    view: QAbstractItemView, column: int = 0, role: Qt.ItemDataRole = Qt.ItemDataRole.DisplayRole
) -> list[str]:
    """The texts of one column of a list or table, or what a screen reader or a tooltip says of its cells."""
    model: QAbstractItemModel = view.model()
    return [str(model.index(row, column).data(role) or "") for row in range(model.rowCount())]


async def click_cell(person: Person, view: QAbstractItemView, row: int, column: int = 0) -> None:
    """Click a cell of a list or table, scrolled into view."""
    await person.until(lambda: view.model().rowCount() > row, f"row {row}")
    index = view.model().index(row, column)
    await person.do(partial(view.scrollTo, index))
    point = view.visualRect(index).center()
    no_key = Qt.KeyboardModifier.NoModifier
    await person.do(partial(QTest.mouseClick, view.viewport(), Qt.MouseButton.LeftButton, no_key, point))


async def wait_for_selected_rows(person: Person, name: str) -> list[int]:
    """Wait until rows are selected in the list of this name, and return their numbers."""

    def selected() -> list[int]:
        views = person.find(QAbstractItemView, name)
        return sorted({index.row() for view in views for index in view.selectionModel().selectedIndexes()})

    await person.until(selected, f"a selected row in {name}")
    return selected()


async def select_row(person: Person, view: QAbstractItemView, row: int, column: int = 0) -> None:
    """Select a row of a list or table, as the arrow keys do."""
    await person.until(lambda: view.model().rowCount() > row, f"row {row}")
    flags = QItemSelectionModel.SelectionFlag
    index = view.model().index(row, column)
    await person.do(partial(view.selectionModel().setCurrentIndex, index, flags.ClearAndSelect | flags.Rows))
