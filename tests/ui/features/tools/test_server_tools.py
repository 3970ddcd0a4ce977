"""Tools of servers in the panel."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from playground.domain.tool_servers import Hints, ServerTool, ToolServer
from playground.domain.tools import ToolDefinition
from playground.engine.tool_servers.tools import by_name, definition_of
from playground.ui.features.tools.panel import ToolsPanel
from playground.ui.features.tools.standings import Seen, Standings
from playground.ui.features.tools.tool_editor import TEXT
from tests.ui.conftest import ShowWidget

FILES = ToolServer(id="f", name="files")
SCHEMA = {"type": "object", "properties": {"path": {"type": "string", "description": "Which"}}}
READ = ServerTool(name="read", description="Reads a file.", parameters=SCHEMA, hints=Hints(read_only=True))
WRITE = ServerTool(name="write.file", description="Writes.", parameters=SCHEMA, hints=Hints(destructive=True))
OWN = ToolDefinition(name="mine", description="Mine.", parameters=SCHEMA)
TOOLS = (OWN, definition_of(FILES, READ, "read"), definition_of(FILES, WRITE, "write_file"))


@pytest.fixture
def panel(show_widget: ShowWidget) -> ToolsPanel:
    panel = ToolsPanel()
    panel.set_tools(TOOLS)
    return show_widget(panel, 340, 900)


def know(panel: ToolsPanel, *listed: ServerTool, state: str = "ready", accepted: tuple[ServerTool, ...] = ()) -> None:
    """Tell the panel of the server, which was accepted as it is in this file."""
    standings = Standings()
    standings.put([Seen("files", "f", state, listed=by_name(listed), accepted=by_name(accepted or (READ, WRITE)))])
    standings.sweep(panel.tools)
    panel.show_standings(standings)


def test_definition_of_a_server_is_read_only(panel: ToolsPanel) -> None:
    know(panel, READ, WRITE)
    emitted: list[object] = []
    panel.changed.connect(emitted.append)
    panel.select(2)
    editor = panel.editor
    assert editor.origin.isVisibleTo(panel)
    assert "“write.file” is sent as write_file" in editor.origin.mapped.text()
    assert "destructive" in editor.origin.says.text()
    assert not editor.form.add_button.isVisibleTo(panel)
    QTest.keyClicks(editor.name, "x")
    QTest.keyClicks(editor.description, "x")
    editor.form.add_parameter(())
    editor.form.open_field(("properties", "path"))
    assert editor.form.block is not None
    assert not editor.form.block.isEnabled()
    row = editor.form.row_at(("properties", "path"))
    assert row is not None
    QTest.keyClick(row, Qt.Key.Key_Delete)
    editor.show_view(TEXT)
    QTest.keyClicks(editor.schema, "x")
    assert emitted == []
    assert editor.result_rule.isEnabled()
    panel.select(0)
    assert not editor.origin.isVisibleTo(panel)
    QTest.keyClicks(editor.name, "x")
    assert panel.tools[0].name == "minex"


def test_copy_of_a_server_tool_is_editable(panel: ToolsPanel) -> None:
    know(panel, READ, WRITE)
    panel.select(1)
    QTest.mouseClick(panel.editor.origin.copy_button, Qt.MouseButton.LeftButton)
    copy = panel.tools[panel.selected]
    assert (copy.name, copy.server, copy.hints, copy.enabled) == ("read_copy", "", None, True)
    assert not next(tool for tool in panel.tools if tool.name == "read").enabled
    assert not panel.editor.name.isReadOnly()


def test_hidden_characters_of_a_server_are_marks(panel: ToolsPanel) -> None:
    odd = ToolServer(id="o", name="od\u202ed<b>x</b>")
    panel.set_tools((definition_of(odd, ServerTool(name="\u202ename"), "name"),))
    panel.select(0)
    card = panel.editor.origin
    assert "\u202e" not in card.origin.text + card.mapped.text()
    tip = str(panel.model.data(panel.model.index_of(0), Qt.ItemDataRole.ToolTipRole))
    assert "\u202e" not in tip
