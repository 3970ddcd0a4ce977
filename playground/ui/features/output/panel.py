"""The Output tab: the format of the answer, and the schema it has to follow.

It edits one field of the current protocol's parameters and hands back new ones; it knows no protocol: what the field
takes is in its hint. Checks run a moment after the last keystroke.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QButtonGroup, QPushButton, QRadioButton, QVBoxLayout, QWidget

from playground.domain.hints import setting
from playground.domain.output import SchemaShape
from playground.domain.parameters import Hint, Parameters
from playground.domain.values import Value
from playground.engine.questions.kinds import FormatSound
from playground.jsonkit.problems import JsonTextError, Problem
from playground.jsonkit.reading import READ_AT_MOST, read_typed
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import look, paragraph, say
from playground.ui.widgets.json_field import JsonField
from playground.ui.widgets.json_text import pretty_value
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.rows.form import Form, form_for
from playground.ui.widgets.scroll_page import ScrollPage
from playground.ui.widgets.widget_questions import WidgetQuestions

FIELD = "response_format"
CHECK_AFTER_MS = 150

DEFAULT, TEXT, JSON_MODE, SCHEMA, CUSTOM = "default", "text", "json_object", "json_schema", "custom"
KINDS: Final = (DEFAULT, TEXT, JSON_MODE, SCHEMA, CUSTOM)
FIRST_NAME: Final = "answer"

EXAMPLE_NAME: Final = "invoice"
EXAMPLE: Final = """{
  "type": "object",
  "properties": {
    "vendor": {"type": "string"},
    "items": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "name": {"type": "string"},
          "price": {"type": "number"}
        },
        "required": ["name", "price"],
        "additionalProperties": false
      }
    },
    "total": {"type": "number"}
  },
  "required": ["vendor", "items", "total"],
  "additionalProperties": false
}"""


@dataclass(frozen=True, slots=True)
class Reading:
    """The value that a draft sends, None for nothing, and the reason if it cannot be sent yet."""

    value: JSONObject | None = None
    unsent: str = ""


@dataclass(frozen=True, slots=True)
class OutputDraft:
    """The form's content. ``schema`` and ``custom`` are texts as typed; ``strict`` None is default."""

    kind: str = DEFAULT
    name: str = ""
    description: str = ""
    strict: bool | None = None
    schema: str = ""
    custom: str = ""

    @classmethod
    def from_value(cls, value: JSONObject | None, *, shape: SchemaShape) -> OutputDraft:
        """Return the draft of a value; a value with fields unknown to the form is custom."""
        if value is None:
            return cls()
        for kind in (TEXT, JSON_MODE):
            if value == {"type": kind}:
                return cls(kind=kind)
        return _schema_of(value, shape) or cls(kind=CUSTOM, custom=pretty_value(value))

    @classmethod
    def from_json(cls, value: JSON) -> OutputDraft | None:
        """Return a draft stored with the experiment, or None if the value is not one."""
        if not isinstance(value, dict) or value.get("kind") not in KINDS:
            return None
        texts = {key: str(value.get(key) or "") for key in ("name", "description", "schema", "custom")}
        strict = value.get("strict")
        return cls(kind=value["kind"], strict=strict if isinstance(strict, bool) else None, **texts)

    def to_json(self) -> JSONObject:
        """Return the draft for storage with the experiment."""
        return asdict(self)

    def read_draft(self, *, shape: SchemaShape) -> Reading:
        """Return the value that this draft sends."""
        if self.kind in (TEXT, JSON_MODE):
            return Reading({"type": self.kind})
        if self.kind == SCHEMA:
            schema, why = _object(self.schema, "schema")
            return Reading(None, why) if schema is None else Reading(self._spelled(schema, shape))
        if self.kind == CUSTOM:
            value, why = _object(self.custom, "format")
            return Reading(value, why)
        return Reading()

    def _spelled(self, schema: JSONObject, shape: SchemaShape) -> JSONObject:
        if not shape.is_named:
            return {"type": SCHEMA, "schema": schema}
        inner: JSONObject = {"name": self.name}
        if self.description:
            inner["description"] = self.description
        inner["schema"] = schema
        if self.strict is not None:
            inner["strict"] = self.strict
        return {"type": SCHEMA, "json_schema": inner} if shape is SchemaShape.NESTED else {"type": SCHEMA, **inner}


def _schema_of(value: JSONObject, shape: SchemaShape) -> OutputDraft | None:
    """Return the draft of a schema format, or None if it has fields unknown to the form."""
    is_nested = shape is SchemaShape.NESTED
    inner = value.get("json_schema") if is_nested else {k: v for k, v in value.items() if k != "type"}
    if value.get("type") != SCHEMA or not isinstance(inner, dict) or not isinstance(inner.get("schema"), dict):
        return None
    draft = OutputDraft(
        kind=SCHEMA,
        name=inner["name"] if isinstance(inner.get("name"), str) else "",
        description=inner["description"] if isinstance(inner.get("description"), str) else "",
        strict=inner["strict"] if isinstance(inner.get("strict"), bool) else None,
        schema=pretty_value(inner["schema"]),
    )
    return draft if draft.read_draft(shape=shape).value == value else None


def _object(text: str, what: str) -> tuple[JSONObject | None, str]:
    if not text.strip():
        return None, f"No {what} yet, so no format is sent."
    try:
        value = read_typed(text)
    except JsonTextError as error:
        if len(text) > READ_AT_MOST:
            return None, f"The {what} is {error.message}. No format is sent."
        return None, f"The {what} is not valid JSON yet. No format is sent."
    if not isinstance(value, dict):
        return None, f"The {what} must be a JSON object, in braces. No format is sent."
    return value, ""


TITLES = {
    DEFAULT: ("Default", "not sent"),
    TEXT: ("Text", "free text"),
    JSON_MODE: ("JSON mode", "any JSON object"),
    SCHEMA: ("JSON schema", "follows a schema"),
    CUSTOM: ("Custom", "a format typed as JSON"),
}
HINTS = {
    DEFAULT: "The field is omitted; the model answers in free text.",
    TEXT: "Sent, but has the same effect as the default.",
    JSON_MODE: "Many gateways want the word “JSON” somewhere in the messages. Each answer is checked to be JSON.",
    SCHEMA: "Each answer is checked against the schema; what is invalid is marked in it.",
    CUSTOM: "Sent unchanged, for formats that this form does not know.",
}
NO_FIELD = (
    "This protocol has no field for the format of the answer. "
    "Add the gateway's own field under Parameters, “Extra fields and headers”."
)


class NamedSchema(Value):
    """The members of a named schema besides the schema itself; ``strict`` None is the default."""

    name: Annotated[str, setting("Name", editor="line", placeholder=EXAMPLE_NAME)] = ""
    description: Annotated[str, setting("Description", editor="line", placeholder="what the answer is for")] = ""
    strict: Annotated[
        bool | None,
        setting("Strict", editor="switch", help="Ask the gateway to enforce the schema exactly. Default: omitted."),
    ] = None


class OutputPanel(ScrollPage):
    """``set_value`` shows parameters, ``changed`` reports new ones.

    ``draft_changed`` gives text that is not part of the parameters (JSON, None for nothing), to be stored with the
    experiment and passed to ``set_value`` again.
    """

    changed = Signal(object)
    draft_changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parameters = Parameters()
        self._draft = OutputDraft()
        self._available = False
        self._rows: dict[str, QWidget] = {}
        self.radios: dict[str, QRadioButton] = {}
        self._group = QButtonGroup(self)
        self.about = paragraph("", "small")
        self.hint = paragraph("", "small")
        self.unsent = paragraph("", "flag-error")
        self._warning = paragraph("", "flag")
        self._warning.hide()
        self.head: Form[NamedSchema] = form_for(NamedSchema, is_wide=False)
        self.schema = JsonField("Schema", root="schema", placeholder='{"type": "object", …}', least=8)
        self.example_button = QPushButton("Insert an example")
        self.schema.add_tool(self.example_button)
        self.custom = JsonField("Format (JSON)", root="custom", placeholder='{"type": "…"}')
        self._check = QTimer(self, singleShot=True, interval=CHECK_AFTER_MS)
        self._check.timeout.connect(self.check_now)
        self._questions = WidgetQuestions(self)
        self._questions.answered.connect(self.check_now)
        self._question: tuple[tuple[OutputDraft, bool], FormatSound] | None = None
        self._arrange()
        self.head.changed.connect(self._head_edited)
        self.schema.edited.connect(self._schema_edited)
        self.custom.edited.connect(self._custom_edited)
        self.example_button.clicked.connect(self.insert_example)
        self._group.idClicked.connect(self._kind_chosen)
        self.set_value(Parameters())

    def _arrange(self) -> None:
        column = self.fill(8)
        title = paragraph("Format of the answer", "group")
        column.addWidget(title)
        column.addWidget(self.about)
        rows = QVBoxLayout()
        rows.setSpacing(4)
        for number, kind in enumerate(KINDS):
            rows.addWidget(self._radio_row(number, kind))
        column.addLayout(rows)
        column.addWidget(self.hint)
        column.addWidget(self._warning)
        column.addSpacing(4)
        column.addWidget(self.head)
        column.addWidget(self.schema)
        column.addWidget(self.custom)
        column.addWidget(self.unsent)
        column.addStretch(1)

    def show_warning(self, words: str) -> None:
        """Show that the model does not support the format, by the gateway's list; empty for nothing."""
        say(self._warning, words)

    def _radio_row(self, number: int, kind: str) -> QWidget:
        name, about_kind = TITLES[kind]
        radio = QRadioButton(name)
        radio.setAccessibleDescription(f"{about_kind}. {HINTS[kind]}")
        self._group.addButton(radio, number)
        about = ElidedLabel(align=Qt.AlignmentFlag.AlignRight, elide=Qt.TextElideMode.ElideRight)
        about.set_text(about_kind)
        row = QWidget()
        in_row(radio, (about, 1), parent=row, margins=0, spacing=8)
        self.radios[kind] = radio
        self._rows[kind] = row
        return row

    # -- values ------------------------------------------------------------------------------------------------

    @property
    def value(self) -> Parameters:
        """The parameters as shown."""
        return self._parameters

    @property
    def draft(self) -> OutputDraft:
        """The content of the form."""
        return self._draft

    def set_value(self, parameters: Parameters, draft: JSON = None, *, fresh: bool = False) -> None:
        """Show parameters. Text being typed stays while it sends the same, unless ``fresh``: for another experiment.

        ``draft`` is the stored value of ``draft_changed``.
        """
        kind_changed = type(parameters) is not type(self._parameters)
        self._parameters = parameters
        hint = _hint(parameters)
        self._available = hint is not None
        value = getattr(parameters, FIELD) if hint is not None else None
        if kind_changed or fresh or self._read().value != value:
            stored = OutputDraft.from_json(draft)
            if stored is None or stored.read_draft(shape=parameters.schema_shape).value != value:
                stored = OutputDraft.from_value(value, shape=parameters.schema_shape)
            self._draft = stored
        self._show_kinds(hint)
        self._show()

    def _show_kinds(self, hint: Hint | None) -> None:
        """Show the kinds that the field takes."""
        takes = (DEFAULT, *hint.suggestions, CUSTOM) if hint is not None else ()
        for kind, row in self._rows.items():
            row.setVisible(kind in takes or kind == self._draft.kind != DEFAULT)
        path = hint.path if hint is not None else ""
        if hint is None:
            self.about.setText(NO_FIELD)
        elif path:
            only = "This protocol has no JSON mode, and its schemas have no name." if JSON_MODE not in takes else ""
            self.about.setText(f"Sent as {path}. {hint.help} {only}".strip())
        self.about.setVisible(hint is None or bool(path))

    def _show(self) -> None:
        draft, named = self._draft, self._parameters.schema_shape.is_named
        self.radios[draft.kind].setChecked(True)
        self.head.set_value(NamedSchema(name=draft.name, description=draft.description, strict=draft.strict))
        for field, text in ((self.schema, draft.schema), (self.custom, draft.custom)):
            if field.text != text:
                field.set_text(text)
        self.hint.setText(HINTS[draft.kind])
        self.hint.setVisible(self._available)
        self.head.setVisible(self._available and draft.kind == SCHEMA and named)
        self.schema.setVisible(self._available and draft.kind == SCHEMA)
        self.custom.setVisible(self._available and draft.kind == CUSTOM)
        self._show_unsent()
        self._check.start()

    def _read(self) -> Reading:
        return self._draft.read_draft(shape=self._parameters.schema_shape)

    def _show_unsent(self) -> None:
        why = self._read().unsent if self._available else ""
        self.unsent.setText(why)
        self.unsent.setVisible(bool(why))
        empty = self._draft.kind == SCHEMA and not self._draft.schema.strip()
        look(self.unsent, "flag" if empty else "flag-error")
        look(self.example_button, "button" if empty else "quiet")

    # -- editing -----------------------------------------------------------------------------------------------

    def choose(self, kind: str) -> None:
        """Choose a kind of format; the text of the other kinds is kept."""
        draft = replace(self._draft, kind=kind)
        if kind == SCHEMA and self._parameters.schema_shape.is_named and not draft.name:
            draft = replace(draft, name=FIRST_NAME)
        value = self._read().value
        if kind == CUSTOM and not draft.custom.strip() and value is not None:
            draft = replace(draft, custom=pretty_value(value))
        self._edit(draft)
        self._show()

    def insert_example(self) -> None:
        """Insert a complete schema; one undo restores the old text."""
        if self._parameters.schema_shape.is_named and self._draft.name in ("", FIRST_NAME):
            self._edit(replace(self._draft, name=EXAMPLE_NAME))
            self._show()
        self.schema.replace_text(EXAMPLE)
        self.schema.focus()

    def check_now(self) -> None:
        """Check the text now instead of when the timer ends."""
        self._check.stop()
        draft, reading = self._draft, self._read()
        if draft.kind == CUSTOM:
            self.custom.show_problems([])
        elif draft.kind == SCHEMA:
            problems = self._problems(reading.value)
            self.schema.show_problems([p for p in problems if p.path[:1] == ("schema",)])
            self.head.show_flags({"name": next((p.message for p in problems if p.path[:1] == ("name",)), "")})

    def _problems(self, value: JSONObject | None) -> list[Problem]:
        named = self._parameters.schema_shape.is_named
        inner = (value or {}).get("json_schema") if self._parameters.schema_shape is SchemaShape.NESTED else value
        schema = inner.get("schema") if isinstance(inner, dict) else None
        draft = self._draft
        if self._question is None or self._question[0] != (draft, named):  # reading the same schema again is slow
            question = FormatSound(draft.name if named else None, schema, draft.strict if named else None)
            self._question = (draft, named), question
        return self._questions.ask(self._question[1], alone=True) or []

    def _kind_chosen(self, number: int) -> None:
        self.choose(KINDS[number])

    def _head_edited(self, head: NamedSchema, _errors: dict[str, str]) -> None:
        self._edit(replace(self._draft, name=head.name, description=head.description, strict=head.strict))

    def _schema_edited(self) -> None:
        self._edit(replace(self._draft, schema=self.schema.text))

    def _custom_edited(self) -> None:
        self._edit(replace(self._draft, custom=self.custom.text))

    def _edit(self, draft: OutputDraft) -> None:
        if not self._available:
            return
        self._draft = draft
        value, parameters = self._read().value, self._parameters
        if value != getattr(parameters, FIELD):
            self._parameters = parameters.with_value(FIELD, value)
            self.changed.emit(self._parameters)
        derived = OutputDraft.from_value(value, shape=parameters.schema_shape)
        self.draft_changed.emit(None if _is_same(derived, draft) else draft.to_json())
        self._show_unsent()
        self._check.start()


def _is_same(derived: OutputDraft, draft: OutputDraft) -> bool:
    """Return whether a draft equals the one derived from the parameters, but for the layout of its JSON."""
    if draft.kind == SCHEMA:
        draft = replace(draft, schema=derived.schema)
    elif draft.kind == CUSTOM:
        draft = replace(draft, custom=derived.custom)
    return derived == draft


def _hint(parameters: Parameters) -> Hint | None:
    return dict(type(parameters).hints()).get(FIELD)
