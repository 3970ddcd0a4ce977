"""The list of messages: cards of visible ones only, following an answer, keeping the place."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from playground.domain.accumulator import GrowingChoice, GrowingPart
from playground.domain.parts import Text
from playground.domain.transcript import Role, make_turn
from playground.ui.features.conversation.rows import Row
from playground.ui.features.conversation.transcript_view import ZOOMS
from tests.ui.features.conversation.conftest import TranscriptDriver, make_row, settle


def make_rows(count: int, words: int = 12) -> list[Row]:
    roles = (Role.USER, Role.ASSISTANT)
    return [make_row(make_turn(roles[n % 2], f"Turn {n}. " + "some words " * (words + n % 7))) for n in range(count)]


def growing_turn(driver: TranscriptDriver, text: str = "", *, kind: str = "text") -> tuple[Row, GrowingPart]:
    turn = make_turn(Role.ASSISTANT)
    part = GrowingPart(kind, [text] if text else [])
    driver.growing[turn.id] = GrowingChoice(0, [part])
    return make_row(turn, growing=True), part


# Only what is seen exists


# Following


def test_transcript_follows_an_answer_only_while_at_the_bottom(driver: TranscriptDriver, qtbot: QtBot) -> None:
    last, part = growing_turn(driver, "The answer begins. ")
    driver.show([*make_rows(20), last])
    bar = driver.view.verticalScrollBar()
    assert driver.view.at_bottom
    assert not driver.pill.isVisible()
    for _ in range(30):
        part.append("More and more words arrive. \n\n")
        driver.view.draw_growing_turn(last.id)
    assert driver.view.at_bottom
    with qtbot.waitSignal(driver.view.at_bottom_changed):
        bar.setValue(bar.value() - 120)
    place = bar.value()
    for _ in range(30):
        part.append("More and more words arrive. \n\n")
        driver.view.draw_growing_turn(last.id)
    assert bar.value() == place
    assert bar.value() < bar.maximum() - 100
    assert driver.pill.isVisible()
    QTest.mouseClick(driver.pill, Qt.MouseButton.LeftButton)
    assert driver.view.at_bottom
    assert not driver.pill.isVisible()
    part.append("The end. \n\n" * 10)
    driver.view.draw_growing_turn(last.id)
    assert driver.view.at_bottom


# Keeping the place


def test_turn_in_view_keeps_its_place_when_turns_above_change(driver: TranscriptDriver) -> None:
    rows = make_rows(60, words=30)
    driver.show(rows)
    driver.scroll(0.5)
    seen = min((turn_id for turn_id, card in driver.view.cards.items() if card.y() >= 0), key=driver.top)
    index = [row.id for row in rows].index(seen)
    place = driver.top(seen)

    def with_text(number: int, text: str) -> list[Row]:
        changed = rows[number].turn.model_copy(update={"parts": (Text(text=text),)})
        return [*rows[:number], make_row(changed), *rows[number + 1 :]]

    changes = [with_text(number, "a line\n" * 60) for number in (index - 2, index - 3, index - 20)]
    changes += [with_text(index - 2, "short"), [*rows[:3], *rows[4:]], [*make_rows(5), *rows]]
    for changed in changes:
        driver.show(changed)
        assert abs(driver.top(seen) - place) <= 1


# Text size, keys


def test_wheel_with_control_changes_the_text_size(driver: TranscriptDriver) -> None:
    driver.show(make_rows(4))
    before = {turn_id: card.height() for turn_id, card in driver.view.cards.items()}

    def turn_wheel(delta: int, count: int = 1) -> None:
        window, control = driver.view.windowHandle(), Qt.KeyboardModifier.ControlModifier
        for _ in range(count):
            QTest.wheelEvent(window, QPointF(200, 200), QPoint(0, delta), QPoint(), control)
            settle()

    turn_wheel(120)
    assert driver.view.zoom == ZOOMS[ZOOMS.index(1.0) + 1]
    assert all(card.height() >= before[turn_id] for turn_id, card in driver.view.cards.items())
    turn_wheel(120, len(ZOOMS))
    assert driver.view.zoom == ZOOMS[-1]
    turn_wheel(-120, len(ZOOMS))
    assert driver.view.zoom == ZOOMS[0]
    driver.view.set_zoom(1.0)
    settle()
    assert {turn_id: card.height() for turn_id, card in driver.view.cards.items()} == before


def test_home_end_and_page_keys_scroll(driver: TranscriptDriver) -> None:
    driver.show(make_rows(100))
    driver.view.setFocus()
    bar = driver.view.verticalScrollBar()
    QTest.keyClick(driver.view, Qt.Key.Key_Home)
    assert bar.value() == 0
    QTest.keyClick(driver.view, Qt.Key.Key_PageDown)
    assert bar.value() == bar.pageStep()
    QTest.keyClick(driver.view, Qt.Key.Key_End)
    assert driver.view.at_bottom
    QTest.keyClick(driver.view, Qt.Key.Key_PageUp)
    assert not driver.view.at_bottom


def test_focus_moves_from_turn_to_turn(driver: TranscriptDriver, qtbot: QtBot) -> None:
    rows = make_rows(40, words=50)
    driver.show(rows)
    driver.view.activateWindow()
    qtbot.waitUntil(driver.view.isActiveWindow)
    if (focused := QApplication.focusWidget()) is not None:
        focused.clearFocus()  # some platforms focus a control as soon as the window is active
    for number in range(1, 13):
        driver.view.step_turn(-1)
        settle()
        assert driver.view.focused_turn() == rows[-number].id
        card = driver.view.cards[rows[-number].id]
        assert card.y() < driver.view.viewport().height()
        assert card.y() + card.height() > 0
    driver.view.step_turn(1)
    assert driver.view.focused_turn() == rows[-11].id


# Rows
