"""The inspector: line of the exchange, request, response and headers."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTableWidget

from playground.ui.features.inspector.excerpt import SHOWN_AT_MOST, excerpt
from playground.ui.features.inspector.inspector import Inspector
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.features.inspector.views import ResponseView
from playground.ui.features.inspector.wire_views import HeadersView
from tests.support.each_case import each_case
from tests.ui.conftest import ShowWidget

URL = "http://127.0.0.1:8080/v1/chat/completions"
STREAM = (("Content-Type", "text/event-stream; charset=utf-8"), ("X-RateLimit-Reset", "1732176000"))
CHUNK = b'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n'


@pytest.fixture
def inspector(show_widget: ShowWidget) -> Inspector:
    return show_widget(Inspector(), 840, 260)


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
