"""A name for a new preset, and what will be in it. A name that is taken replaces that preset, and says so."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QLineEdit, QPushButton, QWidget

from playground.engine.files.presets import Preset
from playground.ui.features.presets.contents import PresetContents
from playground.ui.widgets.form_parts import paragraph, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden

WIDE, TALL = 480, 460


class SavePresetDialog(QDialog):
    """``make`` gives the preset with or without protocol and model; ``named`` the one that has a name already.

    ``saved`` carries the preset to keep.
    """

    saved = Signal(object)

    def __init__(
        self, make: Callable[[str, bool], Preset], named: Callable[[str], Preset | None], model: str, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._make = make
        self._named = named
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Save as preset")
        self.name = QLineEdit(placeholderText="Name, for example Strict JSON")
        self.name.setAccessibleName("Name of the preset")
        self.with_model = QCheckBox("With protocol and model")
        self.with_model.setToolTip(f"Using the preset then also chooses {show_hidden(model) or 'no model'}")
        self.taken = paragraph("", "warning")
        self.contents = PresetContents()
        self.save_button = styled(QPushButton("Save", default=True), "primary")
        cancel = QPushButton("Cancel", autoDefault=False)
        caption = text_label("What is in it", "group")
        note = text_label("No conversation, no gateway and no key.", "small")
        buttons = in_row(1, cancel, self.save_button, spacing=8)
        column = in_column(of=self, margins=(18, 14, 18, 14), spacing=8)
        for widget in (self.name, self.taken, caption):
            column.addWidget(widget)
        column.addWidget(self.contents, 1)
        column.addWidget(note)
        column.addWidget(self.with_model)
        column.addLayout(buttons)
        self.resize(WIDE, TALL)
        self.name.textChanged.connect(self._typed)
        self.with_model.toggled.connect(self._typed)
        cancel.clicked.connect(self.reject)
        self.save_button.clicked.connect(self._save)
        self._typed()

    def _typed(self) -> None:
        name = self.name.text().strip()
        other = self._named(name)
        self.taken.setText(f"There is a preset “{show_hidden(name)}” already. Saving replaces it.")
        self.taken.setVisible(other is not None)
        self.save_button.setText("Replace" if other is not None else "Save")
        self.save_button.setEnabled(bool(name))
        self.contents.show_preset(self._make(name or "-", self.with_model.isChecked()))

    def _save(self) -> None:
        name = self.name.text().strip()
        made, other = self._make(name, self.with_model.isChecked()), self._named(name)
        self.saved.emit(made if other is None else made.model_copy(update={"id": other.id}))
        self.accept()
