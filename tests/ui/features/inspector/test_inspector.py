"""The inspector: line of the exchange, request, response and headers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTableWidget

from playground.ui.features.inspector.inspector import Inspector
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.features.inspector.views import ResponseView
from playground.ui.features.inspector.wire_views import HeadersView
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
