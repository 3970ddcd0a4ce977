"""The editor by keyboard: typed text stays exactly as it is, marks stay at their places."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.folds import MARK
from playground.ui.widgets.json_text import pretty


@pytest.fixture
def editor(qtbot: QtBot) -> CodeEditor:
    editor = CodeEditor()
    qtbot.addWidget(editor)
    return editor


def test_enter_after_a_bracket_indents(editor: CodeEditor) -> None:
    QTest.keyClicks(editor, '{"a": [')
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "1,")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "2")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "]")
    assert editor.text() == '{"a": [\n  1,\n  2\n]'
    editor.setPlainText("{}")
    cursor = editor.textCursor()
    cursor.setPosition(1)
    editor.setTextCursor(cursor)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert editor.text() == "{\n  \n}"
    assert editor.textCursor().position() == 4


def test_tab_inserts_spaces_and_shift_tab_leaves(qtbot: QtBot) -> None:
    window = QWidget()
    before, editor, after = QLineEdit(), CodeEditor(), QLineEdit()
    column = QVBoxLayout(window)
    column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
    for widget in (before, editor, after):
        column.addWidget(widget)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    editor.setFocus()
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.text() == "  "
    assert window.focusWidget() is editor
    QTest.keyClick(editor, Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    assert window.focusWidget() is before
    editor.setFocus()
    QTest.keyClick(editor, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    assert window.focusWidget() is after
    assert "Shift+Tab" in editor.accessibleDescription()
    window.hide()


def test_tab_indents_selected_lines(editor: CodeEditor) -> None:
    editor.setPlainText("a\nb\nc")
    editor.selectAll()
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.text() == "  a\n  b\n  c"


def test_text_is_returned_exactly(editor: CodeEditor) -> None:
    exact = "no\u00a0break \u202e zero\u200bwidth\ttab"
    editor.setPlainText(exact)
    assert editor.text() == exact
    editor.setPlainText("lone \ud800 surrogate")
    assert editor.text() == "lone ‹U+D800› surrogate"


def test_pasted_text_is_plain(editor: CodeEditor) -> None:
    data = QMimeData()
    data.setHtml("<b>x</b>")
    data.setText("a\r\nb\rc")
    editor.insertFromMimeData(data)
    assert editor.text() == "a\nb\nc"


def test_read_only_view_shows_hidden_characters_and_appends(qtbot: QtBot) -> None:
    view = CodeEditor(read_only=True)
    qtbot.addWidget(view)
    view.show_text("data: a\u202eb\r\n")
    assert view.text() == "data: a‹U+202E›b\n"
    cursor = view.textCursor()
    cursor.setPosition(3)
    view.setTextCursor(cursor)
    view.show_text("data: a\u202eb\r\ndata: c")
    assert view.text() == "data: a‹U+202E›b\ndata: c"
    assert view.textCursor().position() == 3
    QTest.keyClicks(view, "typed")
    assert "typed" not in view.text()


def test_hidden_characters_are_marked_in_an_editor(editor: CodeEditor) -> None:
    editor.resize(300, 80)
    editor.setPlainText("abc")
    plain = editor.grab().toImage()
    editor.setPlainText("ab\u200bc")
    assert editor.grab().toImage() != plain


def test_marks_and_positions_are_right_among_folds(editor: CodeEditor) -> None:
    editor.may_fold = True
    long = "x" * 30_000
    text = '{"first": 1,\n"long": "' + long + '", "behind": nope,\n"after": 5}'
    editor.setPlainText(text)
    assert editor.folds
    assert editor.text() == text
    editor.mark(2, text.split("\n")[1].index("nope") + 1, "not JSON")
    assert editor.extraSelections()[-1].cursor.selectedText() == "nope"
    editor.mark(3, 10, "too large")
    assert editor.extraSelections()[-1].cursor.selectedText().startswith("5")
    editor.go_to(2, 15_000)
    assert editor.document().characterAt(editor.textCursor().position()) == MARK
    for index in (0, 14, 2_000, len(text) - 500, len(text)):
        cursor = QTextCursor(editor.document())
        cursor.setPosition(editor.place_of(index))
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        editor.setTextCursor(cursor)
        data = editor.createMimeDataFromSelection()
        assert data.text() == text[index:]


def test_very_long_json_is_formatted_and_folded_in_one_step(editor: CodeEditor) -> None:
    editor.may_fold = True
    text = '{"a":"' + "x" * 30_000 + '","b":[' + "1," * 12_000 + "1]}"
    editor.setPlainText(text)
    editor.format_json()
    assert editor.text() == pretty(text)
    assert editor.document().blockCount() < 12_000
    editor.undo()
    assert editor.text() == text
