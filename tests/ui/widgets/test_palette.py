"""The command palette by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QListWidget, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from playground.ui.widgets.palette import SHOWN, Entry, Names, Palette


class PaletteDriver:
    """A palette over a window, and what was done with it."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.window = QWidget()
        self.window.resize(900, 600)
        names = [("Run", "Ctrl+Return"), ("Rename experiment", "F2"), ("Dark", ""), ("demo-chat", "model")]
        self.palette = Palette([self.entry(*name) for name in names], "Type a command", self.window)

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


def test_typing_narrows_the_list_by_words_in_any_order(driver: PaletteDriver) -> None:
    assert driver.palette.matches == ["Run", "Rename experiment", "Dark", "demo-chat"]
    QTest.keyClicks(driver.palette.field, "EXP re")
    assert driver.palette.matches == ["Rename experiment"]
    driver.palette.field.setText("model")
    assert driver.palette.matches == ["demo-chat"]
    driver.palette.field.setText("nothing like it")
    assert driver.palette.matches == []
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Return):
        driver.press(key)
    assert driver.done == []
    assert driver.palette.isVisible()


def test_the_first_match_is_chosen_with_enter(driver: PaletteDriver, qtbot: QtBot) -> None:
    QTest.keyClicks(driver.palette.field, "dark")
    driver.press(Qt.Key.Key_Return)
    assert driver.done == ["Dark closed"]
    qtbot.waitUntil(lambda: not isValid(driver.palette))


def test_arrows_move_and_stop_at_the_ends(driver: PaletteDriver) -> None:
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Down):
        driver.press(key)
    assert driver.palette.field.hasFocus()
    driver.press(Qt.Key.Key_Enter)
    assert driver.done == ["Dark closed"]


def test_page_keys_reach_the_last(driver: PaletteDriver) -> None:
    driver.press(Qt.Key.Key_PageDown)
    driver.press(Qt.Key.Key_PageDown)
    driver.press(Qt.Key.Key_Return)
    assert driver.done == ["demo-chat closed"]


def test_escape_does_nothing_else(driver: PaletteDriver) -> None:
    driver.press(Qt.Key.Key_Escape)
    assert driver.done == []
    assert not isValid(driver.palette) or not driver.palette.isVisible()


def test_a_click_chooses(driver: PaletteDriver) -> None:
    (rows,) = driver.palette.findChildren(QListWidget)
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=rows.visualItemRect(rows.item(1)).center())
    assert driver.done == ["Rename experiment closed"]


def test_a_long_list_is_bounded_and_still_searched_whole(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    palette = Palette([Entry(f"model-{n}", "model", lambda: None) for n in range(5_000)], "Type", window)
    assert len(palette.matches) == SHOWN
    palette.field.setText("model-4999")
    assert palette.matches == ["model-4999"]
    assert palette.field.accessibleName() == "Type"


def test_names_by_the_hundred_thousand_are_searched_and_become_entries_only_where_they_are_listed(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    done: list[str] = []
    names = [f"Model-{number}" for number in range(100_000)]
    folded = [name.casefold() for name in names]
    palette = Palette([Entry("Run", "", lambda: None), Names(names, folded, "model", done.append)], "Type", window)
    assert palette.matches == ["Run", *names[: SHOWN - 1]]
    palette.field.setText("9999 mode odel-9")
    assert palette.matches == ["Model-9999", *(f"Model-9999{digit}" for digit in range(10))]
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert done == ["Model-9999"]


def test_a_name_of_a_megabyte_is_listed_by_its_ends(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    palette = Palette([Entry("m" * 1_000_000, "model", lambda: None)], "Type", window)
    (rows,) = palette.findChildren(QListWidget)
    assert len(rows.item(0).text()) < 5_000
    assert palette.matches == ["m" * 1_000_000]


@pytest.mark.parametrize("height", [600, 700, 433])
def test_no_row_is_cut(qtbot: QtBot, height: int) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(900, height)
    window.show()
    palette = Palette([Entry(f"model-{n}", "model", lambda: None) for n in range(99)], "Type", window)
    palette.open_over()
    qtbot.waitExposed(palette)
    (rows,) = palette.findChildren(QListWidget)
    assert rows.viewport().height() > 200
    assert rows.viewport().height() % rows.visualItemRect(rows.item(0)).height() == 0
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not isValid(palette))


def test_names_that_differ_at_their_ends_can_be_told_apart(driver: PaletteDriver, qtbot: QtBot) -> None:
    long = "vendor/" + "a-model-with-a-very-long-name-" * 5
    side = "/a/folder/with/a/long/name" * 4
    entries = [Entry(f"{long}{end}", "model", lambda: None) for end in "ab"]
    entries += [Entry("notes.json", f"{side}/{end}", lambda: None) for end in "ab"]
    palette = Palette(entries, "Type", driver.window)
    palette.open_over()
    rows = palette.findChildren(QListWidget)[0]
    first, *others = (rows.visualItemRect(rows.item(row)) for row in range(rows.count()))
    rows.setCurrentRow(-1)
    pictures = [rows.viewport().grab(rect).toImage() for rect in (first, *others)]
    assert all(one != other for one, other in combinations(pictures, 2))
    palette.close()


def test_when_nothing_is_found_it_says_so(driver: PaletteDriver) -> None:
    driver.palette.field.setText("nothing like it")
    (says,) = driver.palette.findChildren(QLabel)
    assert (says.isVisible(), says.text()) == (True, "Nothing here has these words in its name.")
    driver.palette.field.setText("dark")
    assert not says.isVisible()
    assert driver.palette.findChildren(QListWidget)[0].isVisible()
