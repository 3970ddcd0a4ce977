"""An exchange of the engine as the value that the inspector shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from playground.ui.features.inspector.view import ExchangeView, as_it_is, no_others, no_trace

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange, Session
    from playground.ui.features.inspector.traces import Trace


def view_of(
    exchange: Exchange, trace_of: Callable[[Exchange], Trace] | None = None, session: Session | None = None
) -> ExchangeView:
    """An exchange as the inspector wants it; ``trace_of`` gives its frames, ``session`` is the experiment it is of."""
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
        complete=exchange.complete,
        body=partial(_body_of, exchange),
        trace=no_trace if trace_of is None else partial(trace_of, exchange),
        others=no_others if session is None else partial(_all_of, session),
        whole=as_it_is if session is None else session.whole,
        key=exchange.id,
    )


def _all_of(session: Session) -> Sequence[Exchange]:
    return tuple(session.exchanges.values())


def _body_of(exchange: Exchange) -> bytes:
    return exchange.body
