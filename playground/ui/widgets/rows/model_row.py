"""The row of a model's id: a field with the models of a gateway."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from playground.domain.hints import Hint
from playground.jsonkit.values import JSON
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.rows.row import FieldRow, as_text

NARROWEST, WIDEST = 120, 400  # pixels


class ModelRow(FieldRow):
    """The row. The models to choose from are those of ``picker.show_catalog``; any id can be typed."""

    fills_row = True

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self.picker = ModelPicker(NARROWEST)
        self.picker.setMaximumWidth(WIDEST)
        self.body.addWidget(self.picker)
        self.body.addWidget(self.picker.unlisted)
        self._introduce(self.picker)
        self.picker.editTextChanged.connect(self._take_typed)

    def main_field(self) -> QWidget:
        return self.picker

    def _show(self, value: JSON) -> None:
        self.picker.show_model(as_text(value))

    def _take_typed(self, text: str) -> None:
        self._tell(self.picker.listed.meant(text))
