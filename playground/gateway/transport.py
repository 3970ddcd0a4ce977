"""Sends requests with an httpx client, and says in words why a connection failed.

Imported on first use, in a thread, because httpx, httpcore and the certificate store take a tenth of a second.
"""

from __future__ import annotations

import errno
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import h11
import httpcore
import httpx
import truststore

from playground.domain.errors import CausedError, Failure, FailureCause, FailureGroup, FailureKind, failure_group
from playground.gateway.connection import Connection
from playground.gateway.network import SOCKS_PORT, Backend, SocksError, SocksProxy
from playground.gateway.prepared_request import PreparedRequest
from playground.gateway.proxy import proxy_for, proxy_url, scheme_problem
from playground.system.named_file import check_regular

#: Called by httpcore at each step of a request, with the step's name and what belongs to it.
Trace = Callable[[str, Mapping[str, Any]], Awaitable[None]]

#: OpenSSL's verdicts on a certificate: not valid yet, expired; another host, another address.
_WRONG_TIME = frozenset({9, 10})
_WRONG_NAME = frozenset({62, 64})
#: OpenSSL's reasons when the other end does not speak TLS.
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")

_MOST_HEADERS = 100  # KiB of headers that httpcore accepts
_HEADERS_TOO_LARGE = 431  # the HTTP status that h11 suggests then
_LONGEST_HOST = 255  # bytes of a host name in a SOCKS request

#: How h11 quotes bytes.
_BYTES = re.compile(r"""bytearray\(b(?P<mark>['"])(?P<text>.*?)(?P=mark)\)""")

#: Seconds an unused connection stays open for the next request: clearly less than the 5 after which common servers
#: (uvicorn, Node) close it. If the server closes it while a request is on its way, the run fails: a POST must not be
#: repeated unasked (RFC 9110, section 9.2.2), since the gateway may have read it.
KEEP_OPEN = 4.0


class Transport:
    """The connections to one gateway: HTTP/1.1, as many as there are requests at a time, kept open between requests.

    Follows no redirect, since a key must not follow one, and keeps no cookie.
    """

    #: What ``send``, ``headers`` and the body of a response raise.
    ERRORS: Final[tuple[type[Exception], ...]] = (
        httpx.InvalidURL,
        httpx.HTTPError,
        httpx.StreamError,
        httpcore.ProtocolError,
        httpcore.UnsupportedProtocol,
        httpcore.ProxyError,
        httpcore.NetworkError,
        httpcore.TimeoutException,
        UnicodeError,
        OSError,
    )

    def __init__(self, connection: Connection, base: str) -> None:
        """``base`` is the gateway's base URL. Raises ValueError, in words, for a CA file or proxy that is unusable."""
        self._proxy_setting = connection.proxy
        context = _tls(connection) if urlsplit(base).scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        address = proxy_url(base, connection.proxy)
        proxy = _read_proxy(address, connection.proxy) if address else None
        is_socks = proxy is not None and proxy.url.scheme.startswith("socks")
        if is_socks and _host_length(base) > _LONGEST_HOST:
            raise CausedError(
                FailureCause.ADDRESS,
                f"The base URL has a host name longer than the {_LONGEST_HOST} letters that SOCKS can carry.",
            )
        self._backend = Backend(_socks_proxy(proxy) if proxy is not None and is_socks else None)
        pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            proxy=_http_proxy(proxy, context) if proxy is not None and not is_socks else None,
            max_connections=None,
            max_keepalive_connections=None,
            keepalive_expiry=KEEP_OPEN,
            network_backend=self._backend,
        )
        self._client = httpx.AsyncClient(transport=_PoolTransport(pool), trust_env=False)

    def headers(self, request: PreparedRequest) -> list[tuple[str, str]]:
        """Return all headers of a request, with Host and Content-Length. Raises httpx.InvalidURL."""
        headers = list(request.headers)
        if all(name.lower() != "host" for name, _ in headers):
            headers.insert(0, ("Host", read_url(request.url).netloc.decode("ascii")))
        if request.body or request.method not in ("GET", "HEAD"):
            headers.append(("Content-Length", str(len(request.body))))
        return headers

    async def send(self, request: PreparedRequest, headers: list[tuple[str, str]], trace: Trace) -> httpx.Response:
        """Send a request and wait for status and headers. Raises ``ERRORS``."""
        outgoing = httpx.Request(
            request.method,
            read_url(request.url),
            headers=[(name.encode("ascii"), value.encode("latin-1")) for name, value in headers],
            stream=httpx.ByteStream(request.body),
            extensions={"timeout": {}, "trace": trace},
        )
        return await self._client.send(outgoing, stream=True, auth=httpx.Auth())  # no login from the address

    async def aclose(self) -> None:
        """Close all connections, also those in use and those being made."""
        self._backend.closed = True
        await self._client.aclose()

    def explain(self, error: Exception, url: str, *, answering: bool, banner: bytes, reused: bool) -> Failure:
        """Return the failure for one of ``ERRORS``.

        ``answering``: status and headers had arrived. ``banner``: beginning of the first read on the connection.
        ``reused``: the connection had served an earlier request.
        """
        parts = urlsplit(url)
        host = parts.hostname or url
        port = parts.port or (443 if parts.scheme == "https" else 80)
        proxy = proxy_for(url, self._proxy_setting)
        place = f"the proxy {proxy} ({_proxy_source(self._proxy_setting)})" if proxy else f"{host}:{port}"
        causes = list(_causes(error))
        cause: FailureCause | None = None
        if isinstance(error, httpx.InvalidURL | httpcore.UnsupportedProtocol | httpcore.LocalProtocolError):
            kind, message = FailureKind.INPUT, f"The request cannot be built: {_short(error)}."
        elif isinstance(error, httpx.RemoteProtocolError):  # of httpx itself, which reads where a redirect leads
            kind = FailureKind.REDIRECT
            message = f"The gateway points to an address that is not valid: {_short(error)}."
        elif isinstance(error, httpcore.ProxyError):
            words = _socks_words(error) if isinstance(error, SocksError) else _proxy_words(_short(error))
            kind, message = FailureKind.CONNECTION, f"{place[0].upper()}{place[1:]} {words}."
            message = message.replace("{target}", f"{host}:{port}")
            cause = error.cause if isinstance(error, SocksError) else _proxy_cause(_short(error))
            if cause is FailureCause.PROXY_PASSWORD and self._proxy_setting:
                cause = FailureCause.OWN_PROXY_PASSWORD
        elif (problem := _tls_problem(causes, host, port)) is not None:
            kind, (message, cause) = FailureKind.TLS, problem
        elif any(isinstance(cause, socket.gaierror | UnicodeError) for cause in causes):
            kind, message = FailureKind.NAME, f"The name {f'of {place}' if proxy else host} was not found."
        elif (unreachable := _network_problem(causes, place, answering=answering)) is not None:
            kind, message = unreachable
        elif answering:
            kind = FailureKind.CONNECTION
            message = f"The connection to {host} broke in the middle of the answer ({_reason(error, causes)})."
        else:
            kind, message = _answer_problem(error, causes, place, banner, reused=reused)
        if kind is FailureKind.TOO_LARGE:
            cause = FailureCause.ANSWER_HEADERS
        elif proxy and cause is None and not answering and failure_group(kind) is FailureGroup.NETWORK:
            cause = FailureCause.PROXY_UNREACHABLE
        return Failure(kind=kind, message=message, cause=cause)


@lru_cache(maxsize=64)  # a gateway has a few endpoints
def read_url(url: str) -> httpx.URL:
    """Return the URL with an encoded host name and path. Raises httpx.InvalidURL."""
    return httpx.URL(url)


class _PoolTransport(httpx.AsyncBaseTransport):
    """A pool of httpcore below an httpx client, which has no way to choose the pool's network backend."""

    def __init__(self, pool: httpcore.AsyncConnectionPool) -> None:
        self._pool = pool

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and wait for status and headers. Raises the errors of httpcore."""
        response = await self._pool.handle_async_request(
            httpcore.Request(
                request.method,
                _core_url(request.url),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        body = _Body(response)
        return httpx.Response(response.status, headers=response.headers, stream=body, extensions=response.extensions)

    async def aclose(self) -> None:
        """Close all connections, also those in use."""
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    """The body of a response of httpcore."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._response.aiter_stream():
            yield data

    async def aclose(self) -> None:
        """Return the connection to the pool; it is closed if the body was not read to its end."""
        await self._response.aclose()


def _core_url(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


def _host_length(base: str) -> int:
    """Return the bytes of the encoded host name; 0 for an invalid one, which ``send`` reports."""
    try:
        return len(read_url(base).raw_host)
    except httpx.InvalidURL:
        return 0


def _read_proxy(address: str, setting: str) -> httpx.Proxy:
    """Return the proxy at an address. Raises ValueError in words without its login."""
    try:
        problem = scheme_problem(urlsplit(address))
        proxy = None if problem else httpx.Proxy(address)
    except (httpx.InvalidURL, ValueError):
        problem, proxy = "has an address that cannot be read", None
    if proxy is None:
        cause = FailureCause.OWN_PROXY if setting else FailureCause.PROXY
        raise CausedError(cause, f"The proxy {_proxy_source(setting)} {problem}.")
    return proxy


def _socks_proxy(proxy: httpx.Proxy) -> SocksProxy:
    return SocksProxy(proxy.url.raw_host.decode("ascii"), proxy.url.port or SOCKS_PORT, proxy.raw_auth)


def _http_proxy(proxy: httpx.Proxy, context: ssl.SSLContext) -> httpcore.Proxy:
    context_of_proxy = context if proxy.url.scheme == "https" else None
    return httpcore.Proxy(_core_url(proxy.url), auth=proxy.raw_auth, ssl_context=context_of_proxy)


def _proxy_source(setting: str) -> str:
    return "given for this gateway" if setting else "set in the environment"


def _tls(connection: Connection) -> ssl.SSLContext:
    """Return a context that trusts the operating system's certificates and the connection's CA file."""
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if connection.ca_file:
        try:
            ca_file = Path(connection.ca_file)
            check_regular(ca_file.stat(), ca_file)
            context.load_verify_locations(cafile=connection.ca_file)
        except (OSError, ssl.SSLError) as error:
            reason = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror or "unreadable"
            message = f"The CA file {connection.ca_file} cannot be used: {reason}."
            raise CausedError(FailureCause.CA_FILE, message) from None
    return context


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error, its causes and the members of groups, each once."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        cause = waiting.pop(0)
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        if isinstance(cause, BaseExceptionGroup):
            waiting += cause.exceptions
        waiting += [cause.__cause__, cause.__context__]


def _tls_problem(causes: list[BaseException], host: str, port: int) -> tuple[str, FailureCause | None] | None:
    """Return words and cause for an error of TLS; None when there is none.

    SSLWantReadError is none: TLS waited for data, and whatever ended the wait is another cause.
    """
    for cause in causes:
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLWantReadError):
            return _tls_words(cause, host, port)
    return None


def _network_problem(causes: list[BaseException], place: str, *, answering: bool) -> tuple[FailureKind, str] | None:
    """Return kind and words for an error by which the network refuses to connect; None when there is none."""
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return FailureKind.REFUSED, f"Nothing answers at {place}."
    numbers = {cause.errno for cause in causes if isinstance(cause, OSError)}
    if errno.ETIMEDOUT in numbers and not answering:
        return FailureKind.TIMEOUT_CONNECT, f"No connection to {place}: the network gave up waiting."
    if numbers & {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN}:
        return FailureKind.CONNECTION, f"There is no route to {place} from this computer."
    return None


def _answer_problem(
    error: Exception, causes: list[BaseException], place: str, banner: bytes, *, reused: bool
) -> tuple[FailureKind, str]:
    """Return kind and words for an error after the connection was made and before an answer arrived."""
    violations = [cause for cause in causes if isinstance(cause, h11.ProtocolError)]
    if any(violation.error_status_hint == _HEADERS_TOO_LARGE for violation in violations):
        message = f"The headers of the answer from {place} are larger than {_MOST_HEADERS} KiB, the most that is read."
        return FailureKind.TOO_LARGE, message
    if banner and not b"HTTP/".startswith(banner[:5]):
        return FailureKind.NOT_HTTP, f"{place} does not speak HTTP: {_banner_words(banner)}."
    if violations:
        return FailureKind.NOT_HTTP, f"{place} violates HTTP ({_short(error)})."
    reason = _reason(error, causes)
    if reused:
        message = (
            f"The connection to {place}, kept from an earlier request, was closed before an answer was received "
            f"({reason}). The other side may have closed it just when this request was sent."
        )
    else:
        message = f"The connection to {place} was closed before an answer was received ({reason})."
    return FailureKind.CONNECTION, message


def _reason(error: Exception, causes: list[BaseException]) -> str:
    if any(isinstance(cause, ConnectionResetError | BrokenPipeError) for cause in causes):
        return "it was reset"
    return _short(error) or "it was closed"


def _banner_words(banner: bytes) -> str:
    """Return a guess at a protocol from the beginning of its first message, or a quotation of it."""
    if banner[0] in (0x15, 0x16) and banner[1:2] == b"\x03":
        return "it speaks TLS. Begin the address with https://"
    if banner[:2] == b"\0\0" and banner[3:4] == b"\x04":
        return "it speaks HTTP/2 alone, and this program HTTP/1.1"
    line = banner.splitlines()[0].decode("utf-8", "replace").strip() if banner.strip() else ""
    if line and line.isprintable() and "\ufffd" not in line:
        return f"it says “{line[:120]}”"
    return f"it begins with the bytes {banner[:8].hex(' ')}"


def _tls_words(error: ssl.SSLError, host: str, port: int) -> tuple[str, FailureCause | None]:
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = error.verify_message or "not trusted"
        distrust = f"The certificate of {host} cannot be trusted ({reason})."
        if error.verify_code in _WRONG_TIME:
            clock = f"This computer's clock says {datetime.now().astimezone():%Y-%m-%d %H:%M}."
            return f"{distrust} {clock}", FailureCause.CERTIFICATE_TIME
        if error.verify_code in _WRONG_NAME:
            return f"{distrust} It was issued for another name.", FailureCause.CERTIFICATE_NAME
        return distrust, FailureCause.CERTIFICATE
    if error.reason in _NO_TLS:
        return f"{host}:{port} does not speak TLS.", FailureCause.NO_TLS
    reason = (error.reason or str(error)).replace("_", " ").lower()
    return f"The TLS handshake with {host} failed ({reason}).", None


def _proxy_words(status: str) -> str:
    """Return words for an HTTP proxy's refusal, to follow its name; ``{target}`` is for the gateway's host."""
    if status.startswith("407"):
        return (
            "requires a user name and a password (407). Put them into the proxy's address, before the host: "
            "http://name:password@host"
        )
    return f"does not lead to {{target}} ({status})"


def _proxy_cause(status: str) -> FailureCause:
    return FailureCause.PROXY_PASSWORD if status.startswith("407") else FailureCause.PROXY_ROUTE


def _socks_words(refusal: SocksError) -> str:
    """Return words for a SOCKS proxy's refusal, to follow its name."""
    if not refusal.received:
        return refusal.words
    hint = ". One for HTTP begins with http://" if refusal.received.startswith(b"HTTP/") else ""
    return f"{refusal.words}: {_banner_words(refusal.received)}{hint}"


def _short(error: Exception) -> str:
    """Return an error's text as part of a sentence. Not cut: a secret in it must be whole to be recognised."""
    return _BYTES.sub(lambda match: f"“{match['text']}”", str(error).strip().rstrip("."))
