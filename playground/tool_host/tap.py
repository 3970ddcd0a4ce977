"""The tape of one server: each message in both directions as a frame, with the call that it belongs to."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from mcp.shared.dispatcher import coerce_request_id
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from playground.domain.secret_spellings import spellings
from playground.domain.tool_servers import Frame
from playground.jsonkit.values import JSON, JSONObject
from playground.tool_host.limits import LONGEST_FRAME, LONGEST_NAME

MASK: Final = "••••"
SHORTEST: Final = 6  # characters of a secret; masking a shorter one would spoil ordinary text
_MOST_OPEN: Final = 10_000  # requests without an answer, in each direction
_CUT_MARGIN: Final = 4_096  # characters behind the cut of a frame, so that a secret across the cut is recognized


@dataclass
class Exchange:
    """A request of ours and its outcome. ``ticket`` names the tool call it belongs to; empty for other requests."""

    ticket: str = ""
    result: JSONObject | None = None  # as the server wrote it, valid or not
    is_answered: bool = False  # with a result or an error
    problem: str = ""  # why the answer could not be read, in words for people


#: The request that the current task sends.
EXCHANGE: Final[ContextVar[Exchange | None]] = ContextVar("exchange", default=None)


def current_ticket() -> str:
    """Return the ticket of the tool call that the current task works for; empty outside of calls."""
    exchange = EXCHANGE.get()
    return exchange.ticket if exchange is not None else ""


class Mask:
    """Replaces the secrets of one server in texts, in every spelling they occur in."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Mask these secrets, too."""
        self._secrets |= {secret for secret in secrets if len(secret) >= SHORTEST}
        variants = {spelling for secret in self._secrets for spelling in spellings(secret, SHORTEST)}
        longest_first = sorted(variants, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def text(self, text: str) -> str:
        """Return the text with its secrets masked."""
        return self._pattern.sub(MASK, text) if self._pattern is not None else text

    def value(self, value: JSON) -> JSON:
        """Return a JSON value with the secrets in its texts and member names masked."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(name): self.value(item) for name, item in value.items()}
        return value


class Tap:
    """Makes a frame of each message and passes it to ``record``. ``server`` is the name of the server."""

    def __init__(self, server: str, mask: Mask, record: Callable[[Frame], None]) -> None:
        self._server, self._mask, self._record = server, mask, record
        self._open: dict[JSON, Exchange] = {}  # by the id of our request
        self._server_requests: dict[JSON, str] = {}  # tickets by the id of the server's request
        self.tickets: set[str] = set()  # of the calls in progress

    def sent(self, text: str, message: JSONRPCMessage) -> None:
        """Record a message to the server. ``text`` is its JSON."""
        ticket = current_ticket()
        method, call, error, number = "", ticket, False, ""
        if isinstance(message, JSONRPCRequest):
            method, number = message.method, str(message.id)
            _remember(self._open, message.id, EXCHANGE.get() or Exchange())
        elif isinstance(message, JSONRPCNotification):
            method = message.method
            if method == "notifications/cancelled":
                call = self._ticket_of((message.params or {}).get("requestId")) or call
        else:
            number, error = str(message.id), isinstance(message, JSONRPCError)
            call = self._server_requests.pop(message.id, ticket)
        self._frame(
            text, len(text.encode("utf-8", "replace")), sent=True, method=method, id=number, call=call, error=error
        )

    def received(self, text: str, size: int, message: JSONRPCMessage | None) -> None:
        """Record a message from the server, ``size`` bytes long; None for a line that is no message."""
        method, call, error, number = "", "", message is None, ""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            number = "" if message.id is None else str(message.id)
            # Servers may write the id 7 as "7".
            request_id = None if message.id is None else coerce_request_id(message.id)
            exchange = self._open.pop(request_id, Exchange())
            call, exchange.is_answered = exchange.ticket, True
            if isinstance(message, JSONRPCResponse):
                exchange.result = message.result
            error = isinstance(message, JSONRPCError) or message.result.get("isError") is True
        elif isinstance(message, JSONRPCRequest):
            method, number, call = message.method, str(message.id), self.only_ticket
            _remember(self._server_requests, message.id, call)
        elif isinstance(message, JSONRPCNotification):
            method, call = message.method, self.only_ticket
            if method == "notifications/progress":
                call = self._ticket_of((message.params or {}).get("progressToken")) or call
        self._frame(text, size, sent=False, method=method, id=number, call=call, error=error)

    def note(self, text: str, *, error: bool = False) -> None:
        """Record an event of the connection that is no message."""
        notice = self._mask.text(text)
        self._record(
            Frame(server=self._server, time=time.time(), sent=False, text="", size=0, error=error, notice=notice)
        )

    @property
    def only_ticket(self) -> str:
        """The ticket of the call in progress if there is exactly one: messages that name no call belong to it."""
        return next(iter(self.tickets)) if len(self.tickets) == 1 else ""

    def set_problem(self, request_id: JSON, problem: str) -> bool:
        """Set why the answer to our request cannot be read; empty for no problem. Return whether it is open."""
        exchange = self._open.get(request_id) if isinstance(request_id, str | int) else None
        if exchange is not None:
            exchange.problem = problem
        return exchange is not None

    def _ticket_of(self, request_id: JSON) -> str:
        exchange = self._open.get(request_id) if isinstance(request_id, str | int) else None
        return exchange.ticket if exchange is not None else ""

    def _frame(self, text: str, size: int, *, method: str, id: str, **fields: Any) -> None:
        cut = self._mask.text(text[: LONGEST_FRAME + _CUT_MARGIN])[:LONGEST_FRAME]
        method, id = method[:LONGEST_NAME], id[:LONGEST_NAME]
        self._record(Frame(server=self._server, time=time.time(), text=cut, size=size, method=method, id=id, **fields))


def _remember(requests: dict[JSON, Any], request_id: JSON, value: object) -> None:
    requests[request_id] = value
    while len(requests) > _MOST_OPEN:
        del requests[next(iter(requests))]
