"""Rows for the keywords of a schema field, made of the rows of forms; an empty row removes its keyword."""

from __future__ import annotations

from typing import Final

from playground.domain.hints import setting
from playground.jsonkit.schema_slots import Slot
from playground.jsonkit.values import JSON, is_number, same
from playground.ui.widgets.numbers import plain_number
from playground.ui.widgets.plain_text import HIDDEN
from playground.ui.widgets.rows.kinds import JsonRow, row_for
from playground.ui.widgets.rows.list_row import ListRow
from playground.ui.widgets.rows.row import FieldRow
from playground.ui.widgets.text_chip import unspelled

CAPTION: Final = 86  # pixels of a caption with the space after it
LABEL_SPACE: Final = 10  # pixels that a row has between its name and its control, more than the block around it
NULL: Final = object()  # JSON null as the value of a row; None means that the keyword is absent
_EDITORS: Final = {"text": "line", "lines": "lines", "number": "number", "count": "integer", "flag": "pick"}
_STATES: Final = ((None, "not set"), (True, "on"), (False, "off"))


class KeywordJsonRow(JsonRow):
    """JSON of a keyword, which may be null."""

    def _show(self, value: JSON) -> None:
        super()._show(None if value is NULL else value)
        if value is NULL:
            self.editor.setPlainText("null")

    def _tell(self, value: JSON, problem: str = "") -> None:
        is_null = value is None and not problem and bool(self.editor.text().strip())
        super()._tell(NULL if is_null else value, problem)


class ValuesRow(ListRow):
    """Different values to choose from; those of a numeric field are numbers."""

    is_numeric = False

    def _build(self) -> None:
        super()._build()
        self.field.setPlaceholderText("add")
        self.count.hide()

    def _add(self) -> None:
        text = self.field.text()
        if not text:
            return
        value: JSON = unspelled(text)
        if self.is_numeric:
            try:
                value = plain_number(text)
            except ValueError as error:
                self._tell(self._value, str(error))
                return
        self.field.clear()
        if not any(same(value, item) for item in self._items):
            self._items.append(value)
            self._build()
            self._set_items()


def editor_of(slot: Slot) -> str:
    """Return the kind of row for a keyword: JSON for a value that a more specific row cannot show."""
    value = slot.value
    is_known = {
        "text": isinstance(value, str) and _is_plain(value, ""),
        "lines": isinstance(value, str) and _is_plain(value, "\n"),
        "number": is_number(value),
        "count": isinstance(value, int) and not isinstance(value, bool),
        "flag": isinstance(value, bool),
        "choices": isinstance(value, list),
    }
    if slot.present and not is_known.get(slot.editor, False):
        return "json"
    return "values" if slot.editor == "choices" else _EDITORS.get(slot.editor, "json")


def slot_row(slot: Slot, *, numeric: bool = False) -> FieldRow:
    """Create the row of a keyword; the values of a ``numeric`` field are numbers."""
    editor = editor_of(slot)
    hint = setting(slot.label, editor=editor, nullable=True, help=slot.keyword, choices=_STATES, placeholder=" ")
    if editor == "values":
        values = ValuesRow(slot.keyword, hint)
        values.is_numeric = numeric
        row: FieldRow = values
    else:
        row = KeywordJsonRow(slot.keyword, hint) if editor == "json" else row_for(slot.keyword, hint)
    row.spread(CAPTION - LABEL_SPACE)
    return row


def show_slot(row: FieldRow, slot: Slot) -> None:
    """Show the value of a keyword; text being typed stays while it has this value."""
    row.show_value(None if not slot.present else NULL if slot.value is None else slot.value)


def _is_plain(text: str, allowed: str) -> bool:
    return not any(c < " " and c not in allowed for c in text) and not HIDDEN.search(text) and "\u2029" not in text
