"""Requests and answers of other programs, as breakpoints see them."""

from __future__ import annotations

from dataclasses import dataclass, field

from playground.engine.listen.headers import decoded_body
from playground.engine.listen.paths import Target
from playground.gateway.redact import Redactor
from playground.gateway.tape import Headers


@dataclass(frozen=True, slots=True)
class ProgramRequest:
    """A request of another program. ``headers`` hold its secrets, ``body`` is as received, perhaps compressed.

    ``redactor`` removes the secrets of this request.
    """

    method: str
    target: Target
    headers: Headers = field(repr=False)
    body: bytes = field(repr=False)
    redactor: Redactor

    @property
    def decoded(self) -> bytes | None:
        """The body without compression; None if its encoding is unknown."""
        return decoded_body(self.headers, self.body)


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer: of the gateway, or made here. ``body`` is not compressed."""

    status: int
    headers: Headers
    body: bytes
