"""Tests a gateway and says in words what was found: does it answer, is the key let in, what does it offer.

The same address, headers, certificates and proxy serve a test and a run. Nothing is kept, nothing is tried again, and
no secret gets into the words. What a gateway said stands in them as it came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from playground.domain.durations import span
from playground.domain.errors import Failure, FailureKind
from playground.engine.advice import advise
from playground.gateway.address import Address, doubled, resolve
from playground.gateway.connection import Auth, Connection
from playground.gateway.limits import read_date
from playground.gateway.proxy import proxy_for

if TYPE_CHECKING:
    from playground.gateway.client import GatewayClient
    from playground.gateway.models import ModelList
    from playground.gateway.tape import Exchange

TITLES: Final = {"chat": "Chat completions", "messages": "Messages"}

#: Statuses of a path that is not there, or not for this.
_NO_PATH: Final = frozenset({404, 405, 501})

#: Seconds that two clocks may differ before it is worth a word.
_CLOCKS_AGREE: Final = 60.0

_MODEL: Final = re.compile(r"\bmodel\b", re.IGNORECASE)  # not "models", which stands in paths
_MODELS_NAMED: Final = 6
_LONGEST: Final = 600  # characters of a gateway's message in one line of words

_TYPE_IT: Final = "Typing a model id works all the same."
_NO_LIST: Final = "If the address is right, this gateway has no model list, and typing a model id works."
_SENT_AS: Final = {
    Auth.BEARER: "Authorization: Bearer",
    Auth.X_API_KEY: "x-api-key",
    Auth.BOTH: "Authorization: Bearer and x-api-key",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a test of a gateway found: one line that sums up, and what to know or do besides.

    ``models`` are the ids that were listed. ``about_key`` says that what failed is the key and not the address.
    """

    ok: bool
    headline: str
    details: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    about_key: bool = False


async def try_gateway(made: Connection) -> Verdict:
    """Ask the gateway for its models, once for each way in which the key is sent. Never raises.

    Without a model list an empty request knocks at the endpoints themselves, so that a gateway that only has no list
    is told from a wrong address.
    """
    from playground.gateway.client import GatewayClient

    try:
        address = resolve(made.base_url)
    except ValueError as error:
        return Verdict(False, str(error))
    names = ["chat", "messages"] if made.auth_for("chat") is not made.auth_for("messages") else ["chat"]
    async with GatewayClient(made) as client:
        listings = {name: await client.list_models(name) for name in names}
        knocks = await _knock(client) if all(_missing(listing.failure) for listing in listings.values()) else []
    judge = _Judge(made, address, knocks)
    verdicts = {name: judge.verdict(name, listing) for name, listing in listings.items()}
    shown = next((name for name, verdict in verdicts.items() if verdict.ok), names[0])
    details = [*verdicts[shown].details]
    if len(verdicts) > 1:
        details = [*(f"{TITLES[name]}: {verdict.headline}" for name, verdict in verdicts.items()), *details]
    exchanges = [*listings[shown].exchanges, *knocks]
    details += surroundings(made, address, exchanges[0] if exchanges else None)
    found = verdicts[shown]
    return Verdict(found.ok, found.headline, tuple(details), tuple(listings[shown].ids), found.about_key)


async def _knock(client: GatewayClient) -> list[Exchange]:
    """Knock at the endpoints until one is there."""
    from playground.protocols.protocol import PROTOCOLS, get_protocol

    knocks: list[Exchange] = []
    for name in PROTOCOLS:
        knocks.append(await client.knock(get_protocol(name)))
        if _is_there(knocks[-1]):
            break
    return knocks


def _missing(failure: Failure | None) -> bool:
    return failure is not None and failure.kind is FailureKind.HTTP and failure.status in _NO_PATH


def _is_there(knock: Exchange) -> bool:
    """Whether an endpoint answered; a 404 that speaks of a model comes from one (specification, section 7.1)."""
    failure = knock.failure
    if knock.status is None or failure is None or not _missing(failure):
        return knock.status is not None
    names_it = "model" in f"{failure.code} {failure.type}".lower() or _MODEL.search(failure.message)
    return knock.status == 404 and bool(names_it)


class _Judge:
    """Puts one model list, or its failure, into words."""

    def __init__(self, made: Connection, address: Address, knocks: list[Exchange]) -> None:
        self._made = made
        self._address = address
        self._knocks = knocks

    def verdict(self, protocol: str, listing: ModelList) -> Verdict:
        """What the answer to GET /models, with the key sent as for ``protocol``, means."""
        failure, count = listing.failure, len(listing.models)
        if failure is None and count:
            more = f" and {count - _MODELS_NAMED} more" if count > _MODELS_NAMED else ""
            named = f"Models: {', '.join(listing.ids[:_MODELS_NAMED])}{more}"
            words = f"OK: {count} {'model' if count == 1 else 'models'} in {listing.seconds:.2f} s."
            return Verdict(True, words, (named, *self._open_door()))
        if failure is None:
            return Verdict(True, f"The gateway answers, but its model list is empty. {_TYPE_IT}", self._open_door())
        if count:
            return Verdict(False, f"The model list broke off after {count}: {_quoted(failure)}")
        if _missing(failure):
            return self._without_list(protocol, failure)
        return self._failed(protocol, failure)

    def _open_door(self) -> tuple[str, ...]:
        return () if self._has_key() else ("No key is set; the gateway answered without one.",)

    def _has_key(self) -> bool:
        return bool(self._made.clean_key or self._own_headers())

    def _own_headers(self) -> list[str]:
        """Headers of the person's own that go out in place of the key's."""
        return [name for name in self._made.headers if name.strip().lower() in ("authorization", "x-api-key")]

    def _without_list(self, protocol: str, failure: Failure) -> Verdict:
        there = self._knocks[-1] if self._knocks and _is_there(self._knocks[-1]) else None
        nothing = f"There is no model list at {self._address.models} (HTTP {failure.status})."
        if there is None:
            words = f"Nothing is found below {self._address.base} (HTTP {failure.status}){_said(failure)}"
            return Verdict(False, words, (*self._wrong_address(), _NO_LIST))
        if there.failure is not None and there.failure.status in (401, 402, 403, 407, 429):
            refused = self._failed(protocol, there.failure)
            return replace(refused, details=(*refused.details, f"{nothing} {_TYPE_IT}"))
        if there.failure is not None and there.failure.kind is not FailureKind.HTTP:
            return self._failed(protocol, there.failure)
        words = f"The gateway answers, but offers no model list (HTTP {failure.status}). {_TYPE_IT}"
        let_in = " and the key was not refused" if self._has_key() else ""
        return Verdict(True, words, (f"{there.method} {there.url} is there (HTTP {there.status}){let_in}.",))

    def _wrong_address(self) -> tuple[str, ...]:
        found = [words for words in (doubled(self._address.base), self._address.note) if words]
        return (
            *found,
            "The base URL ends in the version segment, such as /v1, once, and without an endpoint's path.",
        )

    def _failed(self, protocol: str, failure: Failure) -> Verdict:
        status = failure.status
        if failure.kind is FailureKind.HTTP and status == 407:
            proxy = proxy_for(self._address.base, self._made.proxy) or "on the way"
            words = f"The proxy {proxy} wants a user name and a password (HTTP 407){_said(failure)}"
            return Verdict(False, words, ("They go into the proxy's address: http://name:password@host.",))
        if failure.kind is FailureKind.HTTP:
            advice = advise(failure)
            waits = [f"It asks to wait {span(failure.retry_after)}."] if failure.retry_after else []
            named = [f"The limit that was hit: {failure.dimension}."] if failure.dimension else []
            remedy = {401: self._key_causes(protocol, failure), 403: [_FORBIDDEN]}.get(status or 0, [advice.remedy])
            words = f"{advice.title} (HTTP {status}){_said(failure)}"
            return Verdict(False, words, (*remedy, *named, *waits), about_key=status in (401, 402, 403))
        if failure.kind is FailureKind.STREAM:
            return Verdict(False, f"The gateway reports an error{_said(failure)}", self._wrong_address())
        if failure.kind is FailureKind.DECODE:
            return Verdict(False, failure.message, self._wrong_address())
        return Verdict(False, failure.message)

    def _key_causes(self, protocol: str, failure: Failure) -> list[str]:
        """Why a key is refused (specification, section 5), the likeliest first."""
        if not self._has_key():
            return ["No key is set. Enter the one that this gateway issued."]
        if own := self._own_headers():
            return [f"Your own header {', '.join(own)} was sent. Check its value, or remove it and enter a key."]
        if "expire" in f"{failure.message} {failure.code} {failure.type}".lower():
            return ["The token has expired: get a new one from the service and enter it."]
        clean = "" if self._made.key_repairs else " It holds no spaces or line breaks."
        how = _SENT_AS[self._made.auth_for(protocol)]
        return [
            f"Likely causes: the key was revoked, its token has expired, or it belongs to another service.{clean}",
            f"It was sent as {how}. If this gateway wants it otherwise, change how the key is sent.",
        ]


_FORBIDDEN: Final = (
    "Most often the account needs identity verification: do that in the service's dashboard. The key may also lack "
    "the permission, or this network may not be allowed."
)


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
    return "." if failure.message.startswith(f"HTTP {failure.status}") else f": {_quoted(failure)}"


def _quoted(failure: Failure) -> str:
    text = failure.message
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
