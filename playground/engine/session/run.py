"""One run: a request goes out, events come in, turns are finished. Belongs to exactly one session.

A run never raises for what a gateway does: every end is an outcome on its turns, and what arrived stays.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from random import Random
from typing import TYPE_CHECKING

from playground.domain.accumulator import Accumulator, GrowingChoice
from playground.domain.errors import Failure, FailureKind, RunRefusedError
from playground.domain.events import Event, ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta
from playground.domain.output import format_of, wants_json
from playground.domain.prices import Asked
from playground.domain.request import Request
from playground.domain.transcript import Ending, Outcome, Role, Turn
from playground.domain.usage import Timing
from playground.engine.session.changes import RunState
from playground.engine.session.experiment import Experiment
from playground.engine.session.retry_wait import RetryWait
from playground.gateway.retry import delay_after
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.gateway.call import EventStream
    from playground.gateway.tape import Exchange


#: Jitter only: nothing secret depends on it.
_RANDOM = Random()  # noqa: S311 - not for cryptography


class Run:
    """The life of one request. ``perform`` is awaited once; the turns it brings hang below ``parent``.

    ``source`` is what they are brought by (see ``History``); ``stands`` is told where the run stands.
    """

    def __init__(
        self,
        experiment: Experiment,
        source: str,
        stands: Callable[[RunState], None],
        request: Request,
        parent: str | None,
    ) -> None:
        self._experiment = experiment
        self._source = source
        self._stands = stands
        self._state = RunState.IDLE
        self._request = request
        self._parent = parent
        profile = experiment.profile
        price = profile.prices.get(request.model) if profile is not None else None
        self.asked = Asked(profile_id=experiment.settings.profile_id, model=request.model, price=price)
        settings = request.settings()
        self._format = format_of(settings)
        self._streamed = bool(settings.get("stream"))
        self._turns: dict[int, str] = {}
        self._choices: dict[str, int] = {}  # the other way round
        self._accumulator = Accumulator()
        self._call: EventStream | None = None
        self._marks: dict[str, float] = {}
        self._call_times: dict[int, dict[int, list[float]]] = {}  # of choice and call: first and last fragment
        self._began = time.monotonic()
        self._tries = 0
        self.retry_wait: RetryWait | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    @property
    def exchange(self) -> Exchange | None:
        """What goes over the wire for it; None before the first request."""
        return self._call.exchange if self._call is not None else None

    @property
    def turn(self) -> str:
        """The id of the first choice's turn; empty before it began."""
        return self._turns.get(0, "")

    def brings(self, turn_id: str) -> bool:
        """Whether a turn is one of this run's."""
        return turn_id in self._choices

    def call_times(self, turn_id: str) -> tuple[tuple[float, float], ...]:
        """First and last fragment of each call of a turn so far, in order, in seconds since the request was sent."""
        times = self._call_times.get(self._choices.get(turn_id, -1), {})
        return tuple((first, last) for first, last in times.values())

    async def perform(self) -> None:
        """Send, receive, finish. Cancelling it finishes the turns as stopped and is passed on."""
        experiment = self._experiment
        self._begin([0])
        self._stand(RunState.WAITING)
        failure: Failure | None = None
        stopped = False
        try:
            client = await experiment.connect(experiment.settings.profile_id)
            protocol = get_protocol(self._request.protocol)
            while True:
                self._tries += 1
                self._call = client.open(protocol, self._request)
                async with aclosing(self._call) as batches:
                    async for events in batches:
                        self._receive(events)
                if not await self._again(self._call, client.connection.retries):
                    break
        except asyncio.CancelledError:
            stopped = True
            if self._call is not None and self._call.left:
                self._receive(self._call.left)
            raise
        except Exception as error:
            unmade = FailureKind.INPUT if isinstance(error, ValueError | OSError) else FailureKind.INTERNAL
            kind = error.kind if isinstance(error, RunRefusedError) else unmade
            failure = Failure(kind=kind, message=str(error) or type(error).__name__)
            if kind is FailureKind.INTERNAL:
                raise
        finally:
            self._finish(stopped, failure)

    async def _again(self, call: EventStream, most: int) -> bool:
        """Whether to try again, after the wait that the failure asks for (specification, section 7.3).

        Never after the first content: what arrived would be lost, or be there twice.
        """
        failure = self._accumulator.failure
        if failure is None or not self._accumulator.empty or self._tries > most:
            return False
        delay = delay_after(failure, self._tries, _RANDOM, call.should_retry)
        if delay is None:
            return False
        experiment = self._experiment
        self.retry_wait = RetryWait(failure, delay, self._tries, most + 1)
        self._stand(RunState.RETRYING)
        self._tell_all()
        try:
            again = await self.retry_wait.over()
        finally:
            self.retry_wait = None
        if again:
            self._accumulator = Accumulator()
            self._marks.clear()
            self._call_times.clear()
            for index, turn_id in self._turns.items():
                experiment.turns.growing[turn_id] = self._growing(index)
            self._stand(RunState.WAITING)
            self._tell_all()
        return again

    def _stand(self, state: RunState) -> None:
        self._state = state
        self._stands(state)

    def _tell_all(self) -> None:
        for turn_id in self._turns.values():
            self._experiment.turns.grew(turn_id)

    def _receive(self, events: list[Event]) -> None:
        experiment, accumulator, call = self._experiment, self._accumulator, self._call
        if call is None:
            return
        accumulator.add_events(events)
        if accumulator.failure is not None:
            for choice in accumulator.choices.values():
                choice.failure = accumulator.failure
        experiment.limits = call.limits
        if self._state is RunState.WAITING and events and accumulator.failure is None:
            self._stand(RunState.STREAMING)
        reads = call.exchange.reads
        if reads:
            if "first_content" not in self._marks:
                self._mark(events, reads[-1].at)
            for event in events:
                if type(event) is ToolCallDelta and not event.only_late:
                    times = self._call_times.setdefault(event.choice, {}).setdefault(event.call, [reads[-1].at, 0.0])
                    times[1] = reads[-1].at
        touched = {getattr(event, "choice", None) for event in events}
        grown = [index for index in accumulator.choices if accumulator.failure is not None or index in touched]
        self._begin([index for index in grown if index not in self._turns])
        for index in grown:
            experiment.turns.grew(self._turns[index])
        experiment.exchange_changed(call.exchange)

    def _mark(self, events: list[Event], now: float) -> None:
        """Note when reasoning and content first came; seconds since the request was sent."""
        for event in events:
            if isinstance(event, ReasoningDelta):
                self._marks.setdefault("first_reasoning", now)
            elif isinstance(event, TextDelta | ToolCallDelta | RefusalDelta):
                self._marks["first_content"] = now
                if "first_reasoning" in self._marks:
                    self._marks["reasoning_end"] = now
                return

    def _begin(self, choices: list[int]) -> None:
        """Begin the turns of choices whose first events arrived; that of the first choice is begun at once."""
        if not choices:
            return
        transcript = self._experiment.transcript
        first = transcript.turns.get(self.turn)
        parent = first.parent if first is not None else self._parent  # edits may have moved the first one
        if parent is not None and parent not in transcript.turns:
            parent = transcript.head
        begun = self._experiment.turns.begin_turns(parent, [self._growing(index) for index in choices], self._source)
        self._turns.update(zip(choices, begun, strict=True))
        self._choices.update(zip(begun, choices, strict=True))

    def _growing(self, index: int) -> GrowingChoice:
        choice = self._accumulator.choice(index)
        choice.is_json = wants_json(self._format)
        return choice

    def _finish(self, stopped: bool, failure: Failure | None) -> None:
        experiment, accumulator = self._experiment, self._accumulator
        failure = failure or accumulator.failure
        turns, answered = [], accumulator.answered
        for index, turn_id in self._turns.items():
            choice = accumulator.choice(index)
            outcome = self._outcome(choice, answered, stopped, failure)
            parts, extra = choice.freeze(), choice.extra
            turns.append(Turn(id=turn_id, role=Role.ASSISTANT, parts=parts, outcome=outcome, extra=extra))
        experiment.turns.end_turns(turns, self._source)
        if self._call is not None:
            experiment.exchange_changed(self._call.exchange)

    def _outcome(self, choice: GrowingChoice, answered: int, stopped: bool, failure: Failure | None) -> Outcome:
        accumulator, call = self._accumulator, self._call
        if stopped:
            ending, failure = Ending.STOPPED, None
        elif failure is None:
            ending = Ending.COMPLETE
        else:
            ending = Ending.CUT_OFF if failure.kind is FailureKind.CUT_OFF else Ending.FAILED
        timing = None
        if call is not None:
            exchange = call.exchange
            reads = exchange.reads
            timing = Timing(
                started_at=exchange.started_at,
                headers=exchange.answered,
                first_byte=reads[0].at if reads else None,
                first_reasoning=self._marks.get("first_reasoning"),
                first_content=self._marks.get("first_content"),
                reasoning_end=self._marks.get("reasoning_end"),
                end=exchange.ended,
            )
        return Outcome(
            ending=ending,
            model=accumulator.model or self._request.model,
            response_id=accumulator.id,
            finish_reason=choice.finish_reason,
            usage=accumulator.usage,
            timing=timing,
            failure=failure,
            deviations=tuple(accumulator.deviations.items()),
            exchange=call.exchange.id if call is not None else None,
            response_format=self._format,
            streamed=self._streamed,
            call_times=self.call_times(self._turns[choice.index]),
            choice=choice.index,
            choices=answered,
            holes=tuple(accumulator.holes),
            asked=self.asked,
        )
