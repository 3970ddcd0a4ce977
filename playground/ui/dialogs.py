"""The small questions a window asks: a title, a file, whether to open a link. Never a nested loop."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMessageBox, QWidget

from playground.engine.session import Session
from playground.ui.loop import ask


async def rename(window: QWidget, session: Session) -> None:
    """Ask for a session's title and set it."""
    dialog = QInputDialog(window)
    dialog.setWindowTitle("Rename experiment")
    dialog.setLabelText("Title (empty for the first words)")
    dialog.setTextValue(session.title)
    if await ask(dialog):
        session.rename(dialog.textValue())
    dialog.deleteLater()


async def ask_where(window: QWidget, title: str, name: str, kinds: str, suffix: str) -> Path | None:
    """Ask for a file to write, ``name`` offered and ``suffix`` added where none is given; None for none."""
    dialog = QFileDialog(window, title, name, kinds)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(suffix)
    return await _chosen(dialog)


async def ask_which(window: QWidget, title: str, place: str, kinds: str) -> Path | None:
    """Ask for a file that is there, in the folder ``place`` first; None for none."""
    dialog = QFileDialog(window, title, place, kinds)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return await _chosen(dialog)


async def _chosen(dialog: QFileDialog) -> Path | None:
    chosen = dialog.selectedFiles()[:1] if await ask(dialog) else []
    dialog.deleteLater()
    return Path(chosen[0]) if chosen else None


async def open_link(window: QWidget, address: str, whence: str = "The link comes from a conversation.") -> None:
    """Show the real address of a link, and open it in a browser only if a person agrees."""
    box = QMessageBox(window)
    box.setWindowTitle("Open this address?")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(QUrl(address).toString(QUrl.ComponentFormattingOption.FullyEncoded)[:2000])
    box.setInformativeText(f"{whence} It opens in your browser.")
    box.setStandardButtons(QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    if await ask(box) == QMessageBox.StandardButton.Open.value:
        QDesktopServices.openUrl(QUrl(address))
    box.deleteLater()
