"""Large texts: a part is shown, more on request, and a text that grows."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from playground.ui.features.conversation.caps import (
    BEGINNING,
    BEGINNING_LINES,
    GROWING,
    LARGE,
    LARGE_MARKDOWN,
    LINES,
    MARKDOWN_LINES,
    PER_FRAME,
)
from playground.ui.features.conversation.shown_text import beginning, is_large
from playground.ui.features.conversation.text_view import TextView
from tests.support.each_case import each_case
from tests.ui.conftest import ShowWidget

SHAPES = {
    "lines": "".join(f"line {n} of a log, token {n % 7}\n" for n in range(9_000)),
    "one line": "abcdefghij" * 20_000,
    "line ends only": "\n" * 50_000,
    "as on Windows": "a line\r\nanother token\r\n" * 6_000,
    "old line ends": "a line\ranother token\r" * 6_000,
    "long lines": ("token " * 3_000 + "\n") * 12,
    "hidden characters": "a\u200btoken\u202e x\x07\n" * 9_000,
    "one long line, then many": "x" * 90_000 + "\n" + "token\n" * 9_000,
}


@pytest.fixture
def view(show_widget: ShowWidget) -> TextView:
    return show_widget(TextView(mode="raw"), 600, 400)


@pytest.fixture
def markdown_view(show_widget: ShowWidget) -> TextView:
    return show_widget(TextView(), 600, 400)


@each_case("text", SHAPES.values())
def test_large_text_is_drawn_in_part_and_at_any_place(view: TextView, text: str) -> None:
    view.set_text(text)
    assert view.shown.part == (0, beginning(text, "raw"))
    assert view.shown.part.stop <= BEGINNING
    assert view.document().blockCount() <= BEGINNING_LINES + 1
    for place in range(len(text) - 1, -1, -len(text) // 9):
        view.show_place(place)
        start, stop = view.shown.part
        assert start <= place < stop
        drawn = view.toPlainText().replace("\n", "")
        assert "token" in drawn or "token" not in text[start:stop]
    assert view.source == text


def test_large_text_says_how_much_is_shown_and_shows_more(view: TextView) -> None:
    text = SHAPES["lines"]
    view.set_text(text)
    row = view.row
    assert row is not None
    assert row.isVisible()
    assert row.words.text() == f"First 769 bytes of {len(text) / 1024:.0f} KB"
    collapsed = view.heightForWidth(600)
    QTest.mouseClick(row.more, Qt.MouseButton.LeftButton)
    assert view.document().blockCount() == BEGINNING_LINES + LINES - 1
    assert text.startswith(view.toPlainText())
    assert view.heightForWidth(600) > collapsed
    QTest.mouseClick(row.collapse, Qt.MouseButton.LeftButton)
    assert view.heightForWidth(600) == collapsed
    view.show_place(len(text) // 2)
    assert row.words.text().startswith("Characters ")
    view.set_text("short")
    assert not row.isVisible()


def test_size_from_which_a_text_is_large() -> None:
    assert not is_large("x" * LARGE, "raw")
    assert is_large("x" * (LARGE + 1), "raw")
    assert not is_large("x\n" * LINES, "plain")
    assert is_large("x\n" * (LINES + 1), "plain")
    assert not is_large("x\n" * LINES * 2, "markdown")
    assert is_large("x" * (LARGE_MARKDOWN + 1), "markdown")


@each_case(
    "text", ["- a\n" * 12_000, ("- " * 9 + "a\n") * 5_000, "|a|b|\n|-|-|\n" + "|c|d|\n" * 8_000, "a\n\n" * 16_000]
)
def test_markdown_of_many_lines_is_drawn_in_part(markdown_view: TextView, text: str) -> None:
    markdown_view.set_text(text)
    assert markdown_view.shown.is_capped
    assert markdown_view.document().blockCount() < 3 * MARKDOWN_LINES
    markdown_view.shown.show_more()
    assert markdown_view.shown.part.stop > PER_FRAME


@each_case("mode, cap", [("raw", LARGE), ("markdown", GROWING)])
def test_growing_text_is_drawn_up_to_a_cap(show_widget: ShowWidget, mode: str, cap: int) -> None:
    view = show_widget(TextView(mode=mode), 600, 400)
    piece = "some words of an answer, " * 40 + "\n\n"
    while not view.shown.is_capped:
        view.append(piece)
    drawn = view.document().characterCount()
    assert drawn > min(cap, LINES) // 2
    for _ in range(50):
        view.append(piece)
    assert view.document().characterCount() == drawn
    assert view.row is not None
    assert view.row.isVisible()
    assert view.source == piece * (len(view.source) // len(piece))


def test_text_received_at_once_is_drawn_frame_by_frame(markdown_view: TextView, qtbot: QtBot) -> None:
    view = markdown_view
    view.append("first\n\n")
    view.append("many words " * 5_000)
    assert view.shown.part.stop <= PER_FRAME
    assert view.row is None, "it says nothing of a cap while it draws on"
    qtbot.waitUntil(lambda: view.shown.part.stop == view.shown.length)
    assert view.toPlainText().endswith("many words")
