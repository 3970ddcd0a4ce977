"""Descriptions of presets, the dialog that saves them and their menu."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMainWindow
from pytestqt.qtbot import QtBot

from playground.domain.tools import ToolDefinition
from playground.engine.files.presets import Preset
from playground.ui.features.presets.dialogs import PresetsDialog

FORMAT = {"type": "json_object"}
FULL = Preset(
    id="1",
    name="Full",
    switches=True,
    model="demo-chat",
    system="Be\nbrief.",
    tools=(ToolDefinition(name="look", description="Looks."), ToolDefinition(name="", description="")),
    parameters={"temperature": 0.5, "stream": True, "response_format": FORMAT, "odd_one": [1]},
)
BARE = Preset(id="2", name="Bare & bold", system="", tools=(), parameters={})


def test_presets_are_renamed_moved_and_deleted_with_keys(main: QMainWindow, qtbot: QtBot) -> None:
    dialog = PresetsDialog(main)
    dialog.show_presets((FULL, BARE))
    dialog.open()
    emitted: list[object] = []
    for signal in (dialog.renamed, dialog.moved):
        signal.connect(lambda *values: emitted.append(values))
    dialog.deleted.connect(emitted.append)
    QTest.keyClick(dialog.list, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(dialog.list, Qt.Key.Key_Delete)
    QTest.keyClick(dialog.list, Qt.Key.Key_F2)
    field = dialog.list.findChild(QLineEdit)
    assert field is not None
    field.setText("Other ")
    QTest.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: emitted == [("1", 1), "1", ("1", "Other")])
    dialog.close()
