"""One run: a request goes out, events come in, turns are finished. Belongs to exactly one session.

A run never raises for what a gateway does: every end is an outcome on its turns, and what arrived stays.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from playground.domain.errors import Failure, FailureKind, RunRefusedError
from playground.domain.events import Event
from playground.domain.prices import Asked
from playground.domain.request import Request
from playground.domain.transcript import Ending, Outcome, Turn
from playground.engine.session.asking import Asking, Reception
from playground.engine.session.changes import RunState
from playground.engine.session.experiment import Experiment
from playground.engine.session.retry_wait import RetryWait

if TYPE_CHECKING:
    from playground.gateway.call import EventStream
    from playground.gateway.tape import Exchange

SLICE_S = 0.004  # seconds of ending turns between two turns of the loop


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
        self._parent = parent
        price = experiment.price(request.model)
        asked = Asked(profile_id=experiment.settings.profile_id, model=request.model, price=price)
        self._asking = Asking(request, asked, self._heard, self._waits)
        self._turns: dict[int, str] = {}
        self._choices: dict[str, int] = {}  # the other way round
        self._began = time.monotonic()

    @property
    def asked(self) -> Asked:
        """Whom it goes to."""
        return self._received.asked

    @property
    def retry_wait(self) -> RetryWait | None:
        """The wait for another try, while there is one."""
        return self._asking.retry_wait

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    @property
    def exchange(self) -> Exchange | None:
        """What goes over the wire for it; None before the first request."""
        return self._asking.exchange

    @property
    def turn(self) -> str:
        """The id of the first choice's turn; empty before it began."""
        return self._turns.get(0, "")

    def brings(self, turn_id: str) -> bool:
        """Whether a turn is one of this run's."""
        return turn_id in self._choices

    def call_times(self, turn_id: str) -> tuple[tuple[float, float], ...]:
        """First and last fragment of each call of a turn so far, in order, in seconds since the request was sent."""
        return self._received.marks.call_times(self._choices.get(turn_id, -1))

    async def perform(self) -> None:
        """Send, receive, finish. Cancelling it finishes the turns as stopped and is passed on."""
        experiment = self._experiment
        self._begin([0])
        self._stand(RunState.WAITING)
        failure: Failure | None = None
        stopped = False
        try:
            await asyncio.sleep(0)  # the turn is seen before the request is written: each takes a while in a long one
            await self._asking.ask(await experiment.connect(experiment.settings.profile_id))
        except asyncio.CancelledError:
            stopped = True
            raise
        except Exception as error:
            unmade = FailureKind.INPUT if isinstance(error, ValueError | OSError) else FailureKind.INTERNAL
            kind = error.kind if isinstance(error, RunRefusedError) else unmade
            failure = Failure(kind=kind, message=str(error) or type(error).__name__)
            if kind is FailureKind.INTERNAL:
                raise
        finally:
            await self._finish(stopped, failure)

    @property
    def _received(self) -> Reception:
        return self._asking.received

    def _waits(self) -> None:
        """The wait for another try begins, or is over."""
        if self.retry_wait is not None:
            self._stand(RunState.RETRYING)
        else:
            for index, turn_id in self._turns.items():
                self._experiment.turns.growing[turn_id] = self._received.choice(index)
            self._stand(RunState.WAITING)
        for turn_id in self._turns.values():
            self._experiment.turns.grew(turn_id)

    def _stand(self, state: RunState) -> None:
        self._state = state
        self._stands(state)

    def _heard(self, stream: EventStream, events: list[Event]) -> None:
        experiment, answer = self._experiment, self._received.answer
        experiment.limits = stream.limits
        if self._state is RunState.WAITING and events and answer.failure is None:
            self._stand(RunState.STREAMING)
        touched = {getattr(event, "choice", None) for event in events}
        grown = [index for index in answer.choices if answer.failure is not None or index in touched]
        self._begin([index for index in grown if index not in self._turns])
        for index in grown:
            experiment.turns.grew(self._turns[index])
        experiment.exchange_changed(stream.exchange)

    def _begin(self, choices: list[int]) -> None:
        """Begin the turns of choices whose first events arrived; that of the first choice is begun at once."""
        if not choices:
            return
        transcript = self._experiment.transcript
        first = transcript.turns.get(self.turn)
        parent = first.parent if first is not None else self._parent  # edits may have moved the first one
        if parent is not None and parent not in transcript.turns:
            parent = transcript.head
        begun = self._experiment.turns.begin_turns(
            parent, [self._received.choice(index) for index in choices], self._source
        )
        self._turns.update(zip(choices, begun, strict=True))
        self._choices.update(zip(begun, choices, strict=True))

    async def _finish(self, stopped: bool, failure: Failure | None) -> None:
        """End the turns, a few at a time: there may be thousands of choices."""
        failure = None if stopped else failure or self._received.answer.failure
        outcome = self._received.outcome(Ending.STOPPED if stopped else Ending.COMPLETE, failure, self.exchange)
        left = [(turn_id, index) for index, turn_id in reversed(self._turns.items())]
        try:
            while left:
                self._end(left, outcome, time.perf_counter() + SLICE_S)
                if left:
                    await asyncio.sleep(0)
        finally:
            self._end(left, outcome)  # where it was stopped just now
            if self.exchange is not None:
                self._experiment.exchange_changed(self.exchange)

    def _end(self, left: list[tuple[str, int]], outcome: Outcome, until: float = float("inf")) -> None:
        """End turns from the end of that list until then, one at least."""
        turns: list[Turn] = []
        while left and (not turns or time.perf_counter() < until):
            turns.append(self._received.turn(*left.pop(), outcome))
        if turns:
            self._experiment.turns.end_turns(turns, self._source)
