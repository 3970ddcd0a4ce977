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


def test_typing_filters_by_words_in_any_order(driver: PaletteDriver) -> None:
    assert driver.palette.matches == ["Run", "Rename experiment", "Dark", "demo-chat"]
    QTest.keyClicks(driver.palette.field, "EXP re")
    assert driver.palette.matches == ["Rename experiment"]
    driver.palette.field.setText("model")
    assert driver.palette.matches == ["demo-chat"]
    driver.palette.field.setText("nothing like it")
    assert driver.palette.matches == []
    (message,) = driver.palette.findChildren(QLabel)
    assert (message.isVisible(), message.text()) == (True, "Nothing here has these words in its name.")
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Return):
        driver.press(key)
    assert driver.done == []
    assert driver.palette.isVisible()


def test_enter_chooses_the_first_match(driver: PaletteDriver, qtbot: QtBot) -> None:
    QTest.keyClicks(driver.palette.field, "dark")
    driver.press(Qt.Key.Key_Return)
    assert driver.done == ["Dark closed"]
    qtbot.waitUntil(lambda: not isValid(driver.palette))


def test_arrows_move_and_stop_at_the_ends(driver: PaletteDriver) -> None:
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Down):
        driver.press(key)
    assert driver.palette.field.hasFocus()
    for key in (Qt.Key.Key_PageDown, Qt.Key.Key_PageDown, Qt.Key.Key_Up, Qt.Key.Key_Enter):
        driver.press(key)
    assert driver.done == ["Dark closed"]


def test_escape_closes(driver: PaletteDriver) -> None:
    driver.press(Qt.Key.Key_Escape)
    assert driver.done == []
    assert not isValid(driver.palette) or not driver.palette.isVisible()


def test_a_click_chooses(driver: PaletteDriver) -> None:
    (rows,) = driver.palette.findChildren(QListWidget)
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=rows.visualItemRect(rows.item(1)).center())
    assert driver.done == ["Rename experiment closed"]


def test_hundred_thousand_names_are_searched(qtbot: QtBot) -> None:
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


def test_name_of_a_megabyte_is_shortened(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    palette = Palette([Entry("m" * 1_000_000, "model", lambda: None)], "Type", window)
    (rows,) = palette.findChildren(QListWidget)
    assert len(rows.item(0).text()) < 5_000
    assert palette.matches == ["m" * 1_000_000]


def test_rows_are_not_cut(qtbot: QtBot) -> None:
    for height in (600, 700, 433):
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
        qtbot.waitUntil(lambda palette=palette: not isValid(palette))  # type: ignore[misc]


def test_names_that_differ_at_their_ends_look_different(driver: PaletteDriver, qtbot: QtBot) -> None:
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
