"""Large texts: parts, search, copies and folding."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from playground.ui.features.conversation import large
from playground.ui.features.conversation.large import LARGE, LINES, Part
from playground.ui.features.conversation.text_view import TextView
from tests.support.each_case import each_case
from tests.ui.conftest import ShowWidget

SHAPES = {
    "lines": "".join(f"line {n} of a log, token {n % 7}\n" for n in range(9_000)),
    "one line": "abcdefghij" * 20_000,
    "one line of words": "some token words " * 15_000,
    "line ends only": "\n" * 50_000,
    "as on Windows": "a line\r\nanother token\r\n" * 6_000,
    "old line ends": "a line\ranother token\r" * 6_000,
    "long lines": ("token " * 3_000 + "\n") * 12,
    "other scripts": "寿司 token 😀 привет\n" * 9_000,
    "hidden characters": "a\u200btoken\u202e x\x07\n" * 9_000,
    "one long line, then many": "x" * 90_000 + "\n" + "token\n" * 9_000,
}


@pytest.fixture
def view(show_widget: ShowWidget) -> TextView:
    return show_widget(TextView(mode="raw"), 600, 400)


def ends_of(text: str, start: int, stop: int) -> bool:
    return text[start:stop] in ("", "\n", "\r\n", "\r")


@each_case("text", SHAPES.values())
def test_parts_cover_the_text_in_both_directions(text: str) -> None:
    part: Part | None = large.part_from(text, 0)
    before = 0
    while part is not None:
        assert ends_of(text, before, part.start)
        assert part.stop - part.start <= LARGE
        assert large.line_ends(text, *part) <= LINES
        before, part = part.stop, large.after(text, part)
    assert ends_of(text, before, len(text))
    part = large.last(text)
    assert part.stop == len(text)
    while (earlier := large.before(text, part)) is not None:
        assert earlier.start < part.start <= earlier.stop + 2
        part = earlier
    assert part.start == 0
    for place in range(0, len(text), 7_777):
        part = large.around(text, place)
        assert part.start <= place <= part.stop + 1


def test_large_text_is_folded_and_opened(view: TextView, qtbot: QtBot) -> None:
    text = SHAPES["lines"]
    view.set_text(text)
    assert view.row is not None
    assert view.row.isVisible()
    words = view.row.words
    qtbot.waitUntil(lambda: "9,000 lines" in words.text())
    assert view.document().blockCount() == large.BEGINNING_LINES
    folded = view.height()
    view.row.asked.emit("all")
    qtbot.waitUntil(lambda: view.whole)
    assert view.document().blockCount() == LINES
    assert view.heightForWidth(600) > folded
    assert "lines 1 to 800" in words.text()
    view.row.asked.emit("after")
    assert view.toPlainText().startswith("line 800 of a log")
    view.row.asked.emit("last")
    qtbot.waitUntil(lambda: view.whole)
    assert view.toPlainText().rstrip().endswith("line 8999 of a log, token 4")
    view.row.asked.emit("before")
    view.row.asked.emit("fold")
    assert view.document().blockCount() == large.BEGINNING_LINES
    view.set_text("short")
    assert not view.row.isVisible()


def test_growing_text_is_drawn_until_it_is_large(view: TextView) -> None:
    piece = "some words of an answer, " * 40 + "\n\n"
    while not view.shown.folds:
        view.append(piece)
    drawn = view.document().characterCount()
    for _ in range(50):
        view.append(piece)
    assert view.document().characterCount() == drawn
    assert view.row is not None
    assert view.row.isVisible()
    assert view.source == piece * (len(view.source) // len(piece))
