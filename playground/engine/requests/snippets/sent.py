"""What a snippet has to send: the exact request with an environment variable where each secret goes.

It is built from the same code that makes the request of a run, with a stand-in for every secret, so that no real one
is ever here. Nothing is sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from playground.domain.request import Request
from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.gateways.profiles import DEMO_IS_OFF, Profile, connection
from playground.engine.gateways.secrets import Secret, looks_secret
from playground.gateway.address import resolve
from playground.gateway.body_decoding import ACCEPTED
from playground.gateway.connection import Timeouts
from playground.gateway.prepared_request import prepare_request
from playground.gateway.redact import MASK, Redactor
from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSONObject
from playground.protocols.protocol import get_protocol

KEY: Final = "GATEWAY_API_KEY"
_STAND_IN: Final = "STAND-IN"
#: What the connection of a recorded request needed; a client works it out anew for the body that it writes.
_TRANSPORT: Final = frozenset({"host", "content-length", "connection", "transfer-encoding"})
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class NotPossibleError(ValueError):
    """A language cannot send this request; the text says why and what can."""


@dataclass(frozen=True, slots=True)
class Header:
    """One header. With ``variable``, its value is ``text`` followed by that environment variable's."""

    name: str
    text: str
    variable: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as a snippet writes it.

    ``headers`` are those that a client would not send by itself; ours, such as the User-Agent, are left out.
    ``masked`` says that a known secret stood in the address or the body and was taken out.
    """

    protocol: str
    url: str
    headers: tuple[Header, ...]
    body: JSONObject
    timeouts: Timeouts = field(default_factory=Timeouts)
    ca_file: str = ""
    masked: bool = False
    demo: bool = False  # it goes to the demo gateway of this process
    key: str = KEY  # the variable for the gateway's key

    @property
    def base(self) -> str:
        """The address without the endpoint's path."""
        return self.url.removesuffix(get_protocol(self.protocol).endpoint).rstrip("/")

    @property
    def streams(self) -> bool:
        """Whether the answer is asked for piece by piece."""
        return self.body.get("stream") is True

    @property
    def offers_tools(self) -> bool:
        """Whether the answer may be a tool call."""
        return bool(self.body.get("tools"))

    @property
    def choices(self) -> int:
        """How many answers are asked for."""
        return get_protocol(self.protocol).choices(self.body)

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that are read, each once, in order."""
        return tuple(dict.fromkeys(header.variable for header in self.headers if header.variable))

    @property
    def has_halves(self) -> bool:
        """Whether a text holds half of a surrogate pair, which UTF-8 cannot carry and JSON must escape."""
        return _SURROGATE.search(json.dumps(self.body, ensure_ascii=False)) is not None

    @property
    def silence(self) -> float | None:
        """How long the answer may say nothing, in seconds; None for as long as it likes."""
        clocks = (self.timeouts.first, self.timeouts.idle)
        return None if None in clocks else max(clock for clock in clocks if clock is not None)

    def header(self, name: str) -> Header | None:
        """The header of that name, in any case."""
        return next((header for header in self.headers if header.name.lower() == name.lower()), None)

    def headers_but(self, *names: str) -> tuple[Header, ...]:
        """The headers without those, and without the Content-Type that every JSON client sends."""
        return tuple(
            header
            for header in self.headers
            if header.name.lower() not in names
            and (header.name.lower(), header.text) != ("content-type", "application/json")
        )


def sent_by(profile: Profile, request: Request, known: Iterable[Secret] = ()) -> Sent:
    """What a run of ``request`` on ``profile`` would send. Raises ValueError, in words, for what cannot be sent.

    ``known`` are the secrets this process has: where one stands in the body or the address, it is masked.
    """
    if profile.demo and not profile.base_url:
        raise ValueError(DEMO_IS_OFF)
    protocol = get_protocol(request.protocol)
    key = Secret(_STAND_IN) if profile.key_origin or profile.demo else None
    secrets = {name: Secret(_STAND_IN) for name in profile.secret_headers}
    going = prepare_request(connection(profile, key, secrets), resolve(profile.base_url), protocol, request)
    redactor = redactor_of(known)
    body, url = redactor.data(going.body), redactor.text(going.url)
    return Sent(
        protocol=protocol.name,
        url=url,
        headers=_headers(going.headers, frozenset(name.lower() for name in secrets), redactor, profile.key_variable),
        body=json.loads(body),
        timeouts=profile.timeouts,
        ca_file=profile.ca_file or "",
        masked=(body, url) != (going.body, going.url),
        demo=profile.demo,
        key=profile.key_variable or KEY,
    )


def recorded(
    protocol: str, url: str, headers: Iterable[tuple[str, str]], body: bytes, known: Iterable[Secret] = ()
) -> Sent:
    """A request from the tape, where the secrets of that time are masked; those ``known`` by now are, too.

    Raises ValueError for a body that is no JSON object.
    """
    redactor = redactor_of(known)
    body, url = redactor.data(body), redactor.text(url)
    try:
        value = loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ValueError("This exchange sent no JSON body, so there is no request to write.")
    kept = [(name, text) for name, text in headers if name.lower() not in _TRANSPORT]
    return Sent(
        protocol, url, _headers(kept, frozenset(), redactor), value, masked=MASK.encode() in body or MASK in url
    )


def _headers(
    pairs: Iterable[tuple[str, str]], secret: frozenset[str], redactor: Redactor, own: str = ""
) -> tuple[Header, ...]:
    """Headers with variables for secrets; ``secret`` are names, in lower case, of those that do not look like one.

    ``own`` is the variable that a person has the key in.
    """
    key = own or KEY
    found: list[Header] = []
    for name, value in pairs:
        lowered = name.lower()
        if _is_ours(lowered, value):
            continue
        scheme, space, _ = value.partition(" ")
        if lowered not in secret and lowered == "x-api-key":
            found.append(Header(name, "", key))
        elif lowered not in secret and lowered == "authorization" and space and scheme.isalpha():
            bearer = scheme.lower() == "bearer"
            found.append(Header(name, f"{scheme} ", key if bearer else _variable(name, found, key)))
        elif lowered in secret or looks_secret(name, value) or MASK in redactor.text(value):
            found.append(Header(name, "", _variable(name, found, key)))
        else:
            found.append(Header(name, value))
    return tuple(found)


def _is_ours(name: str, value: str) -> bool:
    return (
        (name == "accept" and value in ("text/event-stream", "application/json"))
        or (name == "accept-encoding" and value == ACCEPTED)
        or (name == "user-agent" and value.startswith("gateway-playground/"))
    )


def _variable(name: str, taken: list[Header], key: str) -> str:
    """A name of its own for the variable that holds a header's value: ``X-Team-Token`` gives GATEWAY_X_TEAM_TOKEN."""
    plain = "GATEWAY_" + re.sub(r"\W+", "_", name).strip("_").upper()
    used = {key, *(header.variable for header in taken)}
    number = 2
    variable = plain
    while variable in used:
        variable, number = f"{plain}_{number}", number + 1
    return variable
