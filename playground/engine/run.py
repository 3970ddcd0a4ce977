"""One run: a request goes out, events come in, turns are finished. Belongs to exactly one session.

A run never raises for what a gateway does: every end is an outcome on its turns, and what arrived stays.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import TYPE_CHECKING

from playground.domain.accumulator import Accumulator, GrowingChoice
from playground.domain.errors import Failure, FailureKind
from playground.domain.events import Event, ReasoningDelta, TextDelta, ToolCallDelta
from playground.domain.request import Request
from playground.domain.transcript import Ending, Outcome, Role, Turn
from playground.domain.usage import Timing
from playground.engine.changes import RunState
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.session import Connect, Session
    from playground.gateway.call import Call


class RunRefusedError(Exception):
    """A run was not begun; the message says why and what to do."""


class Run:
    """The life of one request. ``perform`` is awaited once."""

    def __init__(self, session: Session, request: Request) -> None:
        self._session = session
        self._request = request
        self._parent = session.transcript.head
        self._turns: dict[int, str] = {}
        self._accumulator = Accumulator()
        self._stopped = False
        self._call: Call | None = None
        self._marks: dict[str, float] = {}
        self._began = time.monotonic()
        self.task: asyncio.Task[None] | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    def stop(self) -> None:
        """End the run by cancelling its task; the socket is closed before ``perform`` returns."""
        self._stopped = True
        if self.task is not None:
            self.task.cancel()

    async def perform(self, connect: Connect) -> None:
        """Send, receive, finish. Cancelling from outside finishes the turns and is passed on."""
        self.task = asyncio.current_task()
        session = self._session
        self._turn(0)
        session.set_state(RunState.WAITING)
        failure: Failure | None = None
        stopped = False
        try:
            client = await connect(session.profile_id)
            protocol = get_protocol(self._request.protocol)
            self._call = client.open(protocol, self._request)
            async with aclosing(self._call) as batches:
                async for events in batches:
                    self._receive(events)
        except asyncio.CancelledError:
            stopped = True
            if not self._stopped:
                raise
            if self.task is not None:
                self.task.uncancel()
        except Exception as error:
            kind = FailureKind.INPUT if isinstance(error, RunRefusedError | ValueError) else FailureKind.INTERNAL
            failure = Failure(kind=kind, message=str(error) or type(error).__name__)
            if kind is FailureKind.INTERNAL:
                raise
        finally:
            self._finish(stopped, failure)

    def _receive(self, events: list[Event]) -> None:
        session, accumulator, call = self._session, self._accumulator, self._call
        if call is None:
            return
        accumulator.add(events)
        session.limits = call.limits
        if session.state is RunState.WAITING and events:
            session.set_state(RunState.STREAMING)
        reads = call.exchange.reads
        if "first_content" not in self._marks and reads:
            self._mark(events, reads[-1].at)
        for index in accumulator.choices:
            session.grew(self._turn(index))
        session.exchange_changed(call.exchange)

    def _mark(self, events: list[Event], now: float) -> None:
        """Note when reasoning and content first came; seconds since the request was sent."""
        for event in events:
            if isinstance(event, ReasoningDelta):
                self._marks.setdefault("first_reasoning", now)
            elif isinstance(event, TextDelta | ToolCallDelta):
                self._marks["first_content"] = now
                if "first_reasoning" in self._marks:
                    self._marks["reasoning_end"] = now
                return

    def _turn(self, index: int) -> str:
        """The turn of one choice, begun when its first event arrives; the first choice's at once."""
        turn_id = self._turns.get(index)
        if turn_id is None:
            choice = self._accumulator.choice(index)
            turn_id = self._turns[index] = self._session.begin_turn(self._parent, choice)
        return turn_id

    def _finish(self, stopped: bool, failure: Failure | None) -> None:
        session, accumulator = self._session, self._accumulator
        failure = failure or accumulator.failure
        for index, turn_id in self._turns.items():
            if turn_id in session.transcript.turns:
                choice = accumulator.choice(index)
                session.end_turn(
                    Turn(
                        id=turn_id,
                        role=Role.ASSISTANT,
                        parts=choice.freeze(),
                        outcome=self._outcome(choice, stopped, failure),
                    )
                )
        if self._call is not None:
            session.exchange_changed(self._call.exchange)
        session.set_state(RunState.IDLE)

    def _outcome(self, choice: GrowingChoice, stopped: bool, failure: Failure | None) -> Outcome:
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
        )
