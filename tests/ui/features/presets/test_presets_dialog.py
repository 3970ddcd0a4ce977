"""Descriptions of presets, the dialog that saves them and their menu."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMainWindow
from pytestqt.qtbot import QtBot

from playground.domain.tools import ToolDefinition
from playground.engine.files.presets import Preset
from playground.ui.features.presets.preset_words import rows, summary
from playground.ui.features.presets.presets_dialog import PresetsDialog
from playground.ui.features.presets.save_dialog import SavePresetDialog

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


def test_preset_is_described() -> None:
    found = {heading: (value, below) for heading, value, below in rows(FULL)}
    assert list(found) == ["Protocol", "Model", "System turn", "Parameters", "Output format", "Tools"]
    assert found["Protocol"] == ("Chat completions", [])
    assert found["System turn"] == ("Be brief.", [])
    assert ("Temperature", "0.5") in found["Parameters"][1]
    assert ("Stream", "on") in found["Parameters"][1]
    assert ("odd_one", "[1]") in found["Parameters"][1]
    assert found["Output format"][1] == [("Response format", '{"type": "json_object"}')]
    assert found["Tools"] == ("2", [("look", "Looks."), ("without a name", "no description")])
    assert "Tools: look, without a name" in summary(FULL)


def test_taken_name_offers_to_replace(main: QMainWindow) -> None:
    made = Preset(id="new", name="", system="Now.")
    known = {"Full": FULL}
    dialog = SavePresetDialog(
        lambda name, model: made.model_copy(update={"name": name, "model": "m" if model else ""}),
        known.get,
        "demo-chat",
        main,
    )
    emitted: list[Preset] = []
    dialog.saved.connect(emitted.append)
    dialog.open()
    assert not dialog.save_button.isEnabled()
    dialog.name.setText(" Mine ")
    assert (dialog.save_button.text(), dialog.taken.isVisible()) == ("Save", False)
    dialog.name.setText("Full")
    dialog.with_model.setChecked(True)
    assert (dialog.save_button.text(), dialog.taken.isVisible()) == ("Replace", True)
    assert dialog.contents.topLevelItem(0).text(0) == "Model"  # type: ignore[union-attr] # it was just shown
    dialog.save_button.click()
    assert [(one.id, one.name, one.model) for one in emitted] == [("1", "Full", "m")]


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
