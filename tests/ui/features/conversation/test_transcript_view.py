"""The list of messages: cards of visible ones only, following an answer, keeping the place."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from playground.domain.accumulator import GrowingChoice, GrowingPart
from playground.domain.parts import Text
from playground.domain.transcript import Role, make_turn
from playground.ui.features.conversation.rows import Row
from playground.ui.features.conversation.transcript_view import TAB_ORDER_MS, ZOOMS
from tests.ui.features.conversation.conftest import TranscriptDriver, make_row, settle


def make_rows(count: int, words: int = 12) -> list[Row]:
    roles = (Role.USER, Role.ASSISTANT)
    return [make_row(make_turn(roles[n % 2], f"Turn {n}. " + "some words " * (words + n % 7))) for n in range(count)]


def growing_turn(driver: TranscriptDriver, text: str = "", *, kind: str = "text") -> tuple[Row, GrowingPart]:
    turn = make_turn(Role.ASSISTANT)
    part = GrowingPart(kind, [text] if text else [])
    driver.growing[turn.id] = GrowingChoice(0, [part])
    return make_row(turn, growing=True), part


def activate(driver: TranscriptDriver, qtbot: QtBot) -> None:
    driver.view.activateWindow()
    qtbot.waitUntil(driver.view.isActiveWindow)


# Loading


def test_long_conversation_opens_at_its_end_and_loads_earlier_messages_in_place(
    driver: TranscriptDriver, qtbot: QtBot
) -> None:
    rows = make_rows(450)
    driver.show(rows)
    activate(driver, qtbot)
    assert driver.view.at_bottom
    assert rows[-1].id in driver.view.cards
    assert len(driver.view.cards) < 20
    for first in (250, 50):
        driver.scroll(0)
        assert f"({first})" in driver.earlier.text()
        oldest = rows[first].id
        place = driver.top(oldest)
        driver.earlier.setFocus()
        driver.earlier.click()
        assert abs(driver.top(oldest) - place) <= 1
        assert driver.view.focused_turn() == oldest
    driver.scroll(0)
    driver.earlier.click()
    driver.scroll(0)
    assert driver.top(rows[0].id) > 0
    assert not driver.earlier.isVisible()


def test_message_not_loaded_is_loaded_when_it_is_shown(driver: TranscriptDriver, qtbot: QtBot) -> None:
    rows = make_rows(10_000)
    driver.show(rows)
    activate(driver, qtbot)
    for number in (5_000, 3, 9_999):
        driver.view.focus_turn(rows[number].id)
        assert driver.view.focused_turn() == rows[number].id
        assert not driver.view.cards[rows[number].id].visibleRegion().isEmpty()
    assert len(driver.view.cards) < 40


def test_conversation_shown_again_has_its_position(driver: TranscriptDriver) -> None:
    long, second = make_rows(450), make_rows(3)
    driver.show(long)
    driver.scroll(0)
    driver.earlier.click()
    driver.scroll(0.4)
    place, position = driver.view.place, driver.view.position
    driver.view.begin()
    driver.show(second)
    assert driver.view.at_bottom
    driver.view.begin(position)
    driver.show(long)
    assert driver.view.place[0] == place[0]
    assert abs(driver.view.place[1] - place[1]) < 0.05


def test_width_and_text_size_keep_the_passage_in_view(driver: TranscriptDriver) -> None:
    rows = make_rows(30, words=300)
    driver.show(rows)
    driver.scroll(0.5)
    number, share = driver.view.place
    for change in (partial(driver.view.resize, 500, 600), partial(driver.view.set_zoom, ZOOMS[-1])):
        change()
        driver.settle()
        assert driver.view.place[0] == number
        assert abs(driver.view.place[1] - share) < 0.05


# Following


def test_transcript_follows_an_answer_only_while_at_the_bottom(driver: TranscriptDriver, qtbot: QtBot) -> None:
    last, part = growing_turn(driver, "The answer begins. ")
    driver.show([*make_rows(20), last])
    bar = driver.view.verticalScrollBar()
    assert driver.view.at_bottom
    assert not driver.latest.isVisible()
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
    assert driver.latest.isVisible()
    assert not driver.latest.geometry().intersects(driver.view.viewport().geometry())
    QTest.mouseClick(driver.latest, Qt.MouseButton.LeftButton)
    assert driver.view.at_bottom
    assert not driver.latest.isVisible()
    part.append("The end. \n\n" * 10)
    driver.view.draw_growing_turn(last.id)
    assert driver.view.at_bottom


# Keeping the place


def test_turn_in_view_keeps_its_place_when_turns_above_change(driver: TranscriptDriver) -> None:
    rows = make_rows(60, words=30)
    driver.show(rows)
    driver.scroll(0.5)
    seen = min((turn_id for turn_id in driver.view.cards if driver.top(turn_id) >= 0), key=driver.top)
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
    activate(driver, qtbot)
    if (focused := QApplication.focusWidget()) is not None:
        focused.clearFocus()  # some platforms focus a control as soon as the window is active
    for number in range(1, 13):
        driver.view.step_turn(-1)
        settle()
        assert driver.view.focused_turn() == rows[-number].id
        assert not driver.view.cards[rows[-number].id].visibleRegion().isEmpty()
    driver.view.step_turn(1)
    assert driver.view.focused_turn() == rows[-11].id


def test_tab_goes_through_the_cards_from_top_to_bottom(driver: TranscriptDriver, qtbot: QtBot) -> None:
    rows = make_rows(40)
    driver.show(rows)
    driver.scroll(0.5)
    driver.scroll(0.3)  # makes cards above those that are there
    QTest.qWait(2 * TAB_ORDER_MS)
    activate(driver, qtbot)
    first = driver.view.first_in_view()
    driver.view.focus_turn(rows[first].id)
    turns = [rows[first].id]
    while len(turns) < 5:
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        turn_id = driver.view.focused_turn()
        assert turn_id is not None
        if turn_id != turns[-1]:
            turns.append(turn_id)
            assert not driver.view.cards[turn_id].visibleRegion().isEmpty()
    assert turns == [row.id for row in rows[first : first + 5]]


def test_focus_stays_in_the_conversation_when_its_card_goes(driver: TranscriptDriver, qtbot: QtBot) -> None:
    rows = make_rows(6)
    driver.show(rows)
    activate(driver, qtbot)
    driver.view.focus_turn(rows[-2].id)
    driver.show([*rows[:-2], make_row(make_turn(Role.USER, "Another branch"))])
    assert driver.view.focused_turn() is not None
