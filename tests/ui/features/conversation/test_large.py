"""Texts of any size: only a part of a large one is drawn, all of it can be reached, found and copied."""

from __future__ import annotations

import re
import time
from collections.abc import Generator

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from playground.ui.features.conversation import large
from playground.ui.features.conversation.large import LARGE, LINES, Part, found_places, look_through
from playground.ui.features.conversation.text_view import TextView

SHAPES = {
    "lines": "".join(f"line {n} of a log, token {n % 7}\n" for n in range(9_000)),
    "one line": "abcdefghij" * 30_000,
    "one line of words": "some token words " * 15_000,
    "line ends only": "\n" * 50_000,
    "as on Windows": "a line\r\nanother token\r\n" * 6_000,
    "old line ends": "a line\ranother token\r" * 6_000,
    "long lines": ("token " * 3_000 + "\n") * 12,
    "other scripts": "寿司 token 😀 привет\n" * 9_000,
    "hidden characters": "a\u200btoken\u202e x\x07\n" * 9_000,
    "one long line, then many": "x" * 90_000 + "\n" + "token\n" * 9_000,
}


@pytest.fixture(params=SHAPES)
def text(request: pytest.FixtureRequest) -> str:
    return SHAPES[request.param]


@pytest.fixture
def view(qtbot: QtBot) -> TextView:
    view = TextView(mode="raw")
    qtbot.addWidget(view)
    view.resize(600, 400)
    view.show()
    qtbot.waitExposed(view)
    return view


def ends_of(text: str, start: int, stop: int) -> bool:
    return text[start:stop] in ("", "\n", "\r\n", "\r")


def ended(steps: Generator[None, None, int]) -> int:
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return int(done.value)


def test_parts_follow_one_another_and_nothing_is_left_out(text: str) -> None:
    part: Part | None = large.part_from(text, 0)
    before = 0
    while part is not None:
        assert ends_of(text, before, part.start)
        assert part.stop - part.start <= LARGE
        assert large.line_ends(text, *part) <= LINES
        before, part = part.stop, large.after(text, part)
    assert ends_of(text, before, len(text))


def test_parts_lead_back_to_the_beginning(text: str) -> None:
    part = large.last(text)
    assert part.stop == len(text)
    while (earlier := large.before(text, part)) is not None:
        assert earlier.start < part.start <= earlier.stop + 2
        part = earlier
    assert part.start == 0


def test_each_character_has_a_part(text: str) -> None:
    for place in range(0, len(text), 7_777):
        part = large.around(text, place)
        assert part.start <= place <= part.stop + 1


def test_what_is_found_in_all_of_it_is_what_the_parts_show(text: str, view: TextView, qtbot: QtBot) -> None:
    pattern = re.compile("token|a", re.IGNORECASE)
    count = ended(look_through(text, pattern, "raw"))
    view.set_text(text)
    view.show_found(pattern, None)
    assert view.found.count == count == len(found_places(text, pattern) or ())
    seen, stop = 0, -1
    assert view.row is not None
    view.row.asked.emit("all")
    while view.shown.part.stop != stop:
        qtbot.waitUntil(lambda: view.whole)
        view.found.chosen = seen
        assert view.found.places == [] or view.found.current == 0
        seen += len(view.found.places)
        stop = view.shown.part.stop
        view.row.asked.emit("after")
    assert seen == count
    large.forget_places()


def test_a_place_that_is_found_is_opened(view: TextView, qtbot: QtBot) -> None:
    text = "nothing here\n" * 60_000 + "the needle\n" + "nothing here\n" * 60_000
    pattern = re.compile("needle")
    assert ended(look_through(text, pattern, "raw")) == 1
    view.set_text(text)
    view.show_found(pattern, 0)
    assert view.found.places == []
    view.show_place(view.found.chosen_at or 0)
    qtbot.waitUntil(lambda: view.whole)
    begin, end = view.found.places[view.found.current or 0]
    assert view.toPlainText()[begin:end] == "needle"
    large.forget_places()


def test_a_large_text_is_folded_opened_and_folded_again(view: TextView, qtbot: QtBot) -> None:
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


def test_all_that_is_selected_of_a_large_text_is_all_of_it(text: str, view: TextView) -> None:
    view.set_text(text)
    view.selectAll()
    view.copy()
    assert QGuiApplication.clipboard().text() == text
    assert view.row is not None
    QGuiApplication.clipboard().clear()
    view.row.copy.click()
    assert QGuiApplication.clipboard().text() == text


@pytest.mark.parametrize("mode", ["markdown", "raw"])
def test_what_comes_is_drawn_until_it_is_large_and_counted_from_there(view: TextView, mode: str) -> None:
    view.set_mode(mode)
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


@pytest.mark.parametrize("mode", ["markdown", "plain", "raw"])
@pytest.mark.parametrize("shape", ["lines", "one line"])
def test_ten_megabytes_cost_no_more_than_what_is_seen_of_them(qtbot: QtBot, mode: str, shape: str) -> None:
    def seconds(text: str) -> float:
        best = 1e9
        for _ in range(3):
            view = TextView(mode=mode)
            qtbot.addWidget(view)
            view.resize(600, 400)
            began = time.thread_time()
            view.set_text(text)
            view.heightForWidth(500)
            view.set_zoom(1.1)
            best = min(best, time.thread_time() - began)
        return best

    text = SHAPES[shape] * (10_000_000 // len(SHAPES[shape]))
    whole = text[: LARGE // 2] if shape == "one line" else "\n".join(text.split("\n")[: LINES // 2])
    assert seconds(text) < 3 * seconds(whole) + 0.05


def test_marks_of_the_wire_stand_right_in_an_opened_part(view: TextView, qtbot: QtBot) -> None:
    text = "0123456789\n" * 40_000
    at = 11 * 30_000 + 3
    view.set_text(text)
    view.show_linked([(at, at + 4)])
    assert view.linked.places == []
    view.show_place(at)
    qtbot.waitUntil(lambda: view.whole)
    ((begin, end),) = view.linked.places
    assert view.toPlainText()[begin:end] == "3456"
    cursor = view.textCursor()
    cursor.setPosition(begin)
    cursor.setPosition(end, cursor.MoveMode.KeepAnchor)
    assert view.linked.selected(cursor) == (at, at + 4)
