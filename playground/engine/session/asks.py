"""Calls that are asked of their tools' servers: what is known of a server before, how it goes meanwhile, what came.

Whoever wants an answer awaits ``ask``; several who want that of the same call have one between them. Where nobody waits
any more the server is told to stop. What becomes of an answer is for others to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from playground.domain.debugging import UNREACHED, Policy, Reach, Reason, ReasonCode, runs_alone
from playground.domain.parts import ToolCall
from playground.domain.tool_servers import ServerAnswer, ticket_id
from playground.domain.tools import ToolDefinition
from playground.engine.session.changes import CallKey, DebugChanged
from playground.engine.session.experiment import Experiment
from playground.engine.session.serving import ServingError, Ticket
from playground.engine.session.verdicts import offered

OFTEN: Final = 0.05  # seconds between two words on how far a server is
CANCELLED: Final = "Cancelled before the server answered. Ask again, or type a result."


@dataclass(slots=True, eq=False)
class _Ask:
    key: CallKey
    ticket: Ticket
    came: asyncio.Future[ServerAnswer | Reason | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    scope: asyncio.Timeout = field(default_factory=lambda: asyncio.timeout(None))  # ends when a person says so


class Asks:
    """Those of one lane. ``told`` passes a change on."""

    def __init__(self, experiment: Experiment, told: Callable[[DebugChanged], None]) -> None:
        self._experiment = experiment
        self._told = told
        self._open: dict[CallKey, _Ask] = {}
        self._timer: asyncio.TimerHandle | None = None

    # What is known before

    def tool(self, call: ToolCall) -> ToolDefinition | None:
        """The definition of a call's tool: that on offer, else one of that name that is switched off."""
        tools = self._experiment.settings.tools
        found = offered(tools).get(call.name)
        return found or next((tool for tool in tools if tool.name == call.name), None)

    def reach(self, call: ToolCall, tool: ToolDefinition | None) -> Reach:
        """What is known of the server of a call's tool."""
        if tool is None or not tool.server or (serving := self._experiment.serving) is None:
            return UNREACHED
        own = self._experiment.settings.debugging.rules.get(call.name)
        return _reach(
            serving.refusal(tool),
            serving.trusted(tool),
            own is not None and own.policy is Policy.SERVER,
            serving.allowed(tool),
        )

    def mendable(self, tool: ToolDefinition | None) -> bool:
        """Whether a person who asks by hand can do away with what keeps a tool from being asked."""
        serving = self._experiment.serving
        return tool is not None and bool(tool.server) and serving is not None and serving.mendable(tool)

    async def mend(self, tool: ToolDefinition) -> None:
        """Have the person do so."""
        if self._experiment.serving is not None:
            await self._experiment.serving.mend(tool)

    def expect(self, *, stops: bool) -> None:
        """Have the servers started, beside the first request, that the rules ask by themselves; ``stops`` says whether
        those rules count that stop before every call.
        """
        tools, rules = self._experiment.settings.tools, self._experiment.settings.debugging
        wanted: list[ToolDefinition] = []
        for tool in offered(tools).values() if any(tool.server for tool in tools) else ():
            rule = rules.rule(tool.name)
            held = stops and (rule.before or rule.pause_from == 1)
            if tool.server and rule.policy is Policy.SERVER and not held:
                wanted.append(tool)
        if wanted and (serving := self._experiment.serving) is not None:
            serving.expect(
                tool
                for tool in wanted
                if runs_alone(tool, _reach("", serving.trusted(tool), tool.name in rules.rules, serving.allowed(tool)))
            )

    # While it is asked

    @property
    def under_way(self) -> bool:
        """Whether any call is being asked."""
        return bool(self._open)

    def ticket(self, key: CallKey) -> Ticket | None:
        """How far the server is with a call; None where it is not being asked."""
        one = self._open.get(key)
        return one.ticket if one is not None else None

    async def ask(self, key: CallKey, tool: ToolDefinition, arguments: str) -> tuple[CallKey, ServerAnswer | Reason]:
        """The answer of a tool's server, or why there is none; and the call by then, which may have another id.

        Cancelled, the server is told.
        """
        while (one := self._open.get(key)) is not None:
            found = await asyncio.shield(one.came)
            if found is not None:
                return one.key, found
            key = one.key  # whoever asked was stopped: this one asks, for the call as it is called by now
        one = self._open[key] = _Ask(key, Ticket(self._moved, ticket_id(*key)))
        self._tell(DebugChanged())
        found = None
        try:
            found = await self._perform(one, tool, arguments)
        finally:
            del self._open[one.key]
            one.came.set_result(found)
            self._tell(DebugChanged())
        return one.key, found

    async def _perform(self, one: _Ask, tool: ToolDefinition, arguments: str) -> ServerAnswer | Reason:
        serving = self._experiment.serving
        try:
            if serving is None:
                raise ServingError(UNREACHED.refusal)
            async with one.scope:
                return await serving.ask(tool, arguments, one.ticket)
        except ServingError as error:
            return Reason(code=ReasonCode.UNANSWERED, words=str(error))
        except TimeoutError:
            if not one.scope.expired():
                raise
            return Reason(code=ReasonCode.UNANSWERED, words=CANCELLED)

    def cancel(self, key: CallKey) -> None:
        """Let a server be asked no longer; whoever waits for the answer is told so."""
        one = self._open.get(key)
        if one is not None and not one.scope.expired():
            one.scope.reschedule(asyncio.get_running_loop().time())

    def cancel_all(self) -> None:
        """The same for every call."""
        for key in tuple(self._open):
            self.cancel(key)

    def rename(self, was: CallKey, now: CallKey) -> None:
        """A call has another id; where it is being asked, the answer is for that one."""
        one = self._open.pop(was, None)
        if one is not None:
            one.key, self._open[now] = now, one

    def _moved(self) -> None:
        """A server said how far it is, as often as it likes."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(OFTEN, self._tell, DebugChanged(progress=True))

    def _tell(self, change: DebugChanged) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._told(change)


@lru_cache(maxsize=256)  # the same object for what is the same: questions are told from each other by what they hold
def _reach(refusal: str, trusted: bool, own: bool, allowed: bool) -> Reach:
    return Reach(refusal=refusal, trusted=trusted, own=own, allowed=allowed)
