"""Test of a gateway: whether it answers, accepts the key, and what it offers, reported in words.

A test uses the same address, headers, certificates and proxy as a run. Nothing is saved or retried, and no secret is in
the report. The gateway's messages are quoted verbatim. Faults with a remedy of one step come with an offer.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from playground.domain.durations import span
from playground.domain.errors import Failure, FailureCause, FailureGroup, FailureKind
from playground.engine.advice import advise, message_or_title
from playground.engine.advice.by_kind import KEY_MEANINGS, is_about_key, is_missing_path
from playground.engine.advice.parts import Advice
from playground.engine.advice.refused_fields import header_names
from playground.gateway.address import Address, candidates, doubled, is_loopback, repair, resolve
from playground.gateway.connection import Auth, Connection
from playground.gateway.limits import read_date
from playground.gateway.proxy import proxy_for
from playground.jsonkit.texts import cut, listed
from playground.protocols import PROTOCOLS

if TYPE_CHECKING:
    from playground.gateway.client import GatewayClient
    from playground.gateway.models import Model, ModelList
    from playground.gateway.tape import Exchange

MAX_SECONDS: Final = 30.0  # for an answer, whatever the time-outs of runs
MODEL_LIST: Final = "models"

_MAX_CLOCK_DIFFERENCE: Final = 60.0  # seconds that are not reported
_MAX_HEADLINE: Final = 600  # characters of a gateway's message in the headline
_MAX_LINE: Final = 300  # characters of a gateway's message in a line
_MAX_MODELS: Final = 6  # that are named
_MAX_MODEL_ID: Final = 80  # characters
_TYPE_A_MODEL: Final = "typing a model id works"
_KEY_HEADERS: Final = {
    Auth.BEARER: "Authorization: Bearer",
    Auth.X_API_KEY: "x-api-key",
    Auth.BOTH: "Authorization: Bearer and x-api-key",
}
_ENDPOINT_NAMES: Final = {**PROTOCOLS, MODEL_LIST: "model list"}
#: Groups of failures before anything of HTTP arrived.
_UNREACHABLE: Final = frozenset({FailureGroup.UNSENT, FailureGroup.NETWORK, FailureGroup.TLS})
#: Statuses by which an endpoint rejects an empty request.
_REJECTIONS: Final = frozenset({400, 406, 409, 411, 412, 413, 415, 422})
#: Statuses that many gateways give a request without a key.
_KEYLESS: Final = frozenset({400, 403, 500})
#: Kinds of failures whose general remedy helps to set up a gateway, unless their meaning is about a run.
_WITH_REMEDY: Final = frozenset({FailureKind.HTTP, FailureKind.REDIRECT, FailureKind.NOT_HTTP, FailureKind.TOO_LARGE})
_RUN_MEANINGS: Final = frozenset(
    {"400", "404", "422", "status", "parameter", "turns", "model", "decode", "stream", "empty"}
)
_MODEL: Final = re.compile(r"\bmodel\b", re.IGNORECASE)  # not "models", which occurs in paths
#: A message with expiry as one of several reasons.
_MAYBE_EXPIRED: Final = re.compile(r"\bor\b[^.\n]{0,24}\bexpired\b|\bexpired\b\s*(?:,|/|\bor\b)|[,/]\s*expired\b")
_SILENT: Final = (
    "Something takes the connection and says nothing. Check the port: another program may listen there. A gateway that "
    "is starting up may need longer: wait a little, then test again."
)
_FORBIDDEN: Final = (
    "Most often the account needs identity verification: do that in the service's dashboard. The key may also lack "
    "the permission, or this network may not be allowed."
)
_WEB_PAGE: Final = "a web page is there instead"


class State(StrEnum):
    """The state of one endpoint."""

    OK = "ok"  # it exists, and accepts the key as far as an empty request shows
    UNSURE = "unsure"  # it exists, and fails at an empty request
    MISSING = "missing"  # there is no such path
    REFUSED = "refused"  # it exists, and refuses the key
    FAILED = "failed"  # anything else


@dataclass(frozen=True, slots=True)
class EndpointResult:
    """The result of a request to one endpoint. ``words`` continue a sentence after its title."""

    endpoint: str
    state: State
    words: str
    exchange: Exchange | None = None
    failure: Failure | None = None
    models: tuple[Model, ...] = ()
    auth: Auth = Auth.BEARER  # the way in which the key was sent

    @property
    def advice(self) -> Advice | None:
        """The advice for the failure."""
        return advise(self.failure) if self.failure is not None else None

    @property
    def is_unreachable(self) -> bool:
        """Return whether nothing of HTTP arrived."""
        failure = self.failure
        return failure is not None and (failure.group in _UNREACHABLE or failure.kind is FailureKind.NOT_HTTP)

    @property
    def exists(self) -> bool:
        """Return whether the path exists, whatever it answers."""
        return not self.is_unreachable and self.state is not State.MISSING

    @property
    def is_silent(self) -> bool:
        """Return whether the connection was accepted and nothing was sent on it."""
        has_status = self.exchange is not None and self.exchange.status is not None
        return self.failure is not None and self.failure.kind is FailureKind.TIMEOUT_FIRST and not has_status


# ---- probing ---------------------------------------------------------------------------------------------------------


async def probe_endpoints(connection: Connection) -> tuple[EndpointResult, ...]:
    """Request all endpoints of an address at once, the model list in each way to send the key. Never raises."""
    from playground.gateway.client import GatewayClient

    limits = {"first": MAX_SECONDS, "idle": MAX_SECONDS, "total": MAX_SECONDS + 5}  # silent differs from slow
    times = {name: min(getattr(connection.timeouts, name) or limit, limit) for name, limit in limits.items()}
    quick = connection.model_copy(update={"timeouts": connection.timeouts.model_copy(update=times)})
    lists: dict[Auth, str] = {}
    for protocol in PROTOCOLS:
        lists.setdefault(quick.auth_for(protocol), protocol)
    async with GatewayClient(quick) as client:
        requests = [_request_list(client, protocol) for protocol in lists.values()]
        return tuple(await asyncio.gather(*requests, *(_probe(client, protocol) for protocol in PROTOCOLS)))


async def _request_list(client: GatewayClient, protocol: str) -> EndpointResult:
    listing = await client.list_models(protocol)
    state, words = _list_state(listing)
    exchange = listing.exchanges[0] if listing.exchanges else None
    auth = client.connection.auth_for(protocol)
    return EndpointResult(MODEL_LIST, state, words, exchange, listing.failure, listing.models, auth)


async def _probe(client: GatewayClient, protocol: str) -> EndpointResult:
    """Send an empty request, and one without model and messages if the gateway fails at the empty one."""
    from playground.domain.request import Request
    from playground.protocols.protocol import get_protocol

    codec = get_protocol(protocol)
    first = _probe_result(client, protocol, await client.probe(codec))
    if first.state is not State.UNSURE:
        return first
    body = codec.encode(Request(protocol=protocol, model=""))
    second = _probe_result(client, protocol, await client.probe(codec, body))
    return second if second.state in (State.OK, State.REFUSED) else first


def _probe_result(client: GatewayClient, protocol: str, exchange: Exchange) -> EndpointResult:
    failure = exchange.failure or _error_in_success(exchange)
    state, words = _probe_state(exchange, failure, has_key=bool(client.connection.clean_key))
    return EndpointResult(protocol, state, words, exchange, failure, auth=client.connection.auth_for(protocol))


def _error_in_success(exchange: Exchange) -> Failure | None:
    """Return the error in a response with a status of success."""
    from playground.jsonkit import foreign
    from playground.protocols.error_fields import looks_like_error
    from playground.protocols.errors import read_error

    try:
        value = foreign.parse(exchange.body.decode("utf-8", "replace").strip())
    except ValueError:
        return None
    return read_error(value) if isinstance(value, dict) and looks_like_error(value) and "choices" not in value else None


def _list_state(listing: ModelList) -> tuple[State, str]:
    failure, count = listing.failure, len(listing.models)
    if failure is None and count:
        more = f" and {count - _MAX_MODELS} more" if count > _MAX_MODELS else ""
        names = ", ".join(cut(name, _MAX_MODEL_ID) for name in listing.ids[:_MAX_MODELS])
        return State.OK, f"{_count_models(count)} in {listing.seconds:.2f} s: {names}{more}"
    if failure is None:
        return State.OK, "answers, and is empty"
    if count:
        return State.FAILED, f"broke off after {count}: {_quote(failure)}"
    if failure.kind is FailureKind.DECODE and "html" in (listing.exchanges[-1].content_type or ""):
        return State.MISSING, _WEB_PAGE
    return _failure_state(failure)


def _probe_state(exchange: Exchange, failure: Failure | None, *, has_key: bool) -> tuple[State, str]:
    status = exchange.status
    accepts_key = " and does not refuse the key" if has_key else ""
    ok = State.OK, f"is there{accepts_key} (HTTP {status} to an empty request)"
    if failure is None:
        return (State.MISSING, _WEB_PAGE) if "html" in (exchange.content_type or "") else ok
    if failure.kind is not FailureKind.HTTP:
        return _failure_state(failure)
    meaning = advise(failure).meaning
    if status == 404 and (_MODEL.search(failure.message) or "model" in f"{failure.code} {failure.type}".lower()):
        return ok
    if meaning in ("header", "balance", "402", "429", "loading", "region"):
        return _failure_state(failure)
    if status in _REJECTIONS and meaning not in KEY_MEANINGS:
        return ok
    if status == 500 and meaning == "500":
        return State.UNSURE, f"is there, and fails at an empty request (HTTP {status}): {_quote(failure)}"
    return _failure_state(failure)


def _failure_state(failure: Failure) -> tuple[State, str]:
    """Return the state of any endpoint with that failure."""
    advice = advise(failure)
    code = f" (HTTP {failure.status})" if failure.status else ""
    if is_missing_path(failure, advice):
        return State.MISSING, f"is not at this address{code}"
    if advice.meaning == "key missing":
        return State.REFUSED, f"requires a key{code}"
    if is_about_key(failure, advice):
        return State.REFUSED, f"does not let the key in{code}"
    if advice.meaning == "header":
        return State.FAILED, f"requires a header that is not sent{code}"
    return State.FAILED, f"{_quote(failure)}{code}"


def _count_models(count: int) -> str:
    return f"{count} {'model' if count == 1 else 'models'}"


def _quote(failure: Failure, length: int = _MAX_LINE) -> str:
    """Return the gateway's own words, cut to a length, without the status."""
    return cut(message_or_title(failure, advise(failure)), length)


# ---- the report ------------------------------------------------------------------------------------------------------


class Mends(StrEnum):
    """The setting that an offer changes."""

    ADDRESS = "address"  # the base URL becomes ``value``
    HEADER = "header"  # a header of that name is added to every request; a person enters its value
    KEY_STYLE = "key_style"  # the key is sent in that way over every protocol


@dataclass(frozen=True, slots=True)
class Offer:
    """A remedy in one step. ``label`` is for its button."""

    mends: Mends
    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """One endpoint with its state; ``words`` continue a sentence after the title."""

    title: str
    state: State
    words: str


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """The result of a test: a summary, a line for each endpoint, and details.

    ``asked`` lists the requests. ``models`` are the listed ones. ``about_key``: the key failed, not the address.
    """

    ok: bool
    headline: str
    lines: tuple[Line, ...] = ()
    details: tuple[str, ...] = ()
    asked: str = ""
    offers: tuple[Offer, ...] = ()
    models: tuple[Model, ...] = ()
    about_key: bool = False


async def try_gateway(connection: Connection) -> ConnectionReport:
    """Test all endpoints of a gateway, and other addresses on the same origin if an endpoint is missing.

    A server of this computer without TLS is tested over plain HTTP, without key and headers. No text is generated.
    Never raises.
    """
    try:
        address = resolve(connection.base_url)
    except ValueError as error:
        return ConnectionReport(False, str(error))
    results = await probe_endpoints(connection)
    tried: dict[str, tuple[EndpointResult, ...]] = {}
    if plain := _without_tls(address, results):
        # Another origin: key and headers are sent there only after a person has chosen the address.
        update: dict[str, object] = {"base_url": plain, "key": None, "headers": {}, "secret_headers": {}}
        tried[plain] = await probe_endpoints(connection.model_copy(update=update))
    if _should_try_others(address, results):
        for url in candidates(address.base):
            tried[url] = await probe_endpoints(connection.model_copy(update={"base_url": url}))
            if all(result.exists for result in tried[url]):
                break
    better = max(tried, key=lambda url: _count_existing(tried[url]), default="")
    if better and _count_existing(tried[better]) <= _count_existing(results):
        better = ""
    return _ReportWriter(connection, address, results, tried, better).report()


def _count_existing(results: Sequence[EndpointResult]) -> int:
    return sum(result.exists for result in results)


def _without_tls(address: Address, results: Sequence[EndpointResult]) -> str:
    """Return the plain HTTP address if a server of this computer seems to lack TLS; else empty."""
    meanings = {result.advice.meaning for result in results if result.advice is not None}
    if not is_loopback(address.base) or not meanings <= {"plain http", "tls"}:
        return ""
    return f"http{address.base.removeprefix('https')}"


def _should_try_others(address: Address, results: Sequence[EndpointResult]) -> bool:
    """Return whether the address lacks a version segment and an endpoint, or no protocol has its endpoint."""
    if all(result.is_unreachable for result in results):
        return False
    missing = [
        result.state is State.MISSING for result in results if address.suggestion or result.endpoint in PROTOCOLS
    ]
    return any(missing) if address.suggestion else all(missing)


class _ReportWriter:
    """Writes the report of a test. ``tried`` are the results of other addresses; ``better`` is one of them, or ""."""

    def __init__(
        self,
        connection: Connection,
        address: Address,
        results: Sequence[EndpointResult],
        tried: dict[str, tuple[EndpointResult, ...]],
        better: str,
    ) -> None:
        self._connection = connection
        self._address = address
        self._results = results
        self._tried = tried
        self._better = better
        self._lists = [result for result in results if result.endpoint == MODEL_LIST]
        self._endpoints = [result for result in results if result.endpoint != MODEL_LIST]

    def report(self) -> ConnectionReport:
        first, notes, offers = self._results[0], tuple(self._notes()), tuple(self._offers())
        if all(result.is_unreachable for result in self._results) and first.failure is not None:
            details = (advise(first.failure).remedy, *self._other_addresses(), *notes)
            return ConnectionReport(False, first.failure.message, details=details, offers=offers)
        if all(result.is_silent for result in self._results) and first.failure is not None:
            return ConnectionReport(False, first.failure.message, details=(_SILENT, *notes))
        models = next((result.models for result in self._lists if result.models), ())
        usable = [result for result in self._endpoints if self._is_usable(result)]
        cause = None if usable else self._main_failure()
        remedies = self._remedies(cause) if cause is not None else ()
        return ConnectionReport(
            ok=bool(usable),
            headline=self._success(usable, len(models)) if usable else self._failure(cause),
            lines=tuple(self._lines()),
            details=(*self._other_addresses(), *remedies, *self._hints(bool(usable)), *notes),
            asked=self._requests_made(),
            offers=offers,
            models=models,
            about_key=cause is not None and self._is_about_key(cause),
        )

    # The verdict

    def _is_usable(self, result: EndpointResult) -> bool:
        """Return whether runs are likely to work: the endpoint exists, and the list does not refuse the key."""
        states = [listing.state for listing in self._lists if listing.auth is result.auth]
        if State.REFUSED in states:
            return False
        return result.state is State.OK or (result.state is State.UNSURE and State.OK in states)

    def _main_failure(self) -> EndpointResult | None:
        """Return the most telling failure; None if all endpoints are just missing."""
        failed = [result for result in self._results if result.state in (State.REFUSED, State.FAILED, State.UNSURE)]
        rank = {State.REFUSED: 0, State.FAILED: 2, State.UNSURE: 3}
        return min(failed, key=lambda result: 1 if self._wanted_headers(result) else rank[result.state], default=None)

    def _success(self, usable: Sequence[EndpointResult], count: int) -> str:
        names = listed([PROTOCOLS[result.endpoint] for result in usable])
        start = f"OK: {names} {'is' if len(usable) == 1 else 'are'} there"
        if count:
            return f"{start}, {_count_models(count)} listed."
        if any(result.state is State.OK for result in self._lists):
            return f"{start}. The model list is empty; {_TYPE_A_MODEL}."
        if all(result.state is State.MISSING for result in self._lists):
            return f"{start}, without a model list; {_TYPE_A_MODEL}."
        return f"{start}. The model list fails; {_TYPE_A_MODEL}."

    def _failure(self, cause: EndpointResult | None) -> str:
        if cause is not None and cause.failure is not None and (advice := cause.advice) is not None:
            if cause.failure.kind not in (FailureKind.HTTP, FailureKind.STREAM):
                return cause.failure.message
            status = cause.failure.status
            code = f" (HTTP {status})" if status and str(status) not in advice.title else ""
            return f"{advice.title}{code}{_message_after_colon(cause.failure)}"
        if any(result.state is State.OK for result in self._lists):
            names = listed(list(PROTOCOLS.values()), "nor")
            return f"The gateway lists its models, but neither {names} is at this address."
        first = self._results[0]
        if first.failure is None or first.failure.status is None or first.failure.kind is FailureKind.DECODE:
            return f"No gateway answers at {self._address.base}: {first.words}."
        message = _message_after_colon(first.failure)
        return f"Nothing is found below {self._address.base} (HTTP {first.failure.status}){message}"

    def _is_about_key(self, cause: EndpointResult) -> bool:
        status = cause.failure.status if cause.failure is not None else None
        return cause.state is State.REFUSED or status in (401, 402, 403) or self._may_want_a_key(cause)

    def _may_want_a_key(self, cause: EndpointResult) -> bool:
        """Return whether no key is set, and many gateways give that answer then."""
        failure = cause.failure
        if failure is None or failure.kind is not FailureKind.HTTP or failure.status not in _KEYLESS:
            return False
        return not self._has_key() and not self._wanted_headers(cause)

    def _lines(self) -> Iterator[Line]:
        for result in self._results:
            needs_auth = result.endpoint == MODEL_LIST and len(self._lists) > 1
            name = _ENDPOINT_NAMES[result.endpoint] + (f", key as {_KEY_HEADERS[result.auth]}" if needs_auth else "")
            yield Line(name[0].upper() + name[1:], result.state, result.words)

    # Details

    def _other_addresses(self) -> Iterator[str]:
        if self._better:
            existing = (result for result in self._tried[self._better] if result.exists)
            names = dict.fromkeys(_ENDPOINT_NAMES[result.endpoint] for result in existing)
            yield f"More is at {self._better}: {listed(list(names))}."
        elif self._tried:
            yield f"Nothing more is at {' or '.join(self._tried)}."

    def _hints(self, ok: bool) -> Iterator[str]:
        if ok and not self._has_key():
            yield "No key is set; the gateway answered without one."
        if not ok and not self._better and all(result.state is State.MISSING for result in self._endpoints):
            yield from filter(None, (doubled(self._address.base), self._address.note))
            yield "The base URL ends in the version segment, such as /v1, once, and without an endpoint's path."

    def _remedies(self, cause: EndpointResult) -> Iterator[str]:
        failure, advice = cause.failure, cause.advice
        if failure is None or advice is None:
            return
        if names := self._wanted_headers(cause):
            yield f"Add {' or '.join(names)} with the value that this gateway requires, then test again."
        elif cause.state is State.REFUSED and (failure.status != 403 or advice.meaning != "403"):
            yield from self._key_causes(cause, failure, advice)
        elif self._may_want_a_key(cause):
            yield "No key is set: many gateways answer like this without one. Enter the key, then test again."
        elif failure.status == 403:
            yield _FORBIDDEN
        elif failure.kind in _WITH_REMEDY and advice.meaning not in _RUN_MEANINGS:
            yield advice.remedy
        if failure.dimension:
            yield f"The limit that was hit: {failure.dimension}."
        if failure.retry_after:
            yield f"It requests a wait of {span(failure.retry_after)}."

    def _key_causes(self, cause: EndpointResult, failure: Failure, advice: Advice) -> list[str]:
        """Return the likely reasons for a refused key (specification, section 5)."""
        if not self._has_key():
            return ["No key is set. Enter the one that this gateway issued."]
        if own := self._own_key_headers():
            return [f"Your own header {', '.join(own)} was sent. Check its value, or remove it and enter a key."]
        if advice.meaning == "key header":
            return []  # the offer explains it
        message = f"{failure.message} {failure.code} {failure.type}".lower()
        if "expire" in message and not _MAYBE_EXPIRED.search(message):
            return ["The token has expired: get a new one from the service and enter it."]
        clean = "" if self._connection.key_repairs else " It holds no spaces or line breaks."
        header = _KEY_HEADERS[cause.auth]
        return [
            f"Likely causes: the key was revoked, its token has expired, or it belongs to another service.{clean}",
            f"It was sent as {header}. If this gateway expects it elsewhere, change how the key is sent.",
        ]

    def _requests_made(self) -> str:
        """Return the requests of the test, so that its cost is clear."""
        base = self._address.base
        repeated = f" The same at {' and '.join(self._tried)}." if self._tried else ""
        accepted = [
            PROTOCOLS[result.endpoint]
            for result in self._endpoints
            if result.state is State.OK and result.failure is None
        ]
        cost = (
            f"which {listed(accepted)} answered instead of refusing it; no more than its beginning was read"
            if accepted
            else "which is refused before anything is generated"
        )
        return f"Asked: GET {base}/models, and an empty request to /chat/completions and /messages, {cost}.{repeated}"

    def _notes(self) -> Iterator[str]:
        exchange = next((result.exchange for result in self._results if result.exchange is not None), None)
        return connection_notes(self._connection, self._address, exchange)

    # Offers

    def _offers(self) -> Iterator[Offer]:
        for url in filter(None, (self._better, self._redirected_base())):
            yield Offer(Mends.ADDRESS, url, f"Use {url}")
        for name in dict.fromkeys(name for result in self._results for name in self._wanted_headers(result)):
            yield Offer(Mends.HEADER, name, f"Add the header {name}")
        if any(result.advice is not None and result.advice.meaning == "key header" for result in self._results):
            yield Offer(Mends.KEY_STYLE, Auth.X_API_KEY.value, "Send the key as x-api-key")

    def _redirected_base(self) -> str:
        """Return the base URL of a redirect to the same host, which may receive the key; else empty."""
        for result in self._results:
            exchange, failure = result.exchange, result.failure
            location = exchange.response_header("location") if exchange is not None else None
            if exchange is None or not location or failure is None or failure.kind is not FailureKind.REDIRECT:
                continue
            try:
                base, _ = repair(urljoin(exchange.url, location))
            except ValueError:
                continue
            if urlsplit(base).hostname == urlsplit(self._address.base).hostname and base != self._address.base:
                return base
        return ""

    def _wanted_headers(self, result: EndpointResult) -> tuple[str, ...]:
        """Return the headers that the gateway asks for and that are not set yet."""
        if result.failure is None or result.advice is None or result.advice.meaning != "header":
            return ()
        own = {name.strip().lower() for name in self._connection.headers}
        return tuple(name for name in header_names(result.failure.message) if name.lower() not in own)

    def _has_key(self) -> bool:
        return bool(self._connection.clean_key or self._own_key_headers() or self._connection.secret_headers)

    def _own_key_headers(self) -> list[str]:
        """Return extra headers that replace those of the key."""
        return [name for name in self._connection.headers if name.strip().lower() in ("authorization", "x-api-key")]


def connection_notes(connection: Connection, address: Address, exchange: Exchange | None) -> Iterator[str]:
    """Yield notes for any result: repairs of address and key, the proxy, and different clocks."""
    if address.repairs:
        yield f"The address was read as {address.base}: {', '.join(address.repairs)}."
    if connection.key_repairs and connection.clean_key:
        yield f"The key had {' and '.join(connection.key_repairs)} in it; they are taken out before it is sent."
    if proxy := proxy_for(address.base, connection.proxy):
        yield f"It goes through the proxy {proxy}{'' if connection.proxy else ', which the environment names'}."
    if exchange is not None and (words := clock_note(exchange)):
        yield words


def clock_note(exchange: Exchange) -> str:
    """Return the difference between the gateway's clock (its Date header) and this computer's; "" for a small one."""
    gateway_time = read_date(exchange.response_headers)
    if gateway_time is None or exchange.answered is None:
        return ""
    ahead = gateway_time - (exchange.started_at + exchange.answered)
    if abs(ahead) <= _MAX_CLOCK_DIFFERENCE:
        return ""
    return (
        f"The gateway's clock is {span(abs(ahead))} {'ahead of' if ahead > 0 else 'behind'} this computer's. Whether a "
        "token or a certificate has expired depends on it: check the time set here."
    )


def _message_after_colon(failure: Failure) -> str:
    """Return the gateway's message after a colon, or a full stop if it sent none."""
    return "." if failure.cause is FailureCause.NO_MESSAGE else f": {_quote(failure, _MAX_HEADLINE)}"
