"""A short text of a list as a chip, and how such texts are typed in."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget

from playground.jsonkit.values import JSON
from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.plain_text import escape_hidden, tip

CHIP_WIDTH = 200  # px at most; a longer text is cut with an ellipsis and whole in the tooltip


def spelled(item: JSON) -> str:
    """A text with its line breaks and tabs as escapes, the way it is typed in; other values as JSON."""
    text = escape_hidden(json.dumps(item, ensure_ascii=False))
    return text[1:-1].replace('\\"', '"') if isinstance(item, str) else text


def unspelled(text: str) -> str:
    """The reverse: ``\\n`` typed is a line break. A text with other backslashes is taken as it is."""
    try:
        return str(json.loads('"' + text.replace('\\"', '"').replace('"', '\\"') + '"'))
    except ValueError:
        return text


class TextChip(QFrame):
    """One text and a button that takes it away."""

    removed = Signal(object)

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "chip-frame")
        self.text = text_label("", "chip-text")
        self.text.setText(self.text.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, CHIP_WIDTH))
        self.text.setToolTip(tip(text))
        self.close_button = IconButton("close", f"Remove {text}", size=10)
        self.close_button.setFixedSize(16, 16)
        self.close_button.clicked.connect(self._remove)
        in_row(self.text, self.close_button, of=self, margins=(8, 2, 4, 2), spacing=2)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self._remove()
        else:
            super().keyPressEvent(event)

    def _remove(self) -> None:
        self.removed.emit(self)
