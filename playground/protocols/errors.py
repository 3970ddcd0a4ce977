"""Make a ``Failure`` of an error body in any shape.

The gateway's own text is kept unchanged; without one there is a sentence of ours. Never raises.
``playground.protocols.error_fields`` finds what a body says.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from playground.domain.errors import Failure, FailureCause, FailureKind
from playground.jsonkit import foreign
from playground.jsonkit.values import JSON
from playground.protocols.error_fields import ErrorFields, error_fields, text_fields
from playground.protocols.error_waits import rate_limit_dimension, wait_in_error

EXCERPT: Final = 64 * 1024

#: Statuses below 500 of a refusal that may pass.
_MAY_PASS: Final = frozenset({None, 408, 409, 425, 429})


def read_error(
    body: bytes | JSON, status: int | None = None, kind: FailureKind | None = None, text: str | None = None
) -> Failure:
    """Return the failure that a body reports.

    ``body`` is the body's bytes, its text, or a JSON value already parsed (then ``text`` may give its source for the
    excerpt). ``status`` is the HTTP status where there was one. ``kind`` defaults to HTTP with a status and to STREAM
    without.
    """
    if isinstance(body, bytes | bytearray):
        body = bytes(body[: 4 * EXCERPT]).decode("utf-8", "replace").removeprefix("\ufeff")
    if isinstance(body, str):
        text = body if text is None else text
        fields = text_fields(body)
    else:
        text = foreign.write(body) if text is None else text
        fields = error_fields(body)
    status_code = status if status is not None else fields.status
    message = fields.message or _fallback(status_code, bool(text.strip()), _named(fields))
    excerpt = foreign.whole(text[:EXCERPT])
    return Failure(
        kind=kind or (FailureKind.HTTP if status is not None else FailureKind.STREAM),
        message=message,
        status=status_code,
        code=foreign.text_of(fields.code) or None,
        type=fields.type or None,
        param=fields.param or None,
        request_id=fields.request_id or None,
        body=excerpt,
        retry_after=wait_in_error(excerpt, message) if status_code in _MAY_PASS or (status_code or 0) >= 500 else None,
        dimension=rate_limit_dimension(message, excerpt),
        cause=None if fields.message else FailureCause.NO_MESSAGE,
    )


def _named(fields: ErrorFields) -> str:
    """Return the name that a body without a message gives its error."""
    code = foreign.text_of(fields.code)
    return fields.type if not code or code.isdigit() else code


def _fallback(status: int | None, has_body: bool, name: str) -> str:
    if status is None and name:
        return f"the gateway reported the error {name}"
    if status is None:
        return "the gateway reported an error and did not say which" if has_body else "the error body is empty"
    try:
        phrase = f" {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    return f"HTTP {status}{phrase}" + (f": {name}" if name else "" if has_body else ", with an empty body")
