"""The form for the values of a schema from outside, filled in as a person does."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from playground.jsonkit.values import JSON, JSONObject
from playground.ui.widgets.rows.kinds import LineRow
from playground.ui.widgets.rows.schema_form import NOTHING, SchemaForm, SeveralRow, hints_for
from tests.support.each_case import each_case
from tests.ui.conftest import ShowWidget

BOOKING: JSONObject = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "description": "As on the ticket"},
        "guests": {"type": "integer", "minimum": 1, "maximum": 12},
        "colour": {"type": "string", "enum": ["red", "green"], "enumNames": ["Red", "Green"], "default": "green"},
        "days": {"type": "array", "items": {"enum": ["mon", "tue"]}},
        "window": {"type": "boolean"},
        "more": {"type": "object"},
    },
    "required": ["name", "colour"],
}


@pytest.fixture
def form(show_widget: ShowWidget) -> SchemaForm:
    return show_widget(SchemaForm(BOOKING), 460, 500)


def line(form: QWidget, name: str) -> QLineEdit:
    (match,) = (field for field in form.findChildren(QLineEdit) if field.accessibleName() == name)
    return match


def type_into(form: QWidget, name: str, text: str) -> None:
    line(form, name).clear()
    QTest.keyClicks(line(form, name), text)


def one_field(schema: JSON, required: tuple[str, ...] = ()) -> SchemaForm:
    return SchemaForm({"properties": {"a": schema}, "required": list(required)})


@each_case(
    "schema, editor",
    [
        ({"type": "string"}, "line"),
        ({"type": "number"}, "number"),
        ({"type": "integer"}, "integer"),
        ({"type": "boolean"}, "pick"),
        ({"type": "string", "enum": ["x", "y"]}, "pick"),
        ({"type": "string", "oneOf": [{"const": "x", "title": "X"}]}, "pick"),
        ({"type": "array", "items": {"type": "string", "enum": ["x", "y"]}}, "several"),
        ({"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}}, "several"),
        ({"type": "array", "items": {"type": "string"}}, "list"),
        ({"type": "array", "items": {"type": "integer"}}, "json"),
        ({"type": ["string", "null"]}, "line"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer"),
        ({"$ref": "#/$defs/Size"}, "pick"),
        ({"enum": [str(number) for number in range(501)]}, "json"),
        ({"type": "object", "properties": {}}, "json"),
        ({"$ref": "#"}, "json"),
        ({"$ref": "#/nowhere"}, "json"),
        ({}, "json"),
        (True, "json"),
        (None, "json"),
    ],
)
def test_schema_of_a_property_decides_its_control(schema: JSON, editor: str) -> None:
    hints = hints_for({"properties": {"a": schema}, "$defs": {"Size": {"enum": ["S", "L"]}}})
    assert hints is not None
    assert hints["a"].editor == editor


def test_values_are_collected_without_empty_fields(form: SchemaForm) -> None:
    assert form.value == {"colour": "green"}
    assert form.missing == ["name"]
    type_into(form, "Your name", " Ada ")
    type_into(form, "guests", "3")
    (days,) = (row for row in form.rows.values() if isinstance(row, SeveralRow))
    days.boxes[1].click()
    box = form.rows["window"].findChild(QComboBox)
    assert box is not None
    assert [box.itemText(index) for index in range(box.count())] == [NOTHING, "yes", "no"]
    box.activated.emit(2)
    assert form.value == {"name": " Ada ", "guests": 3, "colour": "green", "days": ["tue"], "window": False}
    assert form.missing == []
    box.activated.emit(0)
    days.boxes[1].click()
    assert form.value == {"name": " Ada ", "guests": 3, "colour": "green"}


def test_list_of_texts_is_filled_in_text_by_text(qtbot: QtBot) -> None:
    form = one_field({"type": "array", "items": {"type": "string"}})
    qtbot.addWidget(form)
    for text in ("END", "a, b"):
        type_into(form, "a", text)
        QTest.keyClick(line(form, "a"), Qt.Key.Key_Return)
    assert form.value == {"a": ["END", "a, b"]}


def test_values_that_are_set_are_shown_and_not_reported(form: SchemaForm) -> None:
    changes: list[bool] = []
    form.changed.connect(lambda: changes.append(True))
    value: JSONObject = {"name": "Bo", "guests": 2, "colour": "red", "days": ["mon"], "more": {"a": [1]}}
    form.set_value(value)
    assert form.value == value
    assert line(form, "guests").text() == "2"
    assert changes == []


@each_case(
    "schema, text",
    [
        ({"type": "integer"}, "1.5"),
        ({"type": "integer"}, "x"),
        ({"type": "integer"}, "9" * 5_000),
        ({"type": "integer", "minimum": 1, "maximum": 12}, "20"),
        ({"type": "number"}, "true"),
        ({"type": "number"}, "NaN"),
        ({"type": "string", "format": "email"}, "@b"),
        ({"type": "string", "format": "uri"}, "https:// x"),
        ({"type": "string", "format": "date"}, "23.11.2026"),
        ({"type": "string", "format": "date-time"}, "2026-11-23"),
    ],
)
def test_text_that_does_not_fit_its_field_is_named_and_not_a_value(qtbot: QtBot, schema: JSON, text: str) -> None:
    form = one_field(schema)
    qtbot.addWidget(form)
    line(form, "a").setText(text)
    line(form, "a").textEdited.emit(text)
    assert form.value is None
    assert form.rows["a"].flag_label.text()
    assert not form.is_valid


@each_case(
    "name, text",
    [
        ("email", "a@b.test"),
        ("uri", "mailto:a@b"),
        ("date", "2026-11-23"),
        ("date-time", "2026-11-23T03:00:00Z"),
        ("unknown", "x"),
    ],
)
def test_text_of_a_format_is_taken(qtbot: QtBot, name: str, text: str) -> None:
    form = one_field({"type": "string", "format": name})
    qtbot.addWidget(form)
    type_into(form, "a", text)
    assert form.value == {"a": text}


def test_missing_fields_are_shown_after_an_attempt_and_marked_from_the_start(form: SchemaForm) -> None:
    row = form.rows["name"]
    assert row.label.text() == "Your name *"
    assert row.flag_label.text() == "As on the ticket"
    assert line(form, "Your name").accessibleDescription() == "Required.\nAs on the ticket"
    form.show_missing()
    assert row.flag_label.text() == "Required."
    type_into(form, "Your name", "Ada")
    assert row.flag_label.text() == "As on the ticket"


def test_values_are_checked_against_the_schema(qtbot: QtBot) -> None:
    form = one_field({"type": "string", "maxLength": 3})
    qtbot.addWidget(form)
    type_into(form, "a", "four")
    qtbot.waitUntil(lambda: form.is_checked)
    assert not form.is_valid
    assert "3" in form.rows["a"].flag_label.text()


def test_required_field_that_may_be_null_is_null_while_it_is_empty(qtbot: QtBot) -> None:
    form = one_field({"anyOf": [{"type": "string"}, {"type": "null"}]}, ("a",))
    qtbot.addWidget(form)
    assert form.value == {"a": None}
    assert form.missing == []


def test_schema_that_is_no_form_is_one_field_for_json(qtbot: QtBot) -> None:
    form = SchemaForm({"properties": {str(number): {} for number in range(101)}})
    qtbot.addWidget(form)
    assert list(form.rows) == [""]
    assert form.value is None
    form.set_value({"7": [1]})
    assert form.value == {"7": [1]}


def test_rows_of_another_schema_are_visible_at_once(form: SchemaForm) -> None:
    form.set_schema({"properties": {"city": {"type": "string"}}, "required": ["city"]})
    assert [field.accessibleName() for field in form.findChildren(QLineEdit) if field.isVisible()] == ["city"]


def test_renewed_schema_keeps_values_and_focus(form: SchemaForm) -> None:
    form.activateWindow()
    field = line(form, "Your name")
    field.setFocus()
    type_into(form, "Your name", "Ada")
    members = {**BOOKING["properties"], "tone": {"type": "string"}}
    members["guests"] = {"type": "integer", "minimum": 2}
    form.set_value({**(form.value or {}), "guests": 3})
    form.set_schema({**BOOKING, "properties": members}, keep=True)
    assert line(form, "Your name") is field
    assert form.focusWidget() is field
    assert form.value == {"name": "Ada", "guests": 3, "colour": "green"}
    assert "tone" in form.rows
    form.set_schema(BOOKING)
    assert form.value == {"colour": "green"}


def test_proposals_are_offered_for_the_text_they_were_asked_for(form: SchemaForm, qtbot: QtBot) -> None:
    with qtbot.waitSignal(form.typed) as request:
        type_into(form, "Your name", "Ad")
    assert request.args == ["name", "Ad"]
    form.propose("name", "A", ["Anna"])
    form.propose("name", "Ad", ["Ada", "Adam"])
    row = form.rows["name"]
    assert isinstance(row, LineRow)
    model, role = row.field.completer().model(), row.field.completer().completionRole()
    assert [model.index(number, 0).data(role) for number in range(model.rowCount())] == ["Ada", "Adam"]


def test_enter_in_a_line_submits(form: SchemaForm, qtbot: QtBot) -> None:
    with qtbot.waitSignal(form.submitted):
        QTest.keyClick(line(form, "Your name"), Qt.Key.Key_Return)


def test_text_of_a_server_is_shown_literally(show_widget: ShowWidget) -> None:
    schema: JSONObject = {"type": "string", "title": "<b>R&D</b>\u202e", "description": "<i>x</i>\u202e" * 200}
    form = show_widget(SchemaForm({"properties": {"a": schema}}), 400, 300)
    row = form.rows["a"]
    assert row.label.textFormat() is Qt.TextFormat.PlainText
    assert row.label.text() == "<b>R&&D</b>‹U+202E›"
    assert "\u202e" not in row.flag_label.text()
    assert len(row.flag_label.text()) < 10_000


def test_every_control_has_a_name(form: SchemaForm) -> None:
    for kind in (QLineEdit, QComboBox):
        assert all(control.accessibleName() for control in form.findChildren(kind))
    assert all(button.text() or button.accessibleName() for button in form.findChildren(QAbstractButton))
