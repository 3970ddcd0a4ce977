"""The only module that imports httpx: makes its client, and says in words why a connection failed.

Imported on first use, in a thread, because httpx and the certificate store take a tenth of a second. HTTP/1.1 only,
redirects off (a key must not follow one), no cookies, no limit on parallel runs.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from playground.domain.errors import Failure, FailureKind
from playground.gateway.address import is_loopback
from playground.gateway.connection import Connection

#: Seconds an unused connection stays open for the next request; short, since a stale one costs a failed run.
KEEP_OPEN = 15.0


def make_client(connection: Connection, base: str) -> httpx.AsyncClient:
    """A client for the gateway at ``base``. Raises ValueError, in words, for a CA file or proxy that cannot be used."""
    context = _tls(connection) if urlsplit(base).scheme == "https" else _bare_tls()
    try:
        return httpx.AsyncClient(
            verify=context,
            http1=True,
            http2=False,
            follow_redirects=False,
            trust_env=not is_loopback(base),  # a proxy cannot reach this machine's own loopback
            timeout=httpx.Timeout(None),  # the clocks are ours
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=KEEP_OPEN),
        )
    except ImportError:
        raise ValueError("The proxy set in the environment is a SOCKS proxy, which is not supported.") from None
    except (httpx.InvalidURL, ValueError):
        raise ValueError("The proxy set in the environment has an address that cannot be read.") from None


def _tls(connection: Connection) -> ssl.SSLContext:
    """Trusts what the operating system trusts, and the connection's own CA file besides."""
    import truststore

    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if connection.ca_file:
        try:
            context.load_verify_locations(cafile=connection.ca_file)
        except (OSError, ssl.SSLError) as error:
            reason = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror or "unreadable"
            raise ValueError(f"The CA file {connection.ca_file} cannot be used: {reason}.") from None
    return context


def _bare_tls() -> ssl.SSLContext:
    """For http addresses: trusts nobody, and costs nothing to make."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def proxy_for(url: str) -> str:
    """Host and port of the proxy that the environment names for ``url``; "" when it goes straight there."""
    parts = urlsplit(url)
    if is_loopback(url) or proxy_bypass(parts.hostname or ""):
        return ""
    proxies = getproxies()
    return (proxies.get(parts.scheme) or proxies.get("all") or "").rpartition("@")[2].rpartition("//")[2]


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


def explain(error: Exception, url: str, *, answering: bool) -> Failure:
    """The failure that an exception of httpx stands for. ``answering``: status and headers had come already."""
    parts = urlsplit(url)
    host = parts.hostname or url
    port = parts.port or (443 if parts.scheme == "https" else 80)
    proxy = proxy_for(url)
    place = f"the proxy {proxy} (set in the environment)" if proxy else f"{host}:{port}"
    causes = list(_chain(error))

    def failure(kind: FailureKind, message: str) -> Failure:
        return Failure(kind=kind, message=message)

    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return failure(FailureKind.INPUT, f"The request cannot be made as it is: {_short(error)}.")
    if isinstance(error, httpx.ProxyError):
        return failure(FailureKind.CONNECTION, f"The proxy {proxy or place} refused the connection: {_short(error)}.")
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            return failure(FailureKind.TLS, _tls_words(cause, host, port))
    for cause in causes:
        if isinstance(cause, socket.gaierror | UnicodeError):
            name = proxy or host
            return failure(FailureKind.NAME, f"The name {name} was not found. Check the base URL and the network.")
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        message = f"Nothing answers at {place}. Is the gateway running, and is the port right?"
        return failure(FailureKind.REFUSED, message)
    numbers = {cause.errno for cause in causes if isinstance(cause, OSError)}
    if errno.ETIMEDOUT in numbers and not answering:
        return failure(FailureKind.TIMEOUT_CONNECT, f"No connection to {place}: the network gave up waiting.")
    if numbers & {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN}:
        return failure(FailureKind.CONNECTION, f"There is no way to {place} from here. Check the network.")
    if answering:
        message = f"The connection to {host} broke in the middle of the answer ({_why(error, causes)})."
        return failure(FailureKind.CONNECTION, message)
    if isinstance(error, httpx.RemoteProtocolError) and "without sending a response" not in str(error):
        message = f"What answers at {place} does not speak HTTP ({_short(error)})."
        return failure(FailureKind.CONNECTION, message)
    message = f"The connection to {place} was closed before an answer came ({_why(error, causes)})."
    return failure(FailureKind.CONNECTION, message)


def _why(error: Exception, causes: list[BaseException]) -> str:
    if any(isinstance(cause, ConnectionResetError | BrokenPipeError) for cause in causes):
        return "it was reset"
    return _short(error) or "it was closed"


def _tls_words(error: ssl.SSLError, host: str, port: int) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message or "not trusted"
        return (
            f"The certificate of {host} cannot be trusted ({why}). If the gateway has a certificate authority of its "
            "own, name its CA file in the gateway settings."
        )
    reason = (error.reason or str(error)).replace("_", " ").lower()
    if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"):
        return f"{host}:{port} does not speak TLS. If the gateway is plain HTTP, begin its address with http://."
    return f"The TLS handshake with {host} failed ({reason})."


def _short(error: Exception) -> str:
    text = str(error).strip().rstrip(".")
    return text if len(text) <= 200 else f"{text[:197]}..."
