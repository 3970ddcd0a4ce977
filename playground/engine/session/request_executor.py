"""Send one request until it is answered: timing, automatic retries (specification, section 7.3) and rate limits.

`RequestExecutor` is used by runs and by the gateway check. It knows no transcript, and a failure of the gateway is part
of the received answer, never raised.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing
from random import Random
from typing import TYPE_CHECKING, Final

from playground.domain.accumulator import Accumulator, GrowingChoice
from playground.domain.adaptations import Adaptation
from playground.domain.errors import Failure, FailureKind
from playground.domain.events import Event, Failed, ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta
from playground.domain.output import wants_json
from playground.domain.parts import Text
from playground.domain.prices import Asked
from playground.domain.request import Request
from playground.domain.transcript import Ending, Outcome, Role, Turn
from playground.domain.usage import Timing
from playground.gateway.retry import delay_after
from playground.jsonkit.merge import MemberPath, holds
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.protocol import format_in, get_protocol

if TYPE_CHECKING:
    from playground.gateway.call import EventStream
    from playground.gateway.client import GatewayClient
    from playground.gateway.limits import Limiter
    from playground.gateway.tape import Exchange

#: Statuses with which a gateway says that it is busy.
_BUSY_STATUSES: Final = frozenset({429, 503, 529})
#: Reason of a wait before a request that was not refused itself.
_RATE_LIMITED: Final = Failure(
    kind=FailureKind.HTTP,
    status=429,
    message="An earlier answer of the gateway reported a rate limit. This request is sent when it ends.",
)
#: Jitter only: nothing secret depends on it.
_RANDOM = Random()  # noqa: S311 - not for cryptography

_MAX_FIELDS: Final = 200
_MAX_DEPTH: Final = 3  # members on the way to a field
_MAX_ENTRIES: Final = 20  # of a list that are looked into
_MAX_WORD: Final = 24  # characters of a value that is a single word
#: Kinds of failure that come with a message of the gateway.
_GATEWAY_FAILURES: Final = frozenset({FailureKind.HTTP, FailureKind.STREAM})


class TimingMarks:
    """Times of the first events of each kind in one answer, in seconds since the request was sent; None before them.

    `first_content` is the first text, refusal or tool call.
    """

    def __init__(self) -> None:
        self.first_reasoning: float | None = None
        self.first_content: float | None = None
        self.reasoning_end: float | None = None
        self._calls: dict[int, dict[int, tuple[float, float]]] = {}  # by choice and call: first and last fragment

    def note_events(self, events: Iterable[Event], seconds: float) -> None:
        """Note events that arrived together."""
        for event in events:
            if type(event) is ToolCallDelta and not event.only_late:
                calls = self._calls.setdefault(event.choice, {})
                calls[event.call] = (calls.get(event.call, (seconds, seconds))[0], seconds)
            if self.first_content is None:
                self._note_first(event, seconds)

    def call_times(self, choice: int) -> tuple[tuple[float, float], ...]:
        """Return the times of the first and last fragment of each call of a choice, in the order of the calls."""
        return tuple(self._calls.get(choice, {}).values())

    def _note_first(self, event: Event, seconds: float) -> None:
        if isinstance(event, ReasoningDelta):
            self.first_reasoning = seconds if self.first_reasoning is None else self.first_reasoning
        elif isinstance(event, TextDelta | ToolCallDelta | RefusalDelta):
            self.first_content = seconds
            self.reasoning_end = seconds if self.first_reasoning is not None else None


class ReceivedAnswer:
    """The answer to one request, as far as it has arrived.

    `settings` are the members of the body over `protocol`, `target` is the model and its gateway; `adapted` and `tried`
    are as on an `Outcome`.
    """

    def __init__(
        self,
        target: Asked,
        protocol: str,
        settings: JSONObject,
        adapted: tuple[Adaptation, ...] = (),
        tried: tuple[Adaptation, ...] = (),
    ) -> None:
        self.target = target
        self.answer = Accumulator()
        self.marks = TimingMarks()
        self._format = format_in(protocol, settings)
        self._streamed = bool(settings.get("stream"))
        self._adapted, self._tried = adapted, tried

    def reset(self) -> None:
        """Forget what arrived, before another attempt."""
        self.answer, self.marks = Accumulator(), TimingMarks()

    def add_events(self, events: list[Event], seconds: float | None) -> None:
        """Take in events that arrived `seconds` after the request was sent; None before anything of the body."""
        self.answer.add_events(events)
        if self.answer.failure is not None:
            self.set_failure(self.answer.failure)
        if seconds is not None:
            self.marks.note_events(events, seconds)

    def set_failure(self, failure: Failure) -> None:
        """Replace the failure, for instance by one with more details."""
        self.answer.failure = failure
        for choice in self.answer.choices.values():
            choice.failure = None if self._is_unaffected(failure, choice) else failure

    def _is_unaffected(self, failure: Failure, choice: GrowingChoice) -> bool:
        """Return whether a choice was complete before the stream was cut off."""
        ended = choice.finish_reason is not None and len(self.answer.choices) > 1
        return failure.kind is FailureKind.CUT_OFF and ended

    def choice(self, index: int) -> GrowingChoice:
        """Return the choice of that index, created if needed."""
        choice = self.answer.choice(index)
        choice.is_json = wants_json(self._format)
        return choice

    def timing(self, exchange: Exchange) -> Timing:
        """Return the timing of the answer so far."""
        marks, reads = self.marks, exchange.reads
        return Timing(
            started_at=exchange.started_at,
            headers=exchange.answered,
            first_byte=reads[0].time if reads else None,
            first_reasoning=marks.first_reasoning,
            first_content=marks.first_content,
            reasoning_end=marks.reasoning_end,
            end=exchange.ended,
        )

    def outcome(self, ending: Ending, failure: Failure | None, exchange: Exchange | None) -> Outcome:
        """Return the outcome of the answer as a whole.

        `ending` counts where nothing failed; `exchange` is None where no request could be made.
        """
        answer = self.answer
        if failure is not None:
            ending = Ending.CUT_OFF if failure.kind is FailureKind.CUT_OFF else Ending.FAILED
        return Outcome(
            ending=ending,
            model=answer.model or self.target.model,
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
            asked=self.target,
            adapted=self._adapted,
            tried=self._tried,
        )

    def turn(self, turn_id: str, index: int, outcome: Outcome) -> Turn:
        """Return one choice as a turn; `outcome` is that of the whole answer."""
        choice, call_times = self.answer.choice(index), self.marks.call_times(index)
        fields: dict[str, object] = {"finish_reason": choice.finish_reason, "choice": index, "call_times": call_times}
        if outcome.failure is not None and self._is_unaffected(outcome.failure, choice):
            fields |= {"ending": Ending.COMPLETE, "failure": None}
        outcome = outcome.model_copy(update=fields)
        for part in choice.parts:
            part.join_fragments()
        return Turn(id=turn_id, role=Role.ASSISTANT, parts=choice.freeze(), outcome=outcome, extra=choice.extra)


class RetryWait:
    """The wait before another attempt: `attempt` of `most` have failed with `failure`."""

    def __init__(self, failure: Failure, seconds: float, attempt: int, most: int) -> None:
        self.failure = failure
        self.attempt = attempt
        self.most = most
        self._due = time.monotonic() + seconds
        self._decided = asyncio.Event()
        self._cancelled = False

    @property
    def remaining(self) -> float:
        """Seconds until the next attempt, never below 0."""
        return max(self._due - time.monotonic(), 0.0)

    def retry_now(self) -> None:
        """End the wait and try at once."""
        self._decided.set()

    def give_up(self) -> None:
        """End the wait without another attempt."""
        self._cancelled = True
        self._decided.set()

    async def wait(self) -> bool:
        """Wait. Returns whether to try again."""
        try:
            await asyncio.wait_for(self._decided.wait(), self.remaining)
        except TimeoutError:
            return True
        return not self._cancelled


class RequestExecutor:
    """Executes one request to `target`, a model and its gateway.

    `received` is the answer of the latest attempt, `exchange` its recording. `on_events` is called with events that
    were just added to `received`; `on_wait` when the wait before another attempt begins (`retry_wait` is set then), and
    when it is over and the request goes out again.
    """

    def __init__(
        self,
        request: Request,
        target: Asked,
        on_events: Callable[[EventStream, list[Event]], None] = lambda _stream, _events: None,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        adapted, tried = rules_used(request)
        self.received = ReceivedAnswer(target, request.protocol, request.settings(), adapted, tried)
        self.exchange: Exchange | None = None
        self.retry_wait: RetryWait | None = None
        self._request = request
        self._on_events = on_events
        self._on_wait = on_wait
        self._attempts = 0
        self._skips_limit = False  # a person chose not to wait any longer

    async def execute(self, client: GatewayClient) -> None:
        """Send until there is an answer or no attempt is left; to be awaited once.

        Cancelled, it closes the connection and keeps what arrived. Raises ValueError for an unknown protocol.
        """
        protocol = get_protocol(self._request.protocol)
        retries, limiter = client.connection.retries, client.limiter
        while await self._pass_limit(limiter, retries):
            self._attempts += 1
            stream = client.open(protocol, self._request)
            self.exchange = stream.exchange
            limiter.begin()
            try:
                async with aclosing(stream) as batches:
                    await self._receive(stream, batches, limiter)
            except asyncio.CancelledError:
                if stream.left:
                    self._add(stream, stream.left)
                raise
            finally:
                limiter.end()
            if not await self._wait_for_retry(stream, retries):
                return

    async def _receive(self, stream: EventStream, batches: AsyncIterator[list[Event]], limiter: Limiter) -> None:
        """Take in the answer; the limits in its headers hold for every request to that gateway."""
        first = True
        async for events in batches:
            self._add(stream, events)
            if first:
                first = False
                limiter.note(stream.limits)
        failure = self.received.answer.failure
        if failure is not None:
            self.received.set_failure(with_sent_fields(failure, self._request))
        if failure is not None and failure.retry_after is not None and failure.status in _BUSY_STATUSES:
            limiter.hold(failure.retry_after)

    def _add(self, stream: EventStream, events: list[Event]) -> None:
        reads = stream.exchange.reads
        self.received.add_events(events, reads[-1].time if reads else None)
        self._on_events(stream, events)

    async def _pass_limit(self, limiter: Limiter, retries: int) -> bool:
        """Wait while the gateway takes no requests. Returns False where a person gave up."""
        while not self._skips_limit and (delay := limiter.delay) > 0:
            wait = RetryWait(_RATE_LIMITED, delay, self._attempts, retries + 1)
            if not await self._wait(wait):
                self.received.add_events([Failed(_RATE_LIMITED)], None)
                return False
            self._on_wait()
            self._skips_limit = wait.remaining > 0
        self._skips_limit = False
        return True

    async def _wait_for_retry(self, stream: EventStream, retries: int) -> bool:
        """Wait if the failure allows another attempt. Returns whether to make it.

        There is none after the first content: what arrived would be lost or repeated.
        """
        answer = self.received.answer
        if answer.failure is None or not answer.empty or self._attempts > retries:
            return False
        delay = delay_after(answer.failure, self._attempts, _RANDOM, stream.should_retry)
        if delay is None:
            return False
        wait = RetryWait(answer.failure, delay, self._attempts, retries + 1)
        if not await self._wait(wait):
            return False
        self._skips_limit = wait.remaining > 0
        self.received.reset()
        self._on_wait()
        return True

    async def _wait(self, wait: RetryWait) -> bool:
        self.retry_wait = wait
        self._on_wait()
        try:
            return await wait.wait()
        finally:
            self.retry_wait = None


# ---- fields of a refused request -------------------------------------------------------------------------------------


def with_sent_fields(failure: Failure, request: Request) -> Failure:
    """Return the failure with the fields that were sent, for advice on what a rule of the gateway could change.

    Nothing of the conversation is added but the roles of its instructions. Other kinds of failure are returned as is.
    """
    if failure.kind not in _GATEWAY_FAILURES or failure.sent is None:
        return failure
    try:
        body = request.adapted(plain_settings(request))
    except (ValueError, RecursionError):
        return failure
    protocol = get_protocol(request.protocol)
    extras = (request.extra_body, request.inherited_body)
    fields: dict[str, JSON] = {}
    for path, value in _members(body, (), (*protocol.conversation, "model")):
        if len(fields) == _MAX_FIELDS:
            break
        if not any(holds(extra, path) for extra in extras):  # written by hand: sent whatever a rule says
            fields.setdefault(".".join(path), value if _is_short(value) else None)
    entries = protocol.entries(body)
    roles = dict.fromkeys(str(entry["role"]) for entry in entries if isinstance(entry, dict) and "role" in entry)
    sent = failure.sent.model_copy(update={"model": request.model, "fields": fields, "roles": tuple(roles)})
    return failure.model_copy(update={"sent": sent})


def rules_used(request: Request) -> tuple[tuple[Adaptation, ...], tuple[Adaptation, ...]]:
    """Return the gateway's rules that change a request, and those of this request alone that do."""
    if not request.rules:
        return (), ()
    try:
        used = request.adaptations_of(plain_settings(request))
    except (ValueError, RecursionError):
        return (), ()
    lasting = [rule for rule in used if rule not in request.once]
    return tuple(lasting), tuple(rule for rule in used if rule in request.once)


def plain_settings(request: Request) -> JSONObject:
    """Return the body without the gateway's rules, and with one short message for each kind of instruction instead of
    the conversation. Raises ValueError where the protocol cannot write it.
    """
    kinds = dict.fromkeys(turn.role for turn in request.turns if turn.role.is_instruction)
    turns = tuple(Turn(id=role, role=role, parts=(Text(text=role),)) for role in kinds)
    bare = request.model_copy(update={"turns": turns, "adaptations": (), "once": ()})
    return get_protocol(request.protocol).encode(bare, extras=False)


def _members(value: JSON, path: MemberPath, without: tuple[str, ...] = ()) -> Iterator[tuple[MemberPath, JSON]]:
    if isinstance(value, list):
        for entry in value[:_MAX_ENTRIES]:
            if isinstance(entry, dict):
                yield from _members(entry, path)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name not in without:
                yield (*path, name), inner
                if len(path) + 1 < _MAX_DEPTH:
                    yield from _members(inner, (*path, name))


def _is_short(value: JSON) -> bool:
    if isinstance(value, str):
        return len(value) <= _MAX_WORD and value.isascii() and value.replace("_", "").isalnum()
    return isinstance(value, bool | int | float)
