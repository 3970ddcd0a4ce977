"""One gateway's client: runs, the model list and a knock at an endpoint, over one pool of connections.

It belongs to the event loop it was first used on. It decides nothing: no retries, no waiting, no storing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from playground.domain.errors import Failure, FailureKind, Sent
from playground.domain.request import Request
from playground.gateway.address import Address, origin, resolve
from playground.gateway.call import EventStream, read_refusal
from playground.gateway.clock import Stage
from playground.gateway.connection import Connection
from playground.gateway.limiter import Limiter
from playground.gateway.models import Model, ModelList, next_page, read_models
from playground.gateway.outgoing import (
    Outgoing,
    details_request,
    is_brief,
    knock_request,
    model_list_request,
    outgoing,
    redactor,
)
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange
from playground.gateway.transfer import Transfer, TransferError, blank_exchange
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT
from playground.protocols.protocol import Protocol

if TYPE_CHECKING:
    import httpx

#: Pages of a model list that are followed at most, and models after which no further page is asked for.
MOST_PAGES = 50
MOST_MODELS = 50_000

#: Bytes of the answer to a knock that are read: an error is short, and whatever else comes is not asked for.
KNOCK_BODY = 64 * 1024


class GatewayClient:
    """Everything that goes to the gateway of one connection. Close it with ``aclose``."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.redactor: Redactor = redactor(connection)
        self.limiter = Limiter()
        self._http: httpx.AsyncClient | None = None
        self._making = asyncio.Lock()

    def __repr__(self) -> str:
        return f"GatewayClient({self.connection.base_url!r})"

    async def __aenter__(self) -> GatewayClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def open(self, protocol: Protocol, request: Request) -> EventStream:
        """A run, not begun yet: nothing is sent before the first ``async for`` step."""

        async def prepare() -> tuple[httpx.AsyncClient, Outgoing]:
            address = resolve(self.connection.base_url)
            http = await self._client(address)
            if is_brief(request):  # with many under way, a thread for each takes longer than all the rest
                return http, outgoing(self.connection, address, protocol, request)
            return http, await asyncio.to_thread(outgoing, self.connection, address, protocol, request)

        return EventStream(self.connection, self.redactor, protocol, prepare)

    async def list_models(
        self, protocol_name: str = DEFAULT, price_tokens: int = 0, *, pages: int = MOST_PAGES
    ) -> ModelList:
        """GET /models, with the key sent as for that protocol (specification, section 4.3). Never raises.

        ``price_tokens`` is for how many tokens prices in the list are where no name says it; 0: nobody knows. At most
        so many ``pages`` are asked for.
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
            # On a thread: a list may be megabytes long.
            following, failure = await asyncio.to_thread(_take_page, exchange, models, price_tokens)
            if failure is not None or following is None or len(models) == before:
                break
            cut = number == pages or len(models) >= MOST_MODELS
            if cut:
                break
            query = following
        seconds = sum(exchange.ended or 0.0 for exchange in exchanges)
        return ModelList(tuple(models.values()), failure, tuple(exchanges), seconds, cut)

    async def details(self, path: str, body: str = "", protocol_name: str = DEFAULT) -> tuple[JSON, Exchange]:
        """What a page besides the list tells of models: its JSON, None where it tells nothing. Never raises.

        ``path`` is laid on the origin when it begins with a slash, else on the base URL. GET, or POST with a ``body``.
        """

        def make(address: Address) -> Outgoing:
            url = origin(address.base) + path if path.startswith("/") else address.endpoint(path)
            return details_request(self.connection, url, protocol_name, body.encode())

        exchange, failure = await self._fetch("models", make)
        return (await asyncio.to_thread(_json_of, exchange) if failure is None else None), exchange

    async def knock(self, protocol: Protocol, body: JSONObject | None = None) -> Exchange:
        """POST an empty object, or another ``body`` that asks for nothing, to the protocol's endpoint. Never raises.

        Hardly a gateway answers it with a completion, and where one does, the connection is closed after
        ``KNOCK_BODY``: the status of the exchange, and its failure, tell whether there is such an endpoint and whether
        the key is let in.
        """
        exchange, _ = await self._fetch(
            protocol.name,
            lambda address: knock_request(self.connection, address, protocol, body or {}),
            most=KNOCK_BODY,
        )
        return exchange

    async def aclose(self) -> None:
        """Close all connections. Runs still under way break; cancel them first."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def _client(self, address: Address) -> httpx.AsyncClient:
        """The httpx client, made on first use in a thread. Raises ValueError for settings that cannot be used."""
        if self._http is not None:
            return self._http
        async with self._making:
            if self._http is None:
                self._http = await asyncio.to_thread(_make_client, self.connection, address.base)
            return self._http

    def _list_request(self, protocol_name: str, query: str, address: Address) -> Outgoing:
        return model_list_request(self.connection, address, protocol_name, query)

    async def _fetch(
        self, endpoint: str, make: Callable[[Address], Outgoing], *, most: int | None = None
    ) -> tuple[Exchange, Failure | None]:
        """One request and its whole body, or the first ``most`` bytes of it: the exchange, and a failure if any."""
        try:
            address = resolve(self.connection.base_url)
            request = make(address)
            http = await self._client(address)
        except ValueError as error:
            message = self.redactor.text(str(error))
            failure = Failure(kind=FailureKind.INPUT, message=message, sent=Sent(endpoint=endpoint))
            exchange = blank_exchange(self.redactor)
            exchange.failure = failure
            return exchange, failure
        sent = Sent(endpoint=endpoint, keyed=request.keyed or bool(self.connection.secret_headers), streamed=False)
        exchange = blank_exchange(self.redactor, request)
        transfer = Transfer(http, self.connection, self.redactor, request, exchange)
        try:
            await transfer.start()
            if (exchange.status or 0) >= 300:
                exchange.failure = await read_refusal(transfer, self.redactor, exchange.started_at)
            else:
                had = 0
                while (data := await transfer.read_piece()) is not None:
                    had += len(data)
                    if most is not None and had >= most:
                        break
                    transfer.clock.wait_for(Stage.IDLE)
        except TransferError as error:
            exchange.failure = error.failure
        finally:
            await transfer.aclose()
        if exchange.failure is not None:
            exchange.failure = exchange.failure.model_copy(update={"sent": sent})
        return exchange, exchange.failure


def _make_client(connection: Connection, base: str) -> httpx.AsyncClient:
    from playground.gateway.transport import make_client

    return make_client(connection, base)


def _json_of(exchange: Exchange) -> JSON:
    """What was answered; None where that is no JSON."""
    from playground.jsonkit import foreign

    try:
        return foreign.parse(exchange.body.decode("utf-8", "replace").strip())
    except ValueError:
        return None


def _take_page(exchange: Exchange, models: dict[str, Model], price_tokens: int) -> tuple[str | None, Failure | None]:
    """Add a page's models to ``models``; return the query of the next page, and a failure if it is no list."""
    from playground.protocols.error_fields import looks_like_error
    from playground.protocols.errors import read_error

    value = _json_of(exchange)
    found = read_models(value, price_tokens)
    if found is not None:
        for model in found:
            models.setdefault(model.id, model)
        return next_page(value, exchange.response_header("link") or ""), None
    if isinstance(value, dict) and looks_like_error(value):
        return None, read_error(value)
    kind = exchange.content_type or "no content type"
    message = f"The answer is not a model list ({kind}, {exchange.size} bytes). Is the base URL right?"
    begun = exchange.body[:8000].decode("utf-8", "replace")[:2000]
    return None, Failure(kind=FailureKind.DECODE, message=message, status=exchange.status, body=begun)
