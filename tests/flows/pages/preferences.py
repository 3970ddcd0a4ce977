"""The Preferences window and its pages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Self

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QListWidget, QTreeWidget, QTreeWidgetItem

from tests.flows.pages.dialogs import Window
from tests.flows.pages.page import read_label
from tests.flows.pages.steps import replace_text

if TYPE_CHECKING:
    from tests.flows.conftest import Person


class PreferencesWindow(Window):
    """All preferences, a page at a time."""

    title = "Preferences"
    memory = "Bodies in memory,"

    @classmethod
    async def open_page(cls, person: Person, page: str) -> Self:
        """Open the window by its shortcut, on the page of that title."""
        await person.key(Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
        window = await cls.opened(person)
        pages = window.get(QListWidget, "Pages")
        (item,) = pages.findItems(page, Qt.MatchFlag.MatchExactly)
        await person.do(partial(pages.setCurrentItem, item))
        return window

    @property
    def page(self) -> str:
        """The title of the page in view."""
        item = self.get(QListWidget, "Pages").currentItem()
        return item.text()

    # Storage and backups

    @property
    def storage_size(self) -> str:
        """The line that tells the size of the store."""
        return read_label(self.person, "storageSize", self.widget)

    @property
    def storage_result(self) -> str:
        """The line that tells how a backup went."""
        return read_label(self.person, "storageResult", self.widget)

    async def select_backup(self, row: int) -> None:
        """Select an automatic backup, the newest of which is 0."""
        backups = await self.wait_for(QListWidget, "Automatic backups")
        await self.person.do(partial(backups.setCurrentRow, row))

    # Keyboard shortcuts

    async def search_shortcuts(self, text: str) -> QLineEdit:
        """Type into the search field of the shortcuts, and return the field."""
        field = await self.wait_for(QLineEdit, "Search shortcuts")
        await replace_text(self.person, field, text)
        return field

    @property
    def shortcuts(self) -> dict[str, str]:
        """The commands in view with their shortcuts."""
        tree = self.get(QTreeWidget, "Keyboard shortcuts")
        groups = [tree.topLevelItem(row) for row in range(tree.topLevelItemCount())]
        items = [item for group in groups if group is not None for item in _shown(group)]
        return {item.text(0): item.text(1) for item in items}


def _shown(group: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    if group.isHidden():
        return []
    children = [group.child(row) for row in range(group.childCount())]
    return [child for child in children if child is not None and not child.isHidden()]
