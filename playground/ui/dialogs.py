"""The small questions a window asks: a title, whether to open a link. Never a nested loop."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QInputDialog, QMessageBox, QWidget

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
