"""Whose code is shown: the next request, or one that was sent. Values only, so that it may be written on any thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playground.engine.gateways.secrets import Secret
from playground.engine.session.session import Session

if TYPE_CHECKING:
    from playground.engine.requests.snippets import Snippet
    from playground.engine.session.session import Exchange

NEXT = ""  # stands for the next request where the id of an exchange is asked for
MOST_EXCHANGES = 100


@dataclass(frozen=True, slots=True)
class Code:
    """A snippet and where it sends to; ``refusal`` says why there is none in any language."""

    url: str = ""
    protocol: str = ""
    snippet: Snippet | None = None
    refusal: str = ""

    @property
    def text(self) -> str:
        """The code; empty where there is none."""
        return self.snippet.text if self.snippet is not None else ""

    @property
    def why_not(self) -> str:
        """Why there is no code; empty where there is."""
        return self.refusal or (self.snippet.refusal if self.snippet is not None else "")


def writer(session: Session, exchange: Exchange | None, language: str, known: Iterable[Secret]) -> Callable[[], Code]:
    """What writes the code of that request, or else of the next one as it is now.

    Calling it touches the session no more.
    """
    secrets = tuple(known)
    if exchange is not None:
        return lambda: _recorded(exchange, language, secrets)
    profile, request = session.profile, session.next_request.build(*session.next_request.to_add())
    if profile is None:
        return lambda: Code(refusal="There is no gateway to send this to.")
    if not request.turns:
        return lambda: Code(refusal="Write a message first; then its request stands here as code.")

    def write_next() -> Code:
        from playground.engine.requests.snippets import sent_by, write

        try:
            sent = sent_by(profile, request, secrets)
        except (ValueError, RecursionError) as error:
            return Code(refusal=str(error))
        return Code(sent.url, sent.protocol, write(language, sent))

    return write_next


def _recorded(exchange: Exchange, language: str, known: tuple[Secret, ...]) -> Code:
    from playground.engine.requests.snippets import recorded, write

    if exchange.dropped and not exchange.request_body:
        return Code(exchange.url, refusal="What this exchange sent was let go to save memory. Only its times are left.")
    try:
        headers, body = exchange.request_headers, exchange.request_body
        sent = recorded(exchange.protocol, exchange.url, headers, body, known)
    except (ValueError, RecursionError) as error:
        return Code(exchange.url, refusal=str(error))
    return Code(sent.url, sent.protocol, write(language, sent))


def sources(session: Session) -> list[tuple[str, str]]:
    """(id, words) of every request there is code for: the next one first, then those sent, newest first."""
    sent = [exchange for exchange in session.exchanges.values() if exchange.protocol and exchange.method == "POST"]
    newest = sent[: -MOST_EXCHANGES - 1 : -1]
    return [(NEXT, "Next request"), *((exchange.id, _words(exchange)) for exchange in newest)]


def _words(exchange: Exchange) -> str:
    at = time.strftime("%H:%M:%S", time.localtime(exchange.started_at))
    how = str(exchange.status) if exchange.status else "failed" if exchange.failure else "under way"
    return f"As sent at {at} · {how}"
