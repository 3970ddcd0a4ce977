"""One line of requests: it asks, decides on each call, answers, asks again, until somebody must decide or it is done.

An answer that the gateway paused (``pause_turn``) goes back unchanged with the next request, which counts as one.

It writes below its own tip, and the head follows while it stands there. It never raises for what a gateway does, and
everything it brought stays however it ends.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from itertools import takewhile

from playground.domain.debugging import (
    ANSWERED,
    STEPPED,
    STOPPED,
    Answer,
    Asking,
    Policy,
    Reason,
    ReasonCode,
    ResultDraft,
    draft_of,
    held_back,
    limit_reason,
    repeats,
)
from playground.domain.parts import ToolCall
from playground.domain.served import answer_of
from playground.domain.tool_servers import ServerAnswer
from playground.domain.transcript import Ending, Role, Turn, make_turn, new_id, waiting_in
from playground.engine.questions import checking
from playground.engine.questions.kinds import Decision, Question, ReadyAnswer
from playground.engine.session.asks import Asks
from playground.engine.session.call_notes import LATE, CallNotes, Pending, Planned, ToAsk, result_of
from playground.engine.session.changes import CallKey, RunState
from playground.engine.session.experiment import Experiment
from playground.engine.session.next_request import NextRequest
from playground.engine.session.run import Run
from playground.engine.session.tool_turn_order import below
from playground.engine.session.verdicts import offered
from playground.protocols.protocol import get_protocol

SLICE_S = 0.002  # seconds of deciding and answering between two turns of the loop
AT_ONCE = 10  # answers that are put in together: each time the whole path is looked through, and drawn
PAUSE_S = 0.001  # between two such lots: a timer, so that whatever else is due has its turn as well


class Mode(StrEnum):
    """How a tool loop decides on calls."""

    RULES = "rules"
    STEP = "step"  # stops at the next calls whatever the rules say
    END = "end"  # breakpoints and conditions are passed over; a call without an answer still stops it
    ONCE = "once"  # one request, whatever stands open above it; its calls are left as they are


class ToolLoop:
    """``perform`` is awaited once. ``planned`` are answers, and calls to be asked of servers, decided on before the
    first request goes out. ``next_request`` makes them.

    ``tip`` is the turn it stands at, ``requests`` how many it sent, ``pending`` the answers that are waited for.
    ``steps_back`` says whether each round is an undo step of its own.
    """

    def __init__(
        self,
        experiment: Experiment,
        notes: CallNotes,
        asks: Asks,
        told: Callable[[], None],
        tip: str | None,
        next_request: NextRequest,
        mode: Mode = Mode.RULES,
        planned: Mapping[CallKey, Planned | ToAsk] | None = None,
        *,
        steps_back: bool = True,
    ) -> None:
        self.id = new_id()
        self.tip = tip
        self.state = RunState.IDLE
        self.requests = 0
        self.pending: dict[CallKey, Pending] = {}
        self.run: Run | None = None
        self._experiment = experiment
        self._next = next_request
        self._notes = notes
        self._asks = asks
        self._told = told
        self._mode = mode
        self._planned = dict(planned or {})
        self._steps_back = steps_back
        self._task: asyncio.Task[object] | None = None
        self._stopping = False

    def stop(self) -> None:
        """End it, wherever it stands; the socket is closed before ``perform`` returns."""
        if not self._stopping:
            self._stopping = True
            if self._task is not None:
                self._task.cancel()

    def set_state(self, state: RunState) -> None:
        """Where its run stands."""
        self.state = state
        self._told()

    async def perform(self) -> None:
        """Run until it ends. Cancelled from outside it ends as stopped too, and passes that on."""
        self._task = asyncio.current_task()
        stopped = self._stopping
        try:
            if not stopped:
                await self._work()
                await self._settle()
        except asyncio.CancelledError:
            stopped = True
            if not self._stopping:
                raise
            if self._task is not None:
                self._task.uncancel()
        finally:
            self._conclude(stopped=stopped)

    async def _settle(self) -> None:
        """Let a cancellation that was asked for from within come through here, not in whoever awaits this."""
        if self._stopping:
            await asyncio.sleep(0)

    def _conclude(self, *, stopped: bool) -> None:
        run, self.run, self._task = self.run, None, None
        if run is not None and run.turn in self._experiment.transcript.turns:
            self.tip = run.turn
        if stopped:
            for turn_id, call in self._waiting():
                turn = self._experiment.transcript.turns[turn_id]
                self._notes.stops.setdefault((turn_id, call.id), held_back(turn, call) or STOPPED)
        self.state = RunState.IDLE

    async def _work(self) -> None:
        if self._mode in (Mode.RULES, Mode.END):
            self._asks.expect(stops=self._mode is Mode.RULES)
        while True:
            if self._mode is not Mode.ONCE and not await self._give(self._planned):
                return
            run = self.run = Run(self._experiment, self.id, self.set_state, self._next.below(self.tip), self.tip)
            self.requests += 1
            await run.perform()
            self.run = None
            turn = self._experiment.transcript.turns.get(run.turn)
            if turn is None:
                return
            self.tip = turn.id
            if turn.outcome is not None and turn.outcome.ending is not Ending.COMPLETE:
                await self._decide()
                return
            if self._mode is Mode.ONCE:
                return
            if self._waiting():
                self._planned = await self._decide()
            elif turn.paused and self._continues_paused():
                self._planned = {}
            else:
                return

    def _continues_paused(self) -> bool:
        """Return whether an answer that the gateway paused is sent back by itself."""
        settings = self._experiment.settings
        limit = settings.debugging.step_limit
        within = not limit or self.requests < limit
        return within and self._mode is not Mode.STEP and get_protocol(settings.protocol).continues_paused

    # Deciding

    async def _decide(self) -> dict[CallKey, Planned | ToAsk]:
        """What the calls that wait are answered with, which servers are asked; why the others wait is noted."""
        experiment = self._experiment
        reasons = self._notes.stops
        debugging = experiment.settings.debugging
        branch = experiment.transcript.lineage(self.tip)
        tools = offered(experiment.settings.tools)
        repeated = repeats(branch)
        limit = debugging.step_limit
        nth = _nth(branch)
        out: dict[CallKey, Planned | ToAsk] = {}
        until = time.perf_counter() + SLICE_S
        for turn_id, call in waiting_in(branch):
            if time.perf_counter() > until:  # a turn may make thousands of calls
                await asyncio.sleep(0)
                until = time.perf_counter() + SLICE_S
            key, rule, tool = (turn_id, call.id), debugging.rule(call.name), tools.get(call.name)
            found: Answer | Asking | Reason
            if held := held_back(experiment.transcript.turns[turn_id], call):
                found = held
            elif self._mode is Mode.STEP:
                found = STEPPED
            elif limit and self.requests >= limit:
                found = limit_reason(self.requests)
            elif self._mode is Mode.END:
                found = await self._found(ReadyAnswer(call, rule, tool, self._asks.reach(call, tool)))
            else:
                reach = self._asks.reach(call, tool)
                asked = Decision(call, rule, tool, nth[key], repeated.get(key, 0), reach)
                found = await self._found(asked)
            if isinstance(found, Reason):
                reasons[key] = found
            elif isinstance(found, Asking):
                if tool is not None:  # of none nothing is asked
                    out[key] = ToAsk(tool, rule.after and self._mode is not Mode.END)
            else:
                out[key] = Planned(found, "fixed" if rule.policy is Policy.FIXED else "table")
        self._notes.changed()
        return out

    async def _found(self, question: Question[Answer | Asking | Reason]) -> Answer | Asking | Reason:
        """The answer to a question about rules, schemas and paths, which may take its time; Stop ends the wait."""
        found = checking.now(question)
        if found is None:
            self.set_state(RunState.ANSWERING)
            found = await checking.answer(question)
        return found

    # Answering

    async def _give(self, planned: Mapping[CallKey, Planned | ToAsk]) -> bool:
        """Put the answers in as they come due. Returns whether every call is answered and the next request may go."""
        if self._lost():
            return False
        if planned:
            if self._steps_back:
                self._experiment.history.keep(self.id)
            await self._wait_for_all(planned)
        if self._lost():
            return False
        self.tip = self._end()
        return not self._waiting()

    async def _wait_for_all(self, planned: Mapping[CallKey, Planned | ToAsk]) -> None:
        """Servers are asked, each call for itself, while answers that are known come due."""
        known = {key: plan for key, plan in planned.items() if isinstance(plan, Planned)}
        to_ask = {key: plan for key, plan in planned.items() if isinstance(plan, ToAsk)}
        if not to_ask:
            await self._wait_and_put(known)
            return
        self.set_state(RunState.ANSWERING)
        try:
            async with asyncio.TaskGroup() as group:
                for key, plan in to_ask.items():
                    group.create_task(self._ask(key, plan))
                if known:
                    group.create_task(self._wait_and_put(known))
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None

    async def _ask(self, key: CallKey, plan: ToAsk) -> None:
        """Ask a server, and put its answer in; where there is none, or a person is to see it, that is noted."""
        call = next((one for maker, one in self._waiting() if (maker, one.id) == key), None)
        if call is None:
            return
        stood, before = self._end(), self._notes.draft(*key)
        self._notes.stops.pop(key, None)
        try:
            key, found = await self._asks.ask(key, plan.tool, call.arguments)
        except asyncio.CancelledError:
            self._notes.stops[key] = STOPPED
            raise
        if isinstance(found, Reason):
            self._notes.stops[key] = found
        elif plan.look:
            self._show(key, answer_of(found), before)
        elif self._put({key: served(found)}):
            if stood not in self._experiment.history.ends:
                self._notes.answered([key])
        else:  # a person was faster, or the turn is gone: it may come back
            self._notes.keep_late(*key, answer_of(found))
        self._notes.changed()

    def _show(self, key: CallKey, answer: Answer, before: ResultDraft | None) -> None:
        """A person is to look at an answer before it goes. What was typed or sent meanwhile stays as it is."""
        waits = self._lost() or any((maker, call.id) == key for maker, call in self._waiting())
        draft, shown = self._notes.draft(*key), draft_of(answer)
        if waits and draft in (before, None, shown):
            self._notes.stops[key] = ANSWERED
            self._notes.set_draft(*key, shown)
            return
        if waits:
            self._notes.stops[key] = Reason(code=ReasonCode.AFTER, words=LATE)
        self._notes.keep_late(*key, answer)

    async def _wait_and_put(self, planned: Mapping[CallKey, Planned]) -> None:
        pending, stood = self.pending, self._end()
        now = time.monotonic()
        pending.update(
            {
                key: Pending(plan.answer, plan.by, float("inf") if plan.answer.never else now + plan.answer.delay)
                for key, plan in planned.items()
            }
        )
        left = sorted(planned, key=lambda key: pending[key].due)
        try:
            while left:
                if wait := pending[left[0]].remaining:
                    self.set_state(RunState.ANSWERING)
                    self._notes.changed()
                    await self._sleep(wait)
                elif len(left) < len(planned):
                    self.set_state(RunState.ANSWERING)
                    await asyncio.sleep(PAUSE_S)
                due = [left[0], *takewhile(lambda key: not pending[key].remaining, left[1:AT_ONCE])]
                del left[: len(due)]
                for key in due:
                    del pending[key]
                self._put({key: planned[key] for key in due})
        finally:
            if stood not in self._experiment.history.ends:  # else another lane waits there
                self._notes.answered(planned.keys() - pending.keys())
            self._notes.stops.update(dict.fromkeys(pending, STOPPED))  # whatever is left was waited for
            pending.clear()

    async def _sleep(self, seconds: float) -> None:
        if seconds == float("inf"):
            await asyncio.Event().wait()  # until it is stopped
        else:
            await asyncio.sleep(seconds)

    def _put(self, planned: Mapping[CallKey, Planned]) -> bool:
        """Answer calls, but for those for which that was done by hand meanwhile, and those that are gone.

        Returns whether any was answered.
        """
        if self._lost():
            return False
        waiting = {(maker, call.id) for maker, call in self._waiting()}
        made: dict[str, list[Turn]] = {}
        for (maker, call_id), plan in planned.items():
            if (maker, call_id) in waiting:
                made.setdefault(maker, []).append(_result(call_id, plan))
        for maker, turns in made.items():
            self.tip = self._experiment.turns.place(self._end(), maker, turns, self.id)
        return bool(made)

    # What is there

    def _lost(self) -> bool:
        """Whether the turn it stands at was taken away."""
        return self.tip is not None and self.tip not in self._experiment.transcript.turns

    def _waiting(self) -> tuple[tuple[str, ToolCall], ...]:
        if self._lost():
            return ()
        return self._experiment.transcript.waiting_above(self._end())

    def _end(self) -> str | None:
        """Where the next turn goes: behind answers given by hand meanwhile."""
        return self.tip if self.tip is None else below(self._experiment.transcript, self.tip)


def served(found: ServerAnswer) -> Planned:
    """What a server answered, as it goes out when nobody is to see it first."""
    if found.recorded:
        return Planned(answer_of(found), "table", 0.0)
    return Planned(answer_of(found), "server", found.seconds)


def _result(call_id: str, plan: Planned) -> Turn:
    seconds = plan.seconds if plan.seconds is not None else plan.answer.delay
    return make_turn(Role.TOOL, "", result_of(call_id, replace(plan, seconds=seconds)))


def _nth(branch: tuple[Turn, ...]) -> dict[CallKey, int]:
    """The how-manieth call of its tool each call is on its branch, from 1."""
    out: dict[CallKey, int] = {}
    count: Counter[str] = Counter()
    for turn in branch:
        for call in turn.calls:
            count[call.name] += 1
            out.setdefault((turn.id, call.id), count[call.name])
    return out
