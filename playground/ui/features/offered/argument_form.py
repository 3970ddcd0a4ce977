"""Fields for the arguments of a prompt or a resource template, with values that the server proposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QCompleter, QFormLayout, QLabel, QLineEdit, QWidget

from playground.domain.tool_servers import PromptArgument
from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import one_line_of, short_title, show_hidden, tip

TYPED_MS: Final = 200  # delay between the last key and the request
PROPOSED: Final = 100
VALUE: Final = Qt.ItemDataRole.UserRole
MOST_FIELDS: Final = 100  # of one form


class ArgumentField(QLineEdit):
    """Field of an argument; ``typed`` lets a server propose values."""

    typed = Signal(str, str)  # argument, value

    def __init__(self, argument: PromptArgument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.argument = argument
        self.setProperty("kind", "field")
        self.setAccessibleName(show_hidden(argument.name))
        self.setToolTip(tip(argument.description))
        self.setPlaceholderText("required" if argument.required else "")
        self._proposals = QStandardItemModel(self)
        completer = QCompleter(self._proposals, self)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)  # the server has chosen them
        completer.setCompletionRole(VALUE)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(completer)
        self._timer = QTimer(self, singleShot=True, interval=TYPED_MS)
        self._timer.timeout.connect(self._tell)
        self.textEdited.connect(self._edited)

    def propose(self, text: str, values: Sequence[str]) -> None:
        """Offer these values for a typed text, unless the text has changed."""
        if text != self.text():
            return
        self._proposals.clear()
        for value in values[:PROPOSED]:
            item = QStandardItem(one_line_of(short_title(value)))
            item.setData(value, VALUE)
            self._proposals.appendRow(item)
        if values and self.hasFocus() and list(values) != [text]:
            self.completer().complete()

    def _edited(self, _text: str) -> None:
        self._timer.start()

    def _tell(self) -> None:
        self.typed.emit(self.argument.name, self.text())


class ArgumentForm(QWidget):
    """Form of arguments. ``edited`` is emitted when a value changes, ``submitted`` when Enter is pressed in a field."""

    edited = Signal()
    submitted = Signal()
    typed = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fields: dict[str, ArgumentField] = {}
        self._column = in_column(of=self, margins=0)
        self._form: QWidget | None = None

    def show_arguments(self, arguments: Sequence[PromptArgument]) -> None:
        """Show empty fields for these arguments."""
        if self._form is not None:
            self._column.removeWidget(self._form)
            self._form.hide()
            self._form.deleteLater()
        self._form = form = QWidget()
        rows = QFormLayout(form)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        rows.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self.fields = {}
        for argument in arguments[:MOST_FIELDS]:
            field = self.fields[argument.name] = ArgumentField(argument)
            rows.addRow(_name(argument), field)
            if argument.description:
                rows.addRow(text_label(show_hidden(short_title(argument.description)), "small"))
            field.typed.connect(self.typed)
            field.textChanged.connect(self._edited)
            field.returnPressed.connect(self.submitted)
        self._column.addWidget(form)
        self.setVisible(bool(self.fields))

    @property
    def values(self) -> dict[str, str]:
        """Values by name, without empty ones."""
        return {name: field.text() for name, field in self.fields.items() if field.text()}

    @property
    def missing(self) -> list[str]:
        """Names of required arguments without a value."""
        return [name for name, field in self.fields.items() if field.argument.required and not field.text()]

    def _edited(self, _text: str) -> None:
        self.edited.emit()


def _name(argument: PromptArgument) -> QLabel:
    label = text_label(one_line_of(short_title(argument.name)))
    label.setToolTip(tip(argument.name))
    return label
