"""Breakpoints for the requests and answers of another program, and what a person decides at one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from playground.gateway.tape import Headers
from playground.jsonkit.values import JSONObject
from playground.protocols.answer_format import MadeCall as MadeCall

#: Seconds after which a paused exchange goes on unchanged. The clients of the vendors give up after 600.
TIME_LIMIT: Final = 300.0


@dataclass(frozen=True, slots=True)
class Breakpoints:
    """The choice of requests and answers that pause, for at most ``time_limit`` seconds.

    ``tools`` are names of tools whose calls pause an answer; empty for all tools.
    """

    requests: bool = False
    calls: bool = False
    tools: frozenset[str] = frozenset()
    time_limit: float = TIME_LIMIT


@dataclass(frozen=True, slots=True)
class GoOn:
    """Let a request or an answer go on as it is."""


@dataclass(frozen=True, slots=True)
class SendRequest:
    """Send a request with another body or other headers. Headers: None for those of the program."""

    body: bytes
    headers: Headers | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer with this text and these calls instead of the gateway's answer; nothing else is sent to the program."""

    text: str = ""
    calls: tuple[MadeCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplyBody:
    """Answer with this body: the protocol's answer in one piece. It is sent as a stream if one was asked for."""

    body: JSONObject


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer with an error of this HTTP status, in the shape of the protocol."""

    status: int
    message: str


Decision = GoOn | SendRequest | Reply | ReplyBody | Fail


@dataclass(slots=True)
class Pause:
    """A request or an answer that waits for a person's decision.

    ``until`` is the Unix time at which it goes on by itself. ``body`` is that of the request as the program sent it, or
    of the answer in one piece. Bodies hold the program's secrets only if they were in the request's body. ``headers``
    are those of the request with masked secrets; a masked value that is sent back is replaced by the secret. ``check``
    returns why a decision cannot be carried out.
    """

    is_answer: bool
    body: bytes
    headers: Headers
    until: float
    decision: asyncio.Future[Decision] = field(repr=False)
    check: Callable[[Decision], str] = field(default=lambda _: "", repr=False)

    def decide(self, decision: Decision) -> str:
        """Release it; called from any thread. Later decisions have no effect.

        Return why the decision cannot be carried out, so that it stays paused; empty if it is carried out.
        """
        if problem := self.check(decision):
            return problem
        self.decision.get_loop().call_soon_threadsafe(self._take, decision)
        return ""

    def _take(self, decision: Decision) -> None:
        if not self.decision.done():
            self.decision.set_result(decision)
