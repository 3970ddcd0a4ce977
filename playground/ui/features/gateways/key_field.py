"""The key: typed behind dots, cleaned of what pasting brings along, and a line that says where it is kept."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from playground.engine.gateways.secrets import clean_key
from playground.ui.widgets.form_parts import quiet_button, say, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden


class KeyField(QWidget):
    """Edits a new key; the stored one is never shown, only that there is one."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._length = 0
        self.edit = QLineEdit(echoMode=QLineEdit.EchoMode.Password)
        self.edit.setAccessibleName("Key")
        self.show_key = quiet_button("Show", "Show the key while typing", "eye")
        self.show_key.setCheckable(True)
        self.forget = quiet_button("Forget", "Forget the stored key")
        self.forget.setCheckable(True)
        self.remarks = text_label(kind="warning", wrap=True)
        self.place = text_label(kind="small", wrap=True)
        self.move_question = text_label(kind="warning", wrap=True)
        self.move_key = QCheckBox("Send the stored key there")
        self.move_key.setAccessibleName("Send the stored key there")
        line = in_row((self.edit, 1), self.show_key, spacing=4)
        kept = in_row((self.place, 1), self.forget, spacing=8)
        in_column(line, self.remarks, kept, self.move_question, self.move_key, of=self, margins=0, spacing=8)
        self.setFocusProxy(self.edit)
        self.edit.textChanged.connect(self._typed)
        self.edit.editingFinished.connect(self._clean)
        self.show_key.toggled.connect(self._show)
        self.forget.toggled.connect(self._forget)
        self.move_key.toggled.connect(self._agreed)
        say(self.remarks, "")

    def key(self) -> str:
        """The newly typed key, cleaned; empty when the stored one stays."""
        return clean_key(self.edit.text()).key

    def set_key(self, key: str, *, forget: bool, move: bool) -> None:
        """Show a draft's state; the dots are put back over the key."""
        self.show_key.setChecked(False)
        self.edit.setText(key)
        self.forget.setChecked(forget)
        self.move_key.setChecked(move)
        self._remark()

    def describe(self, *, stored: bool, place: str, question: str) -> None:
        """Say whether a key is stored and where, and ``question`` if it must be agreed to send it to a new address."""
        self.forget.setVisible(stored)
        if self.forget.isChecked():
            self.edit.setPlaceholderText("The stored key is deleted on saving")
        else:
            self.edit.setPlaceholderText("Stored — type to replace it" if stored else "Paste the key here")
        say(self.place, place)
        say(self.move_question, question)
        self.move_key.setVisible(bool(question))

    def _typed(self, text: str) -> None:
        if text and self.forget.isChecked():
            self.forget.setChecked(False)
        pasted = len(text) > self._length + 1
        self._length = len(text)
        if pasted and clean_key(text).key != text:
            self._clean()  # edits the field, and so comes here again
            return
        self._remark()
        self.changed.emit()

    def _remark(self) -> None:
        say(self.remarks, " ".join(clean_key(self.edit.text()).remarks))

    def _clean(self) -> None:
        """Put the cleaned key into the field and leave the remark standing, so that the change is seen."""
        cleaned = clean_key(self.edit.text())
        if cleaned.key != self.edit.text():
            words = show_hidden(" ".join(cleaned.remarks))
            self.edit.setText(cleaned.key)
            say(self.remarks, words)

    def _show(self, on: bool) -> None:
        self.edit.setEchoMode(QLineEdit.EchoMode.Normal if on else QLineEdit.EchoMode.Password)
        self.show_key.setText("Hide" if on else "Show")

    def _forget(self, on: bool) -> None:
        if on:
            self.edit.clear()
        self.changed.emit()

    def _agreed(self) -> None:
        self.changed.emit()
