"""A list of short texts as chips, with a field that adds one more."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from playground.domain.hints import Hint
from playground.jsonkit.values import JSON
from playground.ui.widgets.choice_fields import DEFAULT, ValueField
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.layouts import discard
from playground.ui.widgets.rows.row import FieldRow
from playground.ui.widgets.text_chip import TextChip, spelled, unspelled


class _AddField(ValueField):
    """The field that adds texts; Backspace in an empty field moves the last chip back for editing."""

    taken_back = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Backspace and not self.text():
            self.taken_back.emit()
        else:
            super().keyPressEvent(event)


class ListRow(FieldRow):
    """Chips and a field; Enter or leaving the field adds what was typed."""

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self._items: list[JSON] = []
        self.chips: list[TextChip] = []
        self.field = _AddField()
        self.count = text_label("", "muted")
        self.head.insertWidget(1, self.count)
        self.head.addWidget(self.field)
        self._line = QWidget()
        self._flow = FlowLayout(self._line)
        self.body.addSpacing(4)
        self.body.addWidget(self._line)
        self.field.editingFinished.connect(self._add)
        self.field.cleared.connect(self.clear)
        self.field.taken_back.connect(self._edit_last)
        self._introduce(self.field)
        self._show(None)

    def main_field(self) -> QWidget:
        return self.field

    def _help(self) -> str:
        return f"{super()._help()}\nEnter adds the typed text; \\n is a line break. Backspace edits the last one."

    def _show(self, value: JSON) -> None:
        if value is None:
            self._items = []
            self.field.clear()
        else:
            self._items = list(value) if isinstance(value, list | tuple) else [value]
        self._build()

    def _build(self) -> None:
        discard(self._flow, *self.chips)
        self.chips = []
        for item in self._items:
            chip = TextChip(spelled(item))
            chip.removed.connect(self._remove)
            self._flow.addWidget(chip)
            self.chips.append(chip)
        self._line.setVisible(bool(self._items))
        most = self.hint.most
        self.count.setText(f"{len(self._items)} of {most}" if most else str(len(self._items)))
        self.count.setVisible(bool(self._items))
        self.field.setPlaceholderText("add" if self._items else self.hint.placeholder or DEFAULT)
        self.updateGeometry()

    def _add(self) -> None:
        text = self.field.text()
        if text:
            self.field.clear()
            self._items.append(unspelled(text))
            self._build()
            self._set_items()

    def _edit_last(self) -> None:
        if self._items:
            self.field.setText(spelled(self._items.pop()))
            self._build()
            self._set_items()

    def _remove(self, chip: TextChip) -> None:
        index = self.chips.index(chip)
        del self._items[index]
        self._build()
        self._set_items()
        neighbour = self.chips[min(index, len(self.chips) - 1)].close_button if self.chips else self.field
        neighbour.setFocus(Qt.FocusReason.OtherFocusReason)

    def _set_items(self) -> None:
        self._tell(tuple(self._items) or None)
