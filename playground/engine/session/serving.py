"""What a session asks of tool servers, which are none of its own: whoever opens it hands it what does this."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Protocol

from playground.domain.tool_servers import ServerAnswer
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import new_id

LINES: Final = 50  # of its log that a ticket keeps


class ServingError(Exception):
    """A server gave no answer. The text is for people: what happened, why as far as known, what to do."""


@dataclass(slots=True, eq=False)
class Ticket:
    """One call while a server works at it. Whoever works at it says here how it goes; ``changed`` tells of it, often.

    ``began`` is on the monotonic clock. ``done`` of ``total`` is as the server counts, None where it does not say.
    """

    changed: Callable[[], None] = lambda: None
    id: str = field(default_factory=new_id)
    began: float = field(default_factory=time.monotonic)
    done: float | None = None
    total: float | None = None
    words: str = ""
    log: deque[str] = field(default_factory=lambda: deque(maxlen=LINES))

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self.began


class Serving(Protocol):
    """Asks servers. ``ToolDefinition.server`` says which one."""

    def refusal(self, tool: ToolDefinition) -> str:
        """Why a tool cannot be asked of its server at all now: no such server, not confirmed, a definition that
        changed; empty where it can. A server that was stopped is started by ``ask``.
        """

    def mendable(self, tool: ToolDefinition) -> bool:
        """Whether a person can be asked to agree to what the server runs, and nothing but that is refused for."""

    async def mend(self, tool: ToolDefinition) -> None:
        """Ask that person; ``refusal`` says what came of it."""

    def trusted(self, tool: ToolDefinition) -> bool:
        """Whether a person said that tools of this server that only read may run by themselves."""

    def allowed(self, tool: ToolDefinition) -> bool:
        """Whether a person named this very tool as one that may be asked by itself, whatever it says of itself."""

    def expect(self, tools: Iterable[ToolDefinition]) -> None:
        """Calls of these tools may come soon: a server of theirs that is stopped and can be asked is started by the
        way. Nothing waits for that, and what fails is found when it is asked.
        """

    async def ask(self, tool: ToolDefinition, arguments: str, ticket: Ticket) -> ServerAnswer:
        """The answer to a call with these raw arguments. Cancelled, the server is told. Raises ServingError."""
