"""The tools panel: invalid text, problems, deletion and order."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from playground.domain.tools import ToolDefinition
from playground.jsonkit.reading import READ_AT_MOST
from playground.ui.features.tools.panel import ToolsPanel
from playground.ui.features.tools.samples import SAMPLE
from playground.ui.features.tools.tool_editor import FORM, TEXT
from playground.ui.features.tools.tool_list import switch_rect
from tests.support.each_case import each_case
from tests.ui.conftest import ShowWidget

SEARCH = ToolDefinition(name="search", description="Finds things.", parameters={"type": "object", "properties": {}})


@pytest.fixture
def panel(show_widget: ShowWidget) -> ToolsPanel:
    panel = ToolsPanel()
    panel.set_tools((SAMPLE, SEARCH))
    panel.editor.show_view(TEXT)
    return show_widget(panel, 330, 760)


def read_problems(panel: ToolsPanel) -> list[str]:
    return [line.text.text() for line in panel.editor.problem_list.lines]


def test_invalid_json_is_kept_marked_and_not_sent(qtbot: QtBot, panel: ToolsPanel) -> None:
    editor = panel.editor.schema
    typed = '{\n  "type": "object",\n  "properties": {,}\n}'
    editor.selectAll()
    editor.insertPlainText(typed)
    tool = panel.tools[0]
    assert tool.source == typed
    assert not tool.sendable
    assert tool.parameters is not None
    assert sum(tool.sendable for tool in panel.tools) == 1
    qtbot.waitUntil(lambda: bool(read_problems(panel)))
    assert read_problems(panel)[0].startswith("line 3, column 18")
    assert "not sent" in read_problems(panel)[0]
    assert [(m.line, m.column) for m in editor.marks] == [(3, 18)]
    assert panel.model.state(0) == "not sent: not a JSON object yet"
    panel.select(1)
    panel.select(0)
    assert editor.text() == typed
    panel.set_tools(panel.tools)
    assert editor.text() == typed
    editor.setPlainText('{"type": "object"}')
    assert panel.tools[0].source is None
    assert panel.tools[0].parameters == {"type": "object"}
    panel.check_now()
    assert read_problems(panel) == []
    assert not editor.marks


def test_pasted_megabytes_are_kept_folded_and_not_read(panel: ToolsPanel) -> None:
    editor = panel.editor.schema
    text = json.dumps({"type": "object", "description": "x" * READ_AT_MOST})
    editor.selectAll()
    data = QMimeData()
    data.setText(text)
    editor.insertFromMimeData(data)
    assert editor.folds
    assert panel.tools[0].source == text
    assert panel.tools[0].parameters == SAMPLE.parameters
    panel.check_now()
    assert read_problems(panel)[0].endswith("more than 2 MB, which is not read; this tool is not sent")
    panel.editor.show_view(FORM)
    assert "more than 2 MB" in panel.editor.form.note.text()
    editor.undo()
    assert panel.tools[0] == SAMPLE


def test_wrong_schema_is_marked_where_a_click_leads(panel: ToolsPanel) -> None:
    wrong = '{\n  "type": "object",\n  "properties": {"a": {"type": "strng", "title": "A"}}\n}'
    panel.editor.schema.setPlainText(wrong)
    panel.check_now()
    assert panel.tools[0].sendable, "we don't judge for the server"
    assert [(m.line, m.column) for m in panel.editor.schema.marks][:1] == [(3, 32)]
    assert read_problems(panel)[0].startswith("properties.a.type:")
    QTest.mouseClick(panel.editor.problem_list.lines[0], Qt.MouseButton.LeftButton)
    cursor = panel.editor.schema.textCursor()
    assert (cursor.blockNumber() + 1, cursor.positionInBlock() + 1) == (3, 32)


def test_wrong_and_repeated_names_are_flagged(panel: ToolsPanel) -> None:
    panel.select(1)
    panel.editor.name.selectAll()
    QTest.keyClicks(panel.editor.name, "get_weather")
    panel.check_now()
    assert any("also used by tool 1" in text for text in read_problems(panel))
    assert panel.editor.name.property("bad") == "true"
    assert panel.model.severity(1) == "error"
    QTest.keyClicks(panel.editor.name, " 2")
    panel.check_now()
    assert any("letters, digits" in text for text in read_problems(panel))
    QTest.keyClick(panel.editor.problem_list.lines[0], Qt.Key.Key_Return)
    assert panel.focusWidget() is panel.editor.name


def test_tool_is_switched_by_space_and_click(panel: ToolsPanel) -> None:
    QTest.keyClick(panel.list, Qt.Key.Key_Space)
    assert [tool.enabled for tool in panel.tools] == [False, True]
    assert sum(tool.sendable for tool in panel.tools) == 1
    assert panel.model.state(0) == "off, not sent"
    second = switch_rect(panel.list.visualRect(panel.model.index(1)))
    QTest.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=second.center())
    assert [tool.enabled for tool in panel.tools] == [False, False]


def test_strict_is_sent_only_when_set(panel: ToolsPanel) -> None:
    assert panel.editor.strict.text() == "default"
    QTest.mouseClick(panel.editor.strict, Qt.MouseButton.LeftButton)
    assert panel.tools[0].strict is True
    QTest.keyClick(panel.editor.strict, Qt.Key.Key_Delete)
    assert panel.tools[0].strict is None


@each_case(
    "pasted",
    [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}},
        {"name": "f", "description": "d", "input_schema": {"type": "object"}},
    ],
)
def test_whole_definition_pasted_is_split_on_request(panel: ToolsPanel, pasted: dict[str, object]) -> None:
    panel.set_tools((SAMPLE,))
    assert not panel.editor.take_button.isVisible()
    panel.editor.schema.setPlainText(json.dumps(pasted))
    QTest.mouseClick(panel.editor.take_button, Qt.MouseButton.LeftButton)
    tool = panel.tools[0]
    assert (tool.name, tool.description, tool.parameters) == ("f", "d", {"type": "object"})
    assert panel.editor.name.text() == "f"
    assert not panel.editor.take_button.isVisible()


def test_hidden_characters_in_a_schema_are_escapes(panel: ToolsPanel) -> None:
    panel.set_tools((SAMPLE.model_copy(update={"parameters": {"type": "object", "title": "a\u202eb"}}),))
    assert "a\\u202eb" in panel.editor.schema.text()
