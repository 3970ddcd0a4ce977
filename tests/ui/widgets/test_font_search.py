"""Text in a script whose font is not found yet is drawn as boxes, then as it is; its characters never change."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFont, QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets import font_search
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.font_search import FontSearch

BOXES = QFont.StyleStrategy.NoFontMerging
NKO, LISU, VAI = "\u07ca\u07cb", "\ua4d0\ua4d1", "\ua500\ua501"
LONG_MS = 20_000


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch, qapp: QApplication) -> FontSearch:
    """A search that has found nothing, and has time for one look in each turn of the loop."""
    monkeypatch.setattr(font_search, "AT_ONCE_S", 0)
    qapp.fontDatabaseChanged.emit()
    return font_search.font_search()


def boxes_of(document: QTextDocument) -> list[str]:
    """The texts that are drawn as boxes."""
    found = []
    block = document.begin()
    while block.isValid():
        parts = block.begin()
        while not parts.atEnd():
            fragment = parts.fragment()
            if fragment.charFormat().fontStyleStrategy() == BOXES:
                found.append(fragment.text())
            parts += 1
        block = block.next()
    return found


def test_message_shows_rare_script_once_its_font_is_found(qtbot: QtBot, search: FontSearch) -> None:
    view = TextView()
    qtbot.addWidget(view)
    view.append(f"Known, **{NKO}** and `{LISU}`\n\n| a | b |\n|---|---|\n| {VAI} | x |\n")
    assert boxes_of(view.document()) == [NKO, LISU, VAI]
    view.append(f"\nMore {VAI} of it")
    shown = view.document().toPlainText()
    qtbot.waitUntil(lambda: not boxes_of(view.document()), timeout=LONG_MS)
    assert view.document().toPlainText() == shown
    assert shown.endswith(f"More {VAI} of it")


def test_editor_shows_rare_script_once_its_font_is_found(qtbot: QtBot, search: FontSearch) -> None:
    editor = CodeEditor()
    qtbot.addWidget(editor)
    text = f'{{"a": "{NKO}{LISU}"}}'
    editor.setPlainText(text)
    assert editor.document().defaultFont().styleStrategy() == BOXES
    editor.show()  # a style sheet gives it its font once more
    assert editor.document().defaultFont().styleStrategy() == BOXES
    assert editor.text() == text
    qtbot.waitUntil(lambda: editor.document().defaultFont() == editor.font(), timeout=LONG_MS)
    assert editor.text() == text
