"""The text of differences: signs, words and limits."""

from __future__ import annotations

from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from playground.engine.inspect.compare import diff_json
from playground.ui.features.inspector.change_text import MAX_DIFFERENCES, ChangeText
from playground.ui.widgets.theme import tokens


def test_long_texts_are_compared_by_word(qtbot: QtBot) -> None:
    text = ChangeText("Differences")
    qtbot.addWidget(text)
    same = "the same words again and again, " * 40
    text.show_differences(diff_json({"m": f"{same}old end"}, {"m": f"{same}new end"}))
    displayed = text.toPlainText()
    assert "old new end" in displayed.replace("  ", " ")
    assert "characters …" in displayed
    assert struck(text, "old")
    assert not struck(text, "new")


def test_omitted_differences_are_counted(qtbot: QtBot) -> None:
    text = ChangeText("Differences")
    qtbot.addWidget(text)
    text.show_differences(diff_json({}, {f"m{number}": 1 for number in range(MAX_DIFFERENCES + 7)}))
    assert text.toPlainText().endswith("… 7 more differences")
    text.show_differences(diff_json({"m": 1}, {"m": "\u202e" * 3}))
    assert "‹U+202E›" in text.toPlainText()


def struck(text: ChangeText, words: str) -> bool:
    cursor: QTextCursor = text.document().find(words)
    assert not cursor.isNull()
    form = cursor.charFormat()
    assert form.foreground().color().name().upper() in (tokens().error, tokens().ok)
    return form.fontStrikeOut()
