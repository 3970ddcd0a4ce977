"""Editor of a schema field: name, type, required, description and its other keywords.

The block does not change the schema: it emits each change as a function from the old text to the new text. A keyword
without a control is named and linked to the JSON view; the form never removes it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from playground.jsonkit import schema_edit
from playground.jsonkit.schema_fields import Field
from playground.jsonkit.schema_slots import Slot
from playground.jsonkit.validation import TYPES
from playground.jsonkit.values import JSON, Path
from playground.ui.features.tools.slot_fields import CAPTION, NULL, editor_of, show_slot, slot_row
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.rows.row import FieldRow
from playground.ui.widgets.theme import code_font

Edit: TypeAlias = Callable[[str], str]
ANY = "any"
FIXED_KINDS = "ref", "union", "never", "constant"  # kinds whose type can only be changed in the JSON
NAMED_ROLES = "property", "definition"
OWN_CONTROLS = "type", "required", "properties", "items", "$ref"


class FieldBlock(QFrame):
    """Editor of a field. ``edit_asked`` carries an ``Edit`` and the new path of the field, None if it is unchanged."""

    edit_asked = Signal(object, object)
    target_asked = Signal(object)
    json_asked = Signal(object)
    move_asked = Signal(int)
    delete_asked = Signal()
    add_asked = Signal(object)
    close_asked = Signal()

    def __init__(self, field: Field, depth: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = field
        self.controls: dict[str, FieldRow] = {}
        self._added_keywords: set[str] = set()  # keywords whose controls were added and that the schema lacks so far
        self.setProperty("kind", "field-block")
        self.name = styled(QLineEdit(), "field")
        self.name.setFont(code_font())
        self.name.setAccessibleName("Parameter name")
        self.type = styled(QComboBox(), "field")
        self.type.setAccessibleName("Type")
        self.type.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.nullable = QCheckBox("or null")
        self.required = QCheckBox("Required")
        self.target = styled(QPushButton(), "link")
        self.kind_words = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.more = styled(QToolButton(), "quiet")
        self.more.setText("Add detail")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(QMenu(self.more))
        self.rest = styled(QPushButton(), "link")
        self.add_button = styled(QPushButton("Add inside"), "quiet")
        self.add_button.setAccessibleName("Add a parameter inside")
        self.up_button = IconButton("up", "Move the parameter up (Ctrl+Shift+Up)")
        self.down_button = IconButton("down", "Move the parameter down (Ctrl+Shift+Down)")
        self.json_button = IconButton("code", "Show this place in the JSON")
        self.delete_button = IconButton("delete", "Remove the parameter (Delete)")
        self._slots = QVBoxLayout()
        self._slots.setSpacing(4)
        self._arrange(depth)
        self._connect()
        self.show_field(field)

    def _arrange(self, depth: int) -> None:
        column = in_column(parent=self, margins=(10 + min(depth, 3) * 6, 6, 8, 6), spacing=4)
        self._name_row = _captioned("Name", self.name)
        self._type_row = _captioned("Type", self.type, self.nullable)
        self._kind_row = _captioned("Type", self.kind_words)
        self._target_row = _captioned("Refers to", self.target)
        self._required_row = _captioned("", self.required)
        for row in (self._name_row, self._type_row, self._kind_row, self._target_row, self._required_row):
            column.addWidget(row)
        column.addLayout(self._slots)
        self._rest_row = _captioned("As JSON", self.rest)
        column.addWidget(self._rest_row)
        bar = in_row(self.more, self.add_button, 1, spacing=2)
        for button in (self.up_button, self.down_button, self.json_button, self.delete_button):
            button.setFixedSize(24, 24)
            bar.addWidget(button)
        column.addLayout(bar)

    def _connect(self) -> None:
        self.name.editingFinished.connect(self._rename)
        self.type.activated.connect(self._type_chosen)
        self.nullable.clicked.connect(self._nullable_clicked)
        self.required.clicked.connect(self._required_clicked)
        self.target.clicked.connect(self._go_to_target)
        self.rest.clicked.connect(self._go_to_json)
        self.json_button.clicked.connect(self._go_to_json)
        self.add_button.clicked.connect(self._add)
        self.up_button.clicked.connect(partial(self._move, -1))
        self.down_button.clicked.connect(partial(self._move, 1))
        self.delete_button.clicked.connect(self.delete_asked)
        self.more.menu().aboutToShow.connect(self._fill_menu)

    # -- showing -----------------------------------------------------------------------------------------------

    def show_field(self, field: Field) -> None:
        """Show another state of the field; text being typed stays while the value is unchanged."""
        self.field = field
        named = field.role in (*NAMED_ROLES, "pattern")
        self._name_row.setVisible(named)
        self.name.setReadOnly(field.role not in NAMED_ROLES)
        if not self.name.hasFocus() or not self.name.isModified():
            self.name.setText(field.name)
            self.name.setModified(False)
        self._show_type(field)
        self._target_row.setVisible(bool(field.ref))
        self.target.setText(show_hidden(field.ref))
        self.target.setEnabled(field.target is not None)
        self.target.setAccessibleName(f"Go to {field.ref}")
        self._required_row.setVisible(field.required is not None)
        self.required.setChecked(bool(field.required))
        self._show_slots(field)
        movable = field.role in ("property", "definition", "branch", "prefix", "pattern")
        for button in (self.up_button, self.down_button):
            button.setVisible(movable)
        self.delete_button.setVisible(field.role != "root")
        self.add_button.setVisible(field.kind == "object" and field.role != "root")

    def _show_type(self, field: Field) -> None:
        fixed = field.kind in FIXED_KINDS
        self._type_row.setVisible(not fixed)
        self._kind_row.setVisible(fixed and not field.ref)
        self.kind_words.setText(show_hidden(field.summary))
        plain = tuple(name for name in field.types if name != "null") or field.types
        items = [*TYPES, ANY]
        current = plain[0] if len(plain) == 1 else " or ".join(plain) if plain else ANY
        if current not in items:
            items.insert(0, current)
        if [self.type.itemText(index) for index in range(self.type.count())] != items:
            self.type.clear()
            self.type.addItems(items)
        self.type.setCurrentText(current)
        self.nullable.setVisible(field.role != "root" and current not in ("null", ANY))
        self.nullable.setChecked(field.nullable)

    def _show_slots(self, field: Field) -> None:
        editable = [slot for slot in field.slots if self._has_control(slot)]
        editable.sort(key=lambda slot: slot.keyword != "description")
        visible = [
            slot
            for slot in editable
            if slot.present or slot.keyword == "description" or slot.keyword in self._added_keywords
        ]
        names = [(slot.keyword, editor_of(slot)) for slot in visible]
        if names != [(name, row.hint.editor) for name, row in self.controls.items()]:
            old, self.controls = self.controls, {}
            reusable = {
                name: old.pop(name) for name, editor in names if name in old and old[name].hint.editor == editor
            }
            discard(self._slots, *old.values())
            numeric = bool(field.types) and set(field.types) <= {"number", "integer", "null"}
            for index, slot in enumerate(visible):
                row = reusable.get(slot.keyword)
                if row is None:
                    row = slot_row(slot, numeric=numeric)
                    row.edited.connect(self._slot_changed)
                self.controls[slot.keyword] = row
                self._slots.insertWidget(index, row)
        for slot in visible:
            show_slot(self.controls[slot.keyword], slot)
        self.more.setVisible(len(visible) < len(editable))
        rest = [slot.keyword for slot in field.slots if slot.present and not slot.editable]
        self._rest_row.setVisible(bool(rest))
        words = ", ".join(show_hidden(name) for name in rest)
        self.rest.setText(self.rest.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, 190))
        self.rest.setToolTip(tip(f"{words}: unchanged; edit them in the JSON view"))
        self.rest.setAccessibleName(f"Shown as JSON: {words}")

    def focus_name(self) -> None:
        """Focus the name and select it."""
        self.name.setFocus(Qt.FocusReason.OtherFocusReason)
        self.name.selectAll()

    @staticmethod
    def _has_control(slot: Slot) -> bool:
        return slot.editable and slot.editor != "types" and slot.keyword not in OWN_CONTROLS

    # -- changes -----------------------------------------------------------------------------------------------

    def _slot_changed(self, keyword: str, value: JSON) -> None:
        slot = next((slot for slot in self.field.slots if slot.keyword == keyword), None)
        if slot is None:
            return
        if isinstance(value, tuple):
            value = list(value)
        if value is None:
            self.edit_asked.emit(partial(_clear_slot, slot), None)
        else:
            self.edit_asked.emit(partial(_set_slot, slot, None if value is NULL else value), None)

    def _rename(self) -> None:
        name = self.name.text()
        if not self.name.isModified() or name == self.field.name:
            return
        self.name.setModified(False)
        path = self.field.path
        rename = schema_edit.rename_definition if self.field.role == "definition" else schema_edit.rename_property
        self.edit_asked.emit(partial(_rename, rename, path, name), (*path[:-1], name))

    def _type_chosen(self, _index: int) -> None:
        name = self.type.currentText()
        if name not in (*TYPES, ANY):
            return
        types: tuple[str, ...] = () if name == ANY else (name,)
        if self.field.nullable and "null" in self.field.types and name not in (ANY, "null"):
            types = (name, "null")
        self.edit_asked.emit(partial(_set_types, self.field.path, types), None)

    def _nullable_clicked(self, on: bool) -> None:
        self.edit_asked.emit(partial(_set_nullable, self.field, on), None)

    def _required_clicked(self, on: bool) -> None:
        self.edit_asked.emit(partial(_set_required, self.field.path, on), None)

    def _fill_menu(self) -> None:
        menu = self.more.menu()
        menu.clear()
        for slot in self.field.slots:
            if self._has_control(slot) and slot.keyword not in self.controls:
                action = menu.addAction(slot.label)
                action.triggered.connect(partial(self.add_detail, slot.keyword))

    def add_detail(self, keyword: str) -> None:
        """Show the control of a keyword that the schema lacks."""
        self._added_keywords.add(keyword)
        self._show_slots(self.field)
        control = self.controls.get(keyword)
        if control is not None:
            control.main_field().setFocus(Qt.FocusReason.OtherFocusReason)

    def _go_to_target(self) -> None:
        if self.field.target is not None:
            self.target_asked.emit(self.field.target)

    def _go_to_json(self) -> None:
        rest = next((slot.path for slot in self.field.slots if slot.present and not slot.editable), None)
        self.json_asked.emit(rest if rest is not None and self.sender() is self.rest else self.field.path)

    def _add(self) -> None:
        self.add_asked.emit(self.field.core)

    def _move(self, steps: int) -> None:
        self.move_asked.emit(steps)


def _captioned(caption: str, *controls: QWidget) -> QWidget:
    row = QWidget()
    label = text_label(caption)
    label.setFixedWidth(CAPTION)
    label.setBuddy(controls[0])
    layout = in_row(label, parent=row, margins=0, spacing=6)
    for number, control in enumerate(controls):
        layout.addWidget(control, 0 if number or isinstance(control, QPushButton | QCheckBox) else 1)
    if isinstance(controls[0], QPushButton | QCheckBox):
        layout.addStretch(1)
    return row


def _set_slot(slot: Slot, value: JSON, text: str) -> str:
    return schema_edit.set_slot(text, slot, value)


def _clear_slot(slot: Slot, text: str) -> str:
    return schema_edit.clear_slot(text, slot)


def _rename(rename: Callable[[str, Path, str], str], path: Path, name: str, text: str) -> str:
    return rename(text, path, name)


def _set_types(path: Path, types: tuple[str, ...], text: str) -> str:
    return schema_edit.set_types(text, path, types)


def _set_nullable(field: Field, on: bool, text: str) -> str:
    return schema_edit.set_nullable(text, field, on)


def _set_required(path: Path, on: bool, text: str) -> str:
    return schema_edit.set_required(text, path, on)
