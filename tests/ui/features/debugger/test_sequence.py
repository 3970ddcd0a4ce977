"""The sequence of requests and calls: navigation and text."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from playground.engine.inspect.calls import Span
from playground.ui.features.debugger.sequence import SequencePage
from tests.ui.conftest import ShowWidget
from tests.ui.features.debugger.seen import answer, loop_of, round_of, session


@pytest.fixture
def page(show_widget: ShowWidget) -> SequencePage:
    return show_widget(SequencePage(), 860, 240)


def show(page: SequencePage, rounds: int) -> list[Span]:
    page.show_session(session(loop_of(rounds)))
    page.throttle.flush()
    return list(page.view.spans)


def test_click_leads_to_the_turn_and_call(page: SequencePage) -> None:
    spans = show(page, 2)
    requests: list[tuple[str, str]] = []
    page.card_asked.connect(lambda turn, call: requests.append((turn, call)))
    for position in (0, next(n for n, span in enumerate(spans) if span.kind == "call")):
        where = page.view.rect_of(str(position)).center().toPoint()
        QTest.mouseClick(page.view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, where)
    assert requests == [("a0", ""), ("a0", "c0-0")]
    QTest.mouseClick(page.view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(5, 60))
    assert len(requests) == 2


def test_arrow_keys_select_bars_and_enter_leads_to_the_turn(page: SequencePage) -> None:
    spans = show(page, 60)
    view = page.view
    view.setFocus()
    requests: list[str] = []
    page.card_asked.connect(lambda turn, _call: requests.append(turn))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Return):
        QTest.keyClick(view, key)
    assert view.current == spans[0]
    assert "Request 1 to m" in view.accessibleDescription()
    QTest.keyClick(view, Qt.Key.Key_End)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert view.current == spans[-1]
    assert view.viewport().rect().intersects(view.rect_of(str(len(spans) - 1)).toRect())
    assert requests == ["a0", "a60"]


def test_zoom_keys_change_the_zoom(page: SequencePage) -> None:
    show(page, 60)
    QTest.keyClick(page.view, Qt.Key.Key_Plus)
    zoomed, words = page.view.zoom, page.usual.text()
    assert zoomed > 1
    assert words == f"{zoomed:.0%}".replace("%", " %")
    QTest.keyClick(page.view, Qt.Key.Key_0)
    assert page.view.zoom == 1.0


def test_long_run_shows_its_newest_requests_and_all_on_request(page: SequencePage) -> None:
    show(page, 400)
    assert page.summary.text.startswith("Last 300 of 401 requests")
    QTest.mouseClick(page.all_button, Qt.MouseButton.LeftButton)
    assert page.summary.text.startswith("401 requests · 800 calls")
    page.show_session(session(tuple(round_of(0, *(f"City {number}" for number in range(1_000))))))
    page.throttle.flush()
    assert page.summary.text.startswith("First 750 calls of the last request")


def test_scroll_bars_do_not_toggle_without_end(page: SequencePage) -> None:
    show(page, 2)
    for height in range(120, 220, 4):
        page.resize(600, height)
        QApplication.processEvents()
    assert page.view.width() == 600


def test_time_of_a_person_is_named_and_not_counted(page: SequencePage) -> None:
    turns = round_of(0, "Lisbon", answered=50.0)
    result = turns[1].results[0].model_copy(update={"by": "you"})
    page.show_session(session((turns[0], turns[1].model_copy(update={"parts": (result,)}), answer(1, start=51.0))))
    page.throttle.flush()
    assert page.summary.text == "2 requests · 1 call · 2.00 s in all · you 50.0 s"
    assert "answered by you, you 50.0 s" in page.view.text()
