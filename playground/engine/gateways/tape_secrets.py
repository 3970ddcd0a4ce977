"""Masks secrets in recorded exchanges that were not known when these were received. All other bytes stay."""

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

_BLOCK: Final = 1024 * 1024  # bytes searched at once for secrets not known before
_OVERLAP: Final = 16 * 1024  # bytes that two blocks share: more than the longest spelling of a secret


def redacted_reads(exchange: Exchange, redactor: Redactor) -> Iterator[Read]:
    """Yield the reads of the response body without secrets, also where reads or events cut one."""
    stream = StreamRedactor(_redactor_after(exchange, redactor))
    for at, data in exchange.reads:
        yield from (Read(*piece) for piece in stream.redact_bytes(data, at))
    yield from (Read(*piece) for piece in stream.close(exchange.reads[-1].at if exchange.reads else 0.0))


def _redactor_after(exchange: Exchange, redactor: Redactor) -> Redactor:
    """Return the redactor to use after the whole response body was searched for secrets not known before."""
    complete, block = redactor, b""
    for _, data in exchange.reads:
        block += data
        if len(block) >= _BLOCK:
            complete = redactor.after(block)
            block = block[-_OVERLAP:]
    return redactor.after(block) if block else complete


def redacted_failure(failure: Failure | None, redactor: Redactor) -> JSON:
    """Return a failure as JSON, without secrets in its texts."""
    if failure is None:
        return None
    members = _redact_members(failure.model_dump(mode="json", exclude_none=True, exclude={"sent"}), redactor)
    if failure.sent is not None:
        members["sent"] = _redact_members(failure.sent.model_dump(mode="json", exclude_defaults=True), redactor)
    return members


def _redact_members(members: JSONObject, redactor: Redactor) -> JSONObject:
    """Return an object without secrets in its texts and in those of nested objects."""
    clean: JSONObject = {}
    for name, item in members.items():
        if isinstance(item, str):
            clean[name] = redactor.text(item)
        else:
            clean[name] = _redact_members(item, redactor) if isinstance(item, dict) else item
    return clean


def cleaned_failure(failure: Failure, redactor: Redactor) -> Failure | None:
    """Return a failure without secrets, None when it has none."""
    clean = Failure.model_validate(redacted_failure(failure, redactor))
    return clean if clean != failure else None


def cleaned(exchange: Exchange, redactor: Redactor) -> Exchange | None:
    """Return an exchange without secrets, None when it has none. Reads keep their borders when nothing is masked."""
    reads = list(redacted_reads(exchange, redactor))
    unchanged = b"".join(data for _, data in reads) == exchange.body
    failure = exchange.failure
    unknown_members = json.dumps(exchange.beside)
    clean_members = redactor.text(unknown_members)
    clean = replace(
        exchange,
        url=redactor.text(exchange.url),
        request_headers=redactor.headers(exchange.request_headers),
        request_body=redactor.data(exchange.request_body),
        reason=redactor.text(exchange.reason),
        response_headers=redactor.headers(exchange.response_headers),
        reads=exchange.reads if unchanged else reads,
        failure=(cleaned_failure(failure, redactor) or failure) if failure is not None else None,
        beside=json.loads(clean_members) if clean_members != unknown_members else exchange.beside,
    )
    return clean if clean != exchange else None
