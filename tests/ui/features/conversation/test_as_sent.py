"""A turn with variables can be seen as it is sent, in the card, and follows the values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.parts import ToolResult
from playground.domain.transcript import Role, make_turn
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.turn_card import AsSent


class Stand:
    def __init__(self, qtbot: QtBot) -> None:
        self.place = QWidget()
        qtbot.addWidget(self.place)
        self.values: dict[str, str] = {}
        self.button = QToolButton()
        self.block = AsSent(lambda: self.values, self.button)
        column = QVBoxLayout(self.place)
        column.addWidget(self.button)
        column.addWidget(self.block)
        self.place.resize(500, 300)
        self.place.show()

    @property
    def shown(self) -> str:
        view = self.block.findChild(TextView)
        assert view is not None
        return view.toPlainText()


@pytest.fixture
def stand(qtbot: QtBot) -> Iterator[Stand]:
    stand = Stand(qtbot)
    yield stand
    stand.place.hide()


def test_only_turns_with_variables_have_it(stand: Stand) -> None:
    stand.block.follow(make_turn(Role.USER, "To {{city}}"))
    assert stand.button.isVisible()
    for turn in (make_turn(Role.USER, "To Oslo \\{{city}}"), make_turn(Role.ASSISTANT, "To {{city}}")):
        stand.block.follow(turn)
        assert not stand.button.isVisible()


def test_it_follows_the_values(stand: Stand) -> None:
    turn = make_turn(Role.USER, "To {{city}} on {{day}}")
    stand.block.follow(turn)
    assert "no value yet: city, day" in stand.button.accessibleName()
    assert not stand.block.isVisible()
    stand.button.click()
    assert stand.block.isVisible()
    assert stand.shown == "To {{city}} on {{day}}"
    stand.values = {"city": "Oslo", "day": "Monday"}
    stand.block.follow(turn)
    assert stand.shown == "To Oslo on Monday"
    assert "no value" not in stand.button.accessibleName()
    assert "To Oslo on Monday" in stand.button.toolTip()
    stand.button.click()
    assert not stand.block.isVisible()


def test_another_turn_begins_closed_and_results_are_read_too(stand: Stand) -> None:
    stand.values = {"sky": "clear"}
    stand.block.follow(make_turn(Role.USER, "{{sky}}"))
    stand.button.click()
    stand.block.follow(make_turn(Role.TOOL, "", ToolResult(call_id="1", text="It is {{ sky }}.")))
    assert not stand.block.isVisible()
    stand.button.click()
    assert stand.shown == "It is clear."
    stand.block.follow(make_turn(Role.USER, "none"))
    assert not stand.block.isVisible()
