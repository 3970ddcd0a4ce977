"""Which call a result answers: chosen, typed, gone back from, and marked where there is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.parts import ToolCall
from playground.engine.session.hand_made import Answerable
from playground.ui.features.conversation.answers_row import NONE_CHOSEN, NOT_ABOVE, AnswersRow


def entry(call_id: str, name: str = "get_weather", *, waits: bool = True) -> Answerable:
    return Answerable("turn", ToolCall(id=call_id, name=name, arguments="{}"), waits)


CALLS = [entry("one"), entry("two"), entry("old", "get_\u202etime", waits=False)]


class Desk:
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


def test_what_is_shown_says_which_call_it_is(place: QWidget) -> None:
    desk = Desk(place, at_once=False)
    desk.row.show_call("")
    assert (desk.row.state.text, desk.row.mark.mark) == (NONE_CHOSEN, "warning")
    desk.row.show_call("nobody's")
    assert (desk.row.state.text, desk.row.mark.mark) == (NOT_ABOVE, "warning")
    desk.row.show_call("two")
    assert (desk.row.state.text, desk.row.mark.mark) == ("get_weather", "")
    desk.row.show_call("old")
    assert desk.row.state.text == "get_‹U+202E›time · has a result"
    desk.row.show_call("", "one")
    assert desk.row.state.text == "get_weather · the first that waits"
    assert desk.row.field.line.placeholderText() == "one"
    assert desk.told == []


def test_a_call_is_picked_from_the_list_by_keys(place: QWidget, qtbot: QtBot) -> None:
    desk = Desk(place, at_once=False)
    desk.row.show_call("")
    desk.row.choose()
    popup = desk.row.field.view()
    qtbot.waitUntil(popup.isVisible)
    assert [desk.row.field.itemText(row) for row in range(3)] == [
        "get_weather · one · waits",
        "get_weather · two · waits",
        "get_‹U+202E›time · old",
    ]
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(desk.told))
    assert desk.told == ["two"]
    assert desk.row.field.line.text() == "two", "the id, not the words of the list"


def test_an_id_is_typed_and_told_when_it_is_left_or_at_once(place: QWidget) -> None:
    later, now = Desk(place, at_once=False), Desk(place, at_once=True)
    for desk in (later, now):
        desk.row.show_call("")
        desk.row.field.setFocus()
        QTest.keyClicks(desk.row.field, "ab")
    assert now.told == ["a", "ab"]
    now.elsewhere.setFocus()
    assert now.told == ["a", "ab"]
    later.row.field.setFocus()
    QTest.keyClick(later.row.field, Qt.Key.Key_Return)
    assert later.told == ["ab"]


def test_escape_goes_back_to_the_call_it_answers(place: QWidget) -> None:
    desk = Desk(place, at_once=False)
    desk.row.show_call("two")
    desk.row.field.setFocus()
    QTest.keyClicks(desk.row.field, "x")
    QTest.keyClick(desk.row.field, Qt.Key.Key_Escape)
    desk.elsewhere.setFocus()
    assert desk.row.field.line.text() == "two"
    assert desk.told == []


def test_a_list_without_calls_says_so_and_chooses_nothing(place: QWidget, qtbot: QtBot) -> None:
    desk = Desk(place, at_once=False)
    desk.calls = []
    desk.row.show_call("")
    desk.row.choose()
    qtbot.waitUntil(desk.row.field.view().isVisible)
    QTest.keyClick(desk.row.field.view(), Qt.Key.Key_Return)
    assert desk.told == []
    assert desk.row.field.line.text() == ""


def test_scrolling_over_it_answers_no_other_call(place: QWidget) -> None:
    desk = Desk(place, at_once=True)
    desk.row.show_call("one")
    desk.row.choose()
    desk.row.field.hidePopup()
    middle = QPointF(20, 8)
    wheel = QWheelEvent(
        middle,
        desk.row.field.mapToGlobal(middle),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(desk.row.field, wheel)
    assert desk.told == []


@pytest.mark.parametrize("odd", ["a\ud800b", "a\u202eb", "two\nlines", " spaced "])
def test_an_odd_id_is_not_changed_by_being_looked_at(place: QWidget, odd: str) -> None:
    desk = Desk(place, at_once=False)
    desk.row.show_call(odd)
    desk.row.field.setFocus()
    QTest.keyClick(desk.row.field, Qt.Key.Key_Return)
    desk.elsewhere.setFocus()
    assert desk.told == []
    desk.calls = [entry(odd)]
    desk.row.show_call("")
    desk.row.choose()
    QTest.keyClick(desk.row.field.view(), Qt.Key.Key_Return)
    assert desk.told == [odd], "picked as it is"


def test_the_state_is_said_with_the_field(place: QWidget) -> None:
    desk = Desk(place, at_once=False)
    desk.row.show_call("")
    assert desk.row.field.accessibleDescription() == NONE_CHOSEN
