"""Calls that tool servers answer: the interface of the servers, and the calls under way in one lane."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Protocol

from playground.domain.debugging import UNREACHED, Policy, Reach, Reason, ReasonCode, runs_alone
from playground.domain.parts import ToolCall
from playground.domain.tool_servers import ServerAnswer, ticket_id
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import new_id
from playground.engine.session.call_notes import offered
from playground.engine.session.changes import CallKey, DebugChanged, Observers
from playground.engine.session.history import History

#: Log lines that a ticket keeps.
LINES: Final = 50
#: Seconds between two reports of progress.
PROGRESS_INTERVAL: Final = 0.05
CANCELLED: Final = "Cancelled before the server answered. Ask again, or type a result."


class ToolCallError(Exception):
    """A server gave no answer. The text is for people: what happened, why as far as known, what to do."""


@dataclass(slots=True, eq=False)
class Ticket:
    """Progress of one call at a server; the server calls `changed` after an update, possibly often.

    `began` is on the monotonic clock. `done` of `total` is in units of the server, None if it reports none.
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
        """Seconds since it began."""
        return time.monotonic() - self.began


class ToolCaller(Protocol):
    """Calls tools on their servers; `ToolDefinition.server` names the server."""

    def refusal(self, tool: ToolDefinition) -> str:
        """Return why a tool cannot be called now: no such server, not confirmed, a changed definition; else empty.

        A stopped server is started by `ask`.
        """

    def mendable(self, tool: ToolDefinition) -> bool:
        """Return whether the only obstacle is that a person has to confirm what the server runs."""

    async def mend(self, tool: ToolDefinition) -> None:
        """Ask a person to confirm; `refusal` gives the result."""

    def trusted(self, tool: ToolDefinition) -> bool:
        """Return whether a person allowed read-only tools of this server to run automatically."""

    def allowed(self, tool: ToolDefinition) -> bool:
        """Return whether a person allowed this tool to run automatically, whatever it declares."""

    def expect(self, tools: Iterable[ToolDefinition]) -> None:
        """Start the stopped servers of these tools in the background; errors are reported when they are called."""

    async def ask(self, tool: ToolDefinition, arguments: str, ticket: Ticket) -> ServerAnswer:
        """Call a tool with raw arguments. Cancelled, it notifies the server. Raises ToolCallError."""


@dataclass(slots=True, eq=False)
class _Pending:
    key: CallKey
    ticket: Ticket
    answer: asyncio.Future[ServerAnswer | Reason | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    scope: asyncio.Timeout = field(default_factory=lambda: asyncio.timeout(None))  # expires when a person cancels


class PendingToolCalls:
    """Calls of one lane that servers are answering. Several requests for the same call share one answer."""

    def __init__(self, history: History, observers: Observers, serving: Callable[[], ToolCaller] | None = None) -> None:
        self._history = history
        self._observers = observers
        self._get_serving = serving
        self._pending: dict[CallKey, _Pending] = {}
        self._timer: asyncio.TimerHandle | None = None

    @property
    def _serving(self) -> ToolCaller | None:
        return self._get_serving() if self._get_serving is not None else None

    # Before a call

    def tool(self, call: ToolCall) -> ToolDefinition | None:
        """Return the definition of a call's tool: the enabled one, else a disabled one of that name."""
        tools = self._history.settings.tools
        enabled = offered(tools).get(call.name)
        return enabled or next((tool for tool in tools if tool.name == call.name), None)

    def reach(self, call: ToolCall, tool: ToolDefinition | None) -> Reach:
        """Return whether the server of a call's tool can be called."""
        if tool is None or not tool.server or (serving := self._serving) is None:
            return UNREACHED
        rule = self._history.settings.debugging.rules.get(call.name)
        has_rule = rule is not None and rule.policy is Policy.SERVER
        return _reach(serving, tool, serving.refusal(tool), has_rule=has_rule)

    def mendable(self, tool: ToolDefinition | None) -> bool:
        """Return whether a person can remove the only obstacle to calling a tool by confirming its server."""
        serving = self._serving
        return tool is not None and bool(tool.server) and serving is not None and serving.mendable(tool)

    async def mend(self, tool: ToolDefinition) -> None:
        """Ask a person to confirm the server of a tool."""
        if self._serving is not None:
            await self._serving.mend(tool)

    def prepare_servers(self, *, honor_breakpoints: bool) -> None:
        """Start the servers that the rules call automatically; rules that stop before each call count on request."""
        tools, rules = self._history.settings.tools, self._history.settings.debugging
        tools_to_start: list[ToolDefinition] = []
        for tool in offered(tools).values() if any(tool.server for tool in tools) else ():
            rule = rules.rule(tool.name)
            stops = honor_breakpoints and (rule.before or rule.pause_from == 1)
            if tool.server and rule.policy is Policy.SERVER and not stops:
                tools_to_start.append(tool)
        if tools_to_start and (serving := self._serving) is not None:
            serving.expect(
                tool
                for tool in tools_to_start
                if runs_alone(tool, _reach(serving, tool, "", has_rule=tool.name in rules.rules))
            )

    # During a call

    @property
    def under_way(self) -> bool:
        """Return whether any server is answering."""
        return bool(self._pending)

    def ticket(self, key: CallKey) -> Ticket | None:
        """Return the progress of a call; None while no server is answering it."""
        pending = self._pending.get(key)
        return pending.ticket if pending is not None else None

    async def call(self, key: CallKey, tool: ToolDefinition, arguments: str) -> tuple[CallKey, ServerAnswer | Reason]:
        """Call a tool's server. Returns the present key of the call, which may have been renamed, and the answer.

        A Reason says why there is no answer. Cancelled, it notifies the server.
        """
        while (pending := self._pending.get(key)) is not None:
            answer = await asyncio.shield(pending.answer)
            if answer is not None:
                return pending.key, answer
            key = pending.key  # the first request was stopped: this one takes over
        pending = self._pending[key] = _Pending(key, Ticket(self._report_progress, ticket_id(*key)))
        self._tell(DebugChanged())
        answer = None
        try:
            answer = await self._perform(pending, tool, arguments)
        finally:
            del self._pending[pending.key]
            pending.answer.set_result(answer)
            self._tell(DebugChanged())
        return pending.key, answer

    async def _perform(self, pending: _Pending, tool: ToolDefinition, arguments: str) -> ServerAnswer | Reason:
        serving = self._serving
        try:
            if serving is None:
                raise ToolCallError(UNREACHED.refusal)
            async with pending.scope:
                return await serving.ask(tool, arguments, pending.ticket)
        except ToolCallError as error:
            return Reason(code=ReasonCode.UNANSWERED, words=str(error))
        except TimeoutError:
            if not pending.scope.expired():
                raise
            return Reason(code=ReasonCode.UNANSWERED, words=CANCELLED)

    def cancel(self, key: CallKey) -> None:
        """Cancel a call; the waiting coroutines get a Reason."""
        pending = self._pending.get(key)
        if pending is not None and not pending.scope.expired():
            pending.scope.reschedule(asyncio.get_running_loop().time())

    def cancel_all(self) -> None:
        """Cancel every call."""
        for key in tuple(self._pending):
            self.cancel(key)

    def rename(self, old: CallKey, new: CallKey) -> None:
        """Give a pending call its new key; the answer is for that one."""
        pending = self._pending.pop(old, None)
        if pending is not None:
            pending.key, self._pending[new] = new, pending

    def _report_progress(self) -> None:
        """Tell of progress, at most every `PROGRESS_INTERVAL`."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(PROGRESS_INTERVAL, self._tell, DebugChanged(progress=True))

    def _tell(self, change: DebugChanged) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._observers.tell(change)


def _reach(serving: ToolCaller, tool: ToolDefinition, refusal: str, *, has_rule: bool) -> Reach:
    return Reach(refusal=refusal, trusted=serving.trusted(tool), own=has_rule, allowed=serving.allowed(tool))
