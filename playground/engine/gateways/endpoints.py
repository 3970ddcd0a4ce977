"""Asks a gateway at one address what is there: its model list, and the endpoint of each protocol.

An endpoint is asked with an empty object, which every gateway refuses before anything is generated: how it refuses
tells whether it is there and whether the key is let in, and nothing is billed. Nothing here judges the gateway.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from playground.domain.errors import Failure, FailureKind
from playground.engine.advice import Advice, advise, own_words
from playground.gateway.connection import Auth, Connection
from playground.protocols import PROTOCOLS

if TYPE_CHECKING:
    from playground.gateway.client import GatewayClient
    from playground.gateway.models import ModelList
    from playground.gateway.tape import Exchange

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
_KEY: Final = frozenset({"key missing", "key refused", "key header"})
_MODEL: Final = re.compile(r"\bmodel\b", re.IGNORECASE)  # not "models", which stands in paths
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
    models: tuple[str, ...] = ()
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
    return EndpointResult(LIST, state, words, exchange, listing.failure, tuple(listing.ids), auth)


async def _knock(client: GatewayClient, protocol: str) -> EndpointResult:
    from playground.protocols.protocol import get_protocol

    exchange = await client.knock(get_protocol(protocol))
    failure = exchange.failure or _hidden_failure(exchange)
    state, words = _of_knock(exchange, failure, keyed=bool(client.connection.clean_key))
    return EndpointResult(protocol, state, words, exchange, failure, auth=client.connection.auth_for(protocol))


def _of_list(listing: ModelList) -> tuple[State, str]:
    failure, count = listing.failure, len(listing.models)
    if failure is None and count:
        more = f" and {count - _MODELS_NAMED} more" if count > _MODELS_NAMED else ""
        named = ", ".join(_cut(name, _LONGEST_ID) for name in listing.ids[:_MODELS_NAMED])
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
    if status in (400, 406, 409, 411, 412, 413, 415, 422) and meaning not in _KEY:
        return State.OK, f"is there{let_in} (HTTP {status} to an empty request)"
    if status == 500 and meaning == "500":
        return State.UNSURE, f"is there, and fails at an empty request (HTTP {status}): {quoted(failure)}"
    return _of_failure(failure)


def _of_failure(failure: Failure) -> tuple[State, str]:
    """What a failure says of an endpoint, whichever it is."""
    advice, status = advise(failure), failure.status
    code = f" (HTTP {status})" if status else ""
    if advice.meaning == "no endpoint" or (failure.kind is FailureKind.HTTP and status in (404, 405, 501)):
        return State.MISSING, f"is not at this address{code}"
    if advice.meaning == "key missing":
        return State.REFUSED, f"wants a key{code}"
    if advice.meaning in _KEY or (failure.kind is FailureKind.HTTP and status in (401, 403)):
        return State.REFUSED, f"does not let the key in{code}"
    if advice.meaning == "header":
        return State.FAILED, f"wants a header that is not sent{code}"
    return State.FAILED, f"{quoted(failure)}{code}"


def _hidden_failure(exchange: Exchange) -> Failure | None:
    """An error that came with a status of success."""
    from playground.jsonkit import foreign
    from playground.protocols.errors import looks_like_error, read_error

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
    return _cut(text, most)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
