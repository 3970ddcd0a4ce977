"""The dialog of a sweep, used as a person does."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QMainWindow
from pytestqt.qtbot import QtBot

from playground.engine.session.settings import ExperimentSettings
from playground.ui.features.evaluate.panels.sweep_dialog import SweepDialog


def open_dialog(main: QMainWindow, qtbot: QtBot, existing: int = 0) -> tuple[SweepDialog, list[tuple[Any, ...]]]:
    dialog = SweepDialog(ExperimentSettings(), existing, False, main)
    submitted: list[tuple[Any, ...]] = []
    dialog.submitted.connect(lambda *values: submitted.append(values))
    dialog.open()
    qtbot.waitUntil(dialog.isVisible)
    return dialog, submitted


def choose(dialog: SweepDialog, row: str, text: str) -> None:
    box = dialog.form.rows[row].main_field()
    assert isinstance(box, QComboBox)
    box.setFocus()
    box.setCurrentIndex(box.findText(text))
    box.activated.emit(box.currentIndex())


def type_into(dialog: SweepDialog, row: str, text: str) -> None:
    field = dialog.form.line(row)
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)


def test_chosen_parameter_gets_its_own_range_and_keeps_an_edited_one(main: QMainWindow, qtbot: QtBot) -> None:
    dialog, submitted = open_dialog(main, qtbot)
    assert dialog.form.line("first.high").text() == "2"
    assert dialog.form.rows["replaces"].isHidden(), "there is nothing to replace"
    assert dialog.form.rows["second.low"].isHidden()
    type_into(dialog, "first.step", "1")
    choose(dialog, "second.parameter", "Top P")
    assert (dialog.form.line("first.step").text(), dialog.form.line("second.step").text()) == ("1", "0.25")
    assert dialog.add.text() == "Add 15 variants"
    choose(dialog, "second.parameter", "none")
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    ((variants, replaces, includes_current),) = submitted
    assert [variant.name for variant in variants] == ["temperature 0", "temperature 1", "temperature 2"]
    assert (replaces, includes_current) == (False, False)


def test_invalid_input_disables_adding_and_names_its_problem(main: QMainWindow, qtbot: QtBot) -> None:
    dialog, _ = open_dialog(main, qtbot, existing=2)
    type_into(dialog, "first.step", "nothing")
    assert "Step: not a number" in dialog.says.text()
    assert not dialog.add.isEnabled()
    choose(dialog, "first.parameter", "Max output tokens")
    type_into(dialog, "first.low", "1.5")
    assert dialog.says.text() == "Max output tokens takes whole numbers."
    choose(dialog, "first.parameter", "Temperature")
    assert dialog.add.isEnabled()
    dialog.reject()
