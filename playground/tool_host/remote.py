"""Messages to a server at an address: Streamable HTTP, or server-sent events as in the old form of the protocol."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import anyio
import httpx2
import truststore
from mcp.client.sse import sse_client
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from playground.domain.tool_servers import Via
from playground.jsonkit.values import JSON
from playground.tool_host.limits import LONGEST_MESSAGE
from playground.tool_host.report import ServerReport
from playground.tool_host.stdio import Incoming, MessageStream
from playground.tool_host.tap import Tap
from playground.tool_host.throttle import Throttle

_CONNECT: Final = 30.0  # seconds for each step of a request
_READ: Final = 86_400.0  # seconds without data: calls have time-outs of their own
_CLOSED: Final = "The server closed the connection."


@asynccontextmanager
async def open_address(report: ServerReport) -> AsyncIterator[tuple[RecordingReader, RecordingWriter]]:
    """Connect to the server's address and yield its streams of messages."""
    server, secrets = report.server, report.secrets
    headers = {"Accept-Encoding": "identity", **server.headers}
    headers |= {name: secrets.get(f"header:{name}", "") for name in server.secret_headers}
    async with AsyncExitStack() as stack:
        auth: httpx2.Auth | None = None
        if server.oauth:
            from playground.tool_host.sign_in import sign_in

            auth = await stack.enter_async_context(sign_in(report))
        create_client = _ClientFactory(report, headers, auth)
        if server.via is Via.SSE:
            transport = sse_client(server.url, httpx_client_factory=create_client)
        else:
            client = await stack.enter_async_context(create_client())
            transport = streamable_http_client(server.url, http_client=client, max_sse_event_size=LONGEST_MESSAGE)
        receive, send = await stack.enter_async_context(transport)
        yield RecordingReader(receive, report), RecordingWriter(send, report.tap)


class _ClientFactory:
    """Creates HTTP clients with our headers, limits and certificates."""

    def __init__(self, report: ServerReport, headers: dict[str, str], auth: httpx2.Auth | None) -> None:
        self._report, self._headers, self._auth = report, headers, auth

    def __call__(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        """Return a new client. ``timeout`` is the library's, and not used."""
        return httpx2.AsyncClient(
            headers={**(headers or {}), **self._headers},
            auth=auth or self._auth,
            timeout=httpx2.Timeout(_CONNECT, read=_READ),
            verify=truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            event_hooks={"response": [self._check]},
        )

    async def _check(self, response: httpx2.Response) -> None:
        """Note a refusal, and limit the size of the body."""
        tap, request = self._report.tap, response.request
        request_id = _request_id(request)
        problem = ""
        if response.is_error and not (
            response.status_code == httpx2.codes.METHOD_NOT_ALLOWED and request.method != "POST"
        ):
            refusal = f"HTTP {response.status_code} {response.reason_phrase}".strip()
            tap.note(f"{refusal} ({request.method})", error=True)
            if response.status_code != httpx2.codes.NOT_FOUND or MCP_SESSION_ID not in request.headers:
                problem = f"The server refused: {refusal}."
        tap.set_problem(request_id, problem)
        if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            response.stream = _LimitedBody(response, tap, request_id)


def _request_id(request: httpx2.Request) -> JSON:
    """Return the id of the JSON-RPC request in a body; None if there is none."""
    try:
        message = jsonrpc_message_adapter.validate_json(request.content, by_name=False)
    except (ValidationError, httpx2.RequestNotRead):
        return None
    return message.id if isinstance(message, JSONRPCRequest) else None


class _LimitedBody(httpx2.AsyncByteStream):
    """A body of at most LONGEST_MESSAGE bytes. A compressed one, which was not requested, is not read at all."""

    def __init__(self, response: httpx2.Response, tap: Tap, request_id: JSON) -> None:
        self._stream: Any = response.stream
        self._is_error = response.is_error
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        self._is_compressed = encoding not in ("", "identity")
        self._tap, self._request_id = tap, request_id

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, error_body = 0, b""
        async for chunk in self._stream:
            size += len(chunk)
            if self._is_compressed:
                self._fail("is compressed, which was not requested")
            if size > LONGEST_MESSAGE:
                self._fail(f"has over {LONGEST_MESSAGE:,} bytes")
            error_body += chunk if self._is_error else b""
            yield chunk
        if _is_json_rpc_error(error_body):
            self._tap.set_problem(self._request_id, "")  # the server's own words say more than its status

    def _fail(self, reason: str) -> None:
        problem = f"The answer {reason}, and was discarded."
        self._tap.set_problem(self._request_id, problem)
        raise httpx2.StreamError(problem)

    async def aclose(self) -> None:
        await self._stream.aclose()


def _is_json_rpc_error(body: bytes) -> bool:
    try:
        return isinstance(jsonrpc_message_adapter.validate_json(body, by_name=False), JSONRPCError)
    except ValidationError:
        return False


class RecordingReader(MessageStream):
    """Reads messages for the library at a limited rate, and records each on the tape."""

    def __init__(self, stream: Any, report: ServerReport) -> None:
        self._stream, self._report = stream, report
        self._throttle = Throttle()

    async def receive(self) -> Incoming:
        """Return the next message. Raises EndOfStream."""
        try:
            item: Incoming = await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._report.end(_CLOSED)
            raise
        await self._throttle.message()
        if isinstance(item, SessionMessage):
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            self._report.tap.received(text, len(text.encode("utf-8", "replace")), item.message)
        else:
            self._report.log("warning", "", f"A message could not be read: {item}")
        return item

    def __aiter__(self) -> RecordingReader:
        return self

    async def __anext__(self) -> Incoming:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


class RecordingWriter(MessageStream):
    """Writes messages for the library, and records each on the tape."""

    def __init__(self, stream: Any, tap: Tap) -> None:
        self._stream, self._tap = stream, tap

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message."""
        self._tap.sent(item.message.model_dump_json(by_alias=True, exclude_unset=True), item.message)
        await self._stream.send(item)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()
