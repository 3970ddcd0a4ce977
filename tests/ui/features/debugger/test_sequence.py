"""The picture of the loop: the scale and its breaks, the places of the bars, the ways to move in it."""

from __future__ import annotations

import statistics
import time
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from playground.engine.inspect.calls import Span, sequence
from playground.ui.features.debugger.sequence_view import BREAK_PX, LEAST_PX, Scale, SequencePage, usual_step
from playground.ui.features.debugger.sequence_words import clock_words
from tests.hostile.gaps import COUNTED, PASSES
from tests.ui.conftest import ShowWidget
from tests.ui.features.debugger.seen import answer, longest_slice, loop_of, round_of, session


@pytest.fixture
def page(show_widget: ShowWidget) -> SequencePage:
    return show_widget(SequencePage(), 860, 240)


def show(page: SequencePage, rounds: int) -> list[Span]:
    page.show_session(session(loop_of(rounds)))
    page.slices.finish()
    return list(page.view.spans)


# The scale


def test_time_runs_evenly_where_the_gateway_is_at_work() -> None:
    spans = sequence(session((*round_of(0, "Oslo"), answer(1, at=1.6))))
    scale = Scale(spans)
    assert usual_step(spans) == pytest.approx(1.0)
    assert scale.breaks == []
    widths = [scale.x(at + 0.2) - scale.x(at) for at in (0.1, 0.5, 1.7, 2.2)]
    assert widths == pytest.approx([widths[0]] * 4)


def test_a_long_wait_is_broken_and_one_width_however_long_it_is() -> None:
    for wait in (30.0, 3_000.0):
        spans = sequence(session((*round_of(0, "Oslo", answered=wait), answer(1, at=wait + 1.1))))
        scale = Scale(spans)
        (cut,) = scale.breaks
        assert [cut.start, cut.end] == pytest.approx([1.0, 1.0 + wait])
        assert cut.right - cut.left == BREAK_PX
        assert scale.width < 1_000


def test_what_is_very_short_can_still_be_seen_and_nothing_goes_back() -> None:
    spans = sequence(session((*round_of(0, *"abcdef", took=1e-6, answered=1e-7), answer(1, at=5.0, took=4.0))))
    scale = Scale(spans)
    moments = sorted({moment for span in spans for moment in (span.start, span.end)})
    xs = [scale.x(moment) for moment in moments]
    assert all(after - before >= LEAST_PX - 1e-6 for before, after in pairwise(xs))


def test_a_little_is_as_wide_as_the_room_and_zoom_makes_it_wider() -> None:
    spans = sequence(session((answer(1, at=0.0),)))
    assert Scale(spans, room=700).width == pytest.approx(700)
    assert Scale(spans, 2.0, room=700).width == pytest.approx(1400)
    assert Scale((), room=700).width == 0


def test_the_axis_names_round_moments_with_room_between_them() -> None:
    spans = sequence(session(loop_of(6)))
    scale = Scale(spans)
    step, ticks = scale.ticks(90)
    assert len(ticks) > 5
    assert all(after[1] - before[1] >= 90 for before, after in pairwise(ticks))
    assert all(moment / step == pytest.approx(round(moment / step)) for moment, _ in ticks)
    assert not any(cut.start < moment < cut.end for moment, _ in ticks for cut in scale.breaks)
    assert [clock_words(*pair) for pair in ((0, 1), (0.2, 0.1), (3, 1), (61.25, 0.05), (3700, 100))] == [
        "0",
        "0.2 s",
        "3 s",
        "1:01.25",
        "61:40",
    ]


# The picture


def test_each_thing_has_its_line_and_parallel_calls_stand_below_each_other(page: SequencePage) -> None:
    spans = show(page, 1)
    tops: dict[str, set[float]] = {}
    for at, span in enumerate(spans):
        tops.setdefault(span.kind, set()).add(page.view.rect_of(at).top())
    assert len(tops["call"]) == 2
    assert tops["call"] == tops["result"]
    assert tops["request"] == tops["text"]
    assert not tops["request"] & tops["call"]
    assert page.said.text == "2 requests · 2 calls · 3.00 s in all"
    assert page.view.accessibleDescription().startswith("2 requests")


def test_nothing_yet_is_said_in_words(page: SequencePage) -> None:
    page.show_session(session())
    page.slices.finish()
    assert page.empty.isVisible()
    assert not page.copy_button.isEnabled()


def test_a_click_goes_to_the_turn_and_the_call(page: SequencePage) -> None:
    spans = show(page, 2)
    asked: list[tuple[str, str]] = []
    page.card_asked.connect(lambda turn, call: asked.append((turn, call)))
    for at in (0, next(n for n, span in enumerate(spans) if span.kind == "call")):
        where = page.view.rect_of(at).center().toPoint()
        QTest.mouseClick(page.view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, where)
    assert asked == [("a0", ""), ("a0", "c0-0")]
    QTest.mouseClick(page.view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(5, 60))
    assert len(asked) == 2


def test_arrows_go_from_one_to_the_next_and_enter_goes_there(page: SequencePage) -> None:
    spans = show(page, 60)
    view = page.view
    view.setFocus()
    asked: list[str] = []
    page.card_asked.connect(lambda turn, _call: asked.append(turn))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Return):
        QTest.keyClick(view, key)
    assert view.current == spans[0]
    assert "Request 1 to m" in view.accessibleDescription()
    QTest.keyClick(view, Qt.Key.Key_End)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert view.current == spans[-1]
    assert view.viewport().rect().intersects(view.rect_of(len(spans) - 1).toRect())
    assert asked == ["a0", "a60"]


def test_zoom_keeps_what_is_under_the_pointer(page: SequencePage) -> None:
    show(page, 60)
    view = page.view
    view.horizontalScrollBar().setValue(2_000)
    at = next(n for n in range(len(view.spans)) if 300 < view.rect_of(n).left() < 500)
    where = view.rect_of(at).topLeft()
    for _ in range(3):
        event = QWheelEvent(
            where,
            QPointF(view.viewport().mapToGlobal(where.toPoint())),
            QPoint(),
            QPoint(0, 120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.ControlModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(view.viewport(), event)
    assert view.zoom > 2
    assert page.usual.text() == "280 %"
    assert view.rect_of(at).left() == pytest.approx(where.x(), abs=60)
    QTest.keyClick(view, Qt.Key.Key_0)
    assert view.zoom == 1.0


def test_it_stays_at_the_right_end_while_more_comes(page: SequencePage) -> None:
    found = session(loop_of(30))
    page.show_session(found)
    page.slices.finish()
    bar = page.view.horizontalScrollBar()
    assert bar.value() == bar.maximum() > 0
    before = bar.maximum()
    for turn in round_of(99, "Paris", at=80):
        found.turns.add_turn(turn)
    page.slices.finish()
    assert bar.value() == bar.maximum() > before
    bar.setValue(100)
    found.turns.add_turn(answer(100, at=90))
    page.slices.finish()
    assert bar.value() == 100


def test_the_picture_is_there_in_words(page: SequencePage) -> None:
    show(page, 1)
    page.copy_button.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "2 requests · 2 calls · 3.00 s in all"
    assert lines[1].startswith("Request 1 at 0 ms: 333 ms until the answer began; call of get_weather;")
    assert lines[1].endswith("answered from the table after 500 ms")
    assert lines[2].startswith("Request 2 at 2.00 s")


def test_every_bar_has_words_for_the_pointer(page: SequencePage) -> None:
    from playground.ui.features.debugger.sequence_words import about

    spans = show(page, 1)
    words = {span.kind: about(span, 1) for span in spans}
    assert "arguments arrived within 333 ms" in words["call"]
    assert "They fit the schema" in words["call"]
    assert "came from the table, after 500 ms" in words["result"]
    assert "first of the answer came after" in words["request"]
    assert words["text"].startswith("Request 1\nText for")


def test_thousands_of_requests_cost_no_frame(page: SequencePage, qtbot: QtBot) -> None:
    slices = []
    for _ in range(PASSES):  # what the code does is done in each of them, what the machine does is not
        page.show_session(session(loop_of(1)))
        qtbot.waitUntil(lambda: 0 < len(page.view.spans) < 1_000, timeout=20_000)
        with longest_slice(page.slices) as longest:
            page.show_session(session(loop_of(3_000)))
            qtbot.waitUntil(lambda: len(page.view.spans) > 1_000, timeout=20_000)
        slices.append(longest[0])
        if longest[0] < 0.04:
            break
    assert min(slices) < 0.04
    assert page.said.text.startswith("the last 300 of 3,001 requests")
    painted = []
    for _ in range(20):
        began = time.thread_time()
        page.view.viewport().repaint()
        painted.append(time.thread_time() - began)
    assert COUNTED.on_quiet(statistics.median(painted)) < 0.016
