"""The replacement of text in an editor line by line."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from playground.ui.features.inspector.next_request import put_lines
from playground.ui.widgets.code_editor import CodeEditor


@pytest.fixture
def editor(qtbot: QtBot) -> CodeEditor:
    editor = CodeEditor()
    qtbot.addWidget(editor)
    return editor


TEXTS = st.lists(st.sampled_from(["", "a", "b", "{", '  "c": 1', "😀"]), max_size=8).map("\n".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_any_text_replaces_any_other(editor: CodeEditor, texts: list[str]) -> None:
    for text in texts:
        put_lines(editor, text)
        assert editor.text() == text


def test_cursor_stays_in_an_unchanged_line(editor: CodeEditor) -> None:
    put_lines(editor, "one\ntwo\nthree\nfour")
    editor.go_to(4, 3)
    put_lines(editor, "one\ntwo and a half\nand more\nthree\nfour")
    cursor: QTextCursor = editor.textCursor()
    assert (cursor.block().text(), cursor.positionInBlock()) == ("four", 2)
    editor.undo()
    assert editor.text() == "one\ntwo and a half\nand more\nthree\nfour"
