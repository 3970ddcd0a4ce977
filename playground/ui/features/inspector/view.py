"""What the inspector is shown of one exchange: a frozen value, secrets already masked by whoever made it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from playground.engine.compare.differences import fellow_request, request_before

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange, Session
    from playground.ui.features.inspector.traces import Trace


def no_body() -> bytes:
    """The body of an exchange that has none."""
    return b""


def no_trace() -> Trace | None:
    """The frames of an exchange that nobody derives any from."""
    return None


async def as_it_is(exchange: Exchange) -> Exchange:
    """An exchange that is kept nowhere but in memory."""
    return exchange


def no_lane() -> str | None:
    """The first lane's request beside one that is of no lane."""
    return None


def none_before() -> str:
    """The request before one that stands alone."""
    return ""


def no_others() -> Sequence[Exchange]:
    """The experiment of an exchange that stands alone."""
    return ()


@dataclass(frozen=True, slots=True)
class ExchangeView:
    """One request and what came back. ``duration`` is in seconds, None while it runs.

    ``status`` is None while there is no answer; ``error`` then says what happened, if it failed; ``complete`` is
    False where the answer was not read to its end. ``body`` gives the bytes received so far, so that nothing is copied
    for a view that is not looked at; so do ``trace`` with the frames and ``others`` with all exchanges of the
    experiment, oldest first. ``whole`` gives one of those with its bodies, from the disk where memory let go of them,
    and raises StoreError. ``before`` gives the id of the request before in the same lane, ``lane_a`` that of the first
    lane's in the same round, both empty for none; ``lane_a`` is None where it is no other lane. ``key`` tells exchanges
    apart.
    """

    method: str
    url: str
    request_headers: tuple[tuple[str, str], ...] = ()
    request_body: bytes = b""
    status: int | None = None
    reason: str = ""
    response_headers: tuple[tuple[str, str], ...] = ()
    duration: float | None = None
    error: str = ""
    complete: bool = True
    body: Callable[[], bytes] = no_body
    trace: Callable[[], Trace | None] = no_trace
    others: Callable[[], Sequence[Exchange]] = no_others
    whole: Callable[[Exchange], Awaitable[Exchange]] = as_it_is
    before: Callable[[], str] = none_before
    lane_a: Callable[[], str | None] = no_lane
    key: str = ""

    @property
    def path(self) -> str:
        """The path of the URL, for people."""
        return urlsplit(self.url).path or self.url

    @property
    def content_type(self) -> str:
        """The response's media type in lower case, without its parameters."""
        found = next((value for name, value in self.response_headers if name.lower() == "content-type"), "")
        return found.partition(";")[0].strip().lower()


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
        before=none_before if session is None else partial(request_before, session, exchange.id),
        lane_a=no_lane if session is None else partial(fellow_request, session, exchange.id),
        whole=as_it_is if session is None else session.experiment.with_bodies,
        key=exchange.id,
    )


def _all_of(session: Session) -> Sequence[Exchange]:
    return tuple(session.exchanges.values())


def _body_of(exchange: Exchange) -> bytes:
    return exchange.body
