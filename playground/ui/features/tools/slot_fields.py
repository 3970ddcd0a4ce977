"""Controls for the keywords of a schema field: text, number, switch, list of choices, JSON.

Each control shows a slot and emits its new value; None removes the keyword. A value that cannot be parsed is marked and
not emitted.
"""

from __future__ import annotations

import json

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from playground.jsonkit.reading import read_typed
from playground.jsonkit.schema_slots import Slot
from playground.jsonkit.values import JSON, is_number, same
from playground.ui.widgets.choice_fields import SwitchPill
from playground.ui.widgets.exact_field import ExactField
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import look, styled, text_label
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.plain_text import HIDDEN, escape_hidden, show_hidden, tip
from playground.ui.widgets.text_chip import TextChip, spelled, unspelled
from playground.ui.widgets.theme import code_font

CAPTION = 86  # pixels
LINES_HEIGHT = 52
CHIP_FRAME = 40  # pixels of a chip around its text
LEAST_CHIP = 60
CLOSED_TO_OFF = "additionalProperties", "unevaluatedProperties"  # keywords whose switch is usually set to off
_ABSENT = object()


class SlotField(QWidget):
    """Caption and control. ``value_changed`` carries the slot and its new value; None removes the keyword."""

    value_changed = Signal(object, object)

    def __init__(self, slot: Slot, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.slot = slot
        self._showing = False
        self.caption = text_label(slot.label, "small")
        self.caption.setFixedWidth(CAPTION)
        self.caption.setWordWrap(True)
        self.caption.setContentsMargins(0, 4, 0, 0)
        self.caption.setToolTip(tip(slot.keyword))
        self.row = in_row((self.caption, 0, Qt.AlignmentFlag.AlignTop), of=self, margins=0, spacing=6)

    def control(self) -> QWidget:
        """Return the widget that takes the focus."""
        raise NotImplementedError

    def show_slot(self, slot: Slot) -> None:
        """Show another state of the same keyword; text being typed stays while it has this value."""
        self.slot = slot
        self._showing = True
        self._show(slot.value if slot.present else _ABSENT)
        self._showing = False

    def _show(self, value: JSON) -> None:
        raise NotImplementedError

    def _introduce(self, control: QWidget) -> None:
        control.setAccessibleName(self.slot.label)
        self.caption.setBuddy(control)
        self.row.addWidget(control, 1)

    def _emit_value(self, value: JSON) -> None:
        if not self._showing:
            self.value_changed.emit(self.slot, value)


class TextSlot(SlotField):
    """Single line of text; an empty text removes the keyword."""

    def __init__(self, slot: Slot, parent: QWidget | None = None) -> None:
        super().__init__(slot, parent)
        self.field = styled(QLineEdit(), "field")
        self._introduce(self.field)
        self.field.textEdited.connect(self._typed)
        self.show_slot(slot)

    def control(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        _show_text(self.field, value)

    def _typed(self, text: str) -> None:
        self._emit_value(text or None)


class LinesSlot(SlotField):
    """Text of several lines."""

    def __init__(self, slot: Slot, parent: QWidget | None = None) -> None:
        super().__init__(slot, parent)
        self.field = styled(ExactField(), "field")
        self.field.setTabChangesFocus(True)
        self.field.document().setDocumentMargin(1)
        self.field.setFixedHeight(LINES_HEIGHT)
        self._introduce(self.field)
        self.field.textChanged.connect(self._typed)
        self.show_slot(slot)

    def control(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        _show_text(self.field, value)

    def _typed(self) -> None:
        self._emit_value(self.field.text() or None)


class NumberSlot(SlotField):
    """Number, or an integer for a count."""

    def __init__(self, slot: Slot, parent: QWidget | None = None) -> None:
        super().__init__(slot, parent)
        self.field = styled(QLineEdit(), "field")
        self.field.setMaximumWidth(120)
        self._introduce(self.field)
        self.row.addStretch(1)
        self.field.textEdited.connect(self._typed)
        self.show_slot(slot)

    def control(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        if not same(_number(self.field.text()), value):
            self.field.setText("" if value is _ABSENT else json.dumps(value, ensure_ascii=False))
        look(self.field, "false", "bad")

    def _typed(self, text: str) -> None:
        value = _number(text)
        bad = value is None or (self.slot.editor == "count" and value is not _ABSENT and not isinstance(value, int))
        look(self.field, "true" if bad else "false", "bad")
        if not bad:
            self._emit_value(None if value is _ABSENT else value)


class FlagSlot(SlotField):
    """Switch with the states on, off and absent."""

    def __init__(self, slot: Slot, parent: QWidget | None = None) -> None:
        super().__init__(slot, parent)
        self.field = SwitchPill(start=slot.keyword not in CLOSED_TO_OFF)
        self._introduce(self.field)
        self.row.addStretch(1)
        self.field.setAccessibleDescription("Delete takes it out of the schema.")
        self.field.switched.connect(self._switched)
        self.field.cleared.connect(self._clear)
        self.show_slot(slot)

    def control(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        self.field.show_state(value if isinstance(value, bool) else None)

    def _switched(self, state: bool) -> None:
        self._emit_value(state)

    def _clear(self) -> None:
        self._emit_value(None)


class ChoicesSlot(SlotField):
    """Values as chips, and a field that adds a value; ``numeric`` fields accept only numbers."""

    def __init__(self, slot: Slot, parent: QWidget | None = None, *, numeric: bool = False) -> None:
        super().__init__(slot, parent)
        self.numeric = numeric
        self.items: list[JSON] = []
        self.chips: list[TextChip] = []
        self.field = styled(QLineEdit(placeholderText="add a value, then Enter"), "field")
        self._holder = QWidget()
        self._flow = FlowLayout(self._holder)
        self._holder.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        side = QWidget()
        in_column(self._holder, self.field, of=side, margins=0, spacing=4)
        self._introduce(side)
        self.field.setAccessibleName(f"{slot.label}: add a value")
        self.field.editingFinished.connect(self._add)
        self.show_slot(slot)

    def control(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        items = value if isinstance(value, list) else []
        if not same(items, self.items) or not self.chips:
            self.items = list(items)
            self._build()

    def _build(self) -> None:
        discard(self._flow, *self.chips)
        self.chips = []
        for item in self.items:
            chip = TextChip(spelled(item))
            chip.removed.connect(self._remove)
            self._flow.addWidget(chip)
            self.chips.append(chip)
        self._holder.setVisible(bool(self.items))
        self._fit_chips()

    def _fit_chips(self) -> None:
        """Elide long values: a chip is at most as wide as the space next to the caption."""
        available = max(self.width() - CAPTION - CHIP_FRAME, LEAST_CHIP)
        for chip, item in zip(self.chips, self.items, strict=True):
            metrics = chip.text.fontMetrics()
            chip.text.setText(metrics.elidedText(spelled(item), Qt.TextElideMode.ElideRight, available))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_chips()

    def _add(self) -> None:
        text = self.field.text().strip()
        if not text:
            return
        value: JSON = unspelled(text)
        if self.numeric:
            value = _number(text)
            look(self.field, "true" if value is None else "false", "bad")
            if value is None:
                return
        self.field.clear()
        if not any(same(value, item) for item in self.items):
            self._emit_value([*self.items, value])

    def _remove(self, chip: TextChip) -> None:
        index = self.chips.index(chip)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._emit_value([*self.items[:index], *self.items[index + 1 :]] or None)


class JsonSlot(SlotField):
    """Any JSON value on a line; an empty text removes the keyword."""

    def __init__(self, slot: Slot, parent: QWidget | None = None) -> None:
        super().__init__(slot, parent)
        self.field = styled(QLineEdit(), "field")
        self.field.setFont(code_font())
        self.field.setPlaceholderText("JSON")
        self._introduce(self.field)
        self.field.textEdited.connect(self._typed)
        self.show_slot(slot)

    def control(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        if not same(_json(self.field.text()), value):
            self.field.setText("" if value is _ABSENT else escape_hidden(json.dumps(value, ensure_ascii=False)))
            self.field.setCursorPosition(0)
        look(self.field, "false", "bad")

    def _typed(self, text: str) -> None:
        try:
            value = read_typed(text) if text.strip() else None
        except ValueError:
            look(self.field, "true", "bad")
            return
        look(self.field, "false", "bad")
        if text.strip() and value is None:
            self._emit_null()
        else:
            self._emit_value(value)

    def _emit_null(self) -> None:
        """Emit the JSON value null, which is not an absent keyword."""
        self._emit_value(NULL)


class Null:
    """JSON null as a value; None means that the keyword is removed."""


NULL = Null()


def slot_field(slot: Slot, *, numeric: bool = False) -> SlotField:
    """Return the control for a slot."""
    match slot.editor:
        case "text":
            return TextSlot(slot)
        case "lines":
            return LinesSlot(slot)
        case "number" | "count":
            return NumberSlot(slot)
        case "flag":
            return FlagSlot(slot)
        case "choices":
            return ChoicesSlot(slot, numeric=numeric)
        case _:
            return JsonSlot(slot)


def _show_text(field: QLineEdit | ExactField, value: JSON) -> None:
    """Show a text; a text that the field cannot represent exactly is read-only, since typing would change it."""
    text = "" if value is _ABSENT else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    allowed = "\n" if isinstance(field, ExactField) else ""
    unsupported = any(c < " " and c not in allowed for c in text) or bool(HIDDEN.search(text)) or "\u2029" in text
    locked = unsupported or (value is not _ABSENT and not isinstance(value, str))
    field.setReadOnly(locked)
    field.setToolTip(tip("Holds something that can only be edited in the JSON view") if locked else "")
    display = show_hidden(text) if locked else text
    if isinstance(field, ExactField):
        if field.text() != display:
            field.set_text(display)
    elif field.text() != display:
        field.setText(display)
        field.setCursorPosition(0)


def _number(text: str) -> JSON:
    """Return the number in a text, ``_ABSENT`` if the text is empty, None if it is not a number."""
    if not text.strip():
        return _ABSENT
    try:
        value = read_typed(text.strip().replace(",", "."))
    except ValueError:
        return None
    return value if is_number(value) else None


def _json(text: str) -> JSON:
    if not text.strip():
        return _ABSENT
    try:
        return read_typed(text)
    except ValueError:
        return _ABSENT
