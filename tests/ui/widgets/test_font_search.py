"""What no font was looked for yet is drawn as boxes, and then as it is; what it says is the same all the while."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFont, QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets import font_search
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.font_search import PIECES, FontSearch
from playground.ui.widgets.theme import body_font

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


def test_a_text_is_cut_where_a_font_is_missing_until_it_is_found(
    qtbot: QtBot, qapp: QApplication, search: FontSearch
) -> None:
    text = f"one {NKO} two {LISU}: three"
    assert search.split(body_font(), "plain words") == ["plain words"]
    # The signs behind a letter count as of its script: Qt would look for a font for them, too.
    assert search.split(body_font(), text) == ["one ", f"{NKO} ", "two ", f"{LISU}: ", "three"]
    qtbot.waitUntil(lambda: search.split(body_font(), text) == [text], timeout=LONG_MS)
    bold = body_font()
    bold.setBold(True)
    assert len(search.split(bold, text)) > 1  # every font is looked for
    qapp.fontDatabaseChanged.emit()
    assert len(search.split(body_font(), text)) > 1  # and all of them again when fonts have come or gone


def test_a_text_is_cut_into_few_pieces(search: FontSearch) -> None:
    text = f"a{NKO}" * 5_000
    pieces = search.split(body_font(), text)
    assert "".join(pieces) == text
    assert len(pieces) <= 2 * PIECES + 3


def test_a_text_of_a_turn_has_boxes_only_for_a_moment(qtbot: QtBot, search: FontSearch) -> None:
    view = TextView()
    qtbot.addWidget(view)
    view.append(f"Known, **{NKO}** and `{LISU}`\n\n| a | b |\n|---|---|\n| {VAI} | x |\n")
    assert boxes_of(view.document()) == [NKO, LISU, VAI]
    view.append(f"\nMore {VAI} of it")
    shown = view.document().toPlainText()
    qtbot.waitUntil(lambda: not boxes_of(view.document()), timeout=LONG_MS)
    assert view.document().toPlainText() == shown
    assert shown.endswith(f"More {VAI} of it")


def test_what_is_taken_away_before_its_font_is_found_is_gone(qtbot: QtBot, search: FontSearch) -> None:
    view = TextView()
    qtbot.addWidget(view)
    view.set_text(f"Some {NKO}")
    view.set_text("Something else")
    with qtbot.waitSignal(search.found, timeout=LONG_MS):
        search.split(body_font(), LISU)
    assert view.document().toPlainText() == "Something else"
    assert boxes_of(view.document()) == []


def test_an_editor_has_boxes_only_for_a_moment(qtbot: QtBot, search: FontSearch) -> None:
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
