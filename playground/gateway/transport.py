"""Makes the httpx client of a gateway, and says in words why a connection failed.

Imported on first use, in a thread, because httpx and the certificate store take a tenth of a second. HTTP/1.1 only,
redirects off (a key must not follow one), no cookies, no limit on parallel runs.
"""

from __future__ import annotations

import errno
import re
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpcore
import httpx

from playground.domain.errors import Failure, FailureKind
from playground.gateway.connection import Connection
from playground.gateway.network import Backend
from playground.gateway.proxy import proxy_for, proxy_url, scheme_problem
from playground.gateway.socks import SocksError
from playground.named_file import check_regular

#: OpenSSL's verdicts on a certificate: not valid yet, expired; another host, another address.
_WRONG_TIME = frozenset({9, 10})
_WRONG_NAME = frozenset({62, 64})

#: What httpx and httpcore raise for an address or a connection that does not work.
BROKEN: Final[tuple[type[Exception], ...]] = (
    httpx.HTTPError,
    httpx.StreamError,
    httpx.InvalidURL,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
    httpcore.ProxyError,
    httpcore.NetworkError,
    UnicodeError,
    OSError,
)

#: KiB of headers that httpcore takes.
_MOST_HEADERS = 100

#: Bytes of a host's name that a SOCKS proxy can be told.
_LONGEST_HOST = 255

#: How h11 quotes bytes.
_BYTES = re.compile(r"""bytearray\(b(?P<mark>['"])(?P<text>.*?)(?P=mark)\)""")

#: Seconds an unused connection stays open for the next request: clearly less than the 5 after which common servers
#: (uvicorn, Node) close it. Closed there while a request is on its way, it costs a failed run: a POST must not be sent
#: a second time unasked (RFC 9110, section 9.2.2), since the gateway may have read it.
KEEP_OPEN = 4.0


def make_client(connection: Connection, base: str) -> httpx.AsyncClient:
    """A client for the gateway at ``base``. Raises ValueError, in words, for a CA file or proxy that cannot be used."""
    context = _tls(connection) if urlsplit(base).scheme == "https" else _bare_tls()
    proxy = proxy_url(base, connection.proxy)
    try:
        problem = scheme_problem(urlsplit(proxy)) if proxy else ""
    except ValueError:
        problem = "has an address that cannot be read"
    if problem:
        raise ValueError(f"The proxy {_set_in(connection.proxy)} {problem}.")
    if proxy.startswith("socks") and _host_length(base) > _LONGEST_HOST:
        raise ValueError(f"The base URL has a host name longer than the {_LONGEST_HOST} letters that SOCKS can carry.")
    try:
        return httpx.AsyncClient(transport=_Transport(context, proxy), trust_env=False)
    except (httpx.InvalidURL, ValueError):
        raise ValueError(f"The proxy {_set_in(connection.proxy)} has an address that cannot be read.") from None


class _Transport(httpx.AsyncBaseTransport):
    """httpcore's pool of connections, made here to give it our ``Backend``. Errors are httpcore's."""

    def __init__(self, context: ssl.SSLContext, proxy: str) -> None:
        self._backend = Backend()
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            proxy=_proxy(proxy, context) if proxy else None,
            max_connections=None,
            max_keepalive_connections=None,
            keepalive_expiry=KEEP_OPEN,
            network_backend=self._backend,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request and wait for status and headers. Raises what httpcore raises, and UnicodeError."""
        url = request.url
        response = await self._pool.handle_async_request(
            httpcore.Request(
                request.method,
                httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        stream = _Body(response)
        return httpx.Response(response.status, headers=response.headers, stream=stream, extensions=response.extensions)

    async def aclose(self) -> None:
        """Close all connections, those in use and those being made among them."""
        self._backend.closed = True
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    """The body of an answer, as it comes."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._response.aiter_stream():
            yield data

    async def aclose(self) -> None:
        """Give the connection back; it is closed where the body was not read to its end."""
        await self._response.aclose()


def _proxy(address: str, context: ssl.SSLContext) -> httpcore.Proxy:
    """The proxy at ``address``, with the login that stands in it. Raises httpx.InvalidURL and ValueError."""
    proxy = httpx.Proxy(address, ssl_context=context)
    url = proxy.url
    return httpcore.Proxy(
        httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        auth=proxy.raw_auth,
        headers=proxy.headers.raw,
        ssl_context=context if url.scheme == "https" else None,
    )


@lru_cache(maxsize=64)  # the same few for all requests
def read_url(url: str) -> httpx.URL:
    """As httpx has it. Raises httpx.InvalidURL."""
    return httpx.URL(url)


def _host_length(base: str) -> int:
    """Bytes of the host's name as it is sent; 0 where it cannot be sent at all, which is told elsewhere."""
    try:
        return len(read_url(base).raw_host)
    except httpx.InvalidURL:
        return 0


def _set_in(proxy: str) -> str:
    return "given for this gateway" if proxy else "set in the environment"


def _tls(connection: Connection) -> ssl.SSLContext:
    """Trusts what the operating system trusts, and the connection's own CA file besides."""
    import truststore

    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if connection.ca_file:
        try:
            ca_file = Path(connection.ca_file)
            check_regular(ca_file.stat(), ca_file)
            context.load_verify_locations(cafile=connection.ca_file)
        except (OSError, ssl.SSLError) as error:
            reason = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror or "unreadable"
            raise ValueError(f"The CA file {connection.ca_file} cannot be used: {reason}.") from None
    return context


def _bare_tls() -> ssl.SSLContext:
    """For http addresses: trusts nobody, and costs nothing to make."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, its causes and the members of groups, each once."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
        waiting += [one.__cause__, one.__context__]


def explain(
    error: Exception, url: str, *, answering: bool, banner: bytes = b"", given: str = "", kept: bool = False
) -> Failure:
    """The failure that an exception of httpx or httpcore stands for.

    ``answering``: status and headers had come already. ``banner`` is how the first read on the connection began.
    ``given`` is the connection's own proxy. ``kept``: the connection had served an earlier request.
    """
    parts = urlsplit(url)
    host = parts.hostname or url
    port = parts.port or (443 if parts.scheme == "https" else 80)
    proxy = proxy_for(url, given)
    place = f"the proxy {proxy} ({_set_in(given)})" if proxy else f"{host}:{port}"
    causes = list(_chain(error))

    def failure(kind: FailureKind, message: str) -> Failure:
        return Failure(kind=kind, message=message)

    if isinstance(error, httpx.InvalidURL | httpcore.UnsupportedProtocol | httpcore.LocalProtocolError):
        return failure(FailureKind.INPUT, f"The request cannot be made as it is: {_short(error)}.")
    if isinstance(error, httpcore.ProxyError):
        refused = next((cause for cause in causes if isinstance(cause, SocksError)), None)
        words = _proxy_words(_short(error)) if refused is None else _socks_words(refused)
        proxy_named = f"{place[0].upper()}{place[1:]}"
        return failure(FailureKind.CONNECTION, f"{proxy_named} {words}.".replace("{target}", f"{host}:{port}"))
    for cause in causes:
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLWantReadError):
            return failure(FailureKind.TLS, _tls_words(cause, host, port))
    for cause in causes:
        if isinstance(cause, socket.gaierror | UnicodeError):
            if proxy:
                return failure(FailureKind.NAME, f"The name of {place} was not found.")
            return failure(FailureKind.NAME, f"The name {host} was not found.")
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return failure(FailureKind.REFUSED, f"Nothing answers at {place}.")
    numbers = {cause.errno for cause in causes if isinstance(cause, OSError)}
    if errno.ETIMEDOUT in numbers and not answering:
        return failure(FailureKind.TIMEOUT_CONNECT, f"No connection to {place}: the network gave up waiting.")
    if numbers & {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN}:
        return failure(FailureKind.CONNECTION, f"There is no way to {place} from here.")
    if answering:
        message = f"The connection to {host} broke in the middle of the answer ({_why(error, causes)})."
        return failure(FailureKind.CONNECTION, message)
    if "Receive buffer too long" in str(error):
        message = f"The headers of the answer from {place} are larger than {_MOST_HEADERS} KiB, the most that is read."
        return failure(FailureKind.TOO_LARGE, message)
    if banner and not b"HTTP/".startswith(banner[:5]):
        return failure(FailureKind.NOT_HTTP, f"What answers at {place} is not HTTP: {_banner_words(banner)}.")
    if isinstance(error, httpcore.RemoteProtocolError) and "without sending a response" not in str(error):
        message = f"What answers at {place} does not keep to the rules of HTTP ({_short(error)})."
        return failure(FailureKind.NOT_HTTP, message)
    if kept:
        message = (
            f"The connection to {place}, kept from an earlier request, was closed before an answer came "
            f"({_why(error, causes)}). The other end may have let it go just when this request was sent."
        )
        return failure(FailureKind.CONNECTION, message)
    message = f"The connection to {place} was closed before an answer came ({_why(error, causes)})."
    return failure(FailureKind.CONNECTION, message)


def _why(error: Exception, causes: list[BaseException]) -> str:
    if any(isinstance(cause, ConnectionResetError | BrokenPipeError) for cause in causes):
        return "it was reset"
    return _short(error) or "it was closed"


def _banner_words(banner: bytes) -> str:
    """What begins like this, instead of an answer."""
    if banner[0] in (0x15, 0x16) and banner[1:2] == b"\x03":
        return "it speaks TLS. Begin the address with https://"
    if banner[:2] == b"\0\0" and banner[3:4] == b"\x04":
        return "it speaks HTTP/2 alone, and this program HTTP/1.1"
    line = banner.splitlines()[0].decode("utf-8", "replace").strip() if banner.strip() else ""
    if line and line.isprintable() and "\ufffd" not in line:
        return f"it says “{line[:120]}”"
    return f"it begins with the bytes {banner[:8].hex(' ')}"


def _tls_words(error: ssl.SSLError, host: str, port: int) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message or "not trusted"
        begun = f"The certificate of {host} cannot be trusted ({why})."
        if error.verify_code in _WRONG_TIME:
            return f"{begun} This computer's clock says {datetime.now().astimezone():%Y-%m-%d %H:%M}."
        if error.verify_code in _WRONG_NAME:
            return f"{begun} It was issued for another name."
        return begun
    reason = (error.reason or str(error)).replace("_", " ").lower()
    if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"):
        return f"{host}:{port} does not speak TLS."
    return f"The TLS handshake with {host} failed ({reason})."


def _proxy_words(said: str) -> str:
    """What an HTTP proxy's refusal means; goes on after its name, and ``{target}`` stands for where it should lead."""
    if said.startswith("407"):
        return (
            "wants a user name and a password (407). They go into the proxy's address, before the host: "
            "http://name:password@host"
        )
    return f"does not lead to {{target}} ({said})"


def _socks_words(refused: SocksError) -> str:
    """The same of a SOCKS proxy's."""
    if not refused.found:
        return refused.words
    hint = ". One for HTTP begins with http://" if refused.found.startswith(b"HTTP/") else ""
    return f"{refused.words}: {_banner_words(refused.found)}{hint}"


def _short(error: Exception) -> str:
    """What it says, as a part of a sentence. Not cut here: it may quote a secret, which is taken out of all of it."""
    return _BYTES.sub(lambda found: f"“{found['text']}”", str(error).strip().rstrip("."))
