"""A turn with variables can be seen as it is sent, in the card, and follows the values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.transcript import Role, make_turn
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.turn_card import AsSent


class Preview:
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
def preview(qtbot: QtBot) -> Iterator[Preview]:
    preview = Preview(qtbot)
    yield preview
    preview.place.hide()


def test_only_turns_with_variables_have_it(preview: Preview) -> None:
    preview.block.follow(make_turn(Role.USER, "To {{city}}"))
    assert preview.button.isVisible()
    for turn in (make_turn(Role.USER, "To Oslo \\{{city}}"), make_turn(Role.ASSISTANT, "To {{city}}")):
        preview.block.follow(turn)
        assert not preview.button.isVisible()


def test_it_follows_the_values(preview: Preview) -> None:
    turn = make_turn(Role.USER, "To {{city}} on {{day}}")
    preview.block.follow(turn)
    assert "no value yet: city, day" in preview.button.accessibleName()
    assert not preview.block.isVisible()
    preview.button.click()
    assert preview.block.isVisible()
    assert preview.shown == "To {{city}} on {{day}}"
    preview.values = {"city": "Oslo", "day": "Monday"}
    preview.block.follow(turn)
    assert preview.shown == "To Oslo on Monday"
    assert "no value" not in preview.button.accessibleName()
    assert "To Oslo on Monday" in preview.button.toolTip()
    preview.button.click()
    assert not preview.block.isVisible()
