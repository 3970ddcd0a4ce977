"""Prepares HTTP requests: method, URL, headers and body bytes, before any socket is opened.

Settings are sent unchanged (specification, sections 4 and 5). ValueError, in words that show no secret, for what no
HTTP request can carry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from playground import __version__
from playground.domain.errors import CausedError, FailureCause
from playground.domain.parts import Text
from playground.domain.request import Request
from playground.gateway.address import Address
from playground.gateway.body_decoding import ACCEPTED
from playground.gateway.connection import Auth, Connection
from playground.gateway.proxy import proxy_secrets
from playground.gateway.redact import Redactor, is_secret_header
from playground.jsonkit.values import JSONObject
from playground.protocols.protocol import Protocol, get_protocol

USER_AGENT = f"gateway-playground/{__version__}"

_TOKEN = re.compile(r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
_VALUE = re.compile(r"^[\t -~]*$")
_SURROGATE = re.compile("[\ud800-\udfff]")

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))

#: The size of a brief request: turns, and characters in all of them.
_BRIEF_TURNS, _BRIEF = 50, 20_000
_PLAIN = (bool, int, float)

#: Headers that the transport sets; another value would break the message's framing.
_OURS = frozenset({"content-length", "transfer-encoding", "connection"})


@dataclass(frozen=True, repr=False)
class PreparedRequest:
    """An HTTP request ready to send. Its headers hold the key, so its repr shows method and URL only.

    ``streams``: the body asks for a stream. ``choices`` is the number of completions that it asks for.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    streams: bool = False
    choices: int = 1

    def __repr__(self) -> str:
        return f"PreparedRequest({self.method} {self.url})"

    @property
    def keyed(self) -> bool:
        """Return whether a header carries a secret."""
        return any(is_secret_header(name) and value for name, value in self.headers)


def is_brief(request: Request) -> bool:
    """Return whether a body of few short turns and plain settings is encoded faster than a thread starts."""
    if len(request.turns) > _BRIEF_TURNS or request.tools or request.inherited_body or request.extra_body:
        return False
    characters = 0
    for turn in request.turns:
        for part in turn.parts:
            if not isinstance(part, Text) or part.extra or turn.extra:
                return False
            characters += len(part.text)
    return characters <= _BRIEF and all(value is None or isinstance(value, _PLAIN) for _, value in request.parameters)


def prepare_request(connection: Connection, address: Address, protocol: Protocol, request: Request) -> PreparedRequest:
    """Return the request of one run. Raises ValueError for what cannot be sent."""
    body = protocol.encode(request)
    streams = body.get("stream") is True
    headers = [
        ("Content-Type", "application/json"),
        ("Accept", "text/event-stream" if streams else "application/json"),
    ]
    return PreparedRequest(
        method="POST",
        url=address.endpoint(protocol.endpoint),
        headers=_headers(connection, protocol.name, headers, request.extra_headers),
        body=encode_json(body),
        streams=streams,
        choices=protocol.choices(body),
    )


def model_list_request(
    connection: Connection, address: Address, protocol_name: str, query: str = ""
) -> PreparedRequest:
    """Return the request for the model list (specification, section 4.3). ``query`` is already encoded."""
    headers = _headers(connection, protocol_name, [("Accept", "application/json")])
    return PreparedRequest("GET", address.models + (f"?{query}" if query else ""), headers, b"")


def probe_request(connection: Connection, address: Address, protocol: Protocol, body: JSONObject) -> PreparedRequest:
    """Return a request that tests the protocol's endpoint, with a ``body`` that asks for nothing."""
    headers = [("Content-Type", "application/json"), ("Accept", "application/json")]
    url = address.endpoint(protocol.endpoint)
    return PreparedRequest("POST", url, _headers(connection, protocol.name, headers), encode_json(body))


def details_request(connection: Connection, url: str, protocol_name: str, body: bytes) -> PreparedRequest:
    """Return the request for a page with facts of models: GET, or POST with a ``body`` of JSON."""
    headers = [("Accept", "application/json"), *([("Content-Type", "application/json")] if body else [])]
    return PreparedRequest("POST" if body else "GET", url, _headers(connection, protocol_name, headers), body)


def encode_json(body: JSONObject) -> bytes:
    """Return compact UTF-8 JSON, lone surrogates escaped. Raises ValueError for values that JSON does not have."""
    try:
        text = _JSON.encode(body)
    except RecursionError:
        raise ValueError("The request is nested too deeply to be written as JSON.") from None
    except ValueError:
        raise ValueError("The request holds a number that JSON does not have (NaN or Infinity), or a loop.") from None
    except TypeError as error:
        raise ValueError(f"The request holds a value that JSON does not have ({error}).") from None
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def _headers(
    connection: Connection, protocol_name: str, first: list[tuple[str, str]], last: dict[str, str] | None = None
) -> tuple[tuple[str, str], ...]:
    """Return ``first``, the usual headers, those of the key and of the gateway, and ``last``; later ones win."""
    headers = [*first, ("Accept-Encoding", ACCEPTED), ("User-Agent", USER_AGENT)]
    headers += key_headers(connection, protocol_name)
    extra = list(_checked(last or {}))
    own = {name.lower() for name, _ in extra}
    extra = [*(pair for pair in gateway_headers(connection) if pair[0].lower() not in own), *extra]
    own = {name.lower() for name, _ in extra}
    return (*(pair for pair in headers if pair[0].lower() not in own), *extra)


def key_headers(connection: Connection, protocol_name: str) -> list[tuple[str, str]]:
    """Return the headers that carry the key in a protocol. Raises ValueError for a key that no header can carry."""
    headers: list[tuple[str, str]] = []
    key, auth = connection.clean_key, connection.auth_for(protocol_name)
    if key:
        if problem := connection.key_problem:
            raise CausedError(FailureCause.KEY, problem)
        if auth in (Auth.BEARER, Auth.BOTH):
            headers.append(("Authorization", f"Bearer {key}"))
        if auth in (Auth.X_API_KEY, Auth.BOTH):
            headers.append(("x-api-key", key))
    if auth in (Auth.X_API_KEY, Auth.BOTH):
        headers += get_protocol(protocol_name).key_headers.items()
    return headers


def gateway_headers(connection: Connection) -> tuple[tuple[str, str], ...]:
    """Return the gateway's own headers. Raises ValueError for one that no request can carry."""
    return tuple(_checked(connection.headers))


def header_problem(name: str, value: str) -> str:
    """Return the reason why no request can carry a header, in words that do not show its value; "" if one can."""
    if not _TOKEN.match(name):
        return f"The header name “{name}” holds a character that header names cannot have."
    if name.lower() in _OURS:
        return f"The header {name} is set from the request itself. Remove it from the extra headers."
    if not _VALUE.match(value):
        return f"The value of the header {name} holds a line break, a control character or a letter outside ASCII."
    return ""


def _checked(headers: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in ((name.strip(), value.strip()) for name, value in headers.items()):
        if problem := header_problem(name, value):
            raise CausedError(FailureCause.HEADER, problem)
        yield name, value


def redactor_for(connection: Connection) -> Redactor:
    """Return a redactor of every secret that a request over ``connection`` carries."""
    return Redactor(secrets_for(connection))


def secrets_for(connection: Connection) -> list[str]:
    """Return every secret that a request over ``connection`` carries, as plain text, which must never be shown."""
    secrets = []
    if connection.key is not None:
        secrets += [connection.clean_key, connection.key.get_secret_value()]
    secrets += proxy_secrets(connection.proxy)
    for name, value in connection.headers.items():
        if is_secret_header(name) or name in connection.secret_headers:
            scheme, space, rest = value.strip().partition(" ")
            secrets.append(rest.strip() if space and scheme.isalpha() else value.strip())
    return secrets
