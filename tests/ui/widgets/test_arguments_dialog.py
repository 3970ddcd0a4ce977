"""The dialog that fills in arguments of a tool."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from playground.jsonkit.values import JSONObject
from playground.ui.widgets.arguments_dialog import ArgumentsDialog

WEATHER: JSONObject = {
    "type": "object",
    "properties": {"city": {"type": "string", "minLength": 2}, "unit": {"enum": ["celsius", "fahrenheit"]}},
    "required": ["city", "unit"],
}


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    window.resize(900, 700)
    qtbot.addWidget(window)
    return window


def test_dialog_begins_with_a_valid_sample_that_is_copied(window: QWidget, qtbot: QtBot) -> None:
    dialog = ArgumentsDialog("get_weather", WEATHER, window, copies=True)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.status.text() == "Valid")
    assert set(json.loads(dialog.text.text())) == {"city", "unit"}
    dialog.take_button.click()
    assert json.loads(QApplication.clipboard().text()) == dialog.form.value


def test_edited_arguments_are_handed_over_even_if_they_are_not_valid(window: QWidget, qtbot: QtBot) -> None:
    dialog = ArgumentsDialog("get_weather", WEATHER, window, copies=False, text='{"city": "Oslo", "extra": 1}')
    dialog.show()
    assert dialog.status.text() == "Required: unit."
    city = dialog.form.rows["city"].main_field()
    QTest.keyClick(city, Qt.Key.Key_End)
    QTest.keyClicks(city, "\b\b\b")
    with qtbot.waitSignal(dialog.taken) as taken_text:
        dialog.take_button.click()
    assert json.loads(taken_text.args[0]) == {"city": "O", "extra": 1}
