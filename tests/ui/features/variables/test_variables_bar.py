"""The bar of variables."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.ui.features.variables.variables_bar import VariablesBar
from tests.ui.windows import show_in_front


class VariablesForm:
    def __init__(self, qtbot: QtBot) -> None:
        self.place = QWidget()
        qtbot.addWidget(self.place)
        self.bar = VariablesBar()
        column = QVBoxLayout(self.place)
        column.addWidget(self.bar)
        self.place.resize(700, 400)
        self.values: dict[str, str] = {}
        self.log: list[object] = []
        self.bar.edited.connect(self._edited)
        self.bar.removed.connect(self.log.append)
        self.bar.as_written.connect(self.log.append)
        show_in_front(qtbot, self.place)

    def _edited(self, name: str, value: str) -> None:
        self.log.append((name, value))

    def show(self, *used: str, preview: str = "", **values: str) -> None:
        self.bar.show_variables(used, values, preview)


@pytest.fixture
def form(qtbot: QtBot) -> Iterator[VariablesForm]:
    form = VariablesForm(qtbot)
    yield form
    form.place.hide()


def test_bar_is_shown_while_variables_are_used(form: VariablesForm) -> None:
    form.show()
    assert not form.bar.isVisible()
    form.show("city")
    assert form.bar.isVisible()
    assert not form.bar.close_button.isVisible()
    form.show(city="Oslo")
    assert not form.bar.isVisible()


def test_missing_values_are_flagged_and_sent_as_written(form: VariablesForm) -> None:
    form.show("city", "unit", "day", unit="C")
    bar = form.bar
    assert bar.flag.text() == "2 without a value"
    bar.written_button.click()
    assert form.log == [("city", "day")]
    form.show("city", "unit", unit="C")
    assert bar.flag.text() == "city has no value"
    row = bar.rows["city"]
    assert row.field.placeholderText() == "no value yet"
    assert not row.remove_button.isVisible()
    row.written_button.click()
    assert form.log[-1] == ("city",)
    form.show("city", "unit", unit="C", city="{{city}}")
    assert not bar.flag.isVisible()
    assert (row.field.toPlainText(), row.field.placeholderText()) == ("", "sent as written: {{city}}")
    row.remove_button.click()
    assert form.log[2:] == ["city"]


def test_typed_values_are_emitted(form: VariablesForm) -> None:
    form.show("city", city="Oslo")
    assert form.log == []
    field = form.bar.rows["city"].field
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, "R")
    form.show("city", "unit", city="R")
    assert form.bar.rows["city"].field is field
    QTest.keyClicks(field, "i")
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    assert form.log == [("city", "R"), ("city", "Ri"), ("city", "R"), ("city", "")]
    form.show("city", city="")
    assert field.placeholderText() == "empty"
    assert not form.bar.flag.isVisible()
