"""The dialog of a variant: name, model, system message and parameters."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QLineEdit, QPushButton, QVBoxLayout, QWidget

from playground.domain.parameters import Parameters
from playground.engine.session.branching import system_text
from playground.engine.session.session import Session
from playground.engine.session.variants import Variant
from playground.jsonkit.values import JSON
from playground.ui.widgets.dialogs import MARGINS
from playground.ui.widgets.form_parts import push_button, styled, text_label
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.rows.kinds import ToolChoiceRow, row_for
from playground.ui.widgets.rows.row import FieldRow
from playground.ui.widgets.scroll_page import DownArea

LEFT = Qt.AlignmentFlag.AlignLeft
SIZE = 460, 600  # pixels
MOST_LINES = 12
#: Set by the run options for all variants.
_OF_RUN = ("stream",)


class VariantDialog(QDialog):
    """The dialog. ``submitted`` carries the edited variant; differences without a row stay unchanged."""

    submitted = Signal(object)

    def __init__(self, session: Session, variant: Variant, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Variant")
        self.setObjectName("variantDialog")
        self._session, self._variant = session, variant
        own = variant.applied(session.settings)
        self._parameters: Parameters = own.current
        self.name = QLineEdit(variant.name)
        self.name.setPlaceholderText("Its letter")
        self.name.setAccessibleName("Name")
        self.model = ModelPicker()
        self.model.setMaximumWidth(SIZE[0])
        self.model.show_model(own.model)
        self.own_system = QCheckBox("Own system message")
        self.own_system.setToolTip("Replaces that of the conversation; empty for none")
        self.own_system.setChecked(variant.system is not None)
        self.system = GrowingField(most=MOST_LINES)
        self.system.setAccessibleName("System message")
        self.system.setPlaceholderText("no system message")
        self.system.set_text(variant.system if variant.system is not None else system_text(session.transcript))
        self.system.setVisible(self.own_system.isChecked())
        self.own_system.toggled.connect(self.system.setVisible)
        self.rows: dict[str, FieldRow] = {}
        self.save = styled(QPushButton("Save"), "primary")
        self.save.setDefault(True)
        self.save.clicked.connect(self._save)
        cancel = push_button("Cancel")
        cancel.clicked.connect(self.reject)
        form = QWidget()
        what = in_row(text_label("Model"), (self.model, 1), spacing=8)
        column = in_column(
            what, (self.own_system, 0, LEFT), self.system, parent=form, margins=(0, 0, 10, 0), spacing=10
        )
        self._fill(column)
        column.addStretch(1)
        name = in_row(text_label("Name"), (self.name, 1), spacing=8)
        words = text_label("Unchanged settings follow the conversation.", "small", wrap=True)
        buttons = in_row(1, cancel, self.save, spacing=8)
        area = DownArea(form)
        area.viewport().setAutoFillBackground(False)
        form.setAutoFillBackground(False)
        in_column(name, words, (area, 1), buttons, parent=self, margins=MARGINS, spacing=10)
        room = parent.window().size()
        self.resize(min(SIZE[0], room.width() - 40), min(SIZE[1], room.height() - 40))

    def _fill(self, column: QVBoxLayout) -> None:
        kind, group = type(self._parameters), ""
        tools = tuple(tool.name for tool in self._variant.applied(self._session.settings).tools if tool.sendable)
        for name, hint in kind.hints():
            if name in _OF_RUN or hint.deprecated:
                continue
            if hint.group != group:
                group = hint.group
                column.addWidget(text_label(group, "group"))
            row = self.rows[name] = row_for(name, hint, kind)
            if isinstance(row, ToolChoiceRow):
                row.set_tool_names(tools)
            row.show_value(getattr(self._parameters, name), self._parameters.flag(name), self._parameters.note(name))
            row.edited.connect(self._edited)
            column.addWidget(row)

    def _edited(self, name: str, value: JSON) -> None:
        self._parameters = self._parameters.with_value(name, value)
        for field, row in self.rows.items():  # one field may decide whether another one is sent
            row.set_flag(self._parameters.flag(field), self._parameters.note(field))

    def _save(self) -> None:
        """Save the variant, or focus the first invalid row."""
        invalid = next((row for row in self.rows.values() if row.problem), None)
        if invalid is not None:
            invalid.main_field().setFocus()
            return
        base = self._session.settings
        own = self._variant.applied(base).with_parameters(self._parameters)
        own = own.changed(model=self.model.listed.meant(self.model.currentText()))
        variant = self._variant.with_settings(base, own).model_copy(
            update={
                "name": " ".join(self.name.text().split()),
                "system": self.system.text() if self.own_system.isChecked() else None,
            }
        )
        self.accept()
        self.submitted.emit(variant)
