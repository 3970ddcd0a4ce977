"""A form that a tool server wants filled in: a field for each member of its schema, with what is wrong beside it.

Whether it fits the schema is asked of another process: the schema is foreign, and may take for ever.
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
    """One field: its name, what is said of it, where it is filled in, what is wrong. ``edited``: something is typed."""

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
        for widget in self._made():
            column.addWidget(widget)
            widget.setAccessibleDescription(show_hidden(field.description[:500]))
        column.addWidget(self.about)
        column.addWidget(self.problem)

    def _made(self) -> list[QWidget]:
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
        started = self.field.start in values and any(type(self.field.start) is type(value) for value in values)
        if not (self.field.required and started):
            box.addItem(NOTHING)
        for choice in choices:
            box.addItem(shown_name(choice.title))
        if started:
            box.setCurrentIndex(values.index(self.field.start) + box.count() - len(values))
        box.activated.connect(self.edited)
        return box

    @property
    def value(self) -> JSON:
        """What stands in it; None for nothing. Raises ValueError for what cannot be read."""
        if self.field.kind is Kind.SOME:
            chosen = zip(self.field.choices, self.boxes, strict=True)
            found = [choice.value for choice, box in chosen if box.isChecked()]
            return found if found or self.field.required else None
        if self.box is not None:
            choices = self.field.choices or (Choice(True, ""), Choice(False, ""))
            at = self.box.currentIndex() - (self.box.count() - len(choices))
            return choices[at].value if at >= 0 else None
        if isinstance(self.line, GrowingField):
            return typed_value(self.field, self.line.text())
        return typed_value(self.field, self.line.text() if self.line is not None else "")

    def say(self, words: str) -> None:
        """What is wrong with it; empty for nothing."""
        say(self.problem, words)

    def focus(self) -> None:
        """Put the cursor into it."""
        first = self.line or self.box or next(iter(self.boxes), None)
        if first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)


class AskForm(QWidget):
    """``content`` is what was filled in; ``judged`` tells that what is wrong with it is known anew."""

    judged = Signal()

    def __init__(self, form: JSONObject) -> None:
        super().__init__()
        self._form = form
        found = fields_of(form)
        self.rows = [FieldRow(field) for field in (found if found is not None else (WHOLE_FORM,))]
        self._whole = found is None
        self._shown = False  # whether what is missing is said: not before somebody tried to send it
        self._asking = Asking(self)
        self._asking.answered.connect(self._judge)
        self.rest = text_label("", "flag-error", wrap=True)
        self.rest.hide()
        in_column(*self.rows, self.rest, of=self, margins=0, spacing=12)
        for row in self.rows:
            row.edited.connect(self._judge)
        self._judge()

    @property
    def content(self) -> JSONObject | None:
        """What was filled in, only what there is; None where something of it cannot be read."""
        try:
            values = {row.field.name: row.value for row in self.rows}
        except ValueError:
            return None
        if self._whole:
            whole = values.get("")
            return whole if isinstance(whole, dict) else None
        return {name: value for name, value in values.items() if value is not None}

    @property
    def known(self) -> bool:
        """Whether it is known what is wrong with it."""
        content = self.content
        return content is None or self._problems(content) is not None

    @property
    def sound(self) -> bool:
        """Whether it can be sent: all that is required is there, and nothing is known to be wrong with it."""
        content = self.content
        if content is None or (not self._whole and missing(self._fields, content)):
            return False
        return self._problems(content) == []

    @property
    def _fields(self) -> tuple[Field, ...]:
        return tuple(row.field for row in self.rows)

    def show_all(self) -> None:
        """Say what is missing as well, and go to the first field that something is wrong with."""
        self._shown = True
        self._judge()
        wrong = next((row for row in self.rows if not row.problem.isHidden()), None)
        if wrong is not None:
            wrong.focus()

    def _problems(self, content: JSONObject) -> list[tuple[str, str]] | None:
        found = self._asking.ask(ArgumentsFit(json.dumps(content), self._form), alone=True)
        if found is None:
            return None
        return [] if not_checked(found) else [(str(one.path[0]) if one.path else "", one.message) for one in found]

    def _judge(self) -> None:
        content, said = self.content, dict.fromkeys((row.field.name for row in self.rows), "")
        rest = ""
        for row in self.rows:
            try:
                empty = row.value is None
            except ValueError as error:
                said[row.field.name] = str(error)
            else:
                if empty and row.field.required and self._shown:
                    said[row.field.name] = "This is required."
        if content is not None:
            for name, message in self._problems(content) or []:
                if name in said:
                    said[name] = said[name] or message
                elif self._shown and not missing(self._fields, content):
                    rest = rest or message
        for row in self.rows:
            row.say(said[row.field.name])
        say(self.rest, rest)
        self.judged.emit()


def _text_of(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
