"""What can go wrong between us and a gateway, as a value.

A ``Failure`` is data on a turn, not an exception: it is kept, shown and saved with what arrived before it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from pydantic import Field

from playground.domain.values import LongText, Value
from playground.jsonkit.values import JSON


class FailureKind(StrEnum):
    """Where it went wrong, from near to far."""

    INPUT = "input"  # the request could not be made from what was given
    NO_KEY = "no_key"  # a key was stored and cannot be had; nothing was sent
    CONSENT = "consent"  # a secret is held back until a person agrees to where it goes; nothing was sent
    NAME = "name"  # the host name does not resolve
    REFUSED = "refused"  # nothing listens at that address
    TLS = "tls"  # certificate or handshake
    CONNECTION = "connection"  # reset, broken, unreachable, proxy
    NOT_HTTP = "not_http"  # something answers that does not speak HTTP, or not as it must
    TIMEOUT_CONNECT = "timeout_connect"
    TIMEOUT_FIRST = "timeout_first"  # connected, but no content in time
    TIMEOUT_IDLE = "timeout_idle"  # content stopped coming
    TIMEOUT_TOTAL = "timeout_total"
    REDIRECT = "redirect"
    HTTP = "http"  # an answer with a status of 400 or above
    STREAM = "stream"  # an error object inside a stream that began with 200
    DECODE = "decode"  # the body is not what the protocol says
    OTHER_PROTOCOL = "other_protocol"  # an answer, of the protocol that was not asked
    CUT_OFF = "cut_off"  # the body ended without a finish reason
    NO_BODY = "no_body"  # the body has not a single byte that says anything
    EMPTY = "empty"  # a complete answer with nothing in it
    TOO_LARGE = "too_large"  # an event or body above the set cap
    INTERNAL = "internal"  # our own fault


#: What a decoder makes of the way a body ended. A known reason for its end, a person's or the network's, replaces it.
GUESSES: Final = frozenset({FailureKind.CUT_OFF, FailureKind.NO_BODY, FailureKind.EMPTY, FailureKind.DECODE})


class Sent(Value):
    """What had been sent when it failed, as far as it bears on what to do about it.

    ``endpoint`` is a protocol's name, or ``models``. ``keyed`` says whether any key went along, ``streamed`` whether a
    stream was asked for; None where no request could be made. ``model`` is the one asked for. ``fields`` are those of
    the body that panels put there, by their path with dots: the value where that is a number or one word, else None.
    ``roles`` are those among the instructions at the top of the conversation.
    """

    endpoint: str
    keyed: bool | None = None
    streamed: bool | None = None
    model: str = ""
    fields: dict[str, JSON] = Field(default_factory=dict)
    roles: tuple[str, ...] = ()


class Failure(Value):
    """One error, with the gateway's own words where there are any.

    ``message`` is never rewritten by us when the gateway sent one. ``body`` is an excerpt of the raw body
    (at most 64 KiB of text). ``retry_after`` is in seconds. ``dimension`` is the rate limit that a 429 names
    (RPM, RPD, TPM, TPD, IPM, IPD; specification, section 8). ``sent`` is None where it is not known.
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


class RunRefusedError(Exception):
    """A run was not begun; the message says why and what to do. ``kind`` is that of the failure on its turn."""

    def __init__(self, words: str, kind: FailureKind = FailureKind.INPUT) -> None:
        super().__init__(words)
        self.kind = kind
