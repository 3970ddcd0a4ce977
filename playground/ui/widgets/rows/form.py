"""Forms made of the annotated fields of a model: one row for each ``Hint``, see ``playground.domain.hints``."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QWidget

from playground.domain.hints import Hint, hints_of, in_order, problems_of, value_at
from playground.domain.parameters import Parameters
from playground.jsonkit.values import JSON
from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.rows.kinds import row_for
from playground.ui.widgets.rows.row import FieldRow
from playground.ui.widgets.rows.row_form import LABEL_WIDTH, WIDE_GAP, RowForm

M = TypeVar("M", bound=BaseModel)
GROUP_GAP: Final = 16
#: The words for pydantic's errors that people meet.
_WORDS: Final = {
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "greater_than": "more than {gt:g}",
    "string_pattern_mismatch": "not allowed in this field",
    "dict_type": "must be a JSON object in braces",
    "int_type": "not a whole number",
    "int_from_float": "not a whole number",
}


class Form(RowForm, Generic[M]):
    """The rows of a model, in groups.

    ``changed`` is emitted once for each edit by a person, with the value and the problems by field; ``set_value`` emits
    nothing. An edit that the model refuses leaves the last value of its field; the typed text stays in the row.
    """

    changed = Signal(object, dict)

    def __init__(
        self,
        model: type[M],
        controls: Mapping[str, QWidget],
        hints: Mapping[str, Hint],
        *,
        is_wide: bool,
        label_width: int = LABEL_WIDTH,
    ) -> None:
        super().__init__(label_width=label_width if is_wide else 0)
        self._value: M = model.model_construct()
        self._showing = False
        self._edited_fields: set[str] = set()
        self._flags: Mapping[str, str] = {}
        self._groups: dict[str, QLabel] = {}
        for name, hint in in_order(hints).items():
            control = controls.get(name)
            if control is None:
                row = row_for(name, hint, model if issubclass(model, Parameters) else Parameters)
            else:
                row = control if isinstance(control, FieldRow) else ControlRow(name, hint, control)
            if isinstance(row, ControlRow) and (changed := getattr(control, "changed", None)) is not None:
                changed.connect(self._emit_changed)
            self.rows[name] = self.prepare(row)
            if hint.group and hint.group not in self._groups:
                title = self._groups[hint.group] = text_label(hint.group, "group", wrap=True)
                title.setContentsMargins(0, GROUP_GAP - WIDE_GAP, 0, 0)
                self.column.addWidget(title)
            self.column.addWidget(row)
        self.column.addStretch(1)

    # ---- the value

    @property
    def value(self) -> M:
        """The value, with each edit that the model accepted."""
        return self._value

    @property
    def errors(self) -> dict[str, str]:
        """The problems of the visible fields, by field in the order of the rows."""
        checked = problems_of(self._value)
        visible = {name: row for name, row in self.rows.items() if not row.isHidden()}
        return {name: words for name, row in visible.items() if (words := row.problem or checked.get(name, ""))}

    @property
    def problem(self) -> str:
        """The first problem, with the name of its field; empty without one."""
        name = next(iter(self.errors), "")
        return f"{self.rows[name].title}: {self.errors[name]}" if name else ""

    def set_value(self, value: M) -> None:
        """Show a value. Unfinished text is replaced, and a problem is shown once its field is edited."""
        self._value = value
        self._edited_fields.clear()
        self._showing = True
        try:
            for name, row in self.rows.items():
                row.show_value(self._plain(name), fresh=True)
        finally:
            self._showing = False
        self.refresh()

    def show_problems(self) -> None:
        """Show the problems of all fields, and put the cursor into the first field with one."""
        self._edited_fields = set(self.rows)
        self.refresh()
        if name := next(iter(self.errors), ""):
            self.focus(name)

    def show_flags(self, flags: Mapping[str, str]) -> None:
        """Show warnings by field, of which the value may be used nevertheless. They stay until the next ones."""
        self._flags = flags
        self.refresh()

    def refresh(self) -> None:
        """Show the rows that the value needs, their problems, and the titles of groups with a row."""
        displayed: set[str] = set()
        checked = problems_of(self._value)
        for name, row in self.rows.items():
            visible = row.hint.visible_when is None or row.hint.visible_when(self._value)
            row.setVisible(visible)
            problem = checked.get(name, "") if name in self._edited_fields else ""
            row.set_flag(problem or self._flags.get(name, ""))
            displayed |= {row.hint.group} if visible else set()
        for group, title in self._groups.items():
            title.setVisible(group in displayed)

    # ---- edits

    def _take(self, name: str, typed: JSON) -> None:
        try:
            self._value = self._with_edit(name, typed)
        except ValidationError as error:
            first = error.errors()[0]
            words = _WORDS.get(first["type"], "").format(**first.get("ctx", {}))
            self.rows[name].refuse(words or first["msg"].removeprefix("Value error, "), self._plain(name))
        self._edited_fields.add(name)
        self._emit_changed()

    def _with_edit(self, name: str, typed: JSON) -> M:
        """Return the value with an edited field. Raises ValidationError."""
        value: M = _with_field(self._value, name.split("."), typed)
        return value

    def _emit_changed(self, *_: object) -> None:
        """Emit ``changed`` after an edit of a control with a value of its own."""
        if not self._showing:
            self.refresh()
            self.changed.emit(self._value, self.errors)

    def _plain(self, name: str) -> JSON:
        """Return the value of a field as the rows show it."""
        value, hint = value_at(self._value, name), self.rows[name].hint
        value = hint.start if value is None and not hint.nullable and not hint.sent else value
        return value.value if isinstance(value, Enum) else value


class ParametersForm(Form[Parameters]):
    """The form of a protocol's parameters: every value is accepted, and deviations are flagged."""

    def refresh(self) -> None:
        """Show the flag or the note of each parameter; one may depend on another one."""
        for name, row in self.rows.items():
            row.set_flag(self._value.flag(name), self._value.note(name))

    def _with_edit(self, name: str, typed: JSON) -> Parameters:
        return self._value.with_value(name, typed)


class ControlRow(FieldRow):
    """A row around a control that keeps a value of its own; the form neither shows nor reads it."""

    fills_row = True

    def __init__(self, name: str, hint: Hint, control: QWidget) -> None:
        super().__init__(name, hint)
        self.control = control
        self.head.addWidget(control, 1)
        self.label.setBuddy(self.main_field())
        self.body.addWidget(self.flag_label)

    def main_field(self) -> QWidget:
        return self.control.focusProxy() or self.control

    def _show(self, value: JSON) -> None:
        pass


def form_for(
    model: type[M],
    controls: Mapping[str, QWidget] | None = None,
    hints: Mapping[str, Hint] | None = None,
    *,
    is_wide: bool = True,
    label_width: int = LABEL_WIDTH,
) -> Form[M]:
    """Return the form of a model. ``controls`` are shown for fields without a row of the form's own.

    A control has a value of its own, unless it is a ``FieldRow``; its ``changed`` counts as an edit. ``hints`` replace
    those of the model. A wide form, for a dialog, has the names in a column of ``label_width`` pixels.
    """
    return Form(model, controls or {}, hints or hints_of(model), is_wide=is_wide, label_width=label_width)


def _with_field(value: Any, path: list[str], typed: JSON) -> Any:
    """Return a copy of a model with a field set. Raises ValidationError if the field cannot have this value."""
    name, *below = path
    if isinstance(value, dict):
        others = {key: item for key, item in value.items() if key != name}
        return others if typed is None else {**others, name: typed}
    new = _with_field(getattr(value, name), below, typed) if below else typed
    try:
        new = getattr(type(value).model_validate({**dict(value), name: new}), name)
    except ValidationError as error:
        if any(not item["loc"] or item["loc"][0] == name for item in error.errors()):
            raise
    return value.model_copy(update={name: new})
