"""The setting for updates: off unless a person switches it on, with the address that is asked in plain sight."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from playground import __version__
from playground.ui.widgets.form_parts import push_button, say, text_label

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
        self.address = QLineEdit(address)
        self.address.setPlaceholderText("https://…/latest.json")
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
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.now)
        buttons.addWidget(self.page)
        buttons.addStretch(1)
        buttons.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 16)
        layout.setSpacing(10)
        layout.addWidget(text_label(f"This is version {__version__}", "title"))
        layout.addWidget(text_label(WORDS, wrap=True))
        layout.addWidget(label)
        layout.addWidget(self.address)
        layout.addWidget(self.missing)
        layout.addWidget(self.daily)
        layout.addWidget(self.message)
        layout.addStretch(1)
        layout.addLayout(buttons)
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
