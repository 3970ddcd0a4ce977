"""One gateway's client: runs, the model list and probes of endpoints, over one pool of connections.

It belongs to the event loop it was first used on. It makes no decisions: it neither retries, nor waits, nor stores.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from playground.domain.errors import Failure, FailureKind, Sent, cause_of
from playground.domain.request import Request
from playground.gateway.address import Address, origin, resolve
from playground.gateway.call import EventStream, read_refusal
from playground.gateway.clock import Stage
from playground.gateway.connection import Connection, Timeouts
from playground.gateway.limits import Limiter
from playground.gateway.models import Model, ModelList, next_page, read_models
from playground.gateway.prepared_request import (
    PreparedRequest,
    details_request,
    is_brief,
    model_list_request,
    prepare_request,
    probe_request,
    redactor_for,
)
from playground.gateway.redact import Redactor
from playground.gateway.relay import make_transport
from playground.gateway.tape import Exchange
from playground.gateway.transfer import Transfer, TransferError, new_exchange
from playground.jsonkit import foreign
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT
from playground.protocols.error_fields import looks_like_error
from playground.protocols.errors import read_error
from playground.protocols.protocol import Protocol

if TYPE_CHECKING:
    from playground.gateway.transport import Transport

#: Pages of a model list that are followed at most, and models after which no further page is fetched.
MOST_PAGES = 50
MOST_MODELS = 50_000

#: Bytes of the answer to a probe that are read: an error is short, and any other answer is of no use.
PROBE_BODY = 64 * 1024

FETCH_SECONDS = 15.0


class FetchError(Exception):
    """A file could not be fetched; the text says why, for people."""


class GatewayClient:
    """Sends everything that goes to the gateway of one connection. Close it with ``aclose``."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.redactor: Redactor = redactor_for(connection)
        self.limiter = Limiter()
        self._transport: Transport | None = None
        self._opening = asyncio.Lock()

    def __repr__(self) -> str:
        return f"GatewayClient({self.connection.base_url!r})"

    async def __aenter__(self) -> GatewayClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def open(self, protocol: Protocol, request: Request) -> EventStream:
        """Return a run that has not begun: nothing is sent before the first ``async for`` step."""

        async def prepare() -> tuple[Transport, PreparedRequest]:
            address = resolve(self.connection.base_url)
            transport = await self._open_transport(address)
            if is_brief(request):  # with many runs at a time, a thread for each takes longer than all the rest
                return transport, prepare_request(self.connection, address, protocol, request)
            return transport, await asyncio.to_thread(prepare_request, self.connection, address, protocol, request)

        return EventStream(self.connection, self.redactor, protocol, prepare)

    async def list_models(
        self, protocol_name: str = DEFAULT, price_tokens: int = 0, *, pages: int = MOST_PAGES
    ) -> ModelList:
        """GET /models, with the key as that protocol sends it (specification, section 4.3). Never raises.

        ``price_tokens`` is the number of tokens that a price is for when its name does not say it; 0 if unknown.
        ``pages`` is the most pages that are fetched.
        """
        models: dict[str, Model] = {}
        exchanges: list[Exchange] = []
        failure: Failure | None = None
        query: str = ""
        cut = False
        for number in range(1, pages + 1):
            exchange, failure = await self._fetch("models", partial(self._list_request, protocol_name, query))
            exchanges.append(exchange)
            if failure is not None:
                break
            before = len(models)
            # In a thread: a list may be megabytes long.
            following, failure = await asyncio.to_thread(_read_page, exchange, models, price_tokens)
            if failure is not None or following is None or len(models) == before:
                break
            cut = number == pages or len(models) >= MOST_MODELS
            if cut:
                break
            query = following
        seconds = sum(exchange.ended or 0.0 for exchange in exchanges)
        return ModelList(tuple(models.values()), failure, tuple(exchanges), seconds, cut)

    async def details(self, path: str, body: str = "", protocol_name: str = DEFAULT) -> tuple[JSON, Exchange]:
        """Fetch a page with facts of models; return its JSON, None if it has none. Never raises.

        ``path`` is relative to the origin if it begins with a slash, else to the base URL. The method is POST if there
        is a ``body``, else GET.
        """

        def prepare(address: Address) -> PreparedRequest:
            url = origin(address.base) + path if path.startswith("/") else address.endpoint(path)
            return details_request(self.connection, url, protocol_name, body.encode())

        exchange, failure = await self._fetch("models", prepare)
        return (await asyncio.to_thread(_read_json, exchange) if failure is None else None), exchange

    async def probe(self, protocol: Protocol, body: JSONObject | None = None) -> Exchange:
        """POST an empty object, or another ``body`` that asks for nothing, to the protocol's endpoint. Never raises.

        Status and failure of the exchange show whether the endpoint exists and accepts the key. Few gateways answer
        with a completion; the connection is closed after ``PROBE_BODY`` bytes.
        """
        exchange, _ = await self._fetch(
            protocol.name,
            lambda address: probe_request(self.connection, address, protocol, body or {}),
            most=PROBE_BODY,
        )
        return exchange

    async def aclose(self) -> None:
        """Close all connections. Runs still under way break; cancel them first."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()

    async def _open_transport(self, address: Address) -> Transport:
        """Return the transport, made on first use in a thread. Raises ValueError for settings that cannot be used."""
        if self._transport is not None:
            return self._transport
        async with self._opening:
            if self._transport is None:
                self._transport = await asyncio.to_thread(make_transport, self.connection, address.base)
            return self._transport

    def _list_request(self, protocol_name: str, query: str, address: Address) -> PreparedRequest:
        return model_list_request(self.connection, address, protocol_name, query)

    async def _fetch(
        self, endpoint: str, prepare: Callable[[Address], PreparedRequest], *, most: int | None = None
    ) -> tuple[Exchange, Failure | None]:
        """Send one request and read its whole body, or ``most`` bytes of it; return the exchange and its failure."""
        try:
            address = resolve(self.connection.base_url)
            request = prepare(address)
            transport = await self._open_transport(address)
        except ValueError as error:
            message = self.redactor.text(str(error))
            failure = Failure(
                kind=FailureKind.INPUT, message=message, sent=Sent(endpoint=endpoint), cause=cause_of(error)
            )
            exchange = new_exchange(self.redactor)
            exchange.failure = failure
            return exchange, failure
        sent = Sent(endpoint=endpoint, keyed=request.keyed or bool(self.connection.secret_headers), streamed=False)
        exchange = new_exchange(self.redactor, request)
        transfer = Transfer(transport, self.connection, self.redactor, request, exchange)
        try:
            await transfer.start()
            if (exchange.status or 0) >= 300:
                exchange.failure = await read_refusal(transfer, self.redactor, exchange.started_at)
            else:
                received = 0
                while (data := await transfer.read_piece()) is not None:
                    received += len(data)
                    if most is not None and received >= most:
                        break
                    transfer.clock.wait_for(Stage.IDLE)
        except TransferError as error:
            exchange.failure = error.failure
        finally:
            await transfer.aclose()
        if exchange.failure is not None:
            exchange.failure = exchange.failure.model_copy(update={"sent": sent})
        return exchange, exchange.failure


async def fetch_file(url: str, *, most: int) -> bytes:
    """Fetch a file of at most ``most`` bytes, with no key, no cookie and no redirect.

    Raises FetchError, also for an address that is not https.
    """
    if urlsplit(url).scheme != "https" or not urlsplit(url).hostname:
        raise FetchError("The address must begin with https://.")
    seconds = FETCH_SECONDS
    times = Timeouts(connect=seconds, first=seconds, idle=seconds, total=2 * seconds)
    connection = Connection(base_url=url, timeouts=times, max_body_bytes=most, max_event_bytes=most)
    try:
        transport = await asyncio.to_thread(make_transport, connection, url)
    except ValueError as error:
        raise FetchError(str(error)) from None
    no_secrets = Redactor(())
    request = PreparedRequest("GET", url, (("Accept", "application/json"),), b"")
    exchange = new_exchange(no_secrets, request)
    transfer = Transfer(transport, connection, no_secrets, request, exchange)
    pieces: list[bytes] = []
    try:
        await transfer.start()
        if exchange.status != 200:
            raise FetchError(f"The server answered with HTTP {exchange.status}. Is the address right?")
        while (piece := await transfer.read_piece()) is not None:
            pieces.append(piece)
    except TransferError as error:
        raise FetchError(error.failure.message) from None
    finally:
        await transfer.aclose()
        await transport.aclose()
    return b"".join(pieces)


async def is_listening(host: str, port: int, seconds: float) -> bool:
    """Return whether a program accepts a connection at an IP address within ``seconds``. Never raises."""
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


def _read_json(exchange: Exchange) -> JSON:
    """Return the JSON of a body; None if it is not JSON."""
    try:
        return foreign.parse(exchange.body.decode("utf-8", "replace").strip())
    except ValueError:
        return None


def _read_page(exchange: Exchange, models: dict[str, Model], price_tokens: int) -> tuple[str | None, Failure | None]:
    """Add a page's models to ``models``; return the query of the next page, and a failure if it is no list."""
    value = _read_json(exchange)
    page = read_models(value, price_tokens)
    if page is not None:
        for model in page:
            models.setdefault(model.id, model)
        return next_page(value, exchange.response_header("link") or ""), None
    if isinstance(value, dict) and looks_like_error(value):
        return None, read_error(value)
    kind = exchange.content_type or "no content type"
    message = f"The answer is not a model list ({kind}, {exchange.size} bytes). Is the base URL right?"
    excerpt = exchange.body[:8000].decode("utf-8", "replace")[:2000]
    return None, Failure(kind=FailureKind.DECODE, message=message, status=exchange.status, body=excerpt)
