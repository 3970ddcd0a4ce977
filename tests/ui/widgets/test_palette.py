"""The command palette by keyboard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from playground.ui.widgets.palette import PREFIX, SUBSTRING, SYNONYMS, WORD_STARTS, Entry, Palette, match_rank


class PaletteDriver:
    """A palette over a window, and what was done with it."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.window = QWidget()
        self.window.resize(900, 600)
        names = [("Run", "Ctrl+Return"), ("Rename experiment", "F2"), ("Dark", ""), ("demo-chat", "model")]
        self.palette = Palette([self.entry(*name) for name in names], "Type a command", self.window, [])

    def entry(self, name: str, side: str) -> Entry:
        def act() -> None:
            # The palette must be gone by then: what is done may open a window of its own.
            self.done.append(f"{name} {'open' if isValid(self.palette) and self.palette.isVisible() else 'closed'}")

        return Entry(name, side, act)

    def press(self, key: Qt.Key) -> None:
        QTest.keyClick(self.palette.field, key)


@pytest.fixture
def driver(qtbot: QtBot) -> Iterator[PaletteDriver]:
    driver = PaletteDriver()
    qtbot.addWidget(driver.window)
    driver.window.show()
    qtbot.waitExposed(driver.window)
    driver.palette.open_over()
    yield driver
    if isValid(driver.palette):
        driver.palette.close()


def test_typing_filters_by_words_in_any_order(driver: PaletteDriver) -> None:
    assert driver.palette.matches == ["Run", "Rename experiment", "Dark", "demo-chat"]
    QTest.keyClicks(driver.palette.field, "EXP re")
    assert driver.palette.matches == ["Rename experiment"]
    driver.palette.field.setText("model")
    assert driver.palette.matches == ["demo-chat"]
    driver.palette.field.setText("nothing like it")
    assert driver.palette.matches == []
    (message,) = driver.palette.findChildren(QLabel)
    assert (message.isVisible(), message.text()) == (True, "No commands found")
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Return):
        driver.press(key)
    assert driver.done == []
    assert driver.palette.isVisible()


def test_enter_runs_only_a_command_that_was_typed_or_selected(driver: PaletteDriver) -> None:
    driver.press(Qt.Key.Key_Return)
    assert driver.done == []
    driver.press(Qt.Key.Key_Down)
    driver.press(Qt.Key.Key_Return)
    assert driver.done == ["Run closed"]


@pytest.mark.parametrize(
    ("query", "rank"),
    [
        ("dark", PREFIX),
        ("dark th", PREFIX),
        ("th", WORD_STARTS),
        ("th da", WORD_STARTS),
        ("colour", SYNONYMS),
        ("colour theme", SYNONYMS),
        ("heme", SUBSTRING),
        ("olour", None),
        ("dark proxy", None),
    ],
)
def test_match_rank_is_prefix_then_words_then_synonyms_then_substring(query: str, rank: int | None) -> None:
    assert match_rank("dark theme", "colours mode", query) == rank


def test_better_matches_come_first_and_recent_ones_without_a_query(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    names = ("Record runs", "Dry run", "Run", "Prune")
    entries = [Entry(name, "", lambda: None, synonyms="execute" * (name == "Prune")) for name in names]
    palette = Palette(entries, "", window, ["Prune", "gone"])
    assert palette.matches == ["Prune", "Record runs", "Dry run", "Run"]
    palette.field.setText("run")
    assert palette.matches == ["Run", "Record runs", "Dry run", "Prune"]
    palette.field.setText("exec")
    assert palette.matches == ["Prune"]
    palette.close()
