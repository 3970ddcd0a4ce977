"""The last page of connecting a gateway: which model, and what the gateway is called."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QListWidget, QWidget

from playground.ui.widgets.form_parts import say, styled, text_label
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import show_hidden

GAP = 6  # pixels between a field and the words that belong to it


class ModelPage(QWidget):
    """A model and a name. What is typed counts, whether it is in the list or not. ``chosen``: a double click."""

    chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._ids: tuple[str, ...] = ()
        self.model = QLineEdit(placeholderText="Type to search, or type a model id")
        self.model.setAccessibleName("Model")
        self.models = styled(QListWidget(), "choices")
        self.models.setAccessibleName("Models of this gateway")
        self.models.setMinimumHeight(60)
        self.none = text_label(
            "This gateway listed no models. Type a model id, or leave it for later.", "muted", wrap=True
        )
        self.name = QLineEdit()
        self.name.setAccessibleName("Name")
        self.place = text_label(kind="small", wrap=True)
        self.message = text_label(kind="error", wrap=True)
        say(self.message, "")
        column = in_column(of=self, margins=(24, 4, 24, 8), spacing=GAP)
        for title, buddy in (("&Model", self.model), ("&Name of this gateway", self.name)):
            label = text_label(title, "heading")
            label.setBuddy(buddy)
            if buddy is self.name:
                column.addWidget(self.none)
                column.addWidget(self.models, 1)
                label.setContentsMargins(0, 10, 0, 0)
            column.addWidget(label)
            column.addWidget(buddy)
        column.addWidget(self.place)
        column.addWidget(self.message)
        column.addStretch(0)
        self.model.textEdited.connect(self._filter)
        self.models.currentTextChanged.connect(self._picked)
        self.models.itemDoubleClicked.connect(self._taken)

    def offer(self, ids: Sequence[str], model: str, name: str, place: str) -> None:
        """Show what the gateway listed; ``name`` stands in the empty name field, ``place`` says where the key goes."""
        self._ids = tuple(ids)
        self.none.setVisible(not ids)
        self.models.setVisible(bool(ids))
        self._filter("")
        self.model.setText(model or (ids[0] if ids else ""))
        self.name.setPlaceholderText(name)
        say(self.place, place)
        say(self.message, "")

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        shown = [one for one in self._ids if all(word in one.casefold() for word in words)]
        self.models.blockSignals(True)
        self.models.clear()
        self.models.addItems([show_hidden(one) for one in shown])
        for row, one in enumerate(shown):
            self.models.item(row).setData(Qt.ItemDataRole.UserRole, one)
        self.models.blockSignals(False)

    def _picked(self, _text: str) -> None:
        item = self.models.currentItem()
        if item is not None:
            self.model.setText(str(item.data(Qt.ItemDataRole.UserRole)))

    def _taken(self) -> None:
        self._picked("")
        self.chosen.emit()
