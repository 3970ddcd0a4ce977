"""The inspector: segments, headers, the assembled response, the spec check, caps, and the texts without data."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QTableWidget, QToolButton
from pytestqt.qtbot import QtBot

from playground.engine.requests.view import RequestView
from playground.gateway.tape import Read
from playground.ui.features.inspector.excerpt import SHOWN_AT_MOST
from playground.ui.features.inspector.inspector import Inspector, Place
from playground.ui.features.inspector.next_request import Preview
from playground.ui.features.inspector.traces import Traces
from playground.ui.features.inspector.view import ExchangeView
from tests.engine.exchanges import exchange
from tests.protocols.streams import chunk
from tests.ui.conftest import ShowWidget
from tests.ui.features.inspector.recordings import weather

HEADERS = (("Content-Type", "text/event-stream"), ("X-RateLimit-Reset", "1732176000"))


@pytest.fixture
def inspector(show_widget: ShowWidget) -> Inspector:
    return show_widget(Inspector(), 840, 260)


def show(inspector: Inspector, view: ExchangeView | None, place: Place, unsent: str = "") -> None:
    inspector.set_exchange(view, unsent)
    inspector.show_tab(place)


def words(inspector: Inspector) -> list[str]:
    return [label.text() for label in inspector.findChildren(QLabel) if label.isVisible() and label.text()]


def test_stream_is_shown_as_one_body_as_events_and_as_received(inspector: Inspector, qtbot: QtBot) -> None:
    view = ExchangeView(weather(), Traces().trace_of)
    show(inspector, view, Place.ASSEMBLED)
    pane = inspector.response.assembled
    qtbot.waitUntil(lambda: bool(pane.text.text()))
    body = json.loads(pane.text.text())
    message = body["choices"][0]["message"]
    assert (body["object"], body["id"]) == ("chat.completion", "c-1")
    assert message["content"] == "I'll look **Lisbon** up now."
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"city": "Lisbon"}
    inspector.show_tab(Place.RAW)
    assert inspector.response.raw.text.text() == view.exchange.body.decode()
    inspector.show_tab(Place.EVENTS)
    assert inspector.events.isVisible()
    assert not inspector.events.picture.isVisible()
    inspector.show_tab(Place.TIMELINE)
    assert inspector.events.picture.isVisible()


def test_assembled_response_follows_the_stream(inspector: Inspector, qtbot: QtBot) -> None:
    growing = exchange([(0.1, chunk({"content": "one "}))], ended=False)
    show(inspector, ExchangeView(growing, Traces().trace_of), Place.ASSEMBLED)
    text = inspector.response.assembled.text
    qtbot.waitUntil(lambda: '"one "' in text.text())
    growing.reads.append(Read(0.2, chunk({"content": "two"}, "stop")))
    growing.ended = 0.2
    show(inspector, ExchangeView(growing, Traces().trace_of), Place.ASSEMBLED)
    qtbot.waitUntil(lambda: '"one two"' in text.text())


def test_headers_are_shown_and_copied(inspector: Inspector) -> None:
    sent = (("Authorization", "Bearer ••••abcd"), ("X-Odd", "a\u202eb"))
    both = replace(weather(), request_headers=sent, response_headers=HEADERS)
    show(inspector, ExchangeView(both), Place.SENT)
    request, response = inspector.request.headers.table, inspector.response.headers.table
    assert [cell(request, row, 1) for row in range(2)] == ["Bearer ••••abcd", "a‹U+202E›b"]
    inspector.show_tab(Place.RESPONSE)
    assert not response.isVisible()
    QTest.mouseClick(inspector.response.headers.button, Qt.MouseButton.LeftButton)
    assert response.isVisible()
    response.selectAll()
    QTest.keyClick(response, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "\n".join(f"{name}: {value}" for name, value in HEADERS)


def cell(table: QTableWidget, row: int, column: int) -> str:
    item = table.item(row, column)
    assert item is not None
    return item.text()


def test_badge_counts_problems_and_opens_them(inspector: Inspector, qtbot: QtBot) -> None:
    broken = exchange([(0.1, chunk({"content": "hi"}, "stop"))])  # without [DONE]
    show(inspector, ExchangeView(broken, Traces().trace_of), Place.ASSEMBLED)
    badge = inspector.response.badge
    qtbot.waitUntil(lambda: "problem" in badge.text())
    assert badge.text().startswith("Spec check: ")
    QTest.mouseClick(badge, Qt.MouseButton.LeftButton)
    switch = inspector.response.switch
    assert not any(button.isChecked() for button in switch.buttons), "the spec check is in front, no segment"
    QTest.mouseClick(badge, Qt.MouseButton.LeftButton)
    assert switch.buttons[0].isChecked()
    QTest.mouseClick(badge, Qt.MouseButton.LeftButton)
    table = inspector.response.check.table
    assert table.isVisible()
    events = [row for row in range(table.rowCount()) if cell(table, row, 0).isdigit()]
    table.cellClicked.emit(events[0], 0)
    assert inspector.events.isVisible()
    assert inspector.events.table.chosen == [int(cell(table, events[0], 0)) - 1]


def test_large_body_is_capped_and_copied_whole(inspector: Inspector) -> None:
    body = json.dumps({"items": [{"name": f"n{number}"} for number in range(40_000)]}).encode()
    show(inspector, ExchangeView(replace(weather(), request_body=body)), Place.SENT)
    pane = inspector.request.sent
    assert len(pane.text.text()) < 2 * SHOWN_AT_MOST
    assert pane.note.text.startswith("First ")
    assert {"Open in editor", "Save…"} <= {b.text() for b in pane.findChildren(QPushButton) if b.isVisible()}
    inspector.request.copy_button.click()
    assert QGuiApplication.clipboard().text() == body.decode()


@pytest.mark.parametrize("place", [Place.SENT, Place.ASSEMBLED, Place.RAW, Place.TIMELINE])
def test_run_that_sent_nothing_is_named_in_each_tab(inspector: Inspector, place: Place) -> None:
    reason = "Nothing was sent. The key is missing."
    show(inspector, ExchangeView(weather()), place, reason)
    assert reason in words(inspector)
    assert "not sent" in inspector.status.accessibleName()
    show(inspector, ExchangeView(weather()), place)
    assert reason not in words(inspector)


def test_comparison_without_an_exchange_asks_for_the_next_request_once(inspector: Inspector) -> None:
    requests: list[bool] = []
    inspector.request.preview_asked.connect(lambda: requests.append(True))
    inspector.show_tab(Place.COMPARE)
    count = len(requests)
    assert count
    for _ in range(3):
        inspector.set_preview(Preview("e", RequestView(text="{}")))
        inspector.draw_now()
    assert len(requests) == count


def test_tabs_about_the_experiment_name_it_and_its_lane(inspector: Inspector) -> None:
    inspector.set_scope("Weather in two cities", 2)
    inspector.show_lane("B")
    show(inspector, ExchangeView(weather()), Place.RESPONSE)
    assert "Lane B" in words(inspector)
    assert not inspector.scope.isVisible()
    inspector.show_tab(Place.CALLS)
    assert inspector.scope.text == "Experiment: Weather in two cities"
    assert not inspector.status.isVisible()
    assert inspector.tabs.accessibleTabName(inspector.tabs.currentIndex()) == "Tool calls, 2"


def test_keys_change_tabs_and_escape_restores(inspector: Inspector) -> None:
    toggled: list[bool] = []
    inspector.maximise_toggled.connect(toggled.append)
    inspector.tabs.setFocus()
    QTest.keyClick(inspector.tabs, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
    assert inspector.tabs.currentIndex() == 1
    QTest.keyClick(inspector.tabs, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    assert inspector.tabs.currentIndex() == 2
    button = next(b for b in inspector.findChildren(QToolButton) if b.accessibleName() == "Maximise the inspector")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    QTest.keyClick(inspector.events.table, Qt.Key.Key_Escape)
    assert toggled == [True, False]
