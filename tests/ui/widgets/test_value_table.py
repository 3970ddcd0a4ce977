"""The table of names and values: pasted lines, flags, masked secrets, the way by keyboard."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from playground.ui.widgets.name_value import MOST_PASTED, HeaderValue, read_lines
from playground.ui.widgets.row_list import MOST
from playground.ui.widgets.value_table import ValueRow, ValueTable
from tests.support.each_case import each_case
from tests.ui.conftest import ShowWidget


@dataclass(frozen=True, slots=True)
class Header(HeaderValue):
    def looks_secret(self, name: str, value: str) -> bool:
        return name == "X-Key"


@pytest.fixture
def table(show_widget: ShowWidget) -> ValueTable[Header]:
    return show_widget(ValueTable(Header, secret_hint="In the keyring."), 420, 400)


def pairs(table: ValueTable[Header]) -> list[tuple[str, str]]:
    return [(row.name, row.value) for row in table.rows()]


def paste(row: ValueRow[Header], text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    QTest.keySequence(row.name, QKeySequence(QKeySequence.StandardKey.Paste))


@each_case(
    "text, expected",
    [
        ("A=1\nexport B='two = 2'\n# note\n\nC: x:y\nD", [("A", "1"), ("B", "two = 2"), ("C", "x:y"), ("D", "")]),
        ('{"X-A": "1", "n": 2}', [("X-A", "1"), ("n", "2")]),
        ('{"X-A": ', [("X-A", "")]),
        ("A=\0\r\nB=2", [("A", "\0"), ("B", "2")]),
    ],
)
def test_pasted_lines_are_read(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(name.lstrip('{"'), value) for name, value in read_lines(text)] == expected


def test_lines_pasted_into_a_name_become_rows(table: ValueTable[Header]) -> None:
    paste(table.add_row(), "X-A: 1\nX-Key: secret\nx-a: 2\nX B: 3\n")
    assert pairs(table) == [("X-A", "1"), ("X-Key", "secret"), ("x-a", "2"), ("X B", "3")]
    flags = [edit.flag.text() for edit in table.edits]
    assert flags[:2] == ["", ""]
    assert "twice" in flags[2]
    assert "not allowed" in flags[3]
    assert table.edits[3].name.accessibleDescription() == flags[3]
    assert [edit.value.echoMode() is QLineEdit.EchoMode.Password for edit in table.edits] == [False, True, False, False]
    assert table.hint.text() == "In the keyring."
    table.edits[0].remove.click()
    assert table.edits[1].flag.text() == ""
    assert table.focusWidget() is table.edits[0].name


def test_name_with_its_value_is_pasted_into_a_row(table: ValueTable[Header]) -> None:
    row = table.add_row()
    paste(row, "plain")
    assert pairs(table) == [("plain", "")]
    paste(row, "X: 1")
    assert pairs(table) == [("plainX: 1", "")], "into a name that has text it goes as it is"
    paste(table.add_row(), "X: 1")
    assert pairs(table)[1:] == [("X", "1")]


def test_pasted_rows_have_a_limit(table: ValueTable[Header]) -> None:
    paste(table.add_row(), "\n".join(f"X-{number}: {number}" for number in range(100_000)))
    assert len(table.rows()) == MOST_PASTED
    assert "200 of 100,000 lines" in table.hint.text()


def test_many_rows_are_shown_a_page_at_a_time(table: ValueTable[Header]) -> None:
    table.set_rows(Header(f"X-{number}", "1") for number in range(MOST + 3))
    assert len(table.edits) == MOST
    assert len(table.rows()) == MOST + 3
    table.more.click()
    assert len(table.edits) == MOST + 3
    assert not table.more.isVisible()


def test_rows_are_typed_with_the_keyboard_alone(table: ValueTable[Header]) -> None:
    table.add.setFocus()
    QTest.keyClick(table.add, Qt.Key.Key_Space)
    for text in ("X-A", "1", "X-B", "2"):
        cell = table.focusWidget()
        assert isinstance(cell, QLineEdit)
        QTest.keyClicks(cell, text)
        QTest.keyClick(cell, Qt.Key.Key_Return)
    assert pairs(table) == [("X-A", "1"), ("X-B", "2")]
    QTest.keyClick(table.edits[2].name, Qt.Key.Key_Return)
    QTest.keyClick(table.edits[2].value, Qt.Key.Key_Return)
    assert len(table.edits) == 3, "an empty row is enough"
    QTest.keyClick(table.edits[0].value, Qt.Key.Key_Return)
    assert table.focusWidget() is table.edits[1].name


def test_stored_secret_is_replaced_by_typing(table: ValueTable[Header]) -> None:
    table.set_rows([Header("X-Key", stored=True)])
    row = table.edits[0]
    assert row.value.placeholderText().startswith("Stored")
    assert row.row().stored
    QTest.keyClicks(row.value, "new")
    assert not row.row().stored
    table.set_rows([Header("X-Plain", "1")])
    table.edits[0].lock.click()
    assert table.rows() == (Header("X-Plain", "1", locked=True),)
    assert "1" not in repr(table.rows())


def test_new_row_opens_no_window_of_its_own(table: ValueTable[Header]) -> None:
    opened: list[str] = []

    class Watch(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
                opened.append(type(watched).__name__)
            return False

    watch = Watch()
    app = QApplication.instance()
    assert app is not None
    app.installEventFilter(watch)
    try:
        table.add_named("X-Key")
    finally:
        app.removeEventFilter(watch)
    assert opened == []


def test_name_of_a_row_that_is_not_shown_yet_is_not_added_again(table: ValueTable[Header]) -> None:
    table.set_rows(Header(f"X-{number}", "1") for number in range(MOST + 5))
    table.add_named(f"x-{MOST + 4}")
    assert [row.name for row in table.rows()] == [f"X-{number}" for number in range(MOST + 5)]
