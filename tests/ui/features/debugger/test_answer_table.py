"""The table of prepared answers: match of the latest call, faults, editing by keys."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTableWidgetItem
from pytestqt.qtbot import QtBot

from playground.domain.debugging import Answer, AnswerRow, MatchKind
from playground.ui.features.debugger.answer_table import KINDS, MATCH, AnswerTable

OSLO = AnswerRow(match=MatchKind.EQUAL, pattern='{"city": "Oslo"}', answer=Answer(text="cold"))
ROME = AnswerRow(match=MatchKind.PATH, pattern="$[?@.city == 'Rome']", answer=Answer(text="hot"))
OTHERS = AnswerRow(answer=Answer(text="no such city", is_error=True))
CALL = '{ "city" : "Rome" }'


@pytest.fixture
def table(qtbot: QtBot, qapp: QApplication) -> Iterator[AnswerTable]:
    table = AnswerTable()
    qtbot.addWidget(table)
    table.set_rows((OSLO, ROME, OTHERS), CALL)
    table.resize(320, 700)
    table.show()
    qtbot.waitExposed(table)
    yield table
    table.hide()


def record_changes(table: AnswerTable) -> list[tuple[AnswerRow, ...]]:
    out: list[tuple[AnswerRow, ...]] = []
    table.changed.connect(out.append)
    return out


def cell(table: AnswerTable, row: int, column: int) -> QTableWidgetItem:
    item = table.table.item(row, column)
    assert item is not None
    return item


def test_rows_are_moved_copied_and_removed_by_keys(table: AnswerTable) -> None:
    emitted = record_changes(table)
    table.table.setFocus()
    QTest.keyClick(table.table, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert list(emitted[-1]) == [ROME, OSLO, OTHERS]
    assert table.selected == 0
    QTest.keyClick(table.table, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert list(emitted[-1]) == [ROME, ROME, OSLO, OTHERS]
    QTest.keyClick(table.table, Qt.Key.Key_Delete)
    assert list(emitted[-1]) == [ROME, OSLO, OTHERS]
    table.select(2)
    count = len(emitted)
    table.move_row(1)
    assert len(emitted) == count, "there is nowhere to go"
    for _ in range(3):
        table.delete()
    assert list(emitted[-1]) == []
    assert table.selected == -1
    table.delete()


def test_pattern_is_checked_while_typed(table: AnswerTable) -> None:
    emitted = record_changes(table)
    table.select(0)
    editor = table.editor
    editor.pattern.setPlainText('{"city": ')
    assert emitted[-1][0].pattern == '{"city": '
    assert editor.message.text().startswith("Not JSON: line 1, column")
    editor.pattern.setPlainText('{"city": "Rome"}')
    assert editor.message.text() == "Equals the latest call."
    assert table.matching == 0
    QTest.mouseClick(editor.kinds.buttons[KINDS.index(MatchKind.PATH)], Qt.MouseButton.LeftButton)
    QTest.keyClicks(editor.path.line, "$.town")
    assert (emitted[-1][0].match, emitted[-1][0].pattern) == (MatchKind.PATH, "$.town")
    assert editor.path.message.text() == "Does not match the latest call."
    QTest.mouseClick(editor.kinds.buttons[KINDS.index(MatchKind.EQUAL)], Qt.MouseButton.LeftButton)
    assert emitted[-1][0].pattern == '{"city": "Rome"}', "the way back finds what stood there"


def test_pattern_is_shown_as_plain_text(table: AnswerTable) -> None:
    table.set_rows((AnswerRow(match=MatchKind.PATH, pattern="<b>\u202e\n\n$"),), None)
    assert cell(table, 0, MATCH).text() == "<b>‹U+202E› $"
    assert "&lt;b&gt;" in cell(table, 0, MATCH).toolTip()
