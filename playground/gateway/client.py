"""One gateway's client: runs, the model list and the connection test, over one pool of connections.

It belongs to the event loop it was first used on. It decides nothing: no retries, no waiting, no storing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from playground.domain.errors import Failure, FailureKind
from playground.domain.request import Request
from playground.gateway.address import Address, resolve
from playground.gateway.call import Call, read_refusal
from playground.gateway.clock import Stage
from playground.gateway.connection import Connection
from playground.gateway.models import Model, ModelList, Report, next_page, read_models
from playground.gateway.outgoing import Outgoing, model_list_request, outgoing, redactor
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange
from playground.gateway.transfer import Transfer, TransferError, blank_exchange
from playground.protocols.protocol import Protocol

if TYPE_CHECKING:
    import httpx

#: Pages of a model list that are followed at most.
MOST_PAGES = 50


class GatewayClient:
    """Everything that goes to the gateway of one connection. Close it with ``aclose``."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.redactor: Redactor = redactor(connection)
        self._http: httpx.AsyncClient | None = None
        self._making = asyncio.Lock()

    def __repr__(self) -> str:
        return f"GatewayClient({self.connection.base_url!r})"

    async def __aenter__(self) -> GatewayClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def open(self, protocol: Protocol, request: Request) -> Call:
        """A run, not begun yet: nothing is sent before the first ``async for`` step."""

        async def prepare() -> tuple[httpx.AsyncClient, Outgoing]:
            address = resolve(self.connection.base_url)
            return await self._client(address), outgoing(self.connection, address, protocol, request)

        return Call(self.connection, self.redactor, protocol, prepare)

    async def list_models(self, protocol_name: str = "chat") -> ModelList:
        """GET /models, all pages, with the key sent as for that protocol (specification, section 4.3). Never raises."""
        models: dict[str, Model] = {}
        exchanges: list[Exchange] = []
        failure: Failure | None = None
        query: str = ""
        for _ in range(MOST_PAGES):
            exchange, failure = await self._get_models(protocol_name, query)
            exchanges.append(exchange)
            if failure is not None:
                break
            body, found, failure = _parse(exchange)
            if failure is not None:
                break
            before = len(models)
            for model in found:
                models.setdefault(model.id, model)
            after = next_page(body)
            if after is None or len(models) == before:
                break
            query = urlencode({"after_id": after})
        seconds = sum(exchange.ended or 0.0 for exchange in exchanges)
        return ModelList(tuple(models.values()), failure, tuple(exchanges), seconds)

    async def test(self, protocol_name: str = "chat") -> Report:
        """Whether the gateway answers, takes the key and lists models, in words. Never raises."""
        try:
            address = resolve(self.connection.base_url)
        except ValueError as error:
            failure = Failure(kind=FailureKind.INPUT, message=str(error))
            return Report(False, False, failure.message, None, ModelList(failure=failure))
        listing = await self.list_models(protocol_name)
        status = listing.exchanges[0].status if listing.exchanges else None
        failure_kind = listing.failure.kind if listing.failure is not None else None
        if listing.failure is None:
            count = len(listing.models)
            words = f"OK: {count} {'model' if count == 1 else 'models'} in {listing.seconds:.2f} s."
            if count == 0:
                words = "The gateway answers, but lists no models. Type a model id instead."
        elif failure_kind is FailureKind.HTTP and status in (404, 405, 501):
            words = f"Something answers, but there is no model list at {address.models} (HTTP {status})."
            words += f" Try {address.suggestion}." if address.suggestion else " Type a model id; no key was checked."
        elif failure_kind is FailureKind.HTTP:
            words = f"The gateway answers with HTTP {status}: {listing.failure.message}"
        else:
            words = listing.failure.message
        return Report(listing.failure is None, status is not None, words, address, listing)

    async def aclose(self) -> None:
        """Close all connections. Runs still under way break; cancel them first."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def _client(self, address: Address) -> httpx.AsyncClient:
        """The httpx client, made on first use in a thread. Raises ValueError for settings that cannot be used."""
        async with self._making:
            if self._http is None:
                self._http = await asyncio.to_thread(_make_client, self.connection, address.base)
            return self._http

    async def _get_models(self, protocol_name: str, query: str) -> tuple[Exchange, Failure | None]:
        """One page: the exchange, and the failure if there was one."""
        try:
            address = resolve(self.connection.base_url)
            request = model_list_request(self.connection, address, protocol_name, query)
            http = await self._client(address)
        except ValueError as error:
            failure = Failure(kind=FailureKind.INPUT, message=self.redactor.text(str(error)))
            exchange = blank_exchange(self.redactor)
            exchange.failure = failure
            return exchange, failure
        exchange = blank_exchange(self.redactor, request)
        transfer = Transfer(http, self.connection, self.redactor, request, exchange)
        try:
            await transfer.start()
            if (exchange.status or 0) >= 300:
                exchange.failure = await read_refusal(transfer, self.redactor, exchange.started_at)
            else:
                while await transfer.read() is not None:
                    transfer.clock.wait_for(Stage.IDLE)
        except TransferError as error:
            exchange.failure = error.failure
        finally:
            await transfer.aclose()
        return exchange, exchange.failure


def _make_client(connection: Connection, base: str) -> httpx.AsyncClient:
    from playground.gateway.transport import make_client

    return make_client(connection, base)


def _parse(exchange: Exchange) -> tuple[object, list[Model], Failure | None]:
    """The parsed body, its models, and a failure where it is no list."""
    from playground.protocols import jsontext
    from playground.protocols.errors import looks_like_error, read_error

    text = exchange.body.decode("utf-8", "replace")
    try:
        value = jsontext.parse(text.strip())
    except ValueError:
        value = None
    found = read_models(value)
    if found is not None:
        return value, found, None
    if isinstance(value, dict) and looks_like_error(value):
        return value, [], read_error(value)
    kind = exchange.content_type or "no content type"
    message = f"The answer is not a model list ({kind}, {exchange.size} bytes). Is the base URL right?"
    return value, [], Failure(kind=FailureKind.DECODE, message=message, status=exchange.status, body=text[:2000])
