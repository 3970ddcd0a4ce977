"""An exchange of the engine as the value that the inspector shows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from playground.ui.inspector.view import ExchangeView

if TYPE_CHECKING:
    from playground.engine.session import Exchange


def view_of(exchange: Exchange) -> ExchangeView:
    """An exchange as the inspector wants it."""
    return ExchangeView(
        method=exchange.method,
        url=exchange.url,
        request_headers=exchange.request_headers,
        request_body=exchange.request_body,
        status=exchange.status,
        reason=exchange.reason,
        response_headers=exchange.response_headers,
        duration=exchange.ended,
        error=exchange.failure.message if exchange.failure else "",
        body=partial(_body_of, exchange),
    )


def _body_of(exchange: Exchange) -> bytes:
    return exchange.body
