"""The form and the text of a schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from playground.domain.tools import ToolDefinition
from playground.jsonkit.values import Path
from playground.ui.features.tools.field_block import FieldBlock
from playground.ui.features.tools.panel import ToolsPanel
from playground.ui.features.tools.schema_editor import PAGE, SchemaEditor
from playground.ui.features.tools.slot_fields import KeywordJsonRow, ValuesRow
from playground.ui.features.tools.tool_editor import FORM, TEXT, ToolEditor
from playground.ui.features.tools.tool_text import read_schema
from playground.ui.widgets.rows.kinds import LinesRow, NumberRow
from tests.ui.conftest import ShowWidget

SCHEMA = """{ "type":"object",
   "properties": {
      "city" : {"type":"string", "description":"A city 🌍", "x-kept": [1.0, 1e2]},
      "unit" : {"type":"string","enum":["c","f"]},
      "days": {"type": "array", "items": {"type": "object", "properties": {"at": {"type": "string"}}}},
      "who": {"$ref": "#/$defs/Person"},
      "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}
   },
   "required":["city"], "additionalProperties": false,
   "$defs": {"Person": {"type": "object", "properties": {"name": {"type": "string"}}}}
}"""
CITY, UNIT, WHO = ("properties", "city"), ("properties", "unit"), ("properties", "who")
PERSON = ("$defs", "Person")


@pytest.fixture
def panel(show_widget: ShowWidget) -> ToolsPanel:
    panel = ToolsPanel()
    panel.set_tools((ToolDefinition(name="f", description="d", **read_schema(SCHEMA)),))
    return show_widget(panel, 340, 1400)


@pytest.fixture
def editor(panel: ToolsPanel) -> ToolEditor:
    assert panel.editor.view == FORM
    return panel.editor


@pytest.fixture
def form(editor: ToolEditor) -> SchemaEditor:
    return editor.form


def open_field(form: SchemaEditor, path: tuple[str | int, ...]) -> FieldBlock:
    form.open_field(path)
    assert form.block is not None
    return form.block


def names(form: SchemaEditor) -> list[str]:
    return [row.field.name for row in form.rows if row.level == 0 and row.field.role == "property"]


def test_required_type_null_and_values(editor: ToolEditor, form: SchemaEditor) -> None:
    def value() -> Any:
        return json.loads(editor.schema.text())

    block = open_field(form, UNIT)
    QTest.mouseClick(block.required, Qt.MouseButton.LeftButton)
    assert value()["required"] == ["city", "unit"]
    choices = block.controls["enum"]
    assert isinstance(choices, ValuesRow)
    choices.field.setFocus()
    QTest.keyClicks(choices.field, "kelvin, or so")
    QTest.keyClick(choices.field, Qt.Key.Key_Return)
    assert value()["properties"]["unit"]["enum"] == ["c", "f", "kelvin, or so"]
    choices.chips[0].close_button.click()
    assert value()["properties"]["unit"]["enum"] == ["f", "kelvin, or so"]
    block.nullable.click()
    assert "null" in value()["properties"]["unit"]["type"]
    block.nullable.click()
    assert value()["properties"]["unit"]["type"] == "string"
    block.type.setCurrentText("integer")
    block.type.activated.emit(block.type.currentIndex())
    assert value()["properties"]["unit"]["type"] == "integer"
    form.row_at(UNIT)
    for _ in range(5):
        form.undo_asked.emit()
    assert value()["properties"]["unit"] == {"type": "string", "enum": ["c", "f"]}


def test_unsupported_keyword_leads_to_the_json(editor: ToolEditor, form: SchemaEditor) -> None:
    block = open_field(form, CITY)
    assert block.rest.text() == "x-kept"
    QTest.mouseClick(block.rest, Qt.MouseButton.LeftButton)
    assert editor.view == TEXT
    assert editor.schema.textCursor().block().text().lstrip().startswith('"city"')


def test_add_rename_move_and_remove(panel: ToolsPanel, editor: ToolEditor, form: SchemaEditor) -> None:
    QTest.mouseClick(form.add_button, Qt.MouseButton.LeftButton)
    assert names(form)[-1] == "new_parameter"
    assert form.block is not None
    assert form.block.name.selectedText() == "new_parameter"
    QTest.keyClicks(form.block.name, "when")
    assert "when" not in editor.schema.text(), "a name is taken when it is whole"
    QTest.keyClick(form.block.name, Qt.Key.Key_Return)
    assert names(form)[-1] == "when"
    assert form.block is not None
    assert form.block.field.name == "when"
    row = form.row_at(CITY)
    assert row is not None
    row.setFocus()
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(row, Qt.Key.Key_Down, both)
    assert names(form)[:2] == ["unit", "city"]
    row = form.row_at(CITY)
    assert row is not None
    assert row.window().focusWidget() is row
    QTest.keyClick(row, Qt.Key.Key_Delete)
    assert "city" not in names(form)
    assert "required" not in json.loads(editor.schema.text())
    assert panel.tools[0].parameters == json.loads(editor.schema.text())


def test_taken_name_is_refused(editor: ToolEditor, form: SchemaEditor) -> None:
    block = open_field(form, CITY)
    block.name.selectAll()
    QTest.keyClicks(block.name, "unit")
    QTest.keyClick(block.name, Qt.Key.Key_Return)
    assert editor.schema.text() == SCHEMA
    assert form.note.isVisible()
    assert form.note.text()


def test_reference_follows_its_renamed_definition(editor: ToolEditor, form: SchemaEditor) -> None:
    block = open_field(form, WHO)
    QTest.mouseClick(block.target, Qt.MouseButton.LeftButton)
    assert form.block is not None
    assert form.block.field.path == PERSON
    form.block.name.selectAll()
    QTest.keyClicks(form.block.name, "Human")
    QTest.keyClick(form.block.name, Qt.Key.Key_Return)
    assert editor.schema.text() == SCHEMA.replace("Person", "Human")


def test_form_is_disabled_while_the_json_is_broken(editor: ToolEditor, form: SchemaEditor) -> None:
    editor.show_view(TEXT)
    editor.schema.setPlainText(SCHEMA + "}")
    editor.show_view(FORM)
    assert form.note.isVisible()
    assert "line 11, column 2" in form.note.text()
    assert not form.rows[0].isEnabled()
    assert not form.add_button.isEnabled()
    editor.schema.setPlainText(SCHEMA)
    assert not form.note.isVisible()
    assert form.rows[0].isEnabled()
    assert names(form) == ["city", "unit", "days", "who", "note"]


def test_large_window_and_panel_stay_equal(panel: ToolsPanel) -> None:
    large = panel.open_large()
    assert large.editor.form.isVisible()
    assert large.editor.schema.isVisible()
    control = open_field(large.editor.form, CITY).controls["description"]
    assert isinstance(control, LinesRow)
    QTest.keyClicks(control.field, "In ")
    assert panel.editor.schema.text() == large.editor.schema.text() == SCHEMA.replace("A city", "In A city")
    large.editor.schema.setPlainText('{"type": "object", "properties": {"a": {}}}')
    assert names(large.editor.form) == names(panel.editor.form) == ["a"]
    large.accept()
    assert panel.tools[0].parameters == {"type": "object", "properties": {"a": {}}}


def test_form_of_very_many_fields_shows_a_page_of_them(panel: ToolsPanel, form: SchemaEditor) -> None:
    names = [f"p{number}" for number in range(1_000)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    panel.set_tools((ToolDefinition(name="many", description="Many.", parameters=schema),))
    paths: list[Path] = [(), *(("properties", name) for name in names)]
    assert [row.field.path for row in form.rows] == paths[:PAGE]
    form.pages.asked.emit("last")
    assert form.rows[-1].field.path == paths[-1]
    form.go_to(("properties", "p250"))
    assert form.row_at(("properties", "p250")) is not None
    form.add_parameter(())
    assert form.rows[-1].field.path == ("properties", "new_parameter")
    assert len(form.rows) <= PAGE


def test_added_keyword_is_written_once_it_has_a_value(editor: ToolEditor, form: SchemaEditor) -> None:
    block = open_field(form, CITY)
    block.add_detail("minLength")
    control = block.controls["minLength"]
    assert isinstance(control, NumberRow)
    assert editor.schema.text() == SCHEMA
    QTest.keyClicks(control.field, "3x")
    assert json.loads(editor.schema.text())["properties"]["city"]["minLength"] == 3
    assert control.problem == "not a whole number"


def test_keywords_are_set_and_removed_in_rows_of_their_kind(editor: ToolEditor, form: SchemaEditor) -> None:
    def city() -> Any:
        return json.loads(editor.schema.text())["properties"]["city"]

    editor.schema.setPlainText('{"type": "object", "properties": {"city": {"type": "integer", "title": "a\\nb"}}}')
    block = open_field(form, CITY)
    assert block.controls["title"].hint.editor == "json", "a line cannot hold a line break"
    block.add_detail("default")
    default = block.controls["default"].main_field()
    QTest.keyClicks(default, "3")
    assert city()["default"] == 3
    QTest.keyClick(default, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(default, Qt.Key.Key_Delete)
    assert "default" not in city()
    block.add_detail("enum")
    values = block.controls["enum"]
    assert isinstance(values, ValuesRow)
    for text in ("x", "4", "4"):
        values.field.setText(text)
        QTest.keyClick(values.field, Qt.Key.Key_Return)
        values.field.setText("")
    assert city()["enum"] == [4]


def test_null_is_a_value_of_a_keyword(editor: ToolEditor, form: SchemaEditor) -> None:
    editor.schema.setPlainText('{"type": "object", "properties": {"city": {"const": 1}}}')
    row = open_field(form, CITY).controls["const"]
    assert isinstance(row, KeywordJsonRow)
    row.editor.selectAll()
    QTest.keyClicks(row.editor, "null")
    assert json.loads(editor.schema.text())["properties"]["city"] == {"const": None}
    row.editor.selectAll()
    QTest.keyClick(row.editor, Qt.Key.Key_Delete)
    assert json.loads(editor.schema.text())["properties"]["city"] == {}
