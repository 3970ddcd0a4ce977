"""The next request of a lane, and why it would be refused."""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Final

from playground.domain.adaptations import Adaptation
from playground.domain.hidden import short_name
from playground.domain.request import ReasoningReturn, Request
from playground.domain.transcript import Turn
from playground.domain.variables import as_written, resolve_turns, unresolved
from playground.engine.session.changes import RunState
from playground.engine.session.drafts import HEAD, turn_of_draft
from playground.engine.session.edits import calls_first, without_call
from playground.engine.session.experiment import Lane
from playground.engine.session.settings import ExperimentSettings
from playground.jsonkit.values import JSONObject
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.gateways.profiles import Profile

UNDER_WAY: Final = "A run is under way. Stop it first."


class NextRequest:
    """The request that a run of a lane would send.

    `tip` is the turn to send from, by default the head; None is above the first turn. `more` are turns to be added
    below it. `once` are rules besides those of the gateway.
    """

    def __init__(self, lane: Lane, once: tuple[Adaptation, ...] = ()) -> None:
        self._lane = lane
        self._once = once
        self._cache: tuple[ExperimentSettings, Profile | None, tuple[Turn, ...], Request] | None = None

    def build(self, *more: Turn, tip: str | None = HEAD) -> Request:
        """Return the request, with the values of variables and with open edits.

        Failed, empty and growing turns are left out; variables without a value remain as written.
        """
        return self._request(self._turns(more, tip))

    def below(self, tip: str | None) -> Request:
        """Return the request below `tip` during a run: without open edits."""
        return self._request(self._sendable(self._lane.transcript.lineage(tip)))

    def body(self) -> JSONObject:
        """Return the body. Raises ValueError where it cannot be encoded."""
        return get_protocol(self._lane.settings.protocol).encode(self.build())

    def _request(self, turns: tuple[Turn, ...]) -> Request:
        """Return the request with these turns; the cached one if nothing changed since it was shown."""
        lane = self._lane
        settings, profile = lane.settings, lane.profile
        if self._cache is not None and self._cache[0] is settings and self._cache[1] is profile:
            before, request = self._cache[2:]
            if len(before) == len(turns) and all(map(is_, before, turns)):
                return request
        inherited = profile.reasoning_return if profile is not None else ReasoningReturn()
        request = Request(
            protocol=settings.protocol,
            model=settings.model,
            turns=turns if lane.experiment.literal else resolve_turns(turns, settings.variables),
            parameters=settings.current,
            tools=settings.tools,
            adaptations=profile.adaptations if profile is not None else (),
            once=self._once,
            inherited_body=profile.extra_body if profile is not None else {},
            extra_body=settings.extra_body,
            extra_headers=settings.extra_headers,
            reasoning_return=settings.reasoning_return if settings.reasoning_return is not None else inherited,
        )
        self._cache = (settings, profile, turns, request)
        return request

    def refusal(self, *more: Turn, tip: str | None = HEAD) -> str:
        """Return why a run would be refused, and what to do; empty if it would not."""
        lane = self._lane
        if lane.state is not RunState.IDLE:
            return UNDER_WAY
        if not lane.settings.model:
            return "Choose a model first (Ctrl+L)."
        if reason := lane.editors.problem(tip):
            return reason
        turns = self._turns(more, tip)
        if reason := self._open_calls(turns, more, tip):
            return reason
        if not turns:
            return "Write a message first."
        if missing := self._unresolved(turns):
            return without_value(missing)
        try:
            get_protocol(lane.settings.protocol).check(self._request(turns))
        except ValueError as error:
            return f"The request cannot be written: {error}"
        return ""

    def to_add(self) -> tuple[Turn, ...]:
        """Return the turn that a run would add from the composer; none if it is empty or calls are open."""
        lane = self._lane
        if lane.state is not RunState.IDLE:
            return ()
        try:
            turn = turn_of_draft(lane.draft, lane.transcript)
        except ValueError:
            return ()
        more = (turn,) if turn is not None else ()
        return () if more and self._open_calls(self._turns(more), more, HEAD) else more

    def _open_calls(self, turns: tuple[Turn, ...], more: tuple[Turn, ...], tip: str | None) -> str:
        """Return what is wrong with the calls and results of a request; empty if nothing is."""
        if reason := without_call(turns):
            return reason
        answered = {result.call_id for turn in more for result in turn.results}
        preview, end = self._lane.editors.preview(tip)
        above = preview.waiting_above(preview.head if tip == HEAD else end)
        if waiting := [(key, call) for key, call in above if call.id not in answered]:
            names = ", ".join(f"{short_name(call.name)} ({short_name(call.id)})" for _, call in waiting[:3])
            names += f" and {len(waiting) - 3:,} more" if len(waiting) > 3 else ""
            if preview.turns[waiting[0][0]].truncated:
                return f"The answer broke off at a tool call: {names}. Regenerate that message, or delete it."
            if tip == HEAD and not self._lane.transcript.waiting:
                return (
                    f"The call of {waiting[0][1].name} that is being written needs a result. Keep it, then answer it."
                )
            return f"Every tool call needs a result before the next request. Still open: {names}."
        return calls_first(more)

    def unresolved(self, *more: Turn) -> tuple[str, ...]:
        """Return the variables without a value, for which a run is refused."""
        return self._unresolved(self._turns(more))

    def _unresolved(self, turns: tuple[Turn, ...]) -> tuple[str, ...]:
        return () if self._lane.experiment.literal else unresolved(turns, self._lane.settings.variables)

    def _turns(self, more: tuple[Turn, ...], tip: str | None = HEAD) -> tuple[Turn, ...]:
        """Return the turns of the request, with their variables."""
        preview, end = self._lane.editors.preview(tip)
        branch = preview.path if tip == HEAD else preview.lineage(end)
        return self._sendable((*branch, *more))

    def _sendable(self, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        growing = self._lane.growing
        return tuple([turn for turn in turns if (turn.parts or not turn.is_empty) and turn.id not in growing])


def without_value(names: tuple[str, ...]) -> str:
    """Return why a run is refused while these variables have no value, and what to do."""
    listed = ", ".join(map(as_written, names[:3])) + (f" and {len(names) - 3} more" if names[3:] else "")
    has, it = ("has", "it") if len(names) == 1 else ("have", "them")
    return f"{listed} {has} no value yet. Fill {it} in under Variables, or have {it} sent as written."
