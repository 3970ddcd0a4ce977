"""One request asked of a gateway until it is answered: opened, closed whatever comes, taken in, timed, and tried again.

Whoever asks asks by this: the runs of the window and of the command line, samples, and what reads an answer off a tape
takes it in likewise. Nothing here knows a transcript, and nothing is raised for what a gateway does: that it failed is
part of what came.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing
from random import Random
from typing import TYPE_CHECKING

from playground.domain.accumulator import Accumulator, GrowingChoice
from playground.domain.adaptations import Adaptation
from playground.domain.errors import Failure, FailureKind
from playground.domain.events import Event, Failed, ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta
from playground.domain.output import wants_json
from playground.domain.prices import Asked
from playground.domain.request import Request
from playground.domain.transcript import Ending, Outcome, Role, Turn
from playground.domain.usage import Timing
from playground.engine.session.retry_wait import RetryWait
from playground.engine.session.sent_fields import rules_used, with_sent_fields
from playground.gateway.retry import delay_after
from playground.jsonkit.values import JSONObject
from playground.protocols.protocol import format_in, get_protocol

if TYPE_CHECKING:
    from playground.gateway.call import EventStream
    from playground.gateway.client import GatewayClient
    from playground.gateway.limits import Limiter
    from playground.gateway.tape import Exchange


class TimingMarks:
    """Takes the events of one answer, and when each lot of them came, in seconds since the request was sent.

    It keeps no clock. A mark is None until there is such a thing; ``first_content`` is text, a refusal or a call.
    """

    def __init__(self) -> None:
        self.first_reasoning: float | None = None
        self.first_content: float | None = None
        self.reasoning_end: float | None = None
        self._calls: dict[int, dict[int, int]] = {}  # of choice and call: the place of its times
        self._times: dict[int, array[float]] = {}  # of a choice's calls, two each; there may be a million

    def note_events(self, events: Iterable[Event], at: float) -> None:
        """Some more, all of which came at ``at``."""
        for event in events:
            if type(event) is ToolCallDelta and not event.only_late:
                self._note_call(event.choice, event.call, at)
            if self.first_content is None:
                self._note_first(event, at)

    def call_times(self, choice: int) -> tuple[tuple[float, float], ...]:
        """The first and last fragment of each call of a choice so far, in the order of the calls."""
        times = self._times.get(choice, ())
        return tuple(zip(times[::2], times[1::2], strict=True))

    def _note_call(self, choice: int, call: int, at: float) -> None:
        places = self._calls.setdefault(choice, {})
        place = places.setdefault(call, len(places))
        times = self._times.setdefault(choice, array("d"))
        if 2 * place == len(times):
            times.extend((at, at))
        times[2 * place + 1] = at

    def _note_first(self, event: Event, at: float) -> None:
        if isinstance(event, ReasoningDelta):
            self.first_reasoning = at if self.first_reasoning is None else self.first_reasoning
        elif isinstance(event, TextDelta | ToolCallDelta | RefusalDelta):
            self.first_content = at
            self.reasoning_end = at if self.first_reasoning is not None else None


#: What says that a gateway is busy, and when it will not be.
_BUSY = frozenset({429, 503, 529})
#: Seconds for which reads that came together are taken before anything else has its turn.
_TOGETHER_S = 0.002
#: Why a request waits that nobody has refused yet.
_FULL = Failure(
    kind=FailureKind.HTTP,
    status=429,
    message="The gateway takes no more requests for now, as it told an earlier one. This one goes out when it does.",
)

#: Jitter only: nothing secret depends on it.
_RANDOM = Random()  # noqa: S311 - not for cryptography


class Reception:
    """What came of one request so far. ``settings`` are those of its body over ``protocol``, ``asked`` says of whom;
    ``adapted`` and ``tried`` are as on an ``Outcome``.
    """

    def __init__(
        self,
        asked: Asked,
        protocol: str,
        settings: JSONObject,
        adapted: tuple[Adaptation, ...] = (),
        tried: tuple[Adaptation, ...] = (),
    ) -> None:
        self.asked = asked
        self.answer = Accumulator()
        self.marks = TimingMarks()
        self._format = format_in(protocol, settings)
        self._streamed = bool(settings.get("stream"))
        self._adapted, self._tried = adapted, tried

    def begin_again(self) -> None:
        """Forget what came: the same is asked once more."""
        self.answer, self.marks = Accumulator(), TimingMarks()

    def take_events(self, events: list[Event], at: float | None) -> None:
        """What came ``at`` seconds since the request was sent; None: before anything of the body."""
        self.answer.add_events(events)
        if self.answer.failure is not None:
            self.take_failure(self.answer.failure)
        if at is not None:
            self.marks.note_events(events, at)

    def take_failure(self, failure: Failure) -> None:
        """More is known of what went wrong."""
        self.answer.failure = failure
        for choice in self.answer.choices.values():
            choice.failure = None if self._spares(failure, choice) else failure

    def _spares(self, failure: Failure, choice: GrowingChoice) -> bool:
        """Whether a completion is whole all the same: one that had ended before the stream stopped is."""
        ended = choice.finish_reason is not None and len(self.answer.choices) > 1
        return failure.kind is FailureKind.CUT_OFF and ended

    def choice(self, index: int) -> GrowingChoice:
        """The completion of that index, made if needed."""
        choice = self.answer.choice(index)
        choice.is_json = wants_json(self._format)
        return choice

    def timing(self, exchange: Exchange) -> Timing:
        """When what came, as far as it did."""
        marks, reads = self.marks, exchange.reads
        return Timing(
            started_at=exchange.started_at,
            headers=exchange.answered,
            first_byte=reads[0].at if reads else None,
            first_reasoning=marks.first_reasoning,
            first_content=marks.first_content,
            reasoning_end=marks.reasoning_end,
            end=exchange.ended,
        )

    def outcome(self, ending: Ending, failure: Failure | None, exchange: Exchange | None) -> Outcome:
        """What is known of the answer as a whole. ``ending`` is how it ended where nothing failed; ``exchange`` is None
        where no request could be made.
        """
        answer = self.answer
        if failure is not None:
            ending = Ending.CUT_OFF if failure.kind is FailureKind.CUT_OFF else Ending.FAILED
        return Outcome(
            ending=ending,
            model=answer.model or self.asked.model,
            response_id=answer.id,
            usage=answer.usage,
            timing=self.timing(exchange) if exchange is not None else None,
            failure=failure,
            deviations=tuple(answer.deviations.items()),
            exchange=exchange.id if exchange is not None else None,
            response_format=self._format,
            streamed=self._streamed,
            choices=answer.answered,
            holes=tuple(answer.holes),
            asked=self.asked,
            adapted=self._adapted,
            tried=self._tried,
        )

    def turn(self, turn_id: str, index: int, outcome: Outcome) -> Turn:
        """One completion as a turn, of the ``outcome`` that all have together."""
        choice, call_times = self.answer.choice(index), self.marks.call_times(index)
        own: dict[str, object] = {"finish_reason": choice.finish_reason, "choice": index, "call_times": call_times}
        if outcome.failure is not None and self._spares(outcome.failure, choice):
            own |= {"ending": Ending.COMPLETE, "failure": None}
        outcome = outcome.model_copy(update=own)
        for part in choice.parts:
            part.join_fragments()
        return Turn(id=turn_id, role=Role.ASSISTANT, parts=choice.freeze(), outcome=outcome, extra=choice.extra)


def _last(exchange: Exchange) -> float | None:
    """When what was read last had come, in seconds since the request was sent."""
    return exchange.reads[-1].at if exchange.reads else None


def _unheard(_stream: EventStream, _events: list[Event]) -> None:
    return


def _nothing() -> None:
    return


class Asking:
    """``ask`` is awaited once. ``received`` is what came of the try under way, ``exchange`` how it came over the wire.

    ``heard`` is called with events once they are taken in; ``waits`` when the wait for another try begins
    (``retry_wait`` is there then), and when it is over and the request goes out again.
    """

    def __init__(
        self,
        request: Request,
        asked: Asked,
        heard: Callable[[EventStream, list[Event]], None] = _unheard,
        waits: Callable[[], None] = _nothing,
    ) -> None:
        adapted, tried = rules_used(request)
        self.received = Reception(asked, request.protocol, request.settings(), adapted, tried)
        self.exchange: Exchange | None = None
        self.retry_wait: RetryWait | None = None
        self._request = request
        self._heard = heard
        self._waits = waits
        self._tries = 0
        self._sent_on = False  # whether a person would not wait any longer

    async def ask(self, client: GatewayClient) -> None:
        """Ask until there is an answer, or no more tries. Cancelled, it has closed the way and taken in what came.

        Raises ValueError for a protocol that is not spoken.
        """
        try:
            await self._ask(client)
        finally:
            self._heard, self._waits = _unheard, _nothing  # whoever asked has this, too: they would keep each other

    async def _ask(self, client: GatewayClient) -> None:
        protocol = get_protocol(self._request.protocol)
        most, limiter = client.connection.retries, client.limiter
        while await self._let_through(limiter, most):
            self._tries += 1
            stream = client.open(protocol, self._request)
            self.exchange = stream.exchange
            limiter.begin()
            try:
                async with aclosing(stream) as batches:
                    await self._take_all(stream, batches, limiter)
            except asyncio.CancelledError:
                if stream.left:
                    self._take(stream, stream.left)
                raise
            finally:
                limiter.end()
            if not await self._again(stream, most):
                return

    async def _take_all(self, stream: EventStream, batches: AsyncIterator[list[Event]], limiter: Limiter) -> None:
        """Take all that comes; what the headers say of limits is everybody's who asks that gateway."""
        noted = False
        async for events in batches:
            self._take(stream, events)
            if not noted:
                noted = True
                limiter.note(stream.limits)
        failure = self.received.answer.failure
        if failure is not None:
            self.received.take_failure(with_sent_fields(failure, self._request))
        if failure is not None and failure.retry_after is not None and failure.status in _BUSY:
            limiter.hold(failure.retry_after)

    async def _let_through(self, limiter: Limiter, most: int) -> bool:
        """Wait while the gateway takes no requests, as it told whoever asked it last. False where that was given up."""
        while not self._sent_on and (delay := limiter.delay) > 0:
            self.retry_wait = wait = RetryWait(_FULL, delay, self._tries, most + 1)
            self._waits()
            try:
                again = await wait.over()
            finally:
                self.retry_wait = None
            if not again:
                self.received.take_events([Failed(_FULL)], None)
                return False
            self._waits()
            self._sent_on = wait.remaining > 0
        self._sent_on = False
        return True

    def _take(self, stream: EventStream, events: list[Event]) -> None:
        """Take in the events of one read."""
        self.received.take_events(events, _last(stream.exchange))
        self._heard(stream, events)

    async def _again(self, stream: EventStream, most: int) -> bool:
        """Whether to try again, after the wait that the failure asks for (specification, section 7.3).

        Never after the first content: what arrived would be lost, or be there twice.
        """
        answer = self.received.answer
        if answer.failure is None or not answer.empty or self._tries > most:
            return False
        delay = delay_after(answer.failure, self._tries, _RANDOM, stream.should_retry)
        if delay is None:
            return False
        self.retry_wait = wait = RetryWait(answer.failure, delay, self._tries, most + 1)
        self._waits()
        try:
            again = await wait.over()
        finally:
            self.retry_wait = None
        if again:
            self._sent_on = wait.remaining > 0
            self.received.begin_again()
            self._waits()
        return again
