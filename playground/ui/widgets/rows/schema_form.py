"""Form for the values of a JSON Schema from outside, such as an elicitation, the arguments of a prompt or of a tool.

Each property becomes a row: text with its format, a number with its range, one or several choices, a list of texts, or
JSON for everything else. The schema is not trusted: another process checks the values against it, because a check may
never end.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QCheckBox, QCompleter, QWidget

from playground.domain.hints import Hint, setting
from playground.engine.questions.kinds import ArgumentsFit
from playground.jsonkit.problems import not_checked
from playground.jsonkit.schema_fields import nullable_branch
from playground.jsonkit.schema_refs import target_of
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON, JSONObject, is_number
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import say, text_label
from playground.ui.widgets.layouts import discard
from playground.ui.widgets.plain_text import few_lines_of, one_line_of, short_title, show_hidden
from playground.ui.widgets.rows.kinds import LineRow, row_for
from playground.ui.widgets.rows.row import FieldRow
from playground.ui.widgets.rows.row_form import LABEL_WIDTH, RowForm
from playground.ui.widgets.widget_questions import WidgetQuestions

MAX_FIELDS: Final = 100  # a schema with more properties becomes a single field for JSON
MAX_CHOICES: Final = 500
MAX_TEXT: Final = 2_000  # characters of a description
MAX_PROPOSALS: Final = 100
PROPOSE_MS: Final = 200  # delay between the last key and the request for proposals
NOTHING: Final = "(nothing)"
REQUIRED: Final = "Required."
WHOLE: Final = setting("JSON", editor="json", nullable=True, help="The form cannot be shown field by field.")
_PROPOSAL = Qt.ItemDataRole.UserRole


# ---- rows of a schema


def hints_for(schema: JSONObject) -> dict[str, Hint] | None:
    """Return the rows of a schema in the order of its properties; None for no properties or too many."""
    members = schema.get("properties")
    if not isinstance(members, dict) or len(members) > MAX_FIELDS:
        return None
    required = required_names(schema)
    return {
        name: _hint(name, _resolved(schema, member), name in required and not allows_null(member))
        for name, member in members.items()
    }


def required_names(schema: JSONObject) -> set[str]:
    """Return the names of the required properties."""
    required = schema.get("required")
    return {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()


def allows_null(member: JSON) -> bool:
    """Return whether null is a value of a property."""
    schema = member if isinstance(member, dict) else {}
    kinds = schema.get("type")
    return (isinstance(kinds, list) and "null" in kinds) or nullable_branch(schema) is not None


def _resolved(root: JSONObject, member: JSON) -> JSONObject:
    """Return the schema of a property with the reference or the union with null around it removed."""
    outer = member if isinstance(member, dict) else {}
    inner = outer
    if (branch := nullable_branch(outer)) is not None:
        inner = outer[branch[0]][branch[1]]
    ref = inner.get("$ref")
    if isinstance(ref, str) and (path := target_of(root, ref)) is not None:
        node: JSON = root
        for step in path:
            node = node[step]
        inner = node if isinstance(node, dict) else {}
    kinds = inner.get("type")
    if isinstance(kinds, list) and len(kinds) == 2 and "null" in kinds:
        inner = {**inner, "type": next((kind for kind in kinds if kind != "null"), "null")}
    return {**inner, **{word: outer[word] for word in ("title", "description", "default") if word in outer}}


def _hint(name: str, schema: JSONObject, is_required: bool) -> Hint:
    title, description = (cut(str(schema.get(word) or ""), MAX_TEXT) for word in ("title", "description"))
    label = short_title(title or name)
    hint = setting(
        label.replace("&", "&&"),
        nullable=True,
        help=show_hidden("\n".join(filter(None, (REQUIRED if is_required else "", description)))),
        start=schema.get("default"),
    )
    return _with_control(hint, schema, is_required)


def _with_control(hint: Hint, schema: JSONObject, is_required: bool) -> Hint:
    kind = schema.get("type")
    choices = _choices(schema)
    if not choices and kind == "boolean":
        choices = ((True, "yes"), (False, "no"))
    if choices:
        has_start = any(value == hint.start and type(value) is type(hint.start) for value, _ in choices)
        empty = () if is_required and has_start else ((None, NOTHING),)
        return replace(hint, editor="pick" if len(choices) <= MAX_CHOICES else "json", choices=(*empty, *choices))
    if kind == "array" and isinstance(items := schema.get("items"), dict):
        if 0 < len(_choices(items)) <= MAX_CHOICES:
            return replace(hint, editor="several", choices=_choices(items))
        if items.get("type") == "string":
            return replace(hint, editor="list", placeholder="add")
    if kind == "string":
        check, example = FORMATS.get(str(schema.get("format")), (None, ""))
        return replace(hint, editor="line", check=check, placeholder=example)
    if kind in ("number", "integer"):
        low, high = (_bound(schema.get(word)) for word in ("minimum", "maximum"))
        return replace(hint, editor=str(kind), low=low, high=high, placeholder=_range_words(low, high))
    return replace(hint, editor="json")


def _bound(value: JSON) -> float | None:
    return float(value) if is_number(value) and abs(value) < 1e300 else None


def _range_words(low: float | None, high: float | None) -> str:
    least, most = (f"{bound:,.10g}" if bound is not None else "" for bound in (low, high))
    return f"{least} to {most}" if least and most else f"{least} or more" if least else f"up to {most}" if most else " "


def _choices(schema: JSONObject) -> tuple[tuple[JSON, str], ...]:
    """Return the values of an enumeration with their labels."""
    values = schema.get("enum")
    if isinstance(values, list):
        names = schema.get("enumNames")
        titles = names if isinstance(names, list) and len(names) == len(values) else values
        return tuple((value, short_title(str(title))) for value, title in zip(values, titles, strict=True))
    for word in ("oneOf", "anyOf"):
        options = schema.get(word)
        if isinstance(options, list) and all(isinstance(option, dict) and "const" in option for option in options):
            return tuple(
                (option["const"], short_title(str(option.get("title") or option["const"]))) for option in options
            )
    return ()


def _plain(value: JSON) -> JSON:
    return list(value) if isinstance(value, tuple) else value


# ---- formats of text


def _is_email(text: str) -> bool:
    local_part, _, domain = text.rpartition("@")
    return bool(local_part and domain.strip(".")) and not any(letter.isspace() for letter in text)


def _is_uri(text: str) -> bool:
    parts = urlsplit(text)
    return bool(parts.scheme and (parts.netloc or parts.path)) and not any(letter.isspace() for letter in text)


def _is_date(text: str) -> bool:
    return bool(datetime.date.fromisoformat(text))


def _is_date_time(text: str) -> bool:
    return "T" in text.upper() and bool(datetime.datetime.fromisoformat(text.upper()))


def _format(is_valid: Callable[[str], bool], words: str, example: str) -> tuple[Callable[[JSON], str], str]:
    """Return the check of a format and an example. The check returns what is wrong with a value, or an empty text."""

    def check(value: JSON) -> str:
        if not isinstance(value, str) or not value:
            return ""
        try:
            return "" if is_valid(value) else f"Enter {words}, such as {example}."
        except ValueError:
            return f"Enter {words}, such as {example}."

    return check, example


FORMATS: Final = {
    "email": _format(_is_email, "an e-mail address", "name@example.org"),
    "uri": _format(_is_uri, "an address with its scheme", "https://example.org/"),
    "date": _format(_is_date, "a date", "2026-01-31"),
    "date-time": _format(_is_date_time, "a date and a time", "2026-01-31T12:00:00Z"),
}


# ---- the form


class SeveralRow(FieldRow):
    """Check boxes for several of the choices; none checked is an empty field."""

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self.boxes = [QCheckBox(label.replace("&", "&&")) for _, label in hint.choices]
        holder = QWidget()
        flow = FlowLayout(holder, 12)
        for box in self.boxes:
            flow.addWidget(box)
            box.toggled.connect(self._toggled)
        self.head.addWidget(holder, 1)
        self._introduce()
        for box in self.boxes:
            box.setAccessibleDescription(f"{self.title}. {self._help()}")

    def main_field(self) -> QWidget:
        return self.boxes[0]

    def _show(self, value: JSON) -> None:
        for box, (choice, _) in zip(self.boxes, self.hint.choices, strict=True):
            box.setChecked(isinstance(value, list) and choice in value)

    def _toggled(self) -> None:
        pairs = zip(self.boxes, self.hint.choices, strict=True)
        self._tell([choice for box, (choice, _) in pairs if box.isChecked()] or None)


class SchemaForm(RowForm):
    """The rows of a schema. ``changed`` follows an edit by a person, ``checked`` a finished check of the values.

    ``submitted`` is Enter in a line, ``typed`` a name and a text for which a caller may ``propose`` values.
    """

    changed = Signal()
    checked = Signal()
    submitted = Signal()
    typed = Signal(str, str)

    def __init__(self, schema: JSONObject | None = None, parent: QWidget | None = None, *, checks: bool = True) -> None:
        """Create a form. ``checks``: check the values against the schema, not only the formats of single fields."""
        super().__init__(parent, label_width=LABEL_WIDTH)
        self._schema: JSONObject = {}
        self._required: set[str] = set()
        self._nulls: set[str] = set()  # required fields that are null while they are empty
        self._flagged: list[str] = []  # rows with a problem, from top to bottom
        self._others: JSONObject = {}  # values without a row
        self._is_json = False  # the form is a single field for JSON
        self._checks = checks
        self._shows_missing = False  # True after the first attempt to submit
        self._checker = WidgetQuestions(self)
        self._checker.answered.connect(self._refresh)
        self._typed = "", ""
        self._propose_timer = QTimer(self, singleShot=True, interval=PROPOSE_MS)
        self._propose_timer.timeout.connect(lambda: self.typed.emit(*self._typed))
        self.rest = text_label("", "flag-error", wrap=True)
        self.rest.hide()
        self.legend = text_label("* Required", "small")
        self.column.addWidget(self.rest)
        self.column.addWidget(self.legend)
        self.set_schema(schema or {"properties": {}})

    def set_schema(self, schema: JSONObject, *, keep: bool = False) -> None:
        """Show the rows of another schema, empty or at their defaults.

        ``keep``: rows that are the same stay with their focus, and others of the same name get the value.
        """
        hints = hints_for(schema)
        self._schema, self._is_json, self._shows_missing = schema, hints is None, False
        members = schema.get("properties")
        required = required_names(schema) & set(members) if isinstance(members, dict) and hints is not None else {""}
        self._nulls = {name for name in required if hints is not None and allows_null(schema["properties"][name])}
        self._required = required - self._nulls
        self._others = self._others if keep else {}
        before, self.rows = self.rows, {}
        for position, (name, hint) in enumerate((hints if hints is not None else {"": WHOLE}).items()):
            old = before.get(name) if keep else None
            if old is not None and old.hint == hint:
                row = before.pop(name)
                self.column.removeWidget(row)
            else:
                row = self._create_row(name, hint)
                row.show_value(hint.start if old is None or old.value is None else old.value, fresh=True)
            self.rows[name] = row
            self.column.insertWidget(position, row)
            row.show()  # at once: a layout would show it in a later event
        discard(self.column, *before.values())
        self.legend.setVisible(bool(self._required) and not self._is_json)
        self._refresh()

    def _create_row(self, name: str, hint: Hint) -> FieldRow:
        row = SeveralRow(name, hint, self) if hint.editor == "several" else row_for(name, hint, parent=self)
        if name in self._required and name:
            row.label.setText(f"{hint.label} *")
        self.prepare(row)
        if isinstance(row, LineRow):
            row.field.returnPressed.connect(self.submitted)
            row.field.textEdited.connect(lambda text: self._start_typing(name, text))
        return row

    # ---- values

    @property
    def value(self) -> JSONObject | None:
        """The values that are not empty, by name; None while a field has a problem of its own."""
        if any(self._own_problem(row) for row in self.rows.values()):
            return None
        values = {name: _plain(row.value) for name, row in self.rows.items() if row.value is not None}
        if self._is_json:
            complete = values.get("")
            return complete if isinstance(complete, dict) else None
        return {**dict.fromkeys(self._nulls), **values, **self._others}

    def set_value(self, value: JSONObject) -> None:
        """Show values without a signal; those without a row stay as they are."""
        self._others = {} if self._is_json else {name: item for name, item in value.items() if name not in self.rows}
        for name, row in self.rows.items():
            row.show_value(value if self._is_json else value.get(name), fresh=True)
        self._refresh()

    @property
    def missing(self) -> list[str]:
        """The names of the required fields that are empty."""
        return [name for name, row in self.rows.items() if name in self._required and row.value is None]

    @property
    def is_checked(self) -> bool:
        """True if the check of the values has ended."""
        return self._problems() is not None

    @property
    def is_valid(self) -> bool:
        """True if no field has a problem, all required ones are filled in, and the check found nothing."""
        return self.value is not None and not self.missing and self._problems() == {}

    def show_missing(self) -> None:
        """Show which required fields are empty, and put the cursor into the first field with a problem."""
        self._shows_missing = True
        self._refresh()
        self.focus(*self._flagged[:1])

    # ---- checks

    @staticmethod
    def _own_problem(row: FieldRow) -> str:
        return row.problem or (row.hint.check(row.value) if row.hint.check is not None else "")

    def _problems(self) -> dict[str, str] | None:
        """Return the problems of the values under the schema by property; None while the check runs."""
        value = self.value
        if value is None or not self._checks:
            return {}
        result = self._checker.ask(ArgumentsFit(json.dumps(value), self._schema), alone=True)
        if result is None:
            return None
        if not_checked(result):
            return {}
        return {str(item.path[0]) if item.path else "": item.message for item in reversed(result)}

    def _take(self, name: str, typed: JSON) -> None:
        self._emit_changed()

    def _emit_changed(self, *_: object) -> None:
        self._refresh()
        self.changed.emit()

    def _refresh(self) -> None:
        problems = self._problems()
        missing, self._flagged = self.missing, []
        for name, row in self.rows.items():
            problem = self._own_problem(row) or (problems or {}).get(name, "")
            if name in missing:
                problem = REQUIRED if self._shows_missing else ""
            self._flagged += [name] if problem else []
            row.set_flag(problem, few_lines_of(row.hint.help.removeprefix(REQUIRED).strip()))
        others = [words for name, words in (problems or {}).items() if name not in self.rows]
        say(self.rest, others[0] if others and not missing and self._shows_missing else "")
        if problems is not None:
            self.checked.emit()

    # ---- proposals

    def _start_typing(self, name: str, text: str) -> None:
        self._typed = name, text
        self._propose_timer.start()

    def propose(self, name: str, text: str, values: Sequence[str]) -> None:
        """Offer values for a text typed into a line, unless the text has changed."""
        row = self.rows.get(name)
        if not isinstance(row, LineRow) or row.field.text() != text:
            return
        field = row.field
        model = QStandardItemModel(field)
        for value in values[:MAX_PROPOSALS]:
            item = QStandardItem(one_line_of(short_title(value)))
            item.setData(value, _PROPOSAL)
            model.appendRow(item)
        completer = QCompleter(model, field)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)  # the caller has chosen them
        completer.setCompletionRole(_PROPOSAL)
        field.setCompleter(completer)
        if values and field.hasFocus() and list(values) != [text]:
            completer.complete()
