"""The request of a snippet: the exact address, headers and body, with an environment variable for each secret.

The code that prepares the request of a run builds it from placeholders, so no real secret is in it. Nothing is sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from playground.domain.request import Request
from playground.engine.gateways.profiles import DEMO_IS_OFF, Profile, connection
from playground.engine.gateways.redaction import redactor_of
from playground.engine.gateways.secrets import Secret, looks_secret
from playground.gateway.address import resolve
from playground.gateway.body_decoding import ACCEPTED
from playground.gateway.connection import Timeouts
from playground.gateway.prepared_request import prepare_request
from playground.gateway.redact import MASK, Redactor
from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSONObject
from playground.protocols.openai_library import OpenAIResource
from playground.protocols.protocol import get_protocol

KEY: Final = "GATEWAY_API_KEY"
_PLACEHOLDER: Final = "PLACEHOLDER"
#: Headers of a recorded request that a client computes itself.
_TRANSPORT: Final = frozenset({"host", "content-length", "connection", "transfer-encoding"})
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class NotPossibleError(ValueError):
    """A language cannot send this request; the text gives the reason and an alternative."""


@dataclass(frozen=True, slots=True)
class Header:
    """A header; its value is ``text``, followed by the value of the environment variable if there is one."""

    name: str
    text: str
    variable: str = ""


@dataclass(frozen=True, slots=True)
class SnippetRequest:
    """A request without secrets.

    ``headers`` leaves out those that a client sends by itself and our own (User-Agent). ``masked``: a known secret was
    in the address or the body, and a mask replaces it.
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
        """Return whether the request asks for a stream."""
        return self.body.get("stream") is True

    @property
    def offers_tools(self) -> bool:
        """Return whether the answer may be a tool call."""
        return bool(self.body.get("tools"))

    @property
    def choices(self) -> int:
        """The number of answers asked for."""
        return get_protocol(self.protocol).choices(self.body)

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables of the headers, each once, in order."""
        return tuple(dict.fromkeys(header.variable for header in self.headers if header.variable))

    @property
    def has_surrogates(self) -> bool:
        """Return whether a text has a lone surrogate, which UTF-8 cannot encode and JSON must escape."""
        return _SURROGATE.search(json.dumps(self.body, ensure_ascii=False)) is not None

    @property
    def silence(self) -> float | None:
        """The longest time without data, in seconds; None: no limit."""
        clocks = (self.timeouts.first, self.timeouts.idle)
        return None if None in clocks else max(clock for clock in clocks if clock is not None)

    def header(self, name: str) -> Header | None:
        """Return the header with this name, in any case."""
        return next((header for header in self.headers if header.name.lower() == name.lower()), None)

    def headers_but(self, *names: str) -> tuple[Header, ...]:
        """Return the headers except these and the Content-Type that every JSON client sends."""
        return tuple(
            header
            for header in self.headers
            if header.name.lower() not in names
            and (header.name.lower(), header.text) != ("content-type", "application/json")
        )


def prepare_snippet_request(profile: Profile, request: Request, known_secrets: Iterable[Secret] = ()) -> SnippetRequest:
    """Return the request that a run with this profile would send, with ``known_secrets`` masked.

    Raises ValueError, in words for people, for a request that cannot be sent.
    """
    if profile.demo and not profile.base_url:
        raise ValueError(DEMO_IS_OFF)
    protocol = get_protocol(request.protocol)
    key = Secret(_PLACEHOLDER) if profile.key_origin or profile.demo else None
    secrets = {name: Secret(_PLACEHOLDER) for name in profile.secret_headers}
    prepared = prepare_request(connection(profile, key, secrets), resolve(profile.base_url), protocol, request)
    redactor = redactor_of(known_secrets)
    body, url = redactor.data(prepared.body), redactor.text(prepared.url)
    return SnippetRequest(
        protocol=protocol.name,
        url=url,
        headers=_headers(prepared.headers, frozenset(name.lower() for name in secrets), redactor, profile.key_variable),
        body=json.loads(body),
        timeouts=profile.timeouts,
        ca_file=profile.ca_file or "",
        masked=(body, url) != (prepared.body, prepared.url),
        demo=profile.demo,
        key=profile.key_variable or KEY,
    )


def read_recorded_request(
    protocol: str, url: str, headers: Iterable[tuple[str, str]], body: bytes, known_secrets: Iterable[Secret] = ()
) -> SnippetRequest:
    """Return a recorded request, whose secrets are masked, with ``known_secrets`` masked, too.

    Raises ValueError for a body that is no JSON object.
    """
    redactor = redactor_of(known_secrets)
    body, url = redactor.data(body), redactor.text(url)
    try:
        value = loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ValueError("This exchange sent no JSON body, so there is no request to write.")
    own = [(name, text) for name, text in headers if name.lower() not in _TRANSPORT]
    masked = MASK.encode() in body or MASK in url
    return SnippetRequest(protocol, url, _headers(own, frozenset(), redactor), value, masked=masked)


def _headers(
    pairs: Iterable[tuple[str, str]], secret: frozenset[str], redactor: Redactor, own: str = ""
) -> tuple[Header, ...]:
    """Return headers with variables for secrets.

    ``secret`` are lower-case names of headers that always are secrets, ``own`` the variable for the gateway's key.
    """
    key = own or KEY
    rows: list[Header] = []
    for name, value in pairs:
        lowered = name.lower()
        if _is_ours(lowered, value):
            continue
        scheme, space, _ = value.partition(" ")
        if lowered not in secret and lowered == "x-api-key":
            rows.append(Header(name, "", key))
        elif lowered not in secret and lowered == "authorization" and space and scheme.isalpha():
            bearer = scheme.lower() == "bearer"
            rows.append(Header(name, f"{scheme} ", key if bearer else _variable(name, rows, key)))
        elif lowered in secret or looks_secret(name, value) or MASK in redactor.text(value):
            rows.append(Header(name, "", _variable(name, rows, key)))
        else:
            rows.append(Header(name, value))
    return tuple(rows)


def _is_ours(name: str, value: str) -> bool:
    return (
        (name == "accept" and value in ("text/event-stream", "application/json"))
        or (name == "accept-encoding" and value == ACCEPTED)
        or (name == "user-agent" and value.startswith("gateway-playground/"))
    )


def _variable(name: str, headers: list[Header], key: str) -> str:
    """Return an unused variable for a header's value: ``X-Team-Token`` gives GATEWAY_X_TEAM_TOKEN."""
    plain = "GATEWAY_" + re.sub(r"\W+", "_", name).strip("_").upper()
    used = {key, *(header.variable for header in headers)}
    number = 2
    variable = plain
    while variable in used:
        variable, number = f"{plain}_{number}", number + 1
    return variable


def openai_resource(request: SnippetRequest) -> OpenAIResource:
    """Return the resource of OpenAI's libraries for a request. Raises NotPossibleError if they have none."""
    resource = get_protocol(request.protocol).openai
    if resource is None:
        raise NotPossibleError("OpenAI's library does not speak this protocol.")
    return resource
