"""A list of short texts as chips, with a field that adds one more."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from playground.domain.parameters import Hint
from playground.domain.values import JSON
from playground.ui.features.parameters.row import ParameterRow
from playground.ui.widgets.choice_fields import DEFAULT, ValueField
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.icon_button import IconButton
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


class Chip(QFrame):
    """One text and a button that takes it away."""

    removed = Signal(object)

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "chip-frame")
        self.text = QLabel()
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setProperty("kind", "chip-text")
        self.text.setText(self.text.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, CHIP_WIDTH))
        self.text.setToolTip(tip(text))
        self.close_button = IconButton("close", f"Remove {text}", size=10)
        self.close_button.setFixedSize(16, 16)
        self.close_button.clicked.connect(self._remove)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 2, 4, 2)
        row.setSpacing(2)
        row.addWidget(self.text)
        row.addWidget(self.close_button)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self._remove()
        else:
            super().keyPressEvent(event)

    def _remove(self) -> None:
        self.removed.emit(self)


class _AddField(ValueField):
    """The field that adds; Backspace in it while empty takes the last chip back for editing."""

    taken_back = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Backspace and not self.text():
            self.taken_back.emit()
        else:
            super().keyPressEvent(event)


class ListRow(ParameterRow):
    """Chips and a field; Enter or leaving the field adds what was typed."""

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self._items: list[JSON] = []
        self.chips: list[Chip] = []
        self.field = _AddField()
        self.count = QLabel()
        self.count.setProperty("kind", "muted")
        self.head.insertWidget(1, self.count)
        self.head.addWidget(self.field)
        self._line = QWidget()
        self._flow = FlowLayout(self._line)
        self.body.addSpacing(4)
        self.body.addWidget(self._line)
        self.field.editingFinished.connect(self._add)
        self.field.cleared.connect(self.clear)
        self.field.taken_back.connect(self._take_back)
        self._introduce(self.field)
        self._show(None)

    def main_field(self) -> QWidget:
        return self.field

    def _help(self) -> str:
        return (
            f"{super()._help()}\nEnter adds what is typed; \\n stands for a line break. Backspace edits the last one."
        )

    def _show(self, value: JSON) -> None:
        if value is None:
            self._items = []
            self.field.clear()
        else:
            self._items = list(value) if isinstance(value, list | tuple) else [value]
        self._build()

    def _build(self) -> None:
        for chip in self.chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self.chips = []
        for item in self._items:
            chip = Chip(spelled(item))
            chip.removed.connect(self._remove)
            self._flow.addWidget(chip)
            self.chips.append(chip)
        self._line.setVisible(bool(self._items))
        most = self.hint.most
        self.count.setText(f"{len(self._items)} of {most}" if most else str(len(self._items)))
        self.count.setVisible(bool(self._items))
        self.field.setPlaceholderText("add" if self._items else DEFAULT)
        self.updateGeometry()

    def _add(self) -> None:
        text = self.field.text()
        if text:
            self.field.clear()
            self._items.append(unspelled(text))
            self._build()
            self._tell_items()

    def _take_back(self) -> None:
        if self._items:
            self.field.setText(spelled(self._items.pop()))
            self._build()
            self._tell_items()

    def _remove(self, chip: Chip) -> None:
        index = self.chips.index(chip)
        del self._items[index]
        self._build()
        self._tell_items()
        left = self.chips[min(index, len(self.chips) - 1)].close_button if self.chips else self.field
        left.setFocus(Qt.FocusReason.OtherFocusReason)

    def _tell_items(self) -> None:
        self._tell(tuple(self._items) or None)
