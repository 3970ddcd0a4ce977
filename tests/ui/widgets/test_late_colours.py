"""Colours come at once for what is short, a slice at a time for what is long, and wherever they are due in the end."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QTextBlock, QTextCursor
from pytestqt.qtbot import QtBot

from playground.ui.features.code.get_code_window import CodeView
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.json_highlight import JsonHighlighter
from playground.ui.widgets.late_colours import AT_ONCE, LINE
from tests.ui.conftest import ShowWidget

ROW = '{"a": 1}\n'
MANY = 6 * AT_ONCE // (len(ROW) + LINE)


@pytest.fixture
def editor(show_widget: ShowWidget) -> CodeEditor:
    return show_widget(CodeEditor(), 600, 200)


def blocks(editor: CodeEditor) -> list[QTextBlock]:
    document = editor.document()
    return [document.findBlockByNumber(number) for number in range(document.blockCount())]


def plain(editor: CodeEditor) -> list[int]:
    """The lines with words and without colours."""
    return [block.blockNumber() for block in blocks(editor) if block.text() and not block.layout().formats()]


def colours_of(editor: CodeEditor) -> JsonHighlighter:
    found = editor.document().findChild(JsonHighlighter)
    assert isinstance(found, JsonHighlighter)
    return found


def test_what_is_short_has_its_colours_at_once(editor: CodeEditor) -> None:
    editor.setPlainText(ROW * 3)
    assert not plain(editor)
    assert colours_of(editor).whole


@pytest.mark.parametrize("rows", [3, MANY])
def test_other_colours_are_nothing_that_was_typed(editor: CodeEditor, qtbot: QtBot, rows: int) -> None:
    editor.setPlainText(ROW * rows)
    told: list[str] = []
    editor.textChanged.connect(lambda: told.append("changed"))
    colours_of(editor).recolour()
    qtbot.waitUntil(lambda: colours_of(editor).whole)
    assert not plain(editor)
    assert told == []


def test_a_long_text_has_a_beginning_with_colours_and_the_rest_soon(editor: CodeEditor, qtbot: QtBot) -> None:
    editor.setPlainText(ROW * MANY)
    left = plain(editor)
    assert left == list(range(MANY - len(left), MANY)), "not its beginning"
    assert len(left) > MANY // 2, "all of it at once"
    qtbot.waitUntil(lambda: colours_of(editor).whole)
    assert not plain(editor)


def test_what_is_changed_meanwhile_has_its_colours_in_the_end(editor: CodeEditor, qtbot: QtBot) -> None:
    editor.setPlainText(ROW * MANY)
    cursor = QTextCursor(editor.document())
    cursor.insertText('{"first": true}\n')
    cursor.movePosition(QTextCursor.MoveOperation.End)
    cursor.insertText(ROW * MANY + '{"last": null}')
    cursor.setPosition(editor.document().findBlockByNumber(MANY // 2).position())
    cursor.insertText("5\n")
    qtbot.waitUntil(lambda: colours_of(editor).whole)
    assert not plain(editor)
    colours_of(editor).recolour()
    qtbot.waitUntil(lambda: colours_of(editor).whole)
    assert not plain(editor)


def test_a_text_that_goes_while_it_is_coloured_takes_nothing_along(editor: CodeEditor, qtbot: QtBot) -> None:
    editor.setPlainText(ROW * MANY)
    editor.setPlainText("")
    qtbot.waitUntil(lambda: colours_of(editor).whole)
    editor.setPlainText(ROW)
    assert not plain(editor)


def test_long_code_is_read_on_as_there_is_time(qtbot: QtBot) -> None:
    view = CodeView()
    qtbot.addWidget(view)
    view.resize(600, 200)
    view.show()
    view.show_code("import os  # said\n" * 1_500, "python")
    left = plain(view)
    assert 0 < len(left) < 1_500
    assert left[-1] == 1_499
    qtbot.waitUntil(lambda: not plain(view))
    view.hide()
