"""The palette, the files opened last, and the dialogs of files and presets."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListWidget, QTreeWidget

from tests.flows.pages.dialogs import Window
from tests.flows.pages.steps import Dialog, replace_text

if TYPE_CHECKING:
    from tests.flows.conftest import Person


def recent_files(person: Person) -> list[str]:
    """The names of the files opened or saved last, the latest first."""
    paths = json.loads(str(person.app.settings.value("files/recent") or "[]"))
    return [Path(path).name for path in paths]


class Palette(Dialog):
    """A list to choose from by typing."""

    object_name = "palette"

    @property
    def matches(self) -> list[str]:
        """The entries that fit what is typed."""
        entries = self.get(QListWidget, "Matches")
        return [entries.item(row).text() for row in range(entries.count())]

    async def search(self, text: str) -> None:
        """Type the beginning of a name."""
        await replace_text(self.person, self.get(QLineEdit), text)

    async def choose_first(self) -> None:
        """Choose the first entry with Enter."""
        await self.person.do(partial(QTest.keyClick, self.get(QLineEdit), Qt.Key.Key_Return))


class ImportWindow(Window):
    """The import of conversations."""

    title = "Import messages"

    @property
    def count(self) -> int:
        """How many conversations were read."""
        return sum(tree.topLevelItemCount() for tree in self.find(QTreeWidget, "What was understood"))

    async def leave_out(self, number: int) -> None:
        """Untick a conversation, counted from 0."""
        item = self.get(QTreeWidget, "What was understood").topLevelItem(number)
        assert item is not None
        await self.person.do(partial(item.setCheckState, 0, Qt.CheckState.Unchecked))


class ExportWindow(Window):
    """The export of a conversation."""

    title = "Export"


class SavePresetWindow(Window):
    """The name of a new preset."""

    title = "Save as preset"

    async def save(self, name: str) -> None:
        """Save the preset under this name."""
        await replace_text(self.person, self.get(QLineEdit, "Name"), name)
        await self.press("Save")


class PresetsWindow(Window):
    """The list of presets."""

    title = "Presets"

    async def rename(self, name: str) -> None:
        """Rename the selected preset in the list."""
        await self.press("Rename")
        (editor,) = self.get(QListWidget, "Presets").findChildren(QLineEdit)
        await replace_text(self.person, editor, name)
        await self.person.do(partial(QTest.keyClick, editor, Qt.Key.Key_Return))
