"""The points at which a request or an answer of another program can be changed: the interface of breakpoints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from playground.engine.listen.exchanges import Listened
from playground.engine.listen.headers import decoded_body
from playground.engine.listen.paths import Target
from playground.gateway.tape import Headers


@dataclass(frozen=True, slots=True)
class ProgramRequest:
    """A request of another program. ``headers`` hold its secrets, ``body`` is as received, perhaps compressed."""

    method: str
    target: Target
    headers: Headers = field(repr=False)
    body: bytes = field(repr=False)

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


class Hooks(Protocol):
    """Called by the server for each exchange, on its event loop.

    Both coroutines are cancelled when the program leaves. A hook notes each change in ``listened.changes``.
    """

    async def before_sending(self, listened: Listened, request: ProgramRequest) -> ProgramRequest | Answer:
        """Return the request to send, or an answer to give in its place; the given request for no change.

        The header Content-Encoding of a request whose body was changed is removed by the server.
        """

    def holds_answer(self, listened: Listened, request: ProgramRequest) -> bool:
        """Return whether the answer is to be received whole before the program gets any of it."""

    async def on_answer(self, listened: Listened, request: ProgramRequest, answer: Answer) -> Answer | None:
        """Return the answer to give, None to release the received one byte for byte. Called for held answers only."""


class NoHooks:
    """Hooks that change nothing."""

    async def before_sending(self, listened: Listened, request: ProgramRequest) -> ProgramRequest | Answer:
        """Return the request as it is."""
        return request

    def holds_answer(self, listened: Listened, request: ProgramRequest) -> bool:
        """Return False."""
        return False

    async def on_answer(self, listened: Listened, request: ProgramRequest, answer: Answer) -> Answer | None:
        """Return None."""
        return None
