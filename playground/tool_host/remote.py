"""Messages to a server that is reached by its address: Streamable HTTP, or server-sent events as the old form."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Final

import anyio
import httpx2
import truststore
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from playground.domain.tool_servers import Via
from playground.tool_host.limits import LONGEST_MESSAGE
from playground.tool_host.owner import Owner
from playground.tool_host.throttle import Throttle

_CONNECT: Final = 30.0  # seconds for each step of a request
_QUIET: Final = 86_400.0  # seconds without a word: how long a call may take is its own time-out
_NOT_ALLOWED: Final = 405  # to listen, and to say goodbye, need not be possible
_GONE: Final = "The server closed the connection."


@asynccontextmanager
async def remote(connection: Owner) -> AsyncIterator[tuple[Any, Any]]:
    """Streams to read from and to write to."""
    server, secrets = connection.server, connection.secrets
    given = {"Accept-Encoding": "identity", **server.headers}
    given |= {name: secrets.get(f"header:{name}", "") for name in server.secret_headers}
    async with AsyncExitStack() as stack:
        sign: httpx2.Auth | None = None
        if server.oauth:
            from playground.tool_host.sign_in import sign_in

            sign = await stack.enter_async_context(sign_in(connection))

        make = _Maker(connection, given, sign)

        if server.via is Via.SSE:
            opened = sse_client(server.url, httpx_client_factory=make)
        else:
            http = await stack.enter_async_context(make())
            opened = streamable_http_client(server.url, http_client=http, max_sse_event_size=LONGEST_MESSAGE)
        receive, send = await stack.enter_async_context(opened)
        yield Reader(receive, connection), Writer(send, connection)


class _Maker:
    """Makes clients; what the library would have them do is set here."""

    def __init__(self, connection: Owner, given: dict[str, str], sign: httpx2.Auth | None) -> None:
        self._connection, self._given, self._sign = connection, given, sign

    def __call__(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return _client(self._connection, {**(headers or {}), **self._given}, auth or self._sign)


def _client(connection: Owner, headers: dict[str, str], auth: httpx2.Auth | None) -> httpx2.AsyncClient:
    async def came(response: httpx2.Response) -> None:
        optional = response.status_code == _NOT_ALLOWED and response.request.method != "POST"
        if response.is_error and not optional:
            connection.http_problem = f"HTTP {response.status_code} {response.reason_phrase}".strip()
            connection.tap.note(f"{connection.http_problem} ({response.request.method})", error=True)
        kind = response.headers.get("content-type", "")
        if not kind.lower().startswith("text/event-stream"):
            packed = response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity")
            response.stream = _Limited(response.stream, packed)

    return httpx2.AsyncClient(
        headers=headers,
        auth=auth,
        timeout=httpx2.Timeout(_CONNECT, read=_QUIET),
        verify=truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        event_hooks={"response": [came]},
    )


class _Limited(httpx2.AsyncByteStream):
    """A body that is read no further than a message may be long. One that was packed, unasked, is not read at all."""

    def __init__(self, stream: Any, packed: bool) -> None:
        self._stream, self._packed = stream, packed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if self._packed or size > LONGEST_MESSAGE:
                much = (
                    "is compressed, which was not asked for" if self._packed else f"has over {LONGEST_MESSAGE:,} bytes"
                )
                raise httpx2.StreamError(f"the answer {much}, and was let go")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class Reader:
    """What the library reads messages from, each on its tape, and no faster than they may come."""

    def __init__(self, inner: Any, connection: Owner) -> None:
        self._inner, self._connection = inner, connection
        self._throttle = Throttle()

    async def receive(self) -> SessionMessage | Exception:
        """The next message. Raises EndOfStream."""
        try:
            item: SessionMessage | Exception = await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._connection.ended(_GONE)
            raise
        await self._throttle.message()
        if isinstance(item, SessionMessage):
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            self._connection.tap.received(text, len(text.encode("utf-8", "replace")), item.message)
        else:
            self._connection.log("warning", "", f"What came could not be read: {item}")
        return item

    def __aiter__(self) -> Reader:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Read no more."""
        await self._inner.aclose()

    async def __aenter__(self) -> Reader:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Writer:
    """What the library writes messages to, each on its tape."""

    def __init__(self, inner: Any, connection: Owner) -> None:
        self._inner, self._connection = inner, connection

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message."""
        self._connection.tap.sent(item.message.model_dump_json(by_alias=True, exclude_unset=True), item.message)
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Write no more."""
        await self._inner.aclose()

    async def __aenter__(self) -> Writer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
