"""Tests a gateway and says in words what was found: does it answer, is the key let in, what does it offer.

The same address, headers, certificates and proxy serve a test and a run. Nothing is kept, nothing is tried again, and
no secret gets into the words. What a gateway said stands in them as it came. What mends a fault in one step is offered.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from playground.domain.durations import span
from playground.domain.errors import Failure, FailureKind
from playground.engine.advice import advise, own_words
from playground.engine.advice.by_kind import KEY_MEANINGS, NO_PATH
from playground.engine.advice.field_locations import header_names
from playground.engine.advice.parts import Advice
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

#: Seconds that two clocks may differ before it is worth a word.
_CLOCKS_AGREE: Final = 60.0

_LONGEST: Final = 600  # characters of a gateway's message in the headline
_TYPE_IT: Final = "typing a model id works"
_SENT_AS: Final = {
    Auth.BEARER: "Authorization: Bearer",
    Auth.X_API_KEY: "x-api-key",
    Auth.BOTH: "Authorization: Bearer and x-api-key",
}

LIST: Final = "models"

#: Seconds that a test waits at most for an answer, whatever patience runs have.
LONGEST: Final = 30.0

#: Failures of the way there: whatever is asked, the same would come.
_NOT_THERE: Final = frozenset(
    {
        FailureKind.INPUT,
        FailureKind.NAME,
        FailureKind.REFUSED,
        FailureKind.TLS,
        FailureKind.CONNECTION,
        FailureKind.NOT_HTTP,
        FailureKind.TIMEOUT_CONNECT,
    }
)
_MODEL: Final = re.compile(r"\bmodel\b", re.IGNORECASE)  # not "models", which stands in paths
_ONE_OF_SEVERAL: Final = re.compile(r"\bor\b[^.\n]{0,24}\bexpired\b|\bexpired\b\s*(?:,|/|\bor\b)|[,/]\s*expired\b")
_MODELS_NAMED: Final = 6
_LONGEST_ID: Final = 80  # characters of a model's id in it
_LONGEST_WORDS: Final = 300  # characters of a gateway's message in one line


class State(StrEnum):
    """What one endpoint is found to be."""

    OK = "ok"  # there, and the key is let in as far as can be seen
    UNSURE = "unsure"  # there, and fails at an empty request
    MISSING = "missing"  # no such path
    REFUSED = "refused"  # there, and the key is not let in
    FAILED = "failed"  # anything else


@dataclass(frozen=True, slots=True)
class EndpointResult:
    """What came of asking one endpoint. ``words`` follow its title in a line."""

    endpoint: str
    state: State
    words: str
    exchange: Exchange | None = None
    failure: Failure | None = None
    models: tuple[Model, ...] = ()
    auth: Auth = Auth.BEARER  # how the key was sent

    @property
    def advice(self) -> Advice | None:
        """What the failure means."""
        return advise(self.failure) if self.failure is not None else None

    @property
    def there(self) -> bool:
        """Whether the path exists, whatever it answers."""
        if self.failure is not None and self.failure.kind in _NOT_THERE:
            return False
        return self.state is not State.MISSING

    @property
    def silent(self) -> bool:
        """Whether the connection was taken, and nothing was said on it."""
        said = self.exchange is not None and self.exchange.status is not None
        return self.failure is not None and self.failure.kind is FailureKind.TIMEOUT_FIRST and not said

    @property
    def unreachable(self) -> bool:
        """Whether nothing of HTTP came from there at all."""
        return self.failure is not None and self.failure.kind in _NOT_THERE


async def ask(made: Connection) -> tuple[EndpointResult, ...]:
    """All endpoints at the connection's address, asked at once. Never raises.

    The list is asked for in each way in which the key is sent.
    """
    from playground.gateway.client import GatewayClient

    longest = {"first": LONGEST, "idle": LONGEST, "total": LONGEST + 5}  # what is silent is told from what is slow
    times = {name: min(getattr(made.timeouts, name) or most, most) for name, most in longest.items()}
    quick = made.model_copy(update={"timeouts": made.timeouts.model_copy(update=times)})
    async with GatewayClient(quick) as client:
        lists: dict[Auth, str] = {}
        for protocol in PROTOCOLS:
            lists.setdefault(made.auth_for(protocol), protocol)
        return tuple(
            await asyncio.gather(
                *(_list(client, protocol) for protocol in lists.values()),
                *(_knock(client, protocol) for protocol in PROTOCOLS),
            )
        )


async def _list(client: GatewayClient, protocol: str) -> EndpointResult:
    listing = await client.list_models(protocol)
    state, words = _of_list(listing)
    exchange = listing.exchanges[0] if listing.exchanges else None
    auth = client.connection.auth_for(protocol)
    return EndpointResult(LIST, state, words, exchange, listing.failure, listing.models, auth)


async def _knock(client: GatewayClient, protocol: str) -> EndpointResult:
    """An empty request; one that names no model and says nothing, where the gateway stumbles over that."""
    from playground.domain.request import Request
    from playground.protocols.protocol import get_protocol

    spoken = get_protocol(protocol)
    first = _knocked(client, protocol, await client.probe(spoken))
    if first.state is not State.UNSURE:
        return first
    body = spoken.encode(Request(protocol=protocol, model=""))
    again = _knocked(client, protocol, await client.probe(spoken, body))
    return again if again.state in (State.OK, State.REFUSED) else first


def _knocked(client: GatewayClient, protocol: str, exchange: Exchange) -> EndpointResult:
    failure = exchange.failure or _hidden_failure(exchange)
    state, words = _of_knock(exchange, failure, keyed=bool(client.connection.clean_key))
    return EndpointResult(protocol, state, words, exchange, failure, auth=client.connection.auth_for(protocol))


def _of_list(listing: ModelList) -> tuple[State, str]:
    failure, count = listing.failure, len(listing.models)
    if failure is None and count:
        more = f" and {count - _MODELS_NAMED} more" if count > _MODELS_NAMED else ""
        named = ", ".join(cut(name, _LONGEST_ID) for name in listing.ids[:_MODELS_NAMED])
        return State.OK, f"{models(count)} in {listing.seconds:.2f} s: {named}{more}"
    if failure is None:
        return State.OK, "answers, and is empty"
    if count:
        return State.FAILED, f"broke off after {count}: {quoted(failure)}"
    if failure.kind is FailureKind.DECODE and "html" in (listing.exchanges[-1].content_type or ""):
        return State.MISSING, "a web page is there instead"
    return _of_failure(failure)


def _of_knock(exchange: Exchange, failure: Failure | None, *, keyed: bool) -> tuple[State, str]:
    status = exchange.status
    let_in = " and does not refuse the key" if keyed else ""
    if failure is None:
        if "html" in (exchange.content_type or ""):
            return State.MISSING, "a web page is there instead"
        return State.OK, f"is there{let_in} (HTTP {status} to an empty request)"
    if failure.kind is not FailureKind.HTTP:
        return _of_failure(failure)
    meaning = advise(failure).meaning
    if status == 404 and (_MODEL.search(failure.message) or "model" in f"{failure.code} {failure.type}".lower()):
        return State.OK, f"is there{let_in} (HTTP {status} to an empty request)"
    if meaning in ("header", "balance", "402", "429", "loading", "region"):
        return _of_failure(failure)
    if status in (400, 406, 409, 411, 412, 413, 415, 422) and meaning not in KEY_MEANINGS:
        return State.OK, f"is there{let_in} (HTTP {status} to an empty request)"
    if status == 500 and meaning == "500":
        return State.UNSURE, f"is there, and fails at an empty request (HTTP {status}): {quoted(failure)}"
    return _of_failure(failure)


def _of_failure(failure: Failure) -> tuple[State, str]:
    """What a failure says of an endpoint, whichever it is."""
    advice, status = advise(failure), failure.status
    code = f" (HTTP {status})" if status else ""
    if advice.meaning == "no endpoint" or (failure.kind is FailureKind.HTTP and status in NO_PATH):
        return State.MISSING, f"is not at this address{code}"
    if advice.meaning == "key missing":
        return State.REFUSED, f"wants a key{code}"
    if advice.meaning in KEY_MEANINGS or (failure.kind is FailureKind.HTTP and status in (401, 403)):
        return State.REFUSED, f"does not let the key in{code}"
    if advice.meaning == "header":
        return State.FAILED, f"wants a header that is not sent{code}"
    return State.FAILED, f"{quoted(failure)}{code}"


def _has_expired(failure: Failure) -> bool:
    """Whether the gateway says that the key has expired, and not only that this is one of several reasons."""
    said = f"{failure.message} {failure.code} {failure.type}".lower()
    return "expire" in said and _ONE_OF_SEVERAL.search(said) is None


def _hidden_failure(exchange: Exchange) -> Failure | None:
    """An error that came with a status of success."""
    from playground.jsonkit import foreign
    from playground.protocols.error_fields import looks_like_error
    from playground.protocols.errors import read_error

    try:
        value = foreign.parse(exchange.body.decode("utf-8", "replace").strip())
    except ValueError:
        return None
    return read_error(value) if isinstance(value, dict) and looks_like_error(value) and "choices" not in value else None


def models(count: int) -> str:
    """A number of models."""
    return f"{count} {'model' if count == 1 else 'models'}"


def quoted(failure: Failure, most: int = _LONGEST_WORDS) -> str:
    """The gateway's own words, not longer than a line should be; without the status that stands beside them."""
    text = own_words(failure, advise(failure)) or advise(failure).title
    return cut(text, most)


_NAMES: Final = {**PROTOCOLS, LIST: "model list"}
_KEYLESS: Final = frozenset({400, 403, 500})
_SILENT: Final = (
    "Something takes the connection and says nothing. Check the port: another program may listen there. A gateway that "
    "is starting up may need longer: wait a little, then test again."
)
_FORBIDDEN: Final = (
    "Most often the account needs identity verification: do that in the service's dashboard. The key may also lack "
    "the permission, or this network may not be allowed."
)
_MENDABLE: Final = frozenset({FailureKind.HTTP, FailureKind.REDIRECT, FailureKind.NOT_HTTP, FailureKind.TOO_LARGE})
#: Meanings whose remedy is about a run and not about a gateway that is being set up.
_OF_A_RUN: Final = frozenset(
    {"400", "404", "422", "status", "parameter", "turns", "model", "decode", "stream", "empty"}
)


class Mends(StrEnum):
    """What an offer changes."""

    ADDRESS = "address"  # the base URL becomes ``value``
    HEADER = "header"  # a header of that name goes with every request; a person gives its value
    KEY_STYLE = "key_style"  # the key is sent in that way on every protocol


@dataclass(frozen=True, slots=True)
class Offer:
    """One step that mends what was found. ``label`` is for its button."""

    mends: Mends
    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """One endpoint, what it is found to be, and that in words that go on from its title."""

    title: str
    state: State
    words: str


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """What a test of a gateway found: a line that sums up, one for each endpoint, and what to know or do besides.

    ``asked`` says what went out. ``models`` are those that were listed. ``about_key`` says that what failed is the
    key and not the address.
    """

    ok: bool
    headline: str
    lines: tuple[Line, ...] = ()
    details: tuple[str, ...] = ()
    asked: str = ""
    offers: tuple[Offer, ...] = ()
    models: tuple[Model, ...] = ()
    about_key: bool = False


async def try_gateway(made: Connection) -> ConnectionReport:
    """Ask the model list and both endpoints, and where something is not there, other addresses on the same origin.

    Where a server of this machine does not speak TLS, it is asked without, and without a key.

    Never raises. See ``ask`` for what is sent; nothing is generated.
    """
    try:
        address = resolve(made.base_url)
    except ValueError as error:
        return ConnectionReport(False, str(error))
    found = await ask(made)
    tried: dict[str, tuple[EndpointResult, ...]] = {}
    if plain := _without_tls(address, found):
        # Another origin: a key and headers are not for it until a person takes the address.
        tried[plain] = await ask(
            made.model_copy(update={"base_url": plain, "key": None, "headers": {}, "secret_headers": {}})
        )
    if _worth_a_look_elsewhere(address, found):
        for url in candidates(address.base):
            tried[url] = await ask(made.model_copy(update={"base_url": url}))
            if _there(tried[url]) == len(tried[url]):
                break
    better = max(
        (url for url in tried if _there(tried[url]) > _there(found)), key=lambda url: _there(tried[url]), default=""
    )
    return _Judge(made, address, found, tried, better).verdict()


def _there(found: Sequence[EndpointResult]) -> int:
    return sum(one.there for one in found)


def _without_tls(address: Address, found: Sequence[EndpointResult]) -> str:
    """The address without encryption, where a server of this machine seems to speak none; else empty."""
    meanings = {one.advice.meaning for one in found if one.advice is not None}
    if not is_loopback(address.base) or not meanings <= {"plain http", "tls"}:
        return ""
    return f"http{address.base.removeprefix('https')}"


def _worth_a_look_elsewhere(address: Address, found: Sequence[EndpointResult]) -> bool:
    """Whether a version segment is missing together with something else, or nothing of use is there."""
    if all(one.unreachable for one in found):
        return False
    missing = [one for one in found if one.state is State.MISSING]
    return bool(missing) if address.suggestion else all(one in missing for one in found if one.endpoint != LIST)


class _Judge:
    """Puts what was found at an address into words. ``tried`` is what other addresses gave, ``better`` one of them."""

    def __init__(
        self,
        made: Connection,
        address: Address,
        found: Sequence[EndpointResult],
        tried: dict[str, tuple[EndpointResult, ...]],
        better: str,
    ) -> None:
        self._made = made
        self._address = address
        self._found = found
        self._tried = tried
        self._better = better
        self._lists = [one for one in found if one.endpoint == LIST]
        self._ends = [one for one in found if one.endpoint != LIST]

    def verdict(self) -> ConnectionReport:
        """The whole of it."""
        if all(one.unreachable for one in self._found) and (failure := self._found[0].failure) is not None:
            details = [advise(failure).remedy, *self._elsewhere(), *self._surroundings()]
            return ConnectionReport(False, failure.message, details=tuple(details), offers=tuple(self._offers()))
        if all(one.silent for one in self._found) and (failure := self._found[0].failure) is not None:
            return ConnectionReport(False, failure.message, details=(_SILENT, *self._surroundings()))
        listed = next((one.models for one in self._lists if one.models), ())
        usable = [one for one in self._ends if self._is_usable(one)]
        main = None if usable else self._main()
        details = [
            *self._elsewhere(),
            *(self._remedies(main) if main is not None else ()),
            *self._besides(bool(usable)),
        ]
        return ConnectionReport(
            ok=bool(usable),
            headline=self._works(usable, len(listed)) if usable else self._fails(main),
            lines=tuple(self._lines()),
            details=(*details, *self._surroundings()),
            asked=self._what_was_asked(),
            offers=tuple(self._offers()),
            models=listed,
            about_key=main is not None and self._is_about_key(main),
        )

    # What it comes to

    def _is_usable(self, one: EndpointResult) -> bool:
        """Whether runs may well work there: it is there, and the list does not say that the key is refused."""
        lists = [listed for listed in self._lists if listed.auth is one.auth]
        if any(listed.state is State.REFUSED for listed in lists):
            return False
        return one.state is State.OK or (one.state is State.UNSURE and any(x.state is State.OK for x in lists))

    def _main(self) -> EndpointResult | None:
        """The failure that tells most of why nothing is usable; None where it is all just not there."""
        failed = [one for one in self._found if one.state in (State.REFUSED, State.FAILED, State.UNSURE)]
        rank = {State.REFUSED: 0, State.FAILED: 2, State.UNSURE: 3}
        return min(failed, key=lambda one: 1 if self._headers(one) else rank[one.state], default=None)

    def _works(self, usable: Sequence[EndpointResult], count: int) -> str:
        names = " and ".join(PROTOCOLS[one.endpoint] for one in usable)
        is_there = f"OK: {names} {'is' if len(usable) == 1 else 'are'} there"
        if count:
            return f"{is_there}, {models(count)} listed."
        if any(one.state is State.OK for one in self._lists):
            return f"{is_there}. The model list is empty; {_TYPE_IT}."
        if all(one.state is State.MISSING for one in self._lists):
            return f"{is_there}, without a model list; {_TYPE_IT}."
        return f"{is_there}. The model list fails; {_TYPE_IT}."

    def _fails(self, main: EndpointResult | None) -> str:
        if main is not None and main.failure is not None and (advice := main.advice) is not None:
            status = main.failure.status
            if main.failure.kind not in (FailureKind.HTTP, FailureKind.STREAM):
                return main.failure.message
            code = f" (HTTP {status})" if status and str(status) not in advice.title else ""
            return f"{advice.title}{code}{_said(main.failure)}"
        if any(one.state is State.OK for one in self._lists):
            return f"The gateway lists its models, but neither {' nor '.join(PROTOCOLS.values())} is at this address."
        first = self._found[0]
        if first.failure is None or first.failure.status is None or first.failure.kind is FailureKind.DECODE:
            return f"No gateway answers at {self._address.base}: {first.words}."
        return f"Nothing is found below {self._address.base} (HTTP {first.failure.status}){_said(first.failure)}"

    def _is_about_key(self, main: EndpointResult) -> bool:
        status = main.failure.status if main.failure is not None else None
        return main.state is State.REFUSED or status in (401, 402, 403) or self._may_want_a_key(main)

    def _may_want_a_key(self, main: EndpointResult) -> bool:
        """Whether no key is set and the answer is one that many gateways give then."""
        failure = main.failure
        if failure is None or failure.kind is not FailureKind.HTTP or failure.status not in _KEYLESS:
            return False
        return not self._has_key() and not self._headers(main)

    # Line by line

    def _lines(self) -> Iterator[Line]:
        for one in self._found:
            several = one.endpoint == LIST and len(self._lists) > 1
            name = _NAMES[one.endpoint] + (f", key as {_SENT_AS[one.auth]}" if several else "")
            yield Line(name[0].upper() + name[1:], one.state, one.words)

    # What to know or do

    def _elsewhere(self) -> Iterator[str]:
        if self._better:
            names = list(dict.fromkeys(_NAMES[one.endpoint] for one in self._tried[self._better] if one.there))
            yield f"More is at {self._better}: {listed(names)}."
        elif self._tried:
            yield f"Nothing more is at {' or '.join(self._tried)}."

    def _besides(self, ok: bool) -> Iterator[str]:
        if ok and not self._has_key():
            yield "No key is set; the gateway answered without one."
        if not ok and not self._better and all(one.state is State.MISSING for one in self._ends):
            yield from (words for words in (doubled(self._address.base), self._address.note) if words)
            yield "The base URL ends in the version segment, such as /v1, once, and without an endpoint's path."

    def _remedies(self, main: EndpointResult) -> Iterator[str]:
        failure, advice = main.failure, main.advice
        if failure is None or advice is None:
            return
        if names := self._headers(main):
            yield f"Add {' or '.join(names)} with the value that this gateway wants, then test again."
        elif main.state is State.REFUSED and (failure.status != 403 or advice.meaning != "403"):
            yield from self._key_causes(main, advice)
        elif self._may_want_a_key(main):
            yield "No key is set: many gateways answer like this without one. Enter the key, then test again."
        elif failure.status == 403:
            yield _FORBIDDEN
        elif failure.kind in _MENDABLE and advice.meaning not in _OF_A_RUN:
            yield advice.remedy
        if failure.dimension:
            yield f"The limit that was hit: {failure.dimension}."
        if failure.retry_after:
            yield f"It asks to wait {span(failure.retry_after)}."

    def _key_causes(self, main: EndpointResult, advice: Advice) -> list[str]:
        """Why a key is refused (specification, section 5), the likeliest first."""
        failure = main.failure
        if not self._has_key():
            return ["No key is set. Enter the one that this gateway issued."]
        if own := self._own_headers():
            return [f"Your own header {', '.join(own)} was sent. Check its value, or remove it and enter a key."]
        if advice.meaning == "key header":
            return []  # its offer says it all
        if failure is not None and _has_expired(failure):
            return ["The token has expired: get a new one from the service and enter it."]
        clean = "" if self._made.key_repairs else " It holds no spaces or line breaks."
        return [
            f"Likely causes: the key was revoked, its token has expired, or it belongs to another service.{clean}",
            f"It was sent as {_SENT_AS[main.auth]}. If this gateway wants it otherwise, change how the key is sent.",
        ]

    def _what_was_asked(self) -> str:
        """What went out, so that nobody has to wonder what a test costs."""
        base = self._address.base
        elsewhere = f" The same at {' and '.join(self._tried)}." if self._tried else ""
        answered = [PROTOCOLS[one.endpoint] for one in self._ends if one.state is State.OK and one.failure is None]
        cost = (
            f"which {listed(answered)} answered instead of refusing it; no more than its beginning was read"
            if answered
            else "which is refused before anything is generated"
        )
        return f"Asked: GET {base}/models, and an empty request to /chat/completions and /messages, {cost}.{elsewhere}"

    def _surroundings(self) -> Iterable[str]:
        exchange = next((one.exchange for one in self._found if one.exchange is not None), None)
        return surroundings(self._made, self._address, exchange)

    # What mends it

    def _offers(self) -> Iterator[Offer]:
        if self._better:
            yield Offer(Mends.ADDRESS, self._better, f"Use {self._better}")
        if moved := self._moved():
            yield Offer(Mends.ADDRESS, moved, f"Use {moved}")
        for name in dict.fromkeys(name for one in self._found for name in self._headers(one)):
            yield Offer(Mends.HEADER, name, f"Add the header {name}")
        if any(one.advice is not None and one.advice.meaning == "key header" for one in self._found):
            yield Offer(Mends.KEY_STYLE, Auth.X_API_KEY.value, "Send the key as x-api-key")

    def _moved(self) -> str:
        """The base URL that a redirect leads to, on the same host only: a key must not be led astray."""
        for one in self._found:
            to = one.exchange.response_header("location") if one.exchange is not None else None
            if to and one.failure is not None and one.failure.kind is FailureKind.REDIRECT and one.exchange is not None:
                try:
                    base, _ = repair(urljoin(one.exchange.url, to))
                except ValueError:
                    continue
                if urlsplit(base).hostname == urlsplit(self._address.base).hostname and base != self._address.base:
                    return base
        return ""

    def _headers(self, one: EndpointResult) -> tuple[str, ...]:
        """Headers that the gateway asks for and that are not among its own yet."""
        if one.failure is None or one.advice is None or one.advice.meaning != "header":
            return ()
        known = {name.strip().lower() for name in self._made.headers}
        return tuple(name for name in header_names(one.failure.message) if name.lower() not in known)

    def _has_key(self) -> bool:
        return bool(self._made.clean_key or self._own_headers() or self._made.secret_headers)

    def _own_headers(self) -> list[str]:
        """Headers of the person's own that go out in place of the key's."""
        return [name for name in self._made.headers if name.strip().lower() in ("authorization", "x-api-key")]


def surroundings(made: Connection, address: Address, exchange: Exchange | None) -> Iterable[str]:
    """What to know besides, whatever came: repairs of address and key, the proxy, the clocks."""
    if address.repairs:
        yield f"The address was read as {address.base}: {', '.join(address.repairs)}."
    if made.key_repairs and made.clean_key:
        yield f"The key had {' and '.join(made.key_repairs)} in it; they are taken out before it is sent."
    if proxy := proxy_for(address.base, made.proxy):
        yield f"It goes through the proxy {proxy}{'' if made.proxy else ', which the environment names'}."
    if exchange is not None and (words := clock_words(exchange)):
        yield words


def clock_words(exchange: Exchange) -> str:
    """By how much the gateway's clock, as its Date header tells it, differs from ours; "" when they agree."""
    theirs = read_date(exchange.response_headers)
    if theirs is None or exchange.answered is None:
        return ""
    ahead = theirs - (exchange.started_at + exchange.answered)
    if abs(ahead) <= _CLOCKS_AGREE:
        return ""
    return (
        f"The gateway's clock is {span(abs(ahead))} {'ahead of' if ahead > 0 else 'behind'} this computer's. Whether a "
        "token or a certificate has expired depends on it: check the time set here."
    )


def _said(failure: Failure) -> str:
    """The gateway's own words behind a colon; only a full stop where it said nothing."""
    return "." if failure.message.startswith(f"HTTP {failure.status}") else f": {quoted(failure, _LONGEST)}"
