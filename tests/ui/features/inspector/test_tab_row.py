"""The tabs of the inspector at any width."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest

from playground.ui.features.inspector.inspector import TabRow
from playground.ui.features.inspector.view import ExchangeView
from tests.ui.conftest import ShowWidget

TITLES = ("Request", "Response", "Timeline", "Headers", "Diff", "Lint", "Calls", "Sequence")
VIEW = ExchangeView("POST", "http://127.0.0.1/v1/chat/completions", status=200, reason="OK", duration=2.5)


@pytest.fixture
def row(show_widget: ShowWidget) -> TabRow:
    row = TabRow()
    for title in TITLES:
        row.add_tab(title)
    row.status.show_exchange(VIEW)
    return show_widget(row, 1200, 40)


def visible_tabs(row: TabRow) -> list[str]:
    return [row.tabs.tabText(number) for number in range(row.tabs.count()) if row.tabs.isTabVisible(number)]


def entries(row: TabRow) -> list[QAction]:
    row.menu.aboutToShow.emit()
    return row.menu.actions()


def test_every_tab_can_be_reached_at_every_width(row: TabRow) -> None:
    emitted: list[str] = []
    for width in (700, 600, 520, 440, 360, 280, 200):
        row.tabs.setCurrentIndex(0)
        row.resize(width, 40)
        QTest.qWait(0)
        emitted = [action.text() for action in entries(row)]
        assert visible_tabs(row) + emitted == list(TITLES)
        assert row.more.isVisible() == bool(emitted)
        assert row.tabs.geometry().right() < (row.more.x() + 1 if emitted else row.width())
        last = row.more if emitted else row.tabs
        assert row.status.x() >= last.geometry().right()
        for text in emitted:
            next(action for action in entries(row) if action.text() == text).trigger()
            assert row.tabs.tabText(row.tabs.currentIndex()) == text
            assert text in visible_tabs(row)
    assert emitted, "at the end there was not room for all"
