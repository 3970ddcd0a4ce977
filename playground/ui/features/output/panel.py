"""The Output tab: in which format the answer is asked for, and the schema it has to follow.

It edits one field of the current protocol's parameters and hands back new ones; it knows no protocol: what the field
takes stands in its hint. Checks run a moment after the last keystroke.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QButtonGroup, QLabel, QLineEdit, QPushButton, QRadioButton, QVBoxLayout, QWidget

from playground.domain.parameters import Hint, Parameters
from playground.engine.questions.kinds import FormatSound
from playground.jsonkit.problems import JsonTextError, Problem
from playground.jsonkit.reading import READ_AT_MOST, read_typed
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.widgets.asking import Asking
from playground.ui.widgets.choice_fields import SwitchPill
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import look, paragraph, say, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.json_field import JsonField
from playground.ui.widgets.json_text import pretty_value
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.scroll_page import ScrollPage
from playground.ui.widgets.theme import code_font

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
    """What a draft would send: a value (None: nothing), and why it is not sent although it is meant to be."""

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
    def of(cls, value: JSONObject | None, *, named: bool) -> OutputDraft:
        """The draft of a value; one that the form does not understand to the last field is custom.

        ``named`` says that the schema stands in an object of its own (chat completions).
        """
        if value is None:
            return cls()
        for kind in (TEXT, JSON_MODE):
            if value == {"type": kind}:
                return cls(kind=kind)
        return _schema_of(value, named) or cls(kind=CUSTOM, custom=laid_out(value))

    @classmethod
    def from_json(cls, value: JSON) -> OutputDraft | None:
        """A draft kept with the experiment; None when it is not one."""
        if not isinstance(value, dict) or value.get("kind") not in KINDS:
            return None
        texts = {key: str(value.get(key) or "") for key in ("name", "description", "schema", "custom")}
        strict = value.get("strict")
        return cls(kind=value["kind"], strict=strict if isinstance(strict, bool) else None, **texts)

    def to_json(self) -> JSONObject:
        """The draft as it is kept with the experiment."""
        return asdict(self)

    def read_draft(self, *, named: bool) -> Reading:
        """What this would send."""
        if self.kind in (TEXT, JSON_MODE):
            return Reading({"type": self.kind})
        if self.kind == SCHEMA:
            schema, why = _object(self.schema, "schema")
            return Reading(None, why) if schema is None else Reading(self._spelled(schema, named))
        if self.kind == CUSTOM:
            value, why = _object(self.custom, "format")
            return Reading(value, why)
        return Reading()

    def _spelled(self, schema: JSONObject, named: bool) -> JSONObject:
        if not named:
            return {"type": SCHEMA, "schema": schema}
        inner: JSONObject = {"name": self.name}
        if self.description:
            inner["description"] = self.description
        inner["schema"] = schema
        if self.strict is not None:
            inner["strict"] = self.strict
        return {"type": SCHEMA, "json_schema": inner}


def _schema_of(value: JSONObject, named: bool) -> OutputDraft | None:
    """The draft of a schema format, when every field of it has a place in the form."""
    inner = value.get("json_schema") if named else {k: v for k, v in value.items() if k != "type"}
    if value.get("type") != SCHEMA or not isinstance(inner, dict) or not isinstance(inner.get("schema"), dict):
        return None
    draft = OutputDraft(
        kind=SCHEMA,
        name=inner["name"] if isinstance(inner.get("name"), str) else "",
        description=inner["description"] if isinstance(inner.get("description"), str) else "",
        strict=inner["strict"] if isinstance(inner.get("strict"), bool) else None,
        schema=laid_out(inner["schema"]),
    )
    return draft if draft.read_draft(named=named).value == value else None


def _object(text: str, what: str) -> tuple[JSONObject | None, str]:
    if not text.strip():
        return None, f"There is no {what} yet, so no format is sent."
    try:
        value = read_typed(text)
    except JsonTextError as error:
        if len(text) > READ_AT_MOST:
            return None, f"The {what} is {error.message}. It is kept, and no format is sent."
        return None, f"The {what} is not valid JSON yet. It is kept, and no format is sent."
    if not isinstance(value, dict):
        return None, f"The {what} must be a JSON object, in braces. It is kept, and no format is sent."
    return value, ""


def laid_out(value: JSON) -> str:
    """A value as text, one member a line."""
    return pretty_value(value)


TITLES = {
    DEFAULT: ("Default", "not sent"),
    TEXT: ("Text", "free text"),
    JSON_MODE: ("JSON mode", "any JSON object"),
    SCHEMA: ("JSON schema", "follows a schema"),
    CUSTOM: ("Custom", "a format typed as JSON"),
}
HINTS = {
    DEFAULT: "The field is left out; the model answers as it likes, which is text.",
    TEXT: "The same as default, said to the gateway.",
    JSON_MODE: "Many gateways want the word “JSON” somewhere in the messages. Each answer is checked to be JSON.",
    SCHEMA: "Each answer is checked against the schema, and what does not fit is marked in it.",
    CUSTOM: "Sent as it stands, for formats that this form does not know.",
}
NO_FIELD = (
    "This protocol has no field for the format of the answer. "
    "Add the gateway's own field under Parameters, “Extra fields and headers”."
)

STRICT_HELP = "Ask the gateway to hold the model to the schema exactly. Left out while it is at default."


class SchemaHead(QWidget):
    """``edited`` when a person changed one of the three; ``show_values`` is silent."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.name = QLineEdit()
        self.name.setFont(code_font())
        self.name.setPlaceholderText("invoice")
        self.name.setAccessibleName("Name of the schema")
        self.name_flag = paragraph("", "flag-error")
        self.name_flag.hide()
        self.description = QLineEdit(placeholderText="optional: what the answer is for")
        self.description.setAccessibleName("Description of the schema")
        self.strict = SwitchPill()
        self.strict.setAccessibleName("Strict")
        self.strict.setAccessibleDescription(STRICT_HELP)
        self.strict.setToolTip(tip(STRICT_HELP))
        self.reset = IconButton("close", "Strict back to default (Delete)", size=12)
        self.reset.setFixedSize(20, 20)
        self.reset.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = in_column(_caption("Name", self.name), self.name, self.name_flag, of=self, margins=0, spacing=4)
        column.addSpacing(4)
        column.addWidget(_caption("Description", self.description))
        column.addWidget(self.description)
        strict = in_row(_caption("Strict", self.strict), 1, self.reset, self.strict, margins=(0, 4, 0, 0), spacing=4)
        column.addLayout(strict)
        self.name.textEdited.connect(self.edited)
        self.description.textEdited.connect(self.edited)
        self.strict.switched.connect(self._switched)
        self.strict.cleared.connect(self._cleared)
        self.reset.clicked.connect(self._cleared)
        self.reset.hide()

    def show_values(self, name: str, description: str, strict: bool | None) -> None:
        """Show the three; a text that is the same keeps its cursor."""
        for field, text in ((self.name, name), (self.description, description)):
            if field.text() != text:
                field.setText(text)
        self.strict.show_state(strict)
        self.reset.setVisible(strict is not None)

    def flag_name(self, problem: str) -> None:
        """Say what is wrong with the name; it is sent all the same."""
        look(self.name, "true" if problem else "false", "bad")
        self.name_flag.setText(problem)
        self.name_flag.setVisible(bool(problem))

    def _switched(self, _state: bool) -> None:
        self.reset.show()
        self.edited.emit()

    def _cleared(self) -> None:
        self.strict.show_state(None)
        self.reset.hide()
        self.edited.emit()


def _caption(text: str, field: QWidget) -> QLabel:
    label = text_label(text, "group")
    label.setBuddy(field)
    return label


class OutputPanel(ScrollPage):
    """``set_value`` shows parameters, ``changed`` tells new ones.

    ``draft_changed`` gives what is typed beyond the parameters (JSON, None for nothing), to be kept with the
    experiment and handed back to ``set_value``.
    """

    changed = Signal(object)
    draft_changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parameters = Parameters()
        self._draft = OutputDraft()
        self._available = False
        self._showing = False
        self._rows: dict[str, QWidget] = {}
        self.radios: dict[str, QRadioButton] = {}
        self._group = QButtonGroup(self)
        self.says = paragraph("", "small")
        self.hint = paragraph("", "small")
        self.unsent = paragraph("", "flag-error")
        self.told = paragraph("", "flag")
        self.told.hide()
        self.head = SchemaHead()
        self.schema = JsonField("Schema", root="schema", placeholder='{"type": "object", …}', least=8)
        self.example_button = QPushButton("Insert an example")
        self.schema.add_tool(self.example_button)
        self.custom = JsonField("Format (JSON)", root="custom", placeholder='{"type": "…"}')
        self._check = QTimer(self, singleShot=True, interval=CHECK_AFTER_MS)
        self._check.timeout.connect(self.check_now)
        self._asking = Asking(self)
        self._asking.answered.connect(self.check_now)
        self._asked: tuple[tuple[OutputDraft, bool], FormatSound] | None = None
        self._arrange()
        self.head.edited.connect(self._head_edited)
        self.schema.edited.connect(self._schema_edited)
        self.custom.edited.connect(self._custom_edited)
        self.example_button.clicked.connect(self.insert_example)
        self._group.idClicked.connect(self._kind_chosen)
        self.set_value(Parameters())

    def _arrange(self) -> None:
        column = self.fill(8)
        title = paragraph("Format of the answer", "group")
        column.addWidget(title)
        column.addWidget(self.says)
        rows = QVBoxLayout()
        rows.setSpacing(4)
        for number, kind in enumerate(KINDS):
            rows.addWidget(self._radio_row(number, kind))
        column.addLayout(rows)
        column.addWidget(self.hint)
        column.addWidget(self.told)
        column.addSpacing(4)
        column.addWidget(self.head)
        column.addWidget(self.schema)
        column.addWidget(self.custom)
        column.addWidget(self.unsent)
        column.addStretch(1)

    def show_told(self, words: str) -> None:
        """What the gateway's list says of the model that does not go with the format; empty for nothing."""
        say(self.told, words)

    def _radio_row(self, number: int, kind: str) -> QWidget:
        name, says = TITLES[kind]
        radio = QRadioButton(name)
        radio.setAccessibleDescription(f"{says}. {HINTS[kind]}")
        self._group.addButton(radio, number)
        about = ElidedLabel(align=Qt.AlignmentFlag.AlignRight, elide=Qt.TextElideMode.ElideRight)
        about.set_text(says)
        row = QWidget()
        in_row(radio, (about, 1), of=row, margins=0, spacing=8)
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
        """What stands in the form."""
        return self._draft

    def set_value(self, parameters: Parameters, draft: JSON = None, *, fresh: bool = False) -> None:
        """Show parameters. What is typed stays while it sends the same, unless ``fresh`` says they are another's.

        ``draft`` is what ``draft_changed`` gave for them.
        """
        kind_changed = type(parameters) is not type(self._parameters)
        self._parameters = parameters
        hint = _hint(parameters)
        self._available = hint is not None
        value = getattr(parameters, FIELD) if hint is not None else None
        if kind_changed or fresh or self._read().value != value:
            kept = OutputDraft.from_json(draft)
            if kept is None or kept.read_draft(named=parameters.names_schema).value != value:
                kept = OutputDraft.of(value, named=parameters.names_schema)
            self._draft = kept
        self._offer(hint)
        self._show()

    def _offer(self, hint: Hint | None) -> None:
        """Show the kinds that the field takes."""
        takes = (DEFAULT, *hint.suggestions, CUSTOM) if hint is not None else ()
        for kind, row in self._rows.items():
            row.setVisible(kind in takes or kind == self._draft.kind != DEFAULT)
        path = hint.path if hint is not None else ""
        if hint is None:
            self.says.setText(NO_FIELD)
        elif path:
            only = "This protocol has no JSON mode, and its schemas have no name." if JSON_MODE not in takes else ""
            self.says.setText(f"Sent as {path}. {hint.help} {only}".strip())
        self.says.setVisible(hint is None or bool(path))

    def _show(self) -> None:
        draft, named = self._draft, self._parameters.names_schema
        self._showing = True
        self.radios[draft.kind].setChecked(True)
        self.head.show_values(draft.name, draft.description, draft.strict)
        for field, text in ((self.schema, draft.schema), (self.custom, draft.custom)):
            if field.text != text:
                field.set_text(text)
        self._showing = False
        self.hint.setText(HINTS[draft.kind])
        self.hint.setVisible(self._available)
        self.head.setVisible(self._available and draft.kind == SCHEMA and named)
        self.schema.setVisible(self._available and draft.kind == SCHEMA)
        self.custom.setVisible(self._available and draft.kind == CUSTOM)
        self._say_unsent()
        self._check.start()

    def _read(self) -> Reading:
        return self._draft.read_draft(named=self._parameters.names_schema)

    def _say_unsent(self) -> None:
        why = self._read().unsent if self._available else ""
        self.unsent.setText(why)
        self.unsent.setVisible(bool(why))
        empty = self._draft.kind == SCHEMA and not self._draft.schema.strip()
        look(self.unsent, "flag" if empty else "flag-error")
        look(self.example_button, "button" if empty else "quiet")

    # -- editing -----------------------------------------------------------------------------------------------

    def choose(self, kind: str) -> None:
        """Take another kind of format; what was typed for the others is kept."""
        draft = replace(self._draft, kind=kind)
        if kind == SCHEMA and self._parameters.names_schema and not draft.name:
            draft = replace(draft, name=FIRST_NAME)
        value = self._read().value
        if kind == CUSTOM and not draft.custom.strip() and value is not None:
            draft = replace(draft, custom=laid_out(value))
        self._edit(draft)
        self._show()

    def insert_example(self) -> None:
        """A complete schema; one step of undo brings back what was there."""
        if self._parameters.names_schema and self._draft.name in ("", FIRST_NAME):
            self.head.show_values(EXAMPLE_NAME, self._draft.description, self._draft.strict)
            self._head_edited()
        self.schema.replace_text(EXAMPLE)
        self.schema.focus()

    def check_now(self) -> None:
        """Check what is typed at once, without waiting for the timer."""
        self._check.stop()
        draft, reading = self._draft, self._read()
        if draft.kind == CUSTOM:
            self.custom.show_problems([])
        elif draft.kind == SCHEMA:
            problems = self._problems(reading.value)
            self.schema.show_problems([p for p in problems if p.path[:1] == ("schema",)])
            self.head.flag_name(next((p.message for p in problems if p.path[:1] == ("name",)), ""))

    def _problems(self, value: JSONObject | None) -> list[Problem]:
        named = self._parameters.names_schema
        inner = (value or {}).get("json_schema") if named else value
        schema = inner.get("schema") if isinstance(inner, dict) else None
        draft = self._draft
        if self._asked is None or self._asked[0] != (draft, named):  # the same schema is read anew each time
            question = FormatSound(draft.name if named else None, schema, draft.strict if named else None)
            self._asked = (draft, named), question
        return self._asking.ask(self._asked[1], alone=True) or []

    def _kind_chosen(self, number: int) -> None:
        self.choose(KINDS[number])

    def _head_edited(self) -> None:
        head = self.head
        name, description = head.name.text(), head.description.text()
        self._edit(replace(self._draft, name=name, description=description, strict=head.strict.state))

    def _schema_edited(self) -> None:
        self._edit(replace(self._draft, schema=self.schema.text))

    def _custom_edited(self) -> None:
        self._edit(replace(self._draft, custom=self.custom.text))

    def _edit(self, draft: OutputDraft) -> None:
        if self._showing or not self._available:
            return
        self._draft = draft
        value, parameters = self._read().value, self._parameters
        if value != getattr(parameters, FIELD):
            self._parameters = parameters.with_value(FIELD, value)
            self.changed.emit(self._parameters)
        told = _brings_back(OutputDraft.of(value, named=parameters.names_schema), draft)
        self.draft_changed.emit(None if told else draft.to_json())
        self._say_unsent()
        self._check.start()


def _brings_back(plain: OutputDraft, draft: OutputDraft) -> bool:
    """Whether the parameters alone give the draft again; how its JSON is laid out does not count."""
    if draft.kind == SCHEMA:
        draft = replace(draft, schema=plain.schema)
    elif draft.kind == CUSTOM:
        draft = replace(draft, custom=plain.custom)
    return plain == draft


def _hint(parameters: Parameters) -> Hint | None:
    return dict(type(parameters).hints()).get(FIELD)
