"""The setting for updates: off unless a person switches it on, with the address that is asked in plain sight."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QLineEdit, QWidget

from playground import __version__
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.layouts import in_column, in_row

WORDS = (
    "One small file is fetched from the address below and compared with the version that runs. Nothing about you or "
    "your experiments is sent, and nothing is ever installed by itself."
)
NONE = "No address is known to this copy. Enter the one that the project, or whoever gave you this copy, names."


class UpdateDialog(QDialog):
    """``asked`` carries an address to look at now; ``page_asked`` is emitted when the person wants to see the page."""

    asked = Signal(str)
    page_asked = Signal()

    def __init__(self, address: str, parent: QWidget | None, *, daily: bool) -> None:
        super().__init__(parent)
        self.setWindowTitle("Updates")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(480)
        self.daily = QCheckBox("Look for a newer version once a day")
        self.daily.setChecked(daily)
        self.address = QLineEdit(address, placeholderText="https://…/latest.json")
        self.address.setAccessibleName("Address of the file that names the newest version")
        label = text_label("&Address", "heading")
        label.setBuddy(self.address)
        self.missing = text_label("" if address else NONE, "small", wrap=True)
        self.missing.setVisible(not address)
        self.message = text_label(wrap=True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        say(self.message, "")
        self.now = push_button("Look now")
        self.now.clicked.connect(self._ask)
        self.page = push_button("Open the download page…")
        self.page.clicked.connect(self.page_asked)
        self.page.hide()
        close = push_button("Close", "primary")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        buttons = in_row(self.now, self.page, 1, close, spacing=8)
        in_column(
            text_label(f"This is version {__version__}", "title"),
            text_label(WORDS, wrap=True),
            label,
            self.address,
            self.missing,
            self.daily,
            self.message,
            1,
            buttons,
            of=self,
            margins=(24, 20, 24, 16),
            spacing=10,
        )
        self.address.textEdited.connect(self._edited)

    def show_answer(self, words: str, kind: str, *, page: bool) -> None:
        """What was found; ``page`` says that there is a download page to open."""
        say(self.message, words, kind)
        self.message.setAccessibleName(words)
        self.page.setVisible(page)
        self.now.setEnabled(True)

    def _edited(self) -> None:
        say(self.message, "")
        self.page.hide()

    def _ask(self) -> None:
        self.now.setEnabled(False)
        self.page.hide()
        say(self.message, "Looking…", "small")
        self.asked.emit(self.address.text())
