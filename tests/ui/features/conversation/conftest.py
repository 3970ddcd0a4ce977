"""Widgets of a conversation: the list of messages with a real pane behind it, and the card of a call."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.accumulator import GrowingChoice
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn
from playground.engine.session.session import Experiment
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.commands import Growth
from playground.ui.features.conversation.rows import Row
from playground.ui.features.conversation.transcript_pane import TranscriptPane
from playground.ui.features.conversation.transcript_view import TranscriptView
from tests.support.editors import no_gateway
from tests.support.eventually import LIMIT_S
from tests.ui.conftest import ShowWidget


def no_price(_profile_id: str, _model: str) -> None:
    return None


def make_pane() -> TranscriptPane:
    """A pane with an empty session."""
    return TranscriptPane(Experiment(no_gateway, profile_id="demo").main, no_price, QWidget())


class TranscriptDriver:
    """A view on rows of its own, 900 × 600, and what is growing in it."""

    def __init__(self) -> None:
        self.pane = make_pane()
        self.growing: dict[str, GrowingChoice] = {}
        self.view = TranscriptView(self.pane.commands, self._state)

    def _state(self, turn_id: str) -> Growth | None:
        choice = self.growing.get(turn_id)
        return None if choice is None else Growth(choice, 1.5)

    def show(self, rows: list[Row], tools: tuple[ToolDefinition, ...] = ()) -> None:
        self.view.set_rows(rows, tools)
        self.settle()

    def settle(self) -> None:
        """Until every card there is room for has been made: a frame makes only a few."""
        settle()
        limit = time.monotonic() + LIMIT_S
        while not self.view.complete:
            assert time.monotonic() < limit, "cards are not complete"
            QTest.qWait(1)

    def scroll(self, share: float) -> None:
        bar = self.view.verticalScrollBar()
        bar.setValue(round(bar.maximum() * share))
        self.settle()

    def top(self, turn_id: str) -> int:
        """Return the top of a turn's card in pixels below the view's upper edge."""
        return self.view.cards[turn_id].mapTo(self.view.viewport(), QPoint(0, 0)).y()

    @property
    def latest(self) -> QPushButton:
        return self._button("Jump to latest")

    @property
    def earlier(self) -> QPushButton:
        return self._button("Show earlier")

    def _button(self, words: str) -> QPushButton:
        return next(button for button in self.view.findChildren(QPushButton) if words in button.text())


def settle() -> None:
    for _ in range(3):
        QApplication.processEvents()


@pytest.fixture
def driver(qtbot: QtBot) -> Iterator[TranscriptDriver]:
    driver = TranscriptDriver()
    qtbot.addWidget(driver.pane)
    qtbot.addWidget(driver.view)
    driver.view.resize(900, 600)
    driver.view.show()
    qtbot.waitExposed(driver.view)
    yield driver
    settle()


def make_row(turn: Turn, *, growing: bool = False) -> Row:
    return Row(turn, (turn.id,), {}, growing)


@pytest.fixture
def pane(qtbot: QtBot) -> TranscriptPane:
    """A pane whose commands the card has."""
    pane = make_pane()
    qtbot.addWidget(pane)
    return pane


@pytest.fixture
def card(show_widget: ShowWidget, pane: TranscriptPane) -> CallCard:
    """The card of a call."""
    return show_widget(CallCard(pane.commands, lambda: "t"), 700, 300)
