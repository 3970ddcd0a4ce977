"""Form requested by a tool server: a field for each member of its schema, with its problem below.

Another process validates the content: schemas of servers are not trusted, and a validation may never end.
"""

from __future__ import annotations

import json

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QSizePolicy, QWidget

from playground.engine.questions.kinds import ArgumentsFit
from playground.jsonkit.problems import not_checked
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.features.server_asks.fields import (
    FORMATS,
    Choice,
    Field,
    Kind,
    fields_of,
    missing,
    typed_value,
)
from playground.ui.widgets.asking import Asking
from playground.ui.widgets.choice_fields import CompactCombo
from playground.ui.widgets.form_parts import say, styled, text_label
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import few_lines_of, show_hidden, shown_name

NOTHING = "(nothing)"
WHOLE_FORM = Field("", "The answer as JSON", Kind.ANY, "The form cannot be shown field by field.", required=True)


class FieldRow(QWidget):
    """Name, editor, description and problem of a field. ``edited`` is emitted when the user changes its value."""

    edited = Signal()

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.field = field
        name = f"{shown_name(field.title)}{' (required)' if field.required else ''}"
        self.caption = text_label(name, wrap=True)
        self.about = text_label(few_lines_of(field.description), "small", wrap=True)
        if not field.description:
            self.about.hide()
        self.problem = text_label("", "flag-error", wrap=True)
        self.problem.setObjectName("problem")
        self.problem.hide()
        self.boxes: list[QCheckBox] = []
        self.box: QComboBox | None = None
        self.line: QLineEdit | GrowingField | None = None
        column = in_column(self.caption, of=self, margins=0, spacing=3)
        for widget in self._create_editors():
            column.addWidget(widget)
            widget.setAccessibleDescription(show_hidden(field.description[:500]))
        column.addWidget(self.about)
        column.addWidget(self.problem)

    def _create_editors(self) -> list[QWidget]:
        field = self.field
        match field.kind:
            case Kind.YES_NO:
                return [self._combo((Choice(True, "yes"), Choice(False, "no")))]
            case Kind.ONE:
                return [self._combo(field.choices)]
            case Kind.SOME:
                start = field.start if isinstance(field.start, list) else []
                for choice in field.choices:
                    box = QCheckBox(shown_name(choice.title).replace("&", "&&"))
                    box.setChecked(choice.value in start)
                    box.toggled.connect(self.edited)
                    self.boxes.append(box)
                return list(self.boxes)
            case Kind.ANY:
                self.line = editor = GrowingField(code=True, most=8)
                editor.set_text("" if field.start is None else json.dumps(field.start, ensure_ascii=False))
                editor.textChanged.connect(self.edited)
            case _:
                self.line = line = styled(QLineEdit(), "field")
                line.setText("" if field.start is None else _text_of(field.start))
                line.setPlaceholderText(FORMATS[field.format][1] if field.format in FORMATS else "")
                line.textEdited.connect(self.edited)
        self.line.setAccessibleName(show_hidden(field.title[:200]))
        return [self.line]

    def _combo(self, choices: tuple[Choice, ...]) -> QComboBox:
        self.box = box = CompactCombo(120, 420)
        box.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        box.setAccessibleName(show_hidden(self.field.title[:200]))
        values = [choice.value for choice in choices]
        has_start = self.field.start in values and any(type(self.field.start) is type(value) for value in values)
        if not (self.field.required and has_start):
            box.addItem(NOTHING)
        for choice in choices:
            box.addItem(shown_name(choice.title))
        if has_start:
            box.setCurrentIndex(values.index(self.field.start) + box.count() - len(values))
        box.activated.connect(self.edited)
        return box

    @property
    def value(self) -> JSON:
        """The value of the field, None if empty. Raises ValueError if the text cannot be parsed."""
        if self.field.kind is Kind.SOME:
            pairs = zip(self.field.choices, self.boxes, strict=True)
            checked = [choice.value for choice, box in pairs if box.isChecked()]
            return checked if checked or self.field.required else None
        if self.box is not None:
            choices = self.field.choices or (Choice(True, ""), Choice(False, ""))
            index = self.box.currentIndex() - (self.box.count() - len(choices))
            return choices[index].value if index >= 0 else None
        if isinstance(self.line, GrowingField):
            return typed_value(self.field, self.line.text())
        return typed_value(self.field, self.line.text() if self.line is not None else "")

    def show_problem(self, problem: str) -> None:
        """Show a problem of the field, or none if the text is empty."""
        say(self.problem, problem)

    def focus(self) -> None:
        """Focus the editor of the field."""
        editor = self.line or self.box or next(iter(self.boxes), None)
        if editor is not None:
            editor.setFocus(Qt.FocusReason.OtherFocusReason)


class AskForm(QWidget):
    """Form for a schema, validated after each edit."""

    validated = Signal()  # the problems shown were updated

    def __init__(self, form: JSONObject) -> None:
        super().__init__()
        self._form = form
        fields = fields_of(form)
        self.rows = [FieldRow(field) for field in (fields if fields is not None else (WHOLE_FORM,))]
        self._is_json_form = fields is None
        self._shows_missing = False  # True after the first attempt to send
        self._checker = Asking(self)
        self._checker.answered.connect(self._validate)
        self.rest = text_label("", "flag-error", wrap=True)
        self.rest.hide()
        in_column(*self.rows, self.rest, of=self, margins=0, spacing=12)
        for row in self.rows:
            row.edited.connect(self._validate)
        self._validate()

    @property
    def content(self) -> JSONObject | None:
        """The values of all fields that are not empty; None if a value cannot be parsed."""
        try:
            values = {row.field.name: row.value for row in self.rows}
        except ValueError:
            return None
        if self._is_json_form:
            answer = values.get("")
            return answer if isinstance(answer, dict) else None
        return {name: value for name, value in values.items() if value is not None}

    @property
    def is_validated(self) -> bool:
        """True if the validation of the content has ended."""
        content = self.content
        return content is None or self._problems(content) is not None

    @property
    def is_valid(self) -> bool:
        """True if all required fields are filled in and the validation found no problem."""
        content = self.content
        if content is None or (not self._is_json_form and missing(self._fields, content)):
            return False
        return self._problems(content) == []

    @property
    def _fields(self) -> tuple[Field, ...]:
        return tuple(row.field for row in self.rows)

    def show_all(self) -> None:
        """Show missing fields as well, and focus the first field with a problem."""
        self._shows_missing = True
        self._validate()
        invalid_row = next((row for row in self.rows if not row.problem.isHidden()), None)
        if invalid_row is not None:
            invalid_row.focus()

    def _problems(self, content: JSONObject) -> list[tuple[str, str]] | None:
        result = self._checker.ask(ArgumentsFit(json.dumps(content), self._form), alone=True)
        if result is None:
            return None
        return (
            [] if not_checked(result) else [(str(item.path[0]) if item.path else "", item.message) for item in result]
        )

    def _validate(self) -> None:
        content, messages = self.content, dict.fromkeys((row.field.name for row in self.rows), "")
        rest = ""
        for row in self.rows:
            try:
                is_empty = row.value is None
            except ValueError as error:
                messages[row.field.name] = str(error)
            else:
                if is_empty and row.field.required and self._shows_missing:
                    messages[row.field.name] = "This is required."
        if content is not None:
            for name, message in self._problems(content) or []:
                if name in messages:
                    messages[name] = messages[name] or message
                elif self._shows_missing and not missing(self._fields, content):
                    rest = rest or message
        for row in self.rows:
            row.show_problem(messages[row.field.name])
        say(self.rest, rest)
        self.validated.emit()


def _text_of(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
