"""The conversation that recorded exchanges tell of: what each request said, and what was answered to it.

Requests overlap, since each holds all turns before it: a turn that says the same in the same place is the same turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from playground.domain.accumulator import Accumulator
from playground.domain.errors import GUESSES, FailureKind
from playground.domain.events import Event, ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta
from playground.domain.output import format_of
from playground.domain.prices import Asked
from playground.domain.request import Request
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, new_id
from playground.domain.usage import Timing
from playground.gateway.tape import Exchange
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.protocol import get_protocol


def body_of(exchange: Exchange) -> JSONObject | None:
    """The body that was sent, where it is a JSON object."""
    try:
        body = parse_json(exchange.request_body.decode("utf-8", "replace"))
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def request_of(exchange: Exchange) -> Request | None:
    """The request that was recorded; None where it cannot be read back."""
    body = body_of(exchange)
    if body is None or not exchange.protocol:
        return None
    try:
        return get_protocol(exchange.protocol).read_body(body)[0]
    except (ValueError, RecursionError):
        return None


def transcript_of(exchanges: Iterable[Exchange]) -> Transcript:
    """All turns, the head at the last answer."""
    transcript = Transcript()
    for exchange in exchanges:
        request = request_of(exchange)
        if request is None:
            continue
        at: str | None = None
        for turn in request.turns:
            transcript, at = _reach(transcript, at, turn)
        transcript = transcript.truncate_after(at).append_variants(answers_of(exchange))
    return transcript


def answers_of(exchange: Exchange) -> tuple[Turn, ...]:
    """The turns that an exchange brought, one a choice; one that says what went wrong, where nothing came."""
    answer = Accumulator()
    marks: dict[str, float] = {}
    times: dict[tuple[int, int], tuple[float, float]] = {}
    if exchange.protocol and (exchange.status or 0) < 300:
        for read, events in exchange.replay(get_protocol(exchange.protocol).decoder(exchange.content_type)):
            answer.add_events(events)
            _mark(marks, times, events, read.at)
    failure = exchange.failure
    if failure is None and answer.failure is not None and (exchange.complete or answer.failure.kind not in GUESSES):
        failure = answer.failure
    if failure is not None:
        ending = Ending.CUT_OFF if failure.kind is FailureKind.CUT_OFF else Ending.FAILED
    else:
        ending = Ending.COMPLETE if exchange.complete else Ending.STOPPED
    sent = body_of(exchange) or {}
    model = sent.get("model")
    asked = Asked(model=model if isinstance(model, str) else "")
    outcome = Outcome(
        ending=ending,
        model=answer.model or asked.model,
        response_id=answer.id,
        usage=answer.usage,
        timing=_timing(exchange, marks),
        failure=failure,
        deviations=tuple(answer.deviations.items()),
        holes=tuple(answer.holes),
        exchange=exchange.id,
        response_format=format_of(sent),
        streamed=sent.get("stream") is True,
        choices=answer.answered,
        asked=asked,
    )
    turns = []
    for index in sorted(answer.choices) or [0]:
        choice = answer.choice(index)
        own = {
            "finish_reason": choice.finish_reason,
            "choice": index,
            "call_times": tuple(pair for (of, _), pair in times.items() if of == index),
        }
        turn = Turn(
            id=new_id(),
            role=Role.ASSISTANT,
            parts=choice.freeze(),
            outcome=outcome.model_copy(update=own),
            extra=choice.extra,
        )
        turns.append(turn)
    return tuple(turns)


def _mark(
    marks: dict[str, float], times: dict[tuple[int, int], tuple[float, float]], events: list[Event], at: float
) -> None:
    for event in events:
        if isinstance(event, ToolCallDelta) and not event.only_late:
            key = (event.choice, event.call)
            times[key] = (times.get(key, (at, at))[0], at)
        if "first_content" in marks:
            continue
        if isinstance(event, ReasoningDelta):
            marks.setdefault("first_reasoning", at)
        elif isinstance(event, TextDelta | ToolCallDelta | RefusalDelta):
            marks["first_content"] = at
            if "first_reasoning" in marks:
                marks["reasoning_end"] = at


def _timing(exchange: Exchange, marks: dict[str, float]) -> Timing:
    return Timing(
        started_at=exchange.started_at,
        headers=exchange.answered,
        first_byte=exchange.reads[0].at if exchange.reads else None,
        first_reasoning=marks.get("first_reasoning"),
        first_content=marks.get("first_content"),
        reasoning_end=marks.get("reasoning_end"),
        end=exchange.ended,
    )


def _reach(transcript: Transcript, at: str | None, turn: Turn) -> tuple[Transcript, str]:
    """The turn below ``at`` that says the same, the newest of several; added where there is none."""
    said = _said(turn)
    for known in reversed(transcript.children(at)):
        if _said(transcript.turns[known]) == said:
            return transcript, known
    return transcript.truncate_after(at).append(turn), turn.id


def _said(turn: Turn) -> str:
    """What a turn says when it is sent again: not its reasoning, and arguments however they are laid out."""
    calls = [(call.id, call.name, _value(call.arguments)) for call in turn.calls]
    results = [(result.call_id, result.text) for result in turn.results]
    unknown = [part.value for part in turn.parts if part.kind == "unknown"]
    images = [image.url for image in turn.images]
    return json.dumps([turn.role.value, turn.text, turn.refusal, calls, results, images, unknown], sort_keys=True)


def _value(arguments: str) -> JSON:
    try:
        return parse_json(arguments) if arguments.strip() else {}
    except ValueError:
        return arguments
