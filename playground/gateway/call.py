"""One run over one protocol: events, a list for each network read, until the answer is whole or has failed.

Raises nothing but a cancellation: an error is the last event, a ``Failed``. Retrying, and keeping the parts of the
answer, are the caller's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Final

from playground.domain.errors import GUESSES, Failure, FailureGroup, FailureKind, Sent, cause_of
from playground.domain.events import (
    Deviation,
    Event,
    ExtraDelta,
    Failed,
    Finish,
    PartStart,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    UnknownPart,
)
from playground.gateway.clock import Stage
from playground.gateway.connection import Connection
from playground.gateway.limits import RateLimits, read_limits
from playground.gateway.prepared_request import PreparedRequest
from playground.gateway.redact import Redactor
from playground.gateway.retry import read_retry_after, read_should_retry, wait_for_window
from playground.gateway.tape import Exchange
from playground.gateway.transfer import Transfer, TransferError, new_exchange, record_request
from playground.protocols.errors import read_error
from playground.protocols.expected import other_count, other_way
from playground.protocols.protocol import Decoder, Protocol

if TYPE_CHECKING:
    from playground.gateway.transport import Transport

#: Events that a person would call progress; only these restart the clocks.
CONTENT: Final = frozenset({TextDelta, ReasoningDelta, RefusalDelta, ToolCallDelta, UnknownPart, ExtraDelta})

#: Bytes of an error body that are read; the failure's excerpt is shorter still.
ERROR_BODY: Final = 1024 * 1024

#: The note on a failure of a clock after a finish reason that came before any content.
_EARLY: Final = "A finish reason precedes any text or call."

Prepare = Callable[[], Awaitable[tuple["Transport", PreparedRequest]]]


class EventStream:
    """An asynchronous iterator over lists of events. Use it with ``contextlib.aclosing``.

    The first list belongs to the headers and is empty; later ones may be empty too (a keep-alive). ``exchange`` is the
    tape, from the start. ``limits`` and ``should_retry`` are read from the answer's headers. ``left`` are the events
    that were received but not yet returned when the run was stopped.
    """

    def __init__(self, connection: Connection, redactor: Redactor, protocol: Protocol, prepare: Prepare) -> None:
        self.exchange: Exchange = new_exchange(redactor)
        self.exchange.protocol = protocol.name
        self.limits = RateLimits()
        self.should_retry: bool | None = None
        self.left: list[Event] = []
        self._connection = connection
        self._redactor = redactor
        self._protocol = protocol
        self._prepare = prepare
        self._transfer: Transfer | None = None
        self._decoder: Decoder | None = None
        self._sent = Sent(endpoint=protocol.name)
        self._finished: set[int] = set()  # completions with a finish reason
        self._answered: set[int] = set()  # completions with content or a call
        self._begun: set[int] = set()  # completions with a part
        self._choices = 1
        self._done = False

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> list[Event]:
        if self._done:
            await self.aclose()
            raise StopAsyncIteration
        try:
            return await self._next()
        except TransferError as error:
            return await self._fail(error.failure)
        except (asyncio.CancelledError, GeneratorExit):
            await self.aclose()
            raise
        except Exception as error:  # noqa: BLE001 - our own fault must not lose what was received; the message names it
            words = self._redactor.text(f"{type(error).__name__}: {error}")
            message = f"Something in this program went wrong while reading the answer ({words})."
            return await self._fail(Failure(kind=FailureKind.INTERNAL, message=message))

    async def aclose(self) -> None:
        """Stop: close the socket now and decode what was received. Safe to call at any time, and twice."""
        if not self._done:
            self._done = True
            self.left = self._decode_rest()
        if self._transfer is not None:
            await self._transfer.aclose()

    def _decode_rest(self) -> list[Event]:
        """Return the events of everything received and not decoded yet; nothing is read after it."""
        if self._transfer is None or self._decoder is None:
            return []
        data = self._transfer.take_rest()
        return self._decoder.decode_bytes(data) if data else []

    async def _next(self) -> list[Event]:
        transfer, decoder = self._transfer, self._decoder
        if transfer is None or decoder is None:
            return await self._open()
        data = await transfer.read_piece()
        if data is None:
            events = decoder.close(delimited=transfer.exchange.delimited)
            self._done = True
        else:
            events = self._decode(data, transfer, decoder)
            if decoder.finished:
                events = [*events, *decoder.close()]
                self._done = True
        events = self._watch(events, transfer)
        if self._done:
            ended = decoder.finished or self.exchange.failure is None  # an answer may be whole and empty
            transfer.exchange.complete = transfer.exchange.complete or ended
            if self.exchange.failure is None:
                events = [*events, *self._request_mismatches(decoder)]
            self.left = events  # for a cancellation while the connection is closed
            if decoder.finished and data is not None:
                await transfer.finish()
            await transfer.aclose()
            self.left = []
        return events

    @staticmethod
    def _decode(data: bytes, transfer: Transfer, decoder: Decoder) -> list[Event]:
        if not data and transfer.is_holding and transfer.clock.stage in (Stage.FIRST, Stage.IDLE):
            transfer.clock.wait_for(Stage.IDLE)  # text was received, and is held back
        return decoder.decode_bytes(data)

    async def _open(self) -> list[Event]:
        try:
            transport, request = await self._prepare()
        except ValueError as error:
            message = self._redactor.text(str(error))
            raise TransferError(Failure(kind=FailureKind.INPUT, message=message, cause=cause_of(error))) from None
        exchange = self.exchange
        record_request(exchange, self._redactor, request)
        self._choices = request.choices
        self._sent = Sent(
            endpoint=self._protocol.name,
            keyed=request.keyed or bool(self._connection.secret_headers),
            streamed=request.streams,
        )
        self._transfer = transfer = Transfer(transport, self._connection, self._redactor, request, exchange)
        await transfer.start()
        now = time.time()
        self.limits = read_limits(exchange.response_headers, now)
        self.should_retry = read_should_retry(exchange.response_headers)
        if (exchange.status or 0) >= 300:
            raise TransferError(await read_refusal(transfer, self._redactor, now))
        self._decoder = self._protocol.decoder(exchange.content_type, self._connection.max_event_bytes)
        return []

    def _watch(self, events: list[Event], transfer: Transfer) -> list[Event]:
        """Restart the clocks, and note a failure, with a summary of the request in it."""
        if not events:
            return events
        kinds = set(map(type, events))  # fast, for a read may hold thousands of fragments
        content = not CONTENT.isdisjoint(kinds)
        if Finish in kinds:
            self._finished.update(event.choice for event in events if isinstance(event, Finish))
        if content and len(self._answered) < self._choices:
            self._answered |= _choices_answered(events)
        if PartStart in kinds:
            self._begun.update(event.choice for event in events if isinstance(event, PartStart))
        if Failed in kinds:
            events = self._with_request(events)
            self.exchange.failure = self.exchange.failure or next(e.failure for e in events if isinstance(e, Failed))
        if self.exchange.failure is not None:
            if content or transfer.clock.stage is not Stage.ERROR:
                transfer.clock.wait_for(Stage.ERROR)
        elif len(self._finished & self._answered) >= self._choices:  # a reason before any content is early
            if content or transfer.clock.stage is not Stage.SETTLE:
                transfer.clock.wait_for(Stage.SETTLE)
        elif content:
            transfer.clock.wait_for(Stage.IDLE)
        return events

    def _request_mismatches(self, decoder: Decoder) -> Iterator[Deviation]:
        """Yield how a whole answer is of another kind than requested."""
        for code, note in self.exchange.mended.items():
            yield Deviation(code, note)
        streamed = not decoder.is_one_body
        declared = (self.exchange.content_type or "").startswith("text/event-stream")  # noted by the decoder
        if streamed != self._sent.streamed and (streamed or not declared):
            yield Deviation(*other_way(streamed=streamed))
        if len(self._begun) != self._choices:
            yield Deviation(*other_count(self._choices, len(self._begun)))

    def _with_request(self, events: list[Event]) -> list[Event]:
        """Add to each failure the summary of the request."""
        return [
            Failed(event.failure.model_copy(update={"sent": self._sent})) if isinstance(event, Failed) else event
            for event in events
        ]

    async def _fail(self, failure: Failure) -> list[Event]:
        """Return the last events after an error of the connection or of this program."""
        self._done = True
        failure = failure.model_copy(update={"sent": self._sent})
        if self._awaits_answer and failure.group is FailureGroup.TIMEOUT:
            failure = failure.model_copy(update={"message": f"{failure.message} {_EARLY}"})
        events = self._close_decoder()
        verdicts = [event for event in events if isinstance(event, Failed)]
        reported = next((event.failure for event in verdicts if event.failure.kind not in GUESSES), None)
        if self.exchange.failure is None and reported is None:
            if self._decoder is not None and not verdicts and not self._awaits_answer:
                events.append(Deviation("broken_after_end", f"The answer was whole. After it: {failure.message}"))
            else:
                events = [event for event in events if not _is_guess(event)]
                events.append(Failed(failure))
                self.exchange.failure = failure
        elif self.exchange.failure is None:
            self.exchange.failure = reported
        if self._transfer is not None:
            await self._transfer.aclose()
        elif self.exchange.ended is None:
            self.exchange.ended = 0.0
        return events

    @property
    def _awaits_answer(self) -> bool:
        """Return whether a completion has a finish reason, and neither content nor a call."""
        return not self._finished <= self._answered

    def _close_decoder(self) -> list[Event]:
        if self._decoder is None:
            return []
        try:
            return self._with_request([*self._decode_rest(), *self._decoder.close()])
        except Exception:  # noqa: BLE001 - a decoder that failed may fail again; the first failure counts
            return [Failed(Failure(kind=FailureKind.CUT_OFF, message="The end could not be read."))]


def _choices_answered(events: list[Event]) -> set[int]:
    """Return the completions that events bring content or a call for; reasoning is neither."""
    return {
        event.choice
        for event in events
        if isinstance(event, TextDelta | RefusalDelta | ToolCallDelta | UnknownPart)
        or (isinstance(event, ExtraDelta) and "audio" in event.members)
    }


def _is_guess(event: Event) -> bool:
    """Return whether an event is a decoder's guess at the cause of an end, whose real cause is known."""
    return isinstance(event, Failed) or (isinstance(event, Deviation) and event.code in GUESSES)


async def read_refusal(transfer: Transfer, redactor: Redactor, now: float) -> Failure:
    """Return the failure of an answer with a status of 300 or above; ``now`` is Unix time in seconds."""
    exchange = transfer.exchange
    status = exchange.status or 0
    if status < 400:
        return _redirect(exchange)
    transfer.clock.wait_for(Stage.SETTLE)
    size = 0
    try:
        while size <= ERROR_BODY and (data := await transfer.read_piece()) is not None:
            size += len(data)
            if data:
                transfer.clock.wait_for(Stage.SETTLE)
    except TransferError:
        pass  # the status is known; an error body that does not end must not hide it
    transfer.release()
    failure = read_error(exchange.body, status)
    headers = exchange.response_headers
    wait = read_retry_after(headers, now)
    if wait is None:
        wait = failure.retry_after
    if wait is None and status == 429:
        wait = wait_for_window(read_limits(headers, now), failure.dimension)
    kind = failure.type or (exchange.response_header("x-amzn-errortype") or "").partition(":")[0] or None
    of_headers = exchange.response_header("x-request-id") or exchange.response_header("request-id")
    request_id = failure.request_id or of_headers
    return failure.model_copy(update={"retry_after": wait, "request_id": request_id, "type": kind})


def _redirect(exchange: Exchange) -> Failure:
    target = exchange.response_header("location") or ""
    message = "The gateway points elsewhere and does not say where."
    if target:
        message = f"The gateway points to {target[:300]}."
    return Failure(kind=FailureKind.REDIRECT, message=message, status=exchange.status)
