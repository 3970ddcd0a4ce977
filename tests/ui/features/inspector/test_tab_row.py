"""The inspector's upper edge: all tabs can be reached at any width, and the line gives way before them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from playground.ui.features.inspector.inspector import TabRow
from playground.ui.features.inspector.view import ExchangeView

TITLES = ("Request", "Response", "Timeline", "Headers", "Diff", "Lint", "Calls", "Sequence")
VIEW = ExchangeView("POST", "http://127.0.0.1/v1/chat/completions", status=200, reason="OK", duration=2.5)


@pytest.fixture
def row(qtbot: QtBot) -> Iterator[TabRow]:
    row = TabRow()
    qtbot.addWidget(row)
    for title in TITLES:
        row.add_tab(title)
    row.status.show_exchange(VIEW)
    row.resize(1200, 40)
    row.show()
    qtbot.waitExposed(row)
    yield row
    row.hide()


def seen(row: TabRow) -> list[str]:
    return [row.tabs.tabText(number) for number in range(row.tabs.count()) if row.tabs.isTabVisible(number)]


def entries(row: TabRow) -> list[QAction]:
    row.menu.aboutToShow.emit()
    return row.menu.actions()


def test_every_tab_can_be_reached_at_every_width(row: TabRow) -> None:
    told: list[str] = []
    for width in (700, 600, 520, 440, 360, 280, 200):
        row.tabs.setCurrentIndex(0)
        row.resize(width, 40)
        QTest.qWait(0)
        told = [action.text() for action in entries(row)]
        assert seen(row) + told == list(TITLES)
        assert row.more.isVisible() == bool(told)
        assert row.tabs.geometry().right() < (row.more.x() + 1 if told else row.width())
        last = row.more if told else row.tabs
        assert row.status.x() >= last.geometry().right()
        for text in told:
            next(action for action in entries(row) if action.text() == text).trigger()
            assert row.tabs.tabText(row.tabs.currentIndex()) == text
            assert text in seen(row)
    assert told, "at the end there was not room for all"
