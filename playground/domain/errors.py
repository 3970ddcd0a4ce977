"""Failures of requests, as values.

A ``Failure`` is data of a turn, not an exception: it is shown and saved with the parts received before it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from pydantic import Field

from playground.domain.values import LongText, Value
from playground.jsonkit.values import JSON


class FailureKind(StrEnum):
    """The place of a failure, from near to far."""

    INPUT = "input"  # the request could not be made from what was given
    NO_KEY = "no_key"  # a stored key cannot be read; nothing was sent
    CONSENT = "consent"  # a person has to agree to the target of a secret first; nothing was sent
    NAME = "name"  # the host name does not resolve
    REFUSED = "refused"  # nothing listens at that address
    TLS = "tls"  # certificate or handshake
    CONNECTION = "connection"  # reset, broken, unreachable, proxy
    NOT_HTTP = "not_http"  # the response is not valid HTTP
    TIMEOUT_CONNECT = "timeout_connect"
    TIMEOUT_FIRST = "timeout_first"  # connected, but no content in time
    TIMEOUT_IDLE = "timeout_idle"  # content stopped coming
    TIMEOUT_TOTAL = "timeout_total"
    REDIRECT = "redirect"
    HTTP = "http"  # an answer with a status of 400 or above
    STREAM = "stream"  # an error object inside a stream that began with 200
    DECODE = "decode"  # the body is not what the protocol says
    OTHER_PROTOCOL = "other_protocol"  # a response of the other protocol
    CUT_OFF = "cut_off"  # the body ended without a finish reason
    NO_BODY = "no_body"  # the body is empty or blank
    EMPTY = "empty"  # a complete answer with nothing in it
    TOO_LARGE = "too_large"  # an event or body above the set cap
    INTERNAL = "internal"  # a bug of the application


class FailureGroup(StrEnum):
    """The party or the step that a failure belongs to; each failure is in one group."""

    UNSENT = "unsent"  # nothing was sent
    NETWORK = "network"  # no connection, or it broke
    TLS = "tls"
    TIMEOUT = "timeout"  # connected, and the answer took too long
    AUTHENTICATION = "authentication"  # the gateway refuses the key
    LIMIT = "limit"  # the gateway takes no request now
    REQUEST = "request"  # the gateway refuses the request for another reason
    GATEWAY = "gateway"  # the gateway reports an error of its own
    REDIRECT = "redirect"
    UNREADABLE = "unreadable"  # the answer is not valid
    EMPTY = "empty"
    INTERNAL = "internal"


#: Groups of an answer with a status from 400 to 499.
REFUSALS: Final = frozenset({FailureGroup.AUTHENTICATION, FailureGroup.LIMIT, FailureGroup.REQUEST})

_GROUPS: Final = {
    FailureKind.INPUT: FailureGroup.UNSENT,
    FailureKind.NO_KEY: FailureGroup.UNSENT,
    FailureKind.CONSENT: FailureGroup.UNSENT,
    FailureKind.NAME: FailureGroup.NETWORK,
    FailureKind.REFUSED: FailureGroup.NETWORK,
    FailureKind.CONNECTION: FailureGroup.NETWORK,
    FailureKind.TIMEOUT_CONNECT: FailureGroup.NETWORK,
    FailureKind.TLS: FailureGroup.TLS,
    FailureKind.TIMEOUT_FIRST: FailureGroup.TIMEOUT,
    FailureKind.TIMEOUT_IDLE: FailureGroup.TIMEOUT,
    FailureKind.TIMEOUT_TOTAL: FailureGroup.TIMEOUT,
    FailureKind.REDIRECT: FailureGroup.REDIRECT,
    FailureKind.STREAM: FailureGroup.GATEWAY,
    FailureKind.EMPTY: FailureGroup.EMPTY,
    FailureKind.INTERNAL: FailureGroup.INTERNAL,
}


def failure_group(kind: FailureKind, status: int | None = None) -> FailureGroup:
    """Return the group of a failure; ``status`` is the HTTP status of kind HTTP."""
    if kind is not FailureKind.HTTP:
        return _GROUPS.get(kind, FailureGroup.UNREADABLE)
    if status in (401, 403):
        return FailureGroup.AUTHENTICATION
    if status == 429:
        return FailureGroup.LIMIT
    return FailureGroup.REQUEST if status is not None and status < 500 else FailureGroup.GATEWAY


class FailureCause(StrEnum):
    """The exact cause of a failure, where this application knows more than its kind."""

    # INPUT: the part of the request that cannot be sent
    KEY = "key"
    ADDRESS = "address"
    CA_FILE = "ca_file"
    OWN_PROXY = "own_proxy"  # the proxy in the gateway's settings
    PROXY = "proxy"  # the proxy of the environment or the system
    HEADER = "header"
    # the way to the gateway
    OWN_PROXY_PASSWORD = "own_proxy_password"
    PROXY_PASSWORD = "proxy_password"
    PROXY_LOGIN = "proxy_login"
    NOT_SOCKS = "not_socks"
    PROXY_ROUTE = "proxy_route"
    PROXY_UNREACHABLE = "proxy_unreachable"
    NO_TLS = "no_tls"
    CERTIFICATE = "certificate"
    CERTIFICATE_TIME = "certificate_time"
    CERTIFICATE_NAME = "certificate_name"
    # the answer
    MALFORMED = "malformed"  # the body is not JSON
    BROKEN_OFF = "broken_off"  # the body is the beginning of JSON
    COMPRESSED = "compressed"  # the body cannot be decompressed
    ANSWER_HEADERS = "answer_headers"  # the headers are too large
    NO_MESSAGE = "no_message"  # a refusal without words: the message is this application's


class CausedError(ValueError):
    """A ValueError for people, with the cause of the failure that it becomes."""

    def __init__(self, cause: FailureCause, message: str) -> None:
        super().__init__(message)
        self.cause = cause


def cause_of(error: Exception) -> FailureCause | None:
    """Return the cause that an error carries, if any."""
    return error.cause if isinstance(error, CausedError) else None


#: Kinds that a decoder infers from the end of a body; a stop by a person or a network error replaces them.
GUESSES: Final = frozenset({FailureKind.CUT_OFF, FailureKind.NO_BODY, FailureKind.EMPTY, FailureKind.DECODE})


class Sent(Value):
    """Facts about a failed request that matter for the advice on it.

    ``endpoint`` is a protocol's name, or ``models``. ``keyed``: a key was sent; ``streamed``: a stream was requested;
    None if no request could be made. ``model`` is the requested one. ``fields`` are the fields of the body that panels
    set, by dotted path, with their value if it is a number or a single word, else None. ``roles`` are the roles of
    the instructions at the top of the conversation.
    """

    endpoint: str
    keyed: bool | None = None
    streamed: bool | None = None
    model: str = ""
    fields: dict[str, JSON] = Field(default_factory=dict)
    roles: tuple[str, ...] = ()


class Failure(Value):
    """One error, in the gateway's own words if it sent any.

    ``message`` is the gateway's message verbatim, if any. ``body`` is an excerpt of the raw body (at most 64 KiB of
    text). ``cause`` says more than ``kind`` where this application knows it; ``code`` is the gateway's own.
    ``retry_after`` is in seconds. ``dimension`` is the rate limit that a 429 names (RPM, RPD, TPM, TPD, IPM,
    IPD; specification, section 8). ``sent`` is None if unknown.
    """

    kind: FailureKind
    message: LongText
    status: int | None = None
    code: str | None = None
    type: str | None = None
    param: str | None = None
    request_id: str | None = None
    body: LongText = ""
    retry_after: float | None = None
    dimension: str | None = None
    sent: Sent | None = None
    cause: FailureCause | None = None

    @property
    def group(self) -> FailureGroup:
        """The party or the step that the failure belongs to."""
        return failure_group(self.kind, self.status)


class RunRefusedError(Exception):
    """A run was refused; the message gives the reason and the remedy. ``kind`` is the kind of the turn's failure."""

    def __init__(self, words: str, kind: FailureKind = FailureKind.INPUT) -> None:
        super().__init__(words)
        self.kind = kind
