"""Exchanges without the secrets that were not known when they came; what else is in them stays to the byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from playground.domain.errors import Failure
from playground.gateway.redact import Redactor
from playground.gateway.redact_stream import StreamRedactor
from playground.gateway.tape import Exchange, Read
from playground.jsonkit.values import JSON, JSONObject

_BLOCK: Final = 1024 * 1024  # bytes that are looked through at once
_OVERLAP: Final = 16 * 1024  # bytes that are in two blocks: more than the longest secret in its longest spelling


def redacted_reads(exchange: Exchange, redactor: Redactor, *, thorough: bool = False) -> Iterator[Read]:
    """Yield the reads without the secrets that ``redactor`` knows, also where reads or events cut one.

    ``thorough`` takes longer, and finds a spelling in a code of which an event has fewer than four characters.
    """
    complete = _redactor_after(exchange, redactor)
    stream = StreamRedactor(complete.thorough if thorough else complete)
    for at, data in exchange.reads:
        yield from (Read(*piece) for piece in stream.redact_bytes(data, at))
    yield from (Read(*piece) for piece in stream.close(exchange.reads[-1].at if exchange.reads else 0.0))


def _redactor_after(exchange: Exchange, redactor: Redactor) -> Redactor:
    """``redactor`` after it has looked at the whole response body for secrets, a block at a time."""
    complete, block = redactor, b""
    for _, data in exchange.reads:
        block += data
        if len(block) >= _BLOCK:
            complete = redactor.after(block)
            block = block[-_OVERLAP:]
    return redactor.after(block) if block else complete


def redacted_failure(failure: Failure | None, redactor: Redactor) -> JSON:
    """A failure as JSON, without the secrets that stand in its texts."""
    if failure is None:
        return None
    members = _without(failure.model_dump(mode="json", exclude_none=True, exclude={"sent"}), redactor)
    if failure.sent is not None:
        members["sent"] = _without(failure.sent.model_dump(mode="json", exclude_defaults=True), redactor)
    return members


def _without(members: JSONObject, redactor: Redactor) -> JSONObject:
    """Members of an object without the secrets in their texts, those of objects among them included."""
    found: JSONObject = {}
    for name, item in members.items():
        if isinstance(item, str):
            found[name] = redactor.text(item)
        else:
            found[name] = _without(item, redactor) if isinstance(item, dict) else item
    return found


def cleaned_failure(failure: Failure, redactor: Redactor) -> Failure | None:
    """A failure without the secrets; None where it has none."""
    found = Failure.model_validate(redacted_failure(failure, redactor))
    return found if found != failure else None


def cleaned(exchange: Exchange, redactor: Redactor) -> Exchange | None:
    """An exchange without the secrets; None where it has none. Between two reads nothing moves for nothing."""
    reads = list(redacted_reads(exchange, redactor))
    same = b"".join(data for _, data in reads) == exchange.body
    failure = exchange.failure
    beside = json.dumps(exchange.beside)
    found = replace(
        exchange,
        url=redactor.text(exchange.url),
        request_headers=redactor.headers(exchange.request_headers),
        request_body=redactor.data(exchange.request_body),
        reason=redactor.text(exchange.reason),
        response_headers=redactor.headers(exchange.response_headers),
        reads=exchange.reads if same else reads,
        failure=(cleaned_failure(failure, redactor) or failure) if failure is not None else None,
        beside=json.loads(clean) if (clean := redactor.text(beside)) != beside else exchange.beside,
    )
    return found if found != exchange else None
