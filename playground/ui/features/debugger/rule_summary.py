"""The response of one tool in a few words, with a button to change it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from playground.domain.debugging import Debugging
from playground.ui.features.debugger.texts import rule_words
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import push_button, text_label
from playground.ui.widgets.layouts import in_row


class RuleSummary(QWidget):
    """`name` is the field with the tool's name. Hidden until rules are shown; `asked` carries the name."""

    asked = Signal(str)

    def __init__(self, name: QLineEdit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._field = name
        self._debugging: Debugging | None = None
        self.words = ElidedLabel("Response", colour="text", elide=Qt.TextElideMode.ElideRight)
        self.button = push_button("Response…", "quiet")
        self.button.setAccessibleName("Response of this tool")
        caption = text_label("When called", "group")
        caption.setBuddy(self.button)
        in_row(caption, (self.words, 1), self.button, of=self, margins=0, spacing=8)
        name.textChanged.connect(self._show)
        self.button.clicked.connect(self._open)
        self.hide()

    def show_debugging(self, debugging: Debugging) -> None:
        """Show the rule of the tool."""
        self._debugging = debugging
        self.show()
        self._show()

    def _show(self, *_: object) -> None:
        if self._debugging is not None:
            name = self._field.text()
            words = rule_words(self._debugging.rule(name))
            self.words.set_text(words if name in self._debugging.rules else f"{words} (default)")

    def _open(self) -> None:
        self.asked.emit(self._field.text())
