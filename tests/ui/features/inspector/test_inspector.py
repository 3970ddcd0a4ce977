"""The inspector: line of the exchange, request, response and headers."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTableWidget
from pytestqt.qtbot import QtBot

from playground.engine.requests.view import RequestView as NextView
from playground.ui.features.inspector.excerpt import SHOWN_AT_MOST, excerpt
from playground.ui.features.inspector.inspector import Inspector
from playground.ui.features.inspector.next_request import Preview
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.features.inspector.views import RequestView, ResponseView
from playground.ui.features.inspector.wire_views import HeadersView
from tests.support.each_case import each_case
from tests.ui.conftest import ShowWidget

URL = "http://127.0.0.1:8080/v1/chat/completions"
STREAM = (("Content-Type", "text/event-stream; charset=utf-8"), ("X-RateLimit-Reset", "1732176000"))
CHUNK = b'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n'


@pytest.fixture
def inspector(show_widget: ShowWidget) -> Inspector:
    return show_widget(Inspector(), 840, 260)


def request_view(inspector: Inspector) -> RequestView:
    view = inspector.views[0]
    assert isinstance(view, RequestView)
    return view


def response_view(inspector: Inspector) -> ResponseView:
    view = inspector.views[1]
    assert isinstance(view, ResponseView)
    return view


def exchange(body: Callable[[], bytes], **more: object) -> ExchangeView:
    fields: dict[str, object] = {
        "method": "POST",
        "url": URL,
        "request_body": b'{"model":"m","temperature":1.0}',
        "status": 200,
        "reason": "OK",
        "response_headers": STREAM,
        "duration": 2.9149,
        "body": body,
    }
    return ExchangeView(**(fields | more))  # type: ignore[arg-type]  # the fields are given by name


def test_tabs_without_content_show_a_hint(inspector: Inspector) -> None:
    for view in (request_view(inspector), response_view(inspector)):
        inspector.show_tab(view.title)
        assert view.pane.empty.isVisible()
        assert view.pane.empty.text()
        assert not view.pane.copy_button.isVisible()
    assert inspector.status.path.text == ""


def test_line_names_the_exchange_and_its_state(inspector: Inspector) -> None:
    shown = inspector.status
    inspector.set_exchange(exchange(lambda: CHUNK))
    assert (shown.path.text, shown.time.text()) == ("POST /v1/chat/completions", "2.91 s")
    states: list[tuple[dict[str, object], str, str]] = [
        ({}, "200", "ok"),
        ({"status": 429}, "429", "error"),
        ({"status": None, "duration": None}, "waiting", "muted"),
        ({"status": None, "error": "The connection was refused."}, "failed", "error"),
        ({"status": None, "complete": False}, "no answer", "warning"),
        ({"duration": None}, "200 · running", "ok"),
        ({"error": "The connection was lost."}, "200 · broken off", "error"),
        ({"complete": False}, "200 · not whole", "warning"),
    ]
    for fields, words, kind in states:
        inspector.set_exchange(exchange(lambda: CHUNK, **fields))
        assert (shown.status.text(), shown.status.property("kind")) == (words, kind), fields


def preview(text: str) -> Preview:
    return Preview("experiment", NextView(url=URL, text=text))


def test_request_tab_shows_next_and_sent_request(qtbot: QtBot, inspector: Inspector) -> None:
    view = request_view(inspector)
    inspector.set_preview(preview('{"model": "next"}'))
    qtbot.waitUntil(view.next.isVisible)
    assert view.next.editor.text() == '{"model": "next"}'
    assert URL in view.pane.note.text
    assert not view.switch.buttons[1].isEnabled()
    assert view.switch.index == 0
    inspector.set_exchange(exchange(lambda: CHUNK))
    qtbot.waitUntil(view.pane.text.isVisible)
    assert view.shows_sent
    assert view.pane.text.text() == '{\n  "model": "m",\n  "temperature": 1.0\n}', "the bytes' own spelling"
    QTest.mouseClick(view.switch.buttons[0], Qt.MouseButton.LeftButton)
    assert view.next.isVisible()
    inspector.set_exchange(exchange(lambda: b"", url=URL + "?2"))
    inspector.draw_now()
    assert view.next.isVisible(), "what a person chose stays chosen"
    inspector.set_exchange(None)
    inspector.draw_now()
    assert view.switch.index == 0


def test_stream_is_formatted_or_raw(inspector: Inspector) -> None:
    body = b": keep-alive\r\n\r\n" + CHUNK + b"data: [DONE]\n\n"
    view = response_view(inspector)
    inspector.show_tab("Response")
    inspector.set_exchange(exchange(lambda: body))
    inspector.draw_now()
    assert view.pane.text.text().startswith(': keep-alive\n\ndata: {\n  "choices": [')
    assert "data: [DONE]" in view.pane.text.text()
    QTest.mouseClick(view.switch.buttons[1], Qt.MouseButton.LeftButton)
    assert view.pane.text.text() == body.decode().replace("\r\n", "\n")


def test_large_stream_is_shown_by_its_end(inspector: Inspector) -> None:
    body = CHUNK * (800_000 // len(CHUNK)) + b'data: {"last": true}\n\n'
    view = response_view(inspector)
    view.switch.set_index(1)
    inspector.show_tab("Response")
    inspector.set_exchange(exchange(lambda: body))
    inspector.draw_now()
    assert 0 < len(view.pane.text.text()) <= SHOWN_AT_MOST
    assert '"last": true' in view.pane.text.text()
    assert view.pane.text.text().startswith(("\n", "data: {"))
    assert "The last" in view.pane.note.text
    assert view.pane.all_button.isVisible()


@each_case(
    "body, laid_out",
    [
        (json.dumps([{"n": n} for n in range(60_000)]).encode(), True),
        (b'"' + b"x" * 600_000, True),
        (b"[" * 600_000, True),
        ("é".encode() * 300_000, False),
        (b"\xff" * 600_000, False),
    ],
)
def test_excerpt_of_any_large_body_is_bounded(body: bytes, laid_out: bool) -> None:
    part = excerpt(body, laid_out=laid_out, events=False)
    assert len(part.text) <= SHOWN_AT_MOST + 1_000
    assert not part.whole
    assert part.shown < part.total == len(body)


def cell(table: QTableWidget, row: int, column: int) -> str:
    item = table.item(row, column)
    assert item is not None
    return item.text()


def test_headers_are_shown_and_copied(inspector: Inspector) -> None:
    view = next(view for view in inspector.views if isinstance(view, HeadersView))
    inspector.show_tab("Headers")
    sent = (("Authorization", "Bearer ••••abcd"), ("X-Odd", "a\u202eb"))
    inspector.set_exchange(exchange(lambda: b"", request_headers=sent))
    inspector.draw_now()
    request, response = view.page.request, view.page.response
    assert [cell(request, row, 1) for row in range(2)] == ["Bearer ••••abcd", "a‹U+202E›b"]
    assert cell(response, 1, 0) == "X-RateLimit-Reset"
    assert cell(response, 1, 1) == "1732176000"
    response.selectAll()
    QTest.keyClick(response, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "\n".join(f"{name}: {value}" for name, value in STREAM)


def test_error_is_shown_above_the_response(inspector: Inspector) -> None:
    view = response_view(inspector)
    inspector.show_tab("Response")
    inspector.set_exchange(exchange(lambda: b'{"code":42900}', status=429, error="Rate limit <b>exceeded</b>"))
    inspector.draw_now()
    assert view.pane.error.isVisible()
    assert view.pane.error.text() == "Rate limit <b>exceeded</b>"
    assert view.pane.error.textFormat() == Qt.TextFormat.PlainText
    inspector.set_exchange(exchange(lambda: b"", url=URL + "?2"))
    inspector.draw_now()
    assert not view.pane.error.isVisible()
    assert view.pane.empty.text() == "No body came back."
