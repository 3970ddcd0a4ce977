"""Small dialogs: for a title, a file, or a confirmation. None runs a nested event loop.

Qt's own dialogs get the style of this app: the same buttons in the same order, Cancel first and the filled action
last, without icons.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, QStandardPaths, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QGridLayout,
    QInputDialog,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QSplitter,
    QToolButton,
    QWidget,
)

from playground.engine.session.drafts import TITLE, OpenEdit
from playground.engine.session.session import Session
from playground.ui.widgets.icons import icon
from playground.ui.widgets.loop import ask

MARGINS = 18, 14, 18, 14  # pixels, like the other dialogs of this app
LINE = 360  # pixels: the minimum width of a line edit
DOES = QDialogButtonBox.ButtonRole.AcceptRole, QDialogButtonBox.ButtonRole.YesRole
FILE_WORDS = {
    QFileDialog.DialogLabel.LookIn: "Folder",
    QFileDialog.DialogLabel.FileName: "Name",
    QFileDialog.DialogLabel.FileType: "Kind",
    QFileDialog.DialogLabel.Reject: "Cancel",
}
FILE_ICONS = {  # by the object names of the buttons in Qt's file dialog
    "backButton": "chevron-left",
    "forwardButton": "chevron-right",
    "toParentButton": "up",
    "newFolderButton": "plus",
}
FILE_PLACES = 130  # pixels: the width of the list of places
FILE_SIZE = 760, 480  # pixels: wide enough for dates


def fit_to_window(dialog: QWidget, wide: int, tall: int) -> None:
    """Resize a dialog to this size, and smaller than the main window: its parent may be a smaller dialog."""
    above = dialog.parentWidget()
    while above is not None and (parent := above.parentWidget()) is not None:
        above = parent
    size = QSize(wide, tall)
    dialog.resize(size if above is None else size.boundedTo(above.size() - QSize(40, 40)))


def dress(dialog: QDialog, does: str = "") -> None:
    """Apply the style of this app to the buttons of a Qt dialog; ``does`` replaces the text "OK"."""
    dialog.sizeHint()  # some dialogs create their buttons in sizeHint
    for box in dialog.findChildren(QDialogButtonBox):
        if (row := box.layout()) is not None:
            row.setSpacing(8)
        for button in box.buttons():
            if box.buttonRole(button) not in DOES or not isinstance(button, QPushButton):
                continue
            button.setProperty("kind", "primary")
            button.style().unpolish(button)  # it may be polished already
            button.style().polish(button)
            if does:
                button.setText(does)


def file_dialog(window: QWidget, title: str, place: str, kinds: str = "", *, write: str | None = None) -> QFileDialog:
    """Create a dialog for an existing file or, with ``write`` as the default suffix, for a file to write.

    ``place`` is the first folder or file, relative to the documents folder. The dialog is the desktop's own where Qt
    supports it, otherwise Qt's with the style of this app.
    """
    dialog = QFileDialog(window, title, str(_documents() / place), kinds)
    if write is None:
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    else:
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(write)
    for label, words in FILE_WORDS.items():
        dialog.setLabelText(label, words)
    dialog.setLabelText(QFileDialog.DialogLabel.Accept, "Open" if write is None else "Save")
    _dress_files(dialog, window)
    return dialog


def _documents() -> Path:
    path = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation))
    return path if path.is_dir() else Path.home()


def _dress_files(dialog: QFileDialog, window: QWidget) -> None:
    grid, box = dialog.layout(), dialog.findChild(QDialogButtonBox)
    if not isinstance(grid, QGridLayout) or box is None:
        return  # the desktop's own dialog
    while (parent := window.parentWidget()) is not None:  # the parent may be a smaller dialog
        window = parent
    dialog.resize(QSize(*FILE_SIZE).boundedTo(window.size() - QSize(40, 40)))
    grid.removeWidget(box)
    box.setOrientation(Qt.Orientation.Horizontal)
    grid.addWidget(box, grid.rowCount(), 0, 1, grid.columnCount())
    grid.setContentsMargins(*MARGINS)
    if (split := dialog.findChild(QSplitter)) is not None:
        split.setSizes([FILE_PLACES, dialog.width()])
    for button in dialog.findChildren(QToolButton):
        if (name := FILE_ICONS.get(button.objectName())) is not None:
            button.setIcon(icon(name))
    dress(dialog)


def line_dialog(window: QWidget, title: str, label: str, text: str, does: str) -> QInputDialog:
    """Return a dialog for one line; ``does`` is the text of the button that accepts it."""
    dialog = QInputDialog(window)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    dialog.setTextValue(text)
    dress(dialog, does)
    if (layout := dialog.layout()) is not None:
        layout.setContentsMargins(*MARGINS)
    if (line := dialog.findChild(QLineEdit)) is not None:
        line.setMinimumWidth(LINE)  # Qt sets the minimum width of the dialog itself
    return dialog


async def rename(window: QWidget, session: Session) -> None:
    """Ask for a session's title and set it."""
    dialog = line_dialog(window, "Rename experiment", "Title (empty for the first words)", session.title, "Rename")
    dialog.textValueChanged.connect(
        lambda text: session.editors.set_editing(OpenEdit(turn=TITLE.turn, what=TITLE.what, text=text))
    )
    if await ask(dialog):
        session.change(title=dialog.textValue())
    session.editors.end_editing(TITLE)
    dialog.deleteLater()


def file_name(title: str, otherwise: str = "experiment") -> str:
    """Return a title as a file's name that every system allows; ``otherwise`` if the result is empty."""
    words = "".join(letter if letter.isalnum() or letter in " -_" else " " for letter in title).split()
    return "-".join(words)[:60].lower() or otherwise


async def ask_where(window: QWidget, title: str, name: str, kinds: str, suffix: str) -> Path | None:
    """Ask for a file to write, with ``name`` suggested and a default ``suffix``; return None if cancelled."""
    return next(iter(await _choose_files(file_dialog(window, title, name, kinds, write=suffix))), None)


async def ask_which(window: QWidget, title: str, place: str, kinds: str) -> Path | None:
    """Ask for an existing file, starting in the folder ``place``; return None if cancelled."""
    return next(iter(await _choose_files(file_dialog(window, title, place, kinds))), None)


async def ask_several(window: QWidget, title: str, place: str, kinds: str) -> list[Path]:
    """Ask for existing files, starting in the folder ``place``; return an empty list if cancelled."""
    dialog = file_dialog(window, title, place, kinds)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    return await _choose_files(dialog)


async def ask_folder(window: QWidget, title: str, place: str) -> Path | None:
    """Ask for an existing folder, starting in ``place``; return None if cancelled."""
    dialog = file_dialog(window, title, place)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.setLabelText(QFileDialog.DialogLabel.Accept, "Choose")
    return next(iter(await _choose_files(dialog)), None)


async def _choose_files(dialog: QFileDialog) -> list[Path]:
    """Open a file dialog and return the chosen files; empty if cancelled."""
    try:
        return [Path(name) for name in dialog.selectedFiles()] if await ask(dialog) else []
    finally:  # the task may be cancelled meanwhile
        dialog.deleteLater()


async def agreed(window: QWidget, title: str, text: str, more: str, does: str) -> bool:
    """Ask for confirmation and return whether the button ``does`` was pressed."""
    return await ask_choice(window, title, text, more, does) == does


async def ask_choice(window: QWidget, title: str, text: str, more: str, *choices: str, cancel: str = "Cancel") -> str:
    """Ask with a button for each choice and return the text of the pressed one; empty for ``cancel`` and Escape.

    The first choice is filled. ``cancel`` is the default button, so that Enter alone does nothing.
    """
    box = QMessageBox(window)
    box.setWindowTitle(title)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(text)
    box.setInformativeText(more)
    roles = QMessageBox.ButtonRole.AcceptRole, *(QMessageBox.ButtonRole.ActionRole for _ in choices[1:])
    buttons = [box.addButton(words, role) for words, role in zip(choices, roles, strict=True)]
    cancel_button = box.addButton(cancel, QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(cancel_button)
    box.setEscapeButton(cancel_button)
    dress(box)
    if (layout := box.layout()) is not None:
        layout.setContentsMargins(*MARGINS)
    try:
        await ask(box)
        clicked = box.clickedButton()
        return next((words for words, button in zip(choices, buttons, strict=True) if button is clicked), "")
    finally:  # the task may be cancelled meanwhile
        box.deleteLater()


async def open_link(window: QWidget, address: str, whence: str = "The link comes from a conversation.") -> None:
    """Show the real address of a link, and open it in a browser after confirmation."""
    text = QUrl(address).toString(QUrl.ComponentFormattingOption.FullyEncoded)[:2000]
    if await agreed(window, "Open this address?", text, f"{whence} It opens in your browser.", "Open"):
        QDesktopServices.openUrl(QUrl(address))
