"""The exchange that the inspector shows, with what belongs to it, and the words for an exchange in a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from playground.engine.compare.differences import fellow_request, request_before
from playground.ui.features.inspector.traces import Trace

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange, Session


def unchanged(text: str) -> str:
    """Return the text: the redactor of an exchange without secrets."""
    return text


@dataclass(frozen=True, slots=True, eq=False)
class ExchangeView:
    """An exchange, which may still grow. A new view of the same exchange tells the inspector to draw it again.

    ``trace_of`` returns the events of an exchange. ``session`` is the lane that the exchange belongs to; without one,
    ``siblings`` are the exchanges to choose among. ``redact`` removes known secrets from a text.
    """

    exchange: Exchange
    trace_of: Callable[[Exchange], Trace] = Trace
    session: Session | None = None
    siblings: Sequence[Exchange] = ()
    redact: Callable[[str], str] = unchanged

    @property
    def id(self) -> str:
        """The id of the exchange."""
        return self.exchange.id

    @property
    def path(self) -> str:
        """The path of the URL."""
        return urlsplit(self.exchange.url).path or self.exchange.url

    @property
    def error(self) -> str:
        """The message of the failure; empty without one."""
        return self.exchange.failure.message if self.exchange.failure else ""

    @property
    def is_stream(self) -> bool:
        """Return whether the response is a stream of events."""
        media_type = (self.exchange.content_type or "").partition(";")[0].strip().lower()
        first = self.exchange.reads[0].data[:64].lstrip()[:6] if self.exchange.reads else b""
        return media_type == "text/event-stream" or first in (b"data: ", b"event:")

    @property
    def trace(self) -> Trace:
        """The events of the exchange."""
        return self.trace_of(self.exchange)

    @property
    def choices(self) -> list[tuple[int, Exchange]]:
        """The exchanges of the experiment that asked for an answer, oldest first, numbered from 1."""
        exchanges = tuple(self.session.exchanges.values()) if self.session is not None else self.siblings
        return list(enumerate((exchange for exchange in exchanges if exchange.method == "POST"), 1))

    @property
    def previous_id(self) -> str:
        """The id of the previous request of the same lane; empty for none."""
        return request_before(self.session, self.id) if self.session is not None else ""

    @property
    def lane_a_id(self) -> str | None:
        """The id of the first lane's request of the same round, empty for none; None if there is no other lane."""
        return fellow_request(self.session, self.id) if self.session is not None else None

    async def load(self, exchange: Exchange) -> Exchange:
        """Return an exchange of the experiment with its bodies. Raises StoreError."""
        return exchange if self.session is None else await self.session.experiment.with_bodies(exchange)


def describe_exchange(number: int, exchange: Exchange) -> str:
    """Return one line for a list: ``#2 · 14:03:11 · chat/completions · 200 · 2.91 s``."""
    when = datetime.fromtimestamp(exchange.started_at).astimezone().strftime("%H:%M:%S")
    path = "/".join(urlsplit(exchange.url).path.rstrip("/").split("/")[-2:])
    status = str(exchange.status) if exchange.status is not None else "no response"
    duration = f" · {exchange.ended:.2f} s" if exchange.ended is not None else " · running"
    return f"#{number} · {when} · {path} · {status}{duration}"
