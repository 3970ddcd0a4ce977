"""The dialog of a variant: name, model, system message and parameters."""

from __future__ import annotations

from typing import Annotated, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QPushButton, QWidget

from playground.domain.hints import hints_of, setting
from playground.domain.parameters import Parameters
from playground.domain.values import Value
from playground.engine.session.branching import system_text
from playground.engine.session.session import Session
from playground.engine.session.variants import Variant
from playground.ui.widgets.dialogs import MARGINS, fit_to_window
from playground.ui.widgets.form_parts import push_button, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.rows.form import Form, ParametersForm, form_for
from playground.ui.widgets.rows.kinds import ToolChoiceRow
from playground.ui.widgets.rows.model_row import ModelRow
from playground.ui.widgets.scroll_page import DownArea

SIZE = 460, 600  # pixels
#: Set by the run options for all variants.
_OF_RUN: Final = ("stream",)


class VariantFields(Value):
    """The settings of a variant besides its parameters."""

    name: Annotated[str, setting("Name", placeholder="Its letter")] = ""
    model: Annotated[str, setting("Model", editor="model")] = ""
    has_system: Annotated[
        bool, setting("Own system message", help="Replaces that of the conversation; empty for none.")
    ] = False
    system: Annotated[
        str,
        setting(
            "System message",
            editor="lines",
            placeholder="no system message",
            visible_when=lambda fields: fields.has_system,
        ),
    ] = ""

    @classmethod
    def for_variant(cls, variant: Variant, session: Session) -> VariantFields:
        """Return the fields of a variant; without a system message of its own, with that of the conversation."""
        return cls(
            name=variant.name,
            model=variant.applied(session.settings).model,
            has_system=variant.system is not None,
            system=variant.system if variant.system is not None else system_text(session.transcript),
        )


class VariantDialog(QDialog):
    """The dialog. ``submitted`` carries the edited variant; differences without a row stay unchanged."""

    submitted = Signal(object)

    def __init__(self, session: Session, variant: Variant, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Variant")
        self.setObjectName("variantDialog")
        self._session, self._variant = session, variant
        model = ModelRow("model", hints_of(VariantFields)["model"])
        self.model = model.picker
        self.fields: Form[VariantFields] = form_for(VariantFields, {"model": model})
        self.fields.set_value(VariantFields.for_variant(variant, session))
        self.parameters = _parameters_form(variant.applied(session.settings).current)
        self._offer_tools()
        self.save = styled(QPushButton("Save"), "primary")
        self.save.setDefault(True)
        self.save.clicked.connect(self._save)
        cancel = push_button("Cancel")
        cancel.clicked.connect(self.reject)
        content = QWidget()
        words = text_label("Unchanged settings follow the conversation.", "small", wrap=True)
        in_column(self.fields, words, self.parameters, 1, parent=content, margins=(0, 0, 10, 0), spacing=10)
        area = DownArea(content)
        area.viewport().setAutoFillBackground(False)
        content.setAutoFillBackground(False)
        in_column((area, 1), in_row(1, cancel, self.save, spacing=8), parent=self, margins=MARGINS, spacing=10)
        fit_to_window(self, *SIZE)

    def _offer_tools(self) -> None:
        tools = tuple(tool.name for tool in self._variant.applied(self._session.settings).tools if tool.sendable)
        for row in self.parameters.rows.values():
            if isinstance(row, ToolChoiceRow):
                row.set_tool_names(tools)

    def _save(self) -> None:
        """Save the variant, or focus the first invalid row."""
        if self.parameters.errors:
            self.parameters.show_problems()
            return
        base, fields = self._session.settings, self.fields.value
        own = self._variant.applied(base).with_parameters(self.parameters.value).changed(model=fields.model)
        changes = {
            "name": " ".join(fields.name.split()),
            "system": fields.system if fields.has_system else None,
        }
        variant = self._variant.with_settings(base, own).model_copy(update=changes)
        self.accept()
        self.submitted.emit(variant)


def _parameters_form(parameters: Parameters) -> ParametersForm:
    kind = type(parameters)
    hints = {name: hint for name, hint in kind.hints() if name not in _OF_RUN and not hint.deprecated}
    form = ParametersForm(kind, {}, hints, is_wide=False)
    form.set_value(parameters)
    return form
