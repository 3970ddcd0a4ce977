"""Keys of fields of several lines, in a dialog and where they submit themselves."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QPushButton, QVBoxLayout
from pytestqt.qtbot import QtBot

from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.growing_field import GrowingField

CONTROL = Qt.KeyboardModifier.ControlModifier


def open_dialog(qtbot: QtBot, field: QPlainTextEdit) -> QDialog:
    dialog, button = QDialog(), QPushButton("Save")
    qtbot.addWidget(dialog)
    button.setDefault(True)
    button.clicked.connect(dialog.accept)
    column = QVBoxLayout(dialog)
    column.addWidget(field)
    column.addWidget(button)
    dialog.show()
    return dialog


@pytest.mark.parametrize("kind", [GrowingField, CodeEditor])
def test_keys_of_a_field_without_actions_are_those_of_its_dialog(qtbot: QtBot, kind: type[QPlainTextEdit]) -> None:
    field = kind()
    dialog = open_dialog(qtbot, field)
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert (field.toPlainText(), dialog.isVisible()) == ("\n", True), "Enter makes a new line"
    QTest.keyClick(field, Qt.Key.Key_Return, CONTROL)
    assert (dialog.isVisible(), dialog.result()) == (False, int(QDialog.DialogCode.Accepted))
    dialog = open_dialog(qtbot, field := kind())
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert (dialog.isVisible(), dialog.result()) == (False, int(QDialog.DialogCode.Rejected))


def test_field_with_actions_takes_its_keys(qtbot: QtBot) -> None:
    field, signals = GrowingField(), []
    dialog = open_dialog(qtbot, field)
    field.submitted.connect(lambda: signals.append("submitted"))
    field.cancelled.connect(lambda: signals.append("cancelled"))
    QTest.keyClick(field, Qt.Key.Key_Return, CONTROL)
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert (signals, dialog.isVisible()) == (["submitted", "cancelled"], True)
