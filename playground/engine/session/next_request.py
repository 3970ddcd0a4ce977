"""What a run would send now, and why it would be refused."""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Final

from playground.domain.adaptations import Adaptation
from playground.domain.hidden import short_name
from playground.domain.request import ReasoningReturn, Request
from playground.domain.transcript import Turn
from playground.domain.variables import as_written, resolve_turns, unresolved
from playground.engine.session import hand_made
from playground.engine.session.changes import RunState
from playground.engine.session.editors import HEAD
from playground.engine.session.experiment import Experiment
from playground.engine.session.settings import ExperimentSettings
from playground.jsonkit.values import JSONObject
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.gateways.profiles import Profile

UNDER_WAY: Final = "A run is under way. Stop it first."


class NextRequest:
    """The request that an experiment would make. Where ``at`` is given, it is the turn to ask from instead of the head;
    None: from above the first. ``more`` are turns to be added below it. ``once`` are rules beside the gateway's own.
    """

    def __init__(self, experiment: Experiment, once: tuple[Adaptation, ...] = ()) -> None:
        self._experiment = experiment
        self._once = once
        self._made: tuple[ExperimentSettings, Profile | None, tuple[Turn, ...], Request] | None = None

    def build(self, *more: Turn, at: str | None = HEAD) -> Request:
        """The request. Failed and empty turns, and those growing, are left out.

        The values of variables are in it; those without one stand as they are written. So is what stands in open
        editors: a run begins by keeping it.
        """
        return self._request(self._asked(more, at))

    def below(self, tip: str | None) -> Request:
        """What goes out next below ``tip``, by the turns as they stand: what is typed meanwhile is not in it."""
        return self._request(self._sent(self._experiment.transcript.lineage(tip)))

    def body(self) -> JSONObject:
        """The body. Raises ValueError when it cannot be written."""
        return get_protocol(self._experiment.settings.protocol).encode(self.build())

    def _request(self, turns: tuple[Turn, ...]) -> Request:
        """The request of these turns; the same one where it was made of the same last time, as when it was looked at
        and then goes out.
        """
        settings, profile = self._experiment.settings, self._experiment.profile
        if self._made is not None and self._made[0] is settings and self._made[1] is profile:
            of, made = self._made[2:]
            if len(of) == len(turns) and all(map(is_, of, turns)):
                return made
        inherited = profile.reasoning_return if profile is not None else ReasoningReturn()
        made = Request(
            protocol=settings.protocol,
            model=settings.model,
            turns=turns if self._experiment.literal else resolve_turns(turns, settings.variables),
            parameters=settings.current,
            tools=settings.tools,
            adaptations=profile.adaptations if profile is not None else (),
            once=self._once,
            inherited_body=profile.extra_body if profile is not None else {},
            extra_body=settings.extra_body,
            extra_headers=settings.extra_headers,
            reasoning_return=settings.reasoning_return if settings.reasoning_return is not None else inherited,
        )
        self._made = (settings, profile, turns, made)
        return made

    def refusal(self, *more: Turn, at: str | None = HEAD) -> str:
        """Why a run would be refused now, and what to do; empty when it would not."""
        experiment = self._experiment
        if experiment.state is not RunState.IDLE:
            return UNDER_WAY
        if not experiment.settings.model:
            return "Choose a model first (Ctrl+L)."
        if reason := experiment.editors.unkept(at):
            return reason
        asked = self._asked(more, at)
        if reason := self._open_calls(asked, more, at):
            return reason
        if not asked:
            return "Write a message first."
        if missing := self._unresolved(asked):
            return without_value(missing)
        try:
            get_protocol(experiment.settings.protocol).check(self._request(asked))
        except ValueError as error:
            return f"The request cannot be written: {error}"
        return ""

    def to_add(self) -> tuple[Turn, ...]:
        """What stands in the composer as the turn that a run adds; none where nothing does or calls have to be answered
        first.
        """
        experiment = self._experiment
        if experiment.state is not RunState.IDLE:
            return ()
        try:
            turn = hand_made.written(experiment.draft, experiment.transcript)
        except ValueError:
            return ()
        more = (turn,) if turn is not None else ()
        return () if more and self._open_calls(self._asked(more), more, HEAD) else more

    def _open_calls(self, asked: tuple[Turn, ...], more: tuple[Turn, ...], at: str | None) -> str:
        """What is wrong with the calls and results of a request."""
        experiment = self._experiment
        if reason := hand_made.without_call(asked):
            return reason
        answered = {result.call_id for turn in more for result in turn.results}
        kept, at_then = experiment.editors.as_kept(at)
        above = kept.waiting_above(kept.head if at == HEAD else at_then)
        if waiting := [(key, call) for key, call in above if call.id not in answered]:
            names = ", ".join(f"{short_name(call.name)} ({short_name(call.id)})" for _, call in waiting[:3])
            names += f" and {len(waiting) - 3:,} more" if len(waiting) > 3 else ""
            if kept.turns[waiting[0][0]].truncated:
                return f"The answer broke off at a tool call: {names}. Regenerate that turn, or delete it."
            if at == HEAD and not experiment.transcript.waiting:
                return (
                    f"The call of {waiting[0][1].name} that is being written needs a result. Keep it, then answer it."
                )
            return f"Every tool call needs a result before the next request. Still open: {names}."
        return hand_made.calls_first(more)

    def unresolved(self, *more: Turn) -> tuple[str, ...]:
        """Those of its variables that have no value, so that a run is refused."""
        return self._unresolved(self._asked(more))

    def _unresolved(self, turns: tuple[Turn, ...]) -> tuple[str, ...]:
        experiment = self._experiment
        return () if experiment.literal else unresolved(turns, experiment.settings.variables)

    def _asked(self, more: tuple[Turn, ...], at: str | None = HEAD) -> tuple[Turn, ...]:
        """The turns of a request, as they were written."""
        kept, at_then = self._experiment.editors.as_kept(at)
        branch = kept.path if at == HEAD else kept.lineage(at_then)
        return self._sent((*branch, *more))

    def _sent(self, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        growing = self._experiment.turns.growing
        return tuple([turn for turn in turns if (turn.parts or not turn.is_empty) and turn.id not in growing])


def without_value(names: tuple[str, ...]) -> str:
    """Why a run is refused while these variables have no value, and what to do."""
    said = ", ".join(map(as_written, names[:3])) + (f" and {len(names) - 3} more" if names[3:] else "")
    has, it = ("has", "it") if len(names) == 1 else ("have", "them")
    return f"{said} {has} no value yet. Fill {it} in under Variables, or have {it} sent as written."
