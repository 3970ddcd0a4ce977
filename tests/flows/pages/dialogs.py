"""Windows and dialogs by their titles, and the file dialog."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QLineEdit, QWidget

from tests.flows.pages.page import Page

if TYPE_CHECKING:
    from tests.flows.conftest import Person


def find_windows(title: str) -> list[QWidget]:
    """The visible windows of this title."""
    windows = [window for window in QApplication.topLevelWidgets() if window.isVisible()]
    return [window for window in windows if window.windowTitle() == title]


class Window(Page):
    """A window or dialog, found by its title."""

    title: ClassVar[str]

    @classmethod
    async def opened(cls, person: Person, action: str = "") -> Self:
        """Trigger the action, if there is one, and wait for the window."""
        if action:
            await person.do(person.app.window.action(action).trigger)
        await person.until(lambda: len(find_windows(cls.title)) == 1, f"the window {cls.title!r}")
        return cls(person, find_windows(cls.title)[0])

    @classmethod
    def is_open(cls) -> bool:
        """True if a person sees a window of this title."""
        return bool(find_windows(cls.title))

    async def close(self) -> None:
        """Close the window at its frame."""
        await self.person.do(self.widget.close)

    @property
    def text(self) -> str:
        """The texts of all labels in view."""
        return "\n".join(self.texts)

    async def select(self, name: str, entry: str | int) -> None:
        """Choose an entry of a combo box, by its number or the beginning of its text."""
        await select_entry(self.person, await self.wait_for(QComboBox, name), entry)


async def select_entry(person: Person, box: QComboBox, entry: str | int) -> None:
    """Choose an entry of a combo box, once it is there, as a click in its list does.

    ``entry`` is its number or the beginning of its text.
    """

    def listed() -> bool:
        if isinstance(entry, int):
            return box.isEnabled() and box.count() > entry
        return box.isEnabled() and any(box.itemText(number).startswith(entry) for number in range(box.count()))

    await person.until(listed, f"the entry {entry}")
    texts = [box.itemText(number) for number in range(box.count())]
    if isinstance(entry, int):
        number = entry
    elif entry in texts:
        number = texts.index(entry)
    else:
        (number,) = [number for number, text in enumerate(texts) if text.startswith(entry)]

    def select() -> None:
        box.setCurrentIndex(number)
        box.activated.emit(number)

    await person.do(select)


async def name_file(person: Person, file: Path) -> None:
    """Type a name into the file dialog that is open, and accept it."""
    await person.until(lambda: isinstance(QApplication.activeModalWidget(), QFileDialog), "the file dialog")
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, QFileDialog)
    field = dialog.findChild(QLineEdit)
    assert field is not None

    def accept_name() -> None:  # in one event: a folder that is read meanwhile selects a file in the list again
        field.setText(str(file))
        dialog.accept()

    await person.do(accept_name)
    await person.until(lambda: QApplication.activeModalWidget() is not dialog, "the dialog to close")


async def choose_file(person: Person, action: str, file: Path) -> None:
    """Trigger an action and choose a file in the dialog it opens."""
    await person.do(person.app.window.action(action).trigger)
    await name_file(person, file)
    await person.do(person.app.window.activateWindow)  # a desktop does so by itself
