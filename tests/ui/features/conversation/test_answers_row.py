"""The row that names the call of a result."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.parts import ToolCall
from playground.engine.session.edits import Answerable
from playground.ui.features.conversation.answers_row import NONE_CHOSEN, NOT_ABOVE, AnswersRow
from tests.support.each_case import each_case


def entry(call_id: str, name: str = "get_weather", *, waits: bool = True) -> Answerable:
    return Answerable("turn", ToolCall(id=call_id, name=name, arguments="{}"), waits)


CALLS = [entry("one"), entry("two"), entry("old", "get_\u202etime", waits=False)]


class AnswersRowDriver:
    def __init__(self, window: QWidget, *, at_once: bool) -> None:
        self.told: list[str] = []
        self.calls = list(CALLS)
        self.row = AnswersRow(lambda: self.calls, at_once=at_once)
        self.row.chosen.connect(self.told.append)
        layout = window.layout()
        assert layout is not None
        layout.addWidget(self.row)
        self.row.show()
        self.elsewhere = QPushButton("Elsewhere")
        layout.addWidget(self.elsewhere)
        self.elsewhere.show()


@pytest.fixture
def place(qtbot: QtBot) -> Iterator[QWidget]:
    window = QWidget()
    window.setLayout(QVBoxLayout())
    window.resize(500, 100)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    yield window
    window.hide()


def test_row_names_the_call_it_answers(place: QWidget) -> None:
    driver = AnswersRowDriver(place, at_once=False)
    driver.row.show_call("")
    assert driver.row.field.accessibleDescription() == NONE_CHOSEN
    assert (driver.row.state.text, driver.row.mark.mark) == (NONE_CHOSEN, "warning")
    driver.row.show_call("nobody's")
    assert (driver.row.state.text, driver.row.mark.mark) == (NOT_ABOVE, "warning")
    driver.row.show_call("two")
    assert (driver.row.state.text, driver.row.mark.mark) == ("get_weather", "")
    driver.row.show_call("old")
    assert driver.row.state.text == "get_‹U+202E›time · has a result"
    driver.row.show_call("", "one")
    assert driver.row.state.text == "get_weather · the first that waits"
    assert driver.row.field.line.placeholderText() == "one"
    assert driver.told == []


def test_typed_id_is_sent_when_left_or_at_once(place: QWidget) -> None:
    later, now = AnswersRowDriver(place, at_once=False), AnswersRowDriver(place, at_once=True)
    for driver in (later, now):
        driver.row.show_call("")
        driver.row.field.setFocus()
        QTest.keyClicks(driver.row.field, "ab")
    assert now.told == ["a", "ab"]
    now.elsewhere.setFocus()
    assert now.told == ["a", "ab"]
    later.row.field.setFocus()
    QTest.keyClick(later.row.field, Qt.Key.Key_Return)
    assert later.told == ["ab"]


def test_wheel_over_the_row_changes_nothing(place: QWidget) -> None:
    driver = AnswersRowDriver(place, at_once=True)
    driver.row.show_call("one")
    driver.row.choose()
    driver.row.field.hidePopup()
    middle = QPointF(driver.row.field.mapTo(place, driver.row.field.rect().center()))
    QTest.wheelEvent(place.windowHandle(), middle, QPoint(0, -120))
    assert driver.told == []


@each_case("odd", ["a\ud800b", "a\u202eb", "two\nlines", " spaced "])
def test_odd_id_is_kept_exactly(place: QWidget, odd: str) -> None:
    driver = AnswersRowDriver(place, at_once=False)
    driver.row.show_call(odd)
    driver.row.field.setFocus()
    QTest.keyClick(driver.row.field, Qt.Key.Key_Return)
    driver.elsewhere.setFocus()
    assert driver.told == []
    driver.calls = [entry(odd)]
    driver.row.show_call("")
    driver.row.choose()
    QTest.keyClick(driver.row.field.view(), Qt.Key.Key_Return)
    assert driver.told == [odd], "picked as it is"
