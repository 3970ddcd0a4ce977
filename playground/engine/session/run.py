"""A run: send a request, receive the answer, handle its tool calls, and repeat until a person decides or it is done.

There is one `Run` for conversations, lanes of Compare, evaluations, judges and the command line. To run a request to
its end with given rules and get the result, without any window::

    experiment = Experiment(connect, settings=settings, profile_of=profile_of)
    result = await experiment.main.complete()  # Mode.ONCE: a single request, calls are not answered
    result.refusal, result.turns, result.failure, result.paused

`Session.run` and the methods of `Debugger` start runs for a person. A run writes turns below its own tip; the head of
the lane follows as long as it is at the tip. It never raises for a failure of the gateway, and everything received
remains however it ends. A paused answer (`pause_turn`) is sent back unchanged with the next request.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from playground.domain.adaptations import Adaptation
from playground.domain.debugging import (
    ANSWERED,
    STEPPED,
    STOPPED,
    Answer,
    CallServer,
    Reason,
    ReasonCode,
    ResultDraft,
    draft_of,
    held_back,
    limit_reason,
    repeats,
)
from playground.domain.errors import Failure, FailureKind, RunRefusedError
from playground.domain.events import Event
from playground.domain.parts import ToolCall
from playground.domain.prices import Asked
from playground.domain.request import Request
from playground.domain.served import answer_of
from playground.domain.tool_servers import ServerAnswer
from playground.domain.transcript import Ending, Role, Turn, make_turn, new_id, waiting_in
from playground.engine.questions import checking
from playground.engine.questions.kinds import Decision, Question, ReadyAnswer
from playground.engine.session.call_notes import (
    LATE,
    Planned,
    ToolRequest,
    offered,
    plan_of,
    result_of,
)
from playground.engine.session.changes import CallKey, DebugChanged, RunState
from playground.engine.session.edits import end_of_results
from playground.engine.session.experiment import Lane
from playground.engine.session.next_request import UNDER_WAY, NextRequest
from playground.engine.session.request_executor import ReceivedAnswer, RequestExecutor, RetryWait
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.gateway.call import EventStream
    from playground.gateway.tape import Exchange


class Mode(StrEnum):
    """How a run handles tool calls."""

    RULES = "rules"
    STEP = "step"  # stops at the next calls whatever the rules say
    END = "end"  # ignores breakpoints and conditions; a call without an answer still stops it
    ONCE = "once"  # one request, even with open calls above it; its calls are left open


class RunResult(NamedTuple):
    """Result of `Session.complete`: the turns added, why nothing could be sent (empty if it was), and the last failure.

    `paused` says that a call waits for an answer, or that the gateway paused the answer.
    """

    turns: tuple[Turn, ...]
    refusal: str = ""
    failure: Failure | None = None
    paused: bool = False


class Run:
    """A run of a lane. `perform` is awaited once.

    `planned` are answers, and calls to send to tool servers, decided before the first request. `tip` is the last turn
    of the run, `requests` the number of requests sent, `pending` the answers that are waited for. `undo_steps` says
    whether each round of answers is an undo step of its own.
    """

    def __init__(
        self,
        lane: Lane,
        next_request: NextRequest,
        mode: Mode = Mode.RULES,
        planned: Mapping[CallKey, Planned | ToolRequest] | None = None,
        *,
        undo_steps: bool = True,
    ) -> None:
        self.id = new_id()
        self.tip = lane.transcript.head
        self.state = RunState.IDLE
        self.requests = 0
        self.pending: dict[CallKey, Planned] = {}
        self._lane = lane
        self._next = next_request
        self._notes = lane.experiment.notes
        self._calls = lane.pending_calls
        self._mode = mode
        self._planned = dict(planned or {})
        self._undo_steps = undo_steps
        self._task: asyncio.Task[object] | None = None
        self._stopping = False
        self._executor: RequestExecutor | None = None
        self._started = time.monotonic()  # of the current request
        self._turns: dict[int, str] = {}  # of the current request, by choice
        self._choices: dict[str, int] = {}

    # The current request

    @property
    def target(self) -> Asked:
        """The gateway and model of the current request."""
        return self._executor.received.target if self._executor is not None else Asked()

    @property
    def retry_wait(self) -> RetryWait | None:
        """The wait before another attempt, while there is one."""
        return self._executor.retry_wait if self._executor is not None else None

    @property
    def elapsed(self) -> float:
        """Seconds since the current request began."""
        return time.monotonic() - self._started

    @property
    def exchange(self) -> Exchange | None:
        """The recording of the current request; None before it is sent."""
        return self._executor.exchange if self._executor is not None else None

    @property
    def turn(self) -> str:
        """The id of the first choice's turn; empty without one."""
        return self._turns.get(0, "")

    def brings(self, turn_id: str) -> bool:
        """Return whether a turn is being received by this run."""
        return turn_id in self._choices

    def call_times(self, turn_id: str) -> tuple[tuple[float, float], ...]:
        """Return the times of the first and last fragment of each call of a turn, in seconds since the request."""
        if self._executor is None:
            return ()
        return self._executor.received.marks.call_times(self._choices.get(turn_id, -1))

    # The whole run

    def stop(self) -> None:
        """Stop the run; the connection is closed before `perform` returns."""
        if not self._stopping:
            self._stopping = True
            if self._task is not None:
                self._task.cancel()

    def _set_state(self, state: RunState) -> None:
        self.state = state
        self._lane.set_state(state)

    async def perform(self) -> None:
        """Run to the end. Cancelled from outside, it ends as stopped and raises CancelledError."""
        self._task = asyncio.current_task()
        stopped = self._stopping
        try:
            if not stopped:
                await self._work()
                if self._stopping:
                    await asyncio.sleep(0)  # receive the cancellation by `stop` inside the run
        except asyncio.CancelledError:
            stopped = True
            if not self._stopping:
                raise
            if self._task is not None:
                self._task.uncancel()
        finally:
            self._task = None
            if self.turn in self._lane.transcript.turns:
                self.tip = self.turn
            if stopped:
                for turn_id, call in self._open_calls():
                    turn = self._lane.transcript.turns[turn_id]
                    self._notes.stops.setdefault((turn_id, call.id), held_back(turn, call) or STOPPED)
            self.state = RunState.IDLE

    async def _work(self) -> None:
        if self._mode in (Mode.RULES, Mode.END):
            self._calls.prepare_servers(honor_breakpoints=self._mode is Mode.RULES)
        while self._mode is Mode.ONCE or await self._answer_calls(self._planned):
            turn_id = await self._send(self._next.below(self.tip))
            turn = self._lane.transcript.turns.get(turn_id)
            if turn is None:
                return
            self.tip = turn.id
            if turn.outcome is not None and turn.outcome.ending is not Ending.COMPLETE:
                await self._decide()
                return
            if self._mode is Mode.ONCE:
                return
            if self._open_calls():
                self._planned = await self._decide()
            elif turn.paused and self._continues_paused():
                self._planned = {}
            else:
                return

    def _continues_paused(self) -> bool:
        """Return whether an answer that the gateway paused is sent back automatically."""
        settings = self._lane.settings
        limit = settings.debugging.step_limit
        is_below = not limit or self.requests < limit
        return is_below and self._mode is not Mode.STEP and get_protocol(settings.protocol).continues_paused

    # Sending

    async def _send(self, request: Request) -> str:
        """Send a request and receive its turns below the tip. Returns the id of the first one."""
        lane, profile_id = self._lane, self._lane.settings.profile_id
        target = Asked(profile_id=profile_id, model=request.model, price=lane.price(request.model))
        executor = self._executor = RequestExecutor(request, target, self._receive, self._wait_changed)
        self.requests += 1
        self._turns, self._choices, self._started = {}, {}, time.monotonic()
        self._begin_turns([0])
        self._set_state(RunState.WAITING)
        failure: Failure | None = None
        stopped = False
        try:
            await asyncio.sleep(0)  # show the turn before the request is encoded: a long one takes a while
            await executor.execute(await lane.experiment.connect(profile_id))
        except asyncio.CancelledError:
            stopped = True
            raise
        except Exception as error:
            default = FailureKind.INPUT if isinstance(error, ValueError | OSError) else FailureKind.INTERNAL
            kind = error.kind if isinstance(error, RunRefusedError) else default
            failure = Failure(kind=kind, message=str(error) or type(error).__name__)
            if kind is FailureKind.INTERNAL:
                raise
        finally:
            self._end_turns(executor.received, stopped, failure)
        turn_id = self.turn
        self._executor, self._turns, self._choices = None, {}, {}
        return turn_id

    def _wait_changed(self) -> None:
        """The wait before another attempt began or ended."""
        executor, turns = self._executor, self._lane.turns
        if executor is None:
            return
        if executor.retry_wait is not None:
            self._set_state(RunState.RETRYING)
        else:
            for index, turn_id in self._turns.items():
                turns.growing[turn_id] = executor.received.choice(index)
            self._set_state(RunState.WAITING)
        for turn_id in self._turns.values():
            turns.grew(turn_id)

    def _receive(self, stream: EventStream, events: list[Event]) -> None:
        lane = self._lane
        lane.limits = stream.limits
        if self._executor is None:
            return
        answer = self._executor.received.answer
        if self.state is RunState.WAITING and events and answer.failure is None:
            self._set_state(RunState.STREAMING)
        touched = {getattr(event, "choice", None) for event in events}
        changed = [index for index in answer.choices if answer.failure is not None or index in touched]
        self._begin_turns([index for index in changed if index not in self._turns])
        for index in changed:
            lane.turns.grew(self._turns[index])
        lane.experiment.exchange_changed(stream.exchange, lane.observers)

    def _begin_turns(self, choices: list[int]) -> None:
        """Begin the turns of choices whose first events arrived; that of the first choice is begun at once."""
        executor = self._executor
        if not choices or executor is None:
            return
        transcript = self._lane.transcript
        first = transcript.turns.get(self.turn)
        parent = first.parent if first is not None else self.tip  # edits may have moved the first one
        if parent is not None and parent not in transcript.turns:
            parent = transcript.head
        growing = [executor.received.choice(index) for index in choices]
        begun = self._lane.turns.begin_turns(parent, growing, self.id)
        self._turns.update(zip(choices, begun, strict=True))
        self._choices.update(zip(begun, choices, strict=True))

    def _end_turns(self, received: ReceivedAnswer, stopped: bool, failure: Failure | None) -> None:
        failure = None if stopped else failure or received.answer.failure
        outcome = received.outcome(Ending.STOPPED if stopped else Ending.COMPLETE, failure, self.exchange)
        turns = [received.turn(turn_id, index, outcome) for index, turn_id in self._turns.items()]
        self._lane.turns.end_turns(turns, self.id)
        if self.exchange is not None:
            self._lane.experiment.exchange_changed(self.exchange, self._lane.observers)

    # Deciding on calls

    async def _decide(self) -> dict[CallKey, Planned | ToolRequest]:
        """Return the answers to open calls and the calls to send to servers; note why the others wait."""
        lane, reasons = self._lane, self._notes.stops
        debugging = lane.settings.debugging
        branch = lane.transcript.lineage(self.tip)
        tools = offered(lane.settings.tools)
        repeated, ordinals = repeats(branch), _ordinals(branch)
        limit = debugging.step_limit
        decisions: dict[CallKey, Planned | ToolRequest] = {}
        distinct: dict[Reason, Reason] = {}  # thousands of calls may wait for the same reason
        for turn_id, call in waiting_in(branch):
            key, rule, tool = (turn_id, call.id), debugging.rule(call.name), tools.get(call.name)
            decision: Answer | CallServer | Reason
            if incomplete := held_back(lane.transcript.turns[turn_id], call):
                decision = incomplete
            elif self._mode is Mode.STEP:
                decision = STEPPED
            elif limit and self.requests >= limit:
                decision = limit_reason(self.requests)
            else:
                reach = self._calls.reach(call, tool)
                question: Question[Answer | CallServer | Reason] = (
                    ReadyAnswer(call, rule, tool, reach)
                    if self._mode is Mode.END
                    else Decision(call, rule, tool, ordinals[key], repeated.get(key, 0), reach)
                )
                decision = await self._evaluate(question)
            if isinstance(decision, Reason):
                reasons[key] = distinct.setdefault(decision, decision)
            elif (plan := plan_of(decision, rule, tool)) is not None:
                if isinstance(plan, ToolRequest) and self._mode is Mode.END:
                    plan = ToolRequest(plan.tool)
                decisions[key] = plan
        self._notes.changed()
        return decisions

    async def _evaluate(self, question: Question[Answer | CallServer | Reason]) -> Answer | CallServer | Reason:
        """Evaluate rules, schemas and paths, if necessary in the worker process."""
        decision = checking.now(question)
        if decision is None:
            self._set_state(RunState.ANSWERING)
            decision = await checking.answer(question)
        return decision

    # Answering calls

    async def _answer_calls(self, planned: Mapping[CallKey, Planned | ToolRequest]) -> bool:
        """Add the answers when they are due. Returns whether every call is answered, so that a request may follow."""
        if self._is_deleted():
            return False
        if planned:
            if self._undo_steps:
                self._lane.history.push(self.id)
            await self._answer_all(planned)
        if self._is_deleted():
            return False
        self.tip = self._end()
        return not self._open_calls()

    async def _answer_all(self, planned: Mapping[CallKey, Planned | ToolRequest]) -> None:
        """Call the servers concurrently, while answers that are known are added when they are due."""
        answers = {key: plan for key, plan in planned.items() if isinstance(plan, Planned)}
        requests = {key: plan for key, plan in planned.items() if isinstance(plan, ToolRequest)}
        if not requests:
            await self._answer_when_due(answers)
            return
        self._set_state(RunState.ANSWERING)
        try:
            async with asyncio.TaskGroup() as group:
                for key, plan in requests.items():
                    group.create_task(self._call_server(key, plan))
                if answers:
                    group.create_task(self._answer_when_due(answers))
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None

    async def _call_server(self, key: CallKey, plan: ToolRequest) -> None:
        """Call a server and add its answer; note why there is none, or that a person reviews it first."""
        call = next((call for maker, call in self._open_calls() if (maker, call.id) == key), None)
        if call is None:
            return
        end, draft = self._end(), self._notes.draft(*key)
        self._notes.stops.pop(key, None)
        try:
            key, answer = await self._calls.call(key, plan.tool, call.arguments)
        except asyncio.CancelledError:
            self._notes.stops[key] = STOPPED
            raise
        if isinstance(answer, Reason):
            self._notes.stops[key] = answer
        elif plan.review:
            self._show_for_review(key, answer_of(answer), draft)
        elif self._add_results({key: served(answer)}):
            if end not in self._lane.history.ends:
                self._notes.remove_stops([key])
        else:  # answered by hand meanwhile, or the turn was deleted and may be restored
            self._notes.keep_late(*key, answer_of(answer))
        self._notes.changed()

    def _show_for_review(self, key: CallKey, answer: Answer, before: ResultDraft | None) -> None:
        """Make an answer the draft of the result, unless something was typed or sent meanwhile."""
        is_open = self._is_deleted() or any((maker, call.id) == key for maker, call in self._open_calls())
        draft, received = self._notes.draft(*key), draft_of(answer)
        if is_open and draft in (before, None, received):
            self._notes.stops[key] = ANSWERED
            self._notes.set_draft(*key, received)
            return
        if is_open:
            self._notes.stops[key] = Reason(code=ReasonCode.AFTER, words=LATE)
        self._notes.keep_late(*key, answer)

    async def _answer_when_due(self, planned: Mapping[CallKey, Planned]) -> None:
        pending, end = self.pending, self._end()
        now = time.monotonic()
        for key, plan in planned.items():
            due = inf if plan.answer.never else now + plan.answer.delay
            pending[key] = replace(plan, due=due)
        remaining = sorted(planned, key=lambda key: pending[key].due)
        try:
            while remaining:
                if wait := pending[remaining[0]].remaining:
                    self._set_state(RunState.ANSWERING)
                    self._notes.changed()
                    await (asyncio.sleep(wait) if wait < inf else asyncio.Event().wait())
                now = time.monotonic()
                due_keys = [key for key in remaining if pending[key].due <= now] or remaining[:1]
                remaining = remaining[len(due_keys) :]
                for key in due_keys:
                    del pending[key]
                self._add_results({key: planned[key] for key in due_keys})
        finally:
            if end not in self._lane.history.ends:  # otherwise another lane waits at these calls
                self._notes.remove_stops(planned.keys() - pending.keys())
            self._notes.stops.update(dict.fromkeys(pending, STOPPED))
            pending.clear()

    def _add_results(self, planned: Mapping[CallKey, Planned]) -> bool:
        """Answer those of the calls that are still open. Returns whether any was."""
        if self._is_deleted():
            return False
        open_keys = {(maker, call.id) for maker, call in self._open_calls()}
        turns: dict[str, list[Turn]] = {}
        for (maker, call_id), plan in planned.items():
            if (maker, call_id) in open_keys:
                turns.setdefault(maker, []).append(_result_turn(call_id, plan))
        for maker, results in turns.items():
            self.tip = self._lane.turns.add_results(self._end(), maker, results, self.id)
        return bool(turns)

    def _is_deleted(self) -> bool:
        return self.tip is not None and self.tip not in self._lane.transcript.turns

    def _open_calls(self) -> tuple[tuple[str, ToolCall], ...]:
        if self._is_deleted():
            return ()
        return self._lane.transcript.waiting_above(self._end())

    def _end(self) -> str | None:
        """Return the turn below which the next one goes: answers given by hand come first."""
        return self.tip if self.tip is None else end_of_results(self._lane.transcript, self.tip)


class Runs:
    """The runs of a lane, one at a time: `active` is under way, `requests_sent` counts the requests of the last one."""

    def __init__(self, lane: Lane, next_request: NextRequest) -> None:
        self.active: Run | None = None
        self.requests_sent: int | None = None
        self._lane = lane
        self._next_request = next_request

    async def start(
        self,
        mode: Mode = Mode.RULES,
        planned: Mapping[CallKey, Planned | ToolRequest] | None = None,
        *,
        undo_steps: bool = True,
        once: tuple[Adaptation, ...] = (),
    ) -> None:
        """Perform a run from the head until it ends (see `Run`). The caller checks that a request is possible.

        `once` are rules for its requests besides those of the gateway. Raises RunRefusedError during another run.
        """
        if self.active is not None:
            raise RunRefusedError(UNDER_WAY)
        lane = self._lane
        next_request = NextRequest(lane, once) if once else self._next_request
        run = self.active = Run(lane, next_request, mode, planned, undo_steps=undo_steps)
        lane.history.begin(run.id)
        lane.observers.tell(DebugChanged())
        try:
            await run.perform()
        finally:
            self.active, self.requests_sent = None, run.requests
            lane.history.end(run.id)
            lane.set_state(RunState.IDLE)
            lane.observers.tell(DebugChanged())


def served(answer: ServerAnswer) -> Planned:
    """Return the answer of a server as it is sent without a review."""
    if answer.recorded:
        return Planned(answer_of(answer), "table", 0.0)
    return Planned(answer_of(answer), "server", answer.seconds)


def _result_turn(call_id: str, plan: Planned) -> Turn:
    seconds = plan.seconds if plan.seconds is not None else plan.answer.delay
    return make_turn(Role.TOOL, "", result_of(call_id, replace(plan, seconds=seconds)))


def _ordinals(branch: tuple[Turn, ...]) -> dict[CallKey, int]:
    """Return the ordinal of each call among the calls of its tool on a branch, from 1."""
    ordinals: dict[CallKey, int] = {}
    count: Counter[str] = Counter()
    for turn in branch:
        for call in turn.calls:
            count[call.name] += 1
            ordinals.setdefault((turn.id, call.id), count[call.name])
    return ordinals
