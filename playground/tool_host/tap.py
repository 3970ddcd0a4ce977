"""Every message of one server, both ways, as a frame of its tape, with the call that it belongs to."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from playground.domain.tool_servers import Frame
from playground.jsonkit.values import JSON
from playground.tool_host.limits import LONGEST_FRAME, LONGEST_NAME
from playground.tool_host.secrets import Mask

#: The ticket of the call for which something is sent.
TICKET: Final[ContextVar[str]] = ContextVar("ticket", default="")
_MOST_OPEN: Final = 10_000


class Tap:
    """Makes frames and hands them to ``keep``. ``server`` is its name."""

    def __init__(self, server: str, mask: Mask, keep: Callable[[Frame], None]) -> None:
        self._server, self._mask, self._keep = server, mask, keep
        self._open: dict[JSON, str] = {}  # by the id of a request of ours: the ticket
        self._asked: dict[JSON, str] = {}  # the same of a server's
        self.tickets: dict[str, None] = {}  # of calls that are under way

    def sent(self, text: str, message: JSONRPCMessage) -> None:
        """A message went out."""
        ticket = TICKET.get()
        method, call, error, number = "", ticket, False, ""
        if isinstance(message, JSONRPCRequest):
            method, number = message.method, str(message.id)
            self._open[message.id] = ticket
            while len(self._open) > _MOST_OPEN:
                del self._open[next(iter(self._open))]
        elif isinstance(message, JSONRPCNotification):
            method = message.method
            if method == "notifications/cancelled":
                call = self._of((message.params or {}).get("requestId")) or call
        else:
            number, error = str(message.id), isinstance(message, JSONRPCError)
            call = self._asked.pop(message.id, ticket)
        self._frame(text, len(text.encode("utf-8", "replace")), True, method, number, call, error)

    def received(self, text: str, size: int, message: JSONRPCMessage | None) -> None:
        """A message came in; None for one that is no message."""
        method, call, error, number = "", "", message is None, ""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            number = "" if message.id is None else str(message.id)
            call = self._open.pop(message.id, "")
            error = isinstance(message, JSONRPCError) or message.result.get("isError") is True
        elif isinstance(message, JSONRPCRequest):
            method, number, call = message.method, str(message.id), self.only
            self._asked[message.id] = call
            while len(self._asked) > _MOST_OPEN:
                del self._asked[next(iter(self._asked))]
        elif isinstance(message, JSONRPCNotification):
            method = message.method
            call = self.only
            if method == "notifications/progress":
                call = self._of((message.params or {}).get("progressToken")) or call
        self._frame(text, size, False, method, number, call, error)

    def note(self, words: str, *, error: bool = False) -> None:
        """Something happened to the connection that is no message."""
        notice = self._mask.text(words)
        self._keep(Frame(server=self._server, at=time.time(), sent=False, text="", size=0, error=error, notice=notice))

    @property
    def only(self) -> str:
        """The call that something belongs to which names none: the one that is under way, if it is one."""
        return next(iter(self.tickets)) if len(self.tickets) == 1 else ""

    def is_open(self, number: JSON) -> bool:
        """Whether a request of ours has that id and waits for its answer."""
        return number in self._open

    def _of(self, number: JSON) -> str:
        return self._open.get(number, "") if isinstance(number, str | int) else ""

    def _frame(self, text: str, size: int, sent: bool, method: str, number: str, call: str, error: bool) -> None:
        # With some room behind the cut, so that a secret across it is whole when it is looked for.
        kept = self._mask.text(text[: LONGEST_FRAME + 4_096])[:LONGEST_FRAME]
        self._keep(
            Frame(
                server=self._server,
                at=time.time(),
                sent=sent,
                text=kept,
                size=size,
                method=method[:LONGEST_NAME],
                id=number[:LONGEST_NAME],
                call=call,
                error=error,
            )
        )
