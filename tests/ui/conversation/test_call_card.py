"""The card of a tool call: what stands where, and how much room it takes."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.values import JSONObject
from playground.ui.conversation.call_card import CallCard
from playground.ui.conversation.rows import Answer
from playground.ui.theme import LIGHT, style_sheet

#: The offscreen platform says so whenever a window's smallest size changes; no other platform does.
pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

SCHEMA: JSONObject = {"type": "object", "properties": {"city": {"enum": ["Oslo", "Lisbon"]}}}
GOOD = ToolCall(id="call_1", name="get_weather", arguments='{"city":"Oslo"}')
BAD = ToolCall(id="call_1", name="get_weather", arguments='{"city":"Rome"}')


def answer(text: str) -> Answer:
    return Answer("turn", ToolResult(call_id="call_1", text=text))


@pytest.fixture
def card(qtbot: QtBot) -> CallCard:
    card = CallCard()
    qtbot.addWidget(card)
    card.setStyleSheet(style_sheet(LIGHT))
    card.resize(700, 200)
    card.show()
    return card


def test_short_json_of_an_answered_call_stands_on_one_line(card: CallCard) -> None:
    card.show_call(GOOD, SCHEMA, answer('{"temp":21}'), waiting=False, known=True)
    assert card._arguments.toPlainText() == '{"city": "Oslo"}'
    assert card._result.toPlainText() == '{"temp": 21}'


def test_what_is_long_wrong_or_waited_for_is_laid_out(card: CallCard) -> None:
    card.show_call(BAD, SCHEMA, answer('{"temp": 21, "sky": "rain", "wind": {"speed": 34}}'), waiting=False, known=True)
    assert card._arguments.toPlainText() == '{\n  "city": "Rome"\n}'
    assert card._result.toPlainText().count("\n") == 6
    card.show_call(GOOD, SCHEMA, None, waiting=True, known=True)
    assert card._arguments.toPlainText() == '{\n  "city": "Oslo"\n}'
    card.show_call(GOOD, SCHEMA, answer("it rains"), waiting=False, known=True)
    assert card._result.toPlainText() == "it rains"


@pytest.mark.parametrize("waiting", [True, False])
def test_both_captions_stand_on_one_line(card: CallCard, qtbot: QtBot, waiting: bool) -> None:
    card.show_call(GOOD, SCHEMA, None if waiting else answer("{}"), waiting=waiting, known=True)
    qtbot.wait(20)
    captions = [label for label in card.findChildren(QLabel) if label.text() in ("Arguments", "Result")]
    assert len(captions) == 2
    middles = [label.mapTo(card, label.rect().center()).y() for label in captions]
    assert abs(middles[0] - middles[1]) <= 1


def test_the_verdict_is_a_pill_with_room_beside_its_words(card: CallCard, qtbot: QtBot) -> None:
    for call, words in ((GOOD, "✓ matches schema"), (BAD, '✗ city: "Rome" is not one of Oslo, Lisbon')):
        card.show_call(call, SCHEMA, None, waiting=True, known=True)
        qtbot.wait(20)
        chip = card._verdict
        assert chip.text() == words
        assert chip.width() >= chip.fontMetrics().horizontalAdvance(words) + 14
        shown = card.grab().toImage()
        corner, inside = (shown.pixel(chip.pos().x() + x, chip.y() + y) for x, y in ((0, 0), (5, chip.height() // 2)))
        assert corner != inside
