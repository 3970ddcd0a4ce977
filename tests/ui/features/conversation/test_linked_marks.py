"""Characters of the source are marked where they are drawn; what is selected is told as characters of the source."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from playground.ui.features.conversation.text_view import TextView
from tests.ui.features.conversation.test_source_map import SOURCE, WORDS


def view_of(qtbot: QtBot, mode: str, text: str) -> TextView:
    view = TextView(mode=mode)
    qtbot.addWidget(view)
    view.resize(500, 400)
    view.set_text(text)
    view.show()
    return view


def marked(view: TextView) -> str:
    out = []
    for begin, end in view.linked.places:
        cursor = QTextCursor(view.document())
        cursor.setPosition(begin)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        out.append(cursor.selectedText())
    return "".join(out)


@pytest.mark.parametrize("mode", ["markdown", "plain", "raw"])
def test_words_are_marked_and_found_when_selected(qtbot: QtBot, mode: str) -> None:
    view = view_of(qtbot, mode, SOURCE)
    for words in WORDS:
        at = SOURCE.index(words)
        view.show_linked([(at, at + len(words))])
        assert marked(view) == words
        (begin, _), (_, end) = view.linked.places[0], view.linked.places[-1]
        cursor = QTextCursor(view.document())
        cursor.setPosition(begin)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        assert view.linked.selected(cursor) == (at, at + len(words)), words


def test_marks_are_painted_and_taken_away(qtbot: QtBot) -> None:
    view = view_of(qtbot, "markdown", "Some **bold** words to look at.")
    before = view.grab().toImage()
    at = view.source.index("bold")
    view.show_linked([(at, at + 4)])
    assert view.grab().toImage() != before
    view.show_linked([])
    assert view.grab().toImage() == before


def test_marks_stay_while_the_text_grows_and_when_it_is_drawn_another_way(qtbot: QtBot) -> None:
    view = view_of(qtbot, "markdown", "One *two")
    view.show_linked([(5, 14)])
    assert marked(view) == "two"
    view.append(" three* four\n\n- five")
    assert view.source[5:14] == "two three"
    assert marked(view) == "two three"
    view.set_mode("raw")
    assert marked(view) == "two three"
    view.set_text("something else entirely")
    assert marked(view) == "hing else"


def test_hidden_characters_are_marked_as_they_are_drawn(qtbot: QtBot) -> None:
    view = view_of(qtbot, "raw", "a\u202eb🎉c\nd")
    view.show_linked([(1, 4)])
    assert marked(view) == "‹U+202E›b🎉"
    view.show_linked([(4, 5)])
    assert marked(view) == "c"


def test_a_text_that_is_spelled_otherwise(qtbot: QtBot) -> None:
    original = '{"a":[1,2],"b":"x"}'
    view = view_of(qtbot, "raw", '{\n  "a": [\n    1,\n    2\n  ],\n  "b": "x"\n}')
    view.linked.stand_for(original)
    view.show_linked([(original.index('"b"'), original.index('"x"'))])
    assert marked(view) == '"b":'
