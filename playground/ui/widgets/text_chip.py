"""A text of a list as a chip, and the spelling of such texts in a field."""

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

CHIP_WIDTH = 200  # pixels at most; a longer text is elided and complete in the tooltip


def spelled(item: JSON) -> str:
    """Return a text with line breaks and tabs as escapes, as a person types it; other values as JSON."""
    text = escape_hidden(json.dumps(item, ensure_ascii=False))
    return text[1:-1].replace('\\"', '"') if isinstance(item, str) else text


def unspelled(text: str) -> str:
    """Return the text of a typed spelling: ``\\n`` is a line break; a text with other backslashes is literal."""
    try:
        return str(json.loads('"' + text.replace('\\"', '"').replace('"', '\\"') + '"'))
    except ValueError:
        return text


class TextChip(QFrame):
    """A text with a button that removes it."""

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
        in_row(self.text, self.close_button, parent=self, margins=(8, 2, 4, 2), spacing=2)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self._remove()
        else:
            super().keyPressEvent(event)

    def _remove(self) -> None:
        self.removed.emit(self)
