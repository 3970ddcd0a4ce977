"""The import of tool definitions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from playground.domain.tools import ToolDefinition
from playground.ui.features.tools.import_dialog import ImportToolsDialog
from playground.ui.features.tools.panel import ToolsPanel
from playground.ui.features.tools.samples import SAMPLE
from tests.ui.conftest import ShowWidget

MESSAGES = {"name": "send_mail", "description": "M", "input_schema": {"type": "object", "properties": {}}}
PYTHON = '''
raise SystemExit("this was run")

def find_train(start: str, to: str = "Porto") -> str:
    """Find a train.

    Args:
        start: Where from.
    """
'''
OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "Trains", "version": "1"},
    "paths": {
        "/trains": {"get": {"operationId": "listTrains", "summary": "All trains"}},
        "/trains/{id}": {
            "get": {
                "operationId": "getTrain",
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
            }
        },
    },
}


@pytest.fixture
def panel(show_widget: ShowWidget) -> ToolsPanel:
    panel = ToolsPanel()
    panel.set_tools((SAMPLE,))
    return show_widget(panel, 900, 760)


@pytest.fixture
def dialog(panel: ToolsPanel) -> Iterator[ImportToolsDialog]:
    dialog = panel.import_tools()
    emitted: list[object] = []
    dialog.finished.connect(emitted.append)
    yield dialog
    if not emitted:
        dialog.reject()


def names(tools: tuple[ToolDefinition, ...]) -> list[str]:
    return [tool.name for tool in tools]


def test_only_selected_tools_are_imported_into_a_group(panel: ToolsPanel, dialog: ImportToolsDialog) -> None:
    dialog.set_text(json.dumps(OPENAPI))
    assert "OpenAPI" in dialog.verdict.text()
    assert len(dialog.preview.lines) == 2
    QTest.mouseClick(dialog.all_button, Qt.MouseButton.LeftButton)
    assert not dialog.add_button.isEnabled()
    dialog.preview.setCurrentItem(dialog.preview.lines[1])
    assert '"id"' in dialog.schema.text()
    QTest.keyClick(dialog.preview, Qt.Key.Key_Space)
    assert dialog.preview.checked == (1,)
    QTest.keyClicks(dialog.group, "Trains")
    QTest.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    assert [(tool.name, tool.group) for tool in panel.tools[1:]] == [("getTrain", "Trains")]
    assert panel.editor.name.text() == "getTrain"


def test_python_is_read_and_never_run(panel: ToolsPanel, dialog: ImportToolsDialog) -> None:
    dialog.text.insertPlainText(PYTHON)
    dialog.read_now()
    assert dialog.verdict.text().startswith("Understood as Python: 1 tool")
    assert "Where from." in dialog.schema.text()
    QTest.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    assert panel.tools[1].name == "find_train"
    assert panel.tools[1].parameters is not None
    assert panel.tools[1].parameters["required"] == ["start"]


def test_dropped_file_is_read(dialog: ImportToolsDialog, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(MESSAGES), encoding="utf-8")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    keys, buttons = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    drop = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, buttons, keys)
    dialog.dropEvent(drop)
    assert dialog.content is not None
    assert names(dialog.content.tools) == ["send_mail"]
    dialog.set_text("")
    assert not dialog.add_button.isEnabled()
    assert dialog.text.canInsertFromMimeData(data)
    dialog.text.insertFromMimeData(data)
    assert [line.text(0) for line in dialog.preview.lines] == ["send_mail"]
    (tmp_path / "image.png").write_bytes(b"\x89PNG\xff\xfe")
    dialog.open_file(tmp_path / "image.png")
    assert "image.png cannot be read. The file is not UTF-8 text (line 1)" in dialog.message.text()
    dialog.open_file(tmp_path / "gone.json")
    assert "gone.json cannot be read: No such file" in dialog.message.text()
    assert dialog.preview.checked == (0,), "a file that cannot be read changes nothing"


def test_sample_arguments_are_copied(panel: ToolsPanel) -> None:
    QTest.mouseClick(panel.editor.sample_button, Qt.MouseButton.LeftButton)
    dialog = next(w for w in QApplication.topLevelWidgets() if w.windowTitle() == "Arguments: get_weather")
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert json.loads(QGuiApplication.clipboard().text())["city"]
