"""The preferences page of updates: off by default, with the address of the request in plain sight."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from playground import __version__
from playground.ui.widgets.form_parts import paragraph, push_button, say
from playground.ui.widgets.layouts import in_column, in_row

WORDS = (
    "One small file is fetched from the address below and compared with this version. Nothing about you or your "
    "experiments is sent, and nothing is installed."
)
NO_ADDRESS = "Enter the address that the project or your distributor publishes."


class UpdatePage(QWidget):
    """``check_asked`` carries an address to check now; ``download_asked`` asks for the download page."""

    check_asked = Signal(str)
    download_asked = Signal()

    def __init__(self, address: str, *, daily: bool) -> None:
        super().__init__()
        self.daily = QCheckBox("Check once a day")
        self.daily.setChecked(daily)
        self.address = QLineEdit(address, placeholderText="https://…/latest.json")
        self.address.setAccessibleName("Address of the file that names the newest version")
        label = paragraph("&Address", "heading")
        label.setBuddy(self.address)
        self.missing = paragraph(NO_ADDRESS, "small")
        self.message = paragraph()
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        say(self.message, "")
        self.check = push_button("Check now")
        self.check.clicked.connect(self._ask)
        self.download = push_button("Open download page…")
        self.download.clicked.connect(self.download_asked)
        self.download.hide()
        in_column(
            paragraph(f"This is version {__version__}.", "group"),
            paragraph(WORDS, "muted"),
            label,
            self.address,
            self.missing,
            (self.daily, 0, Qt.AlignmentFlag.AlignLeft),
            in_row(self.check, self.download, 1, spacing=8),
            self.message,
            1,
            parent=self,
            margins=0,
            spacing=8,
        )
        self.address.textChanged.connect(self._clear_result)
        self._clear_result()
        self.address.returnPressed.connect(self.check.click)

    def show_result(self, words: str, kind: str, *, newer: bool) -> None:
        """Show the result of a check; ``newer`` offers the download page."""
        say(self.message, words, kind)
        self.message.setAccessibleName(words)
        self.download.setVisible(newer)
        self._enable_check()

    def _clear_result(self) -> None:
        say(self.message, "")
        self.download.hide()
        self._enable_check()

    def _enable_check(self) -> None:
        has_address = bool(self.address.text().strip())
        self.check.setEnabled(has_address)
        self.daily.setEnabled(has_address)
        self.missing.setVisible(not has_address)

    def _ask(self) -> None:
        self.check.setEnabled(False)
        self.download.hide()
        say(self.message, "Checking…", "small")
        self.check_asked.emit(self.address.text())
