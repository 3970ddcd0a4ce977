"""The table of variables: there when it is needed, what is missing is said, and what is typed is passed on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.ui.features.variables.variables_bar import VariablesBar
from tests.ui.windows import show_in_front


class Stand:
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
def stand(qtbot: QtBot) -> Iterator[Stand]:
    stand = Stand(qtbot)
    yield stand
    stand.place.hide()


def test_it_is_there_only_while_something_is_mentioned(stand: Stand) -> None:
    stand.show()
    assert not stand.bar.isVisible()
    stand.show("city")
    assert stand.bar.isVisible()
    assert not stand.bar.close_button.isVisible()
    stand.show(city="Oslo")
    assert not stand.bar.isVisible()


def test_opened_by_hand_it_says_how_and_shows_values_nobody_mentions(stand: Stand) -> None:
    stand.show()
    stand.bar.open()
    assert stand.bar.how.isVisible()
    stand.show(city="Oslo")
    assert not stand.bar.how.isVisible()
    assert stand.bar.rows["city"].state.text() == "in no turn"
    stand.bar.close_button.click()
    assert not stand.bar.isVisible()


def test_what_is_missing_is_said_and_can_go_as_it_is_written(stand: Stand) -> None:
    stand.show("city", "unit", "day", unit="C")
    bar = stand.bar
    assert bar.flag.text() == "2 without a value"
    bar.written_button.click()
    assert stand.log == [("city", "day")]
    stand.show("city", "unit", unit="C")
    assert bar.flag.text() == "city has no value"
    row = bar.rows["city"]
    assert row.field.placeholderText() == "no value yet"
    assert not row.remove_button.isVisible()
    row.written_button.click()
    assert stand.log[-1] == ("city",)
    stand.show("city", "unit", unit="C", city="{{city}}")
    assert not bar.flag.isVisible()
    assert (row.field.toPlainText(), row.field.placeholderText()) == ("", "sent as written: {{city}}")
    row.remove_button.click()
    assert stand.log[2:] == ["city"]


def test_what_is_typed_is_passed_on_and_what_is_shown_is_not(stand: Stand) -> None:
    stand.show("city", city="Oslo")
    assert stand.log == []
    field = stand.bar.rows["city"].field
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, "R")
    stand.show("city", "unit", city="R")
    assert stand.bar.rows["city"].field is field
    QTest.keyClicks(field, "i")
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    assert stand.log == [("city", "R"), ("city", "Ri"), ("city", "R"), ("city", "")]
    stand.show("city", city="")
    assert field.placeholderText() == "empty"
    assert not stand.bar.flag.isVisible()


def test_rows_keep_the_order_in_which_they_stand_in_the_text(stand: Stand, qtbot: QtBot) -> None:
    stand.show("a", "b", old="1")
    kept = stand.bar.rows["b"]
    stand.show("b", "c", "a", old="1")
    assert list(stand.bar.rows) == ["b", "c", "a", "old"]
    assert stand.bar.rows["b"] is kept

    def in_order() -> None:
        tops = [row.y() for row in stand.bar.rows.values()]
        assert tops == sorted(set(tops))

    qtbot.waitUntil(in_order)


def test_folded_it_is_one_line_with_the_values(stand: Stand) -> None:
    folded: list[bool] = []
    stand.bar.folded.connect(folded.append)
    stand.show("city", "note", "unit", city="Oslo", note="{{note}}", preview="To Oslo")
    assert stand.bar.preview.text == "As sent: To Oslo"
    stand.bar.fold_button.click()
    assert folded == [True]
    assert stand.bar.summary.text == "city = Oslo  ·  note = as written"
    assert stand.bar.flag.text() == "unit has no value"
    assert stand.bar.written_button.isVisible()
    assert not stand.bar.table.isVisible()
    stand.bar.go_to("unit")
    assert stand.bar.table.isVisible()
    assert stand.bar.summary.text == ""
    assert stand.bar.rows["unit"].field.hasFocus()


def test_escape_and_control_enter_go_back_and_on(stand: Stand) -> None:
    stand.show("city")
    stand.bar.left.connect(lambda: stand.log.append("left"))
    stand.bar.run_asked.connect(lambda: stand.log.append("run"))
    field = stand.bar.rows["city"].field
    QTest.keyClick(field, Qt.Key.Key_Escape)
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert stand.log == ["left", "run"]
