"""The conversation that recorded exchanges tell of: what each request said, and what was answered to it.

Requests overlap, since each holds all turns before it: a turn that says the same in the same place is the same turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from playground.domain.errors import GUESSES
from playground.domain.prices import Asked
from playground.domain.request import Request
from playground.domain.transcript import Ending, Transcript, Turn, new_id
from playground.engine.session.request_executor import ReceivedAnswer
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
        transcript = transcript.truncate_after(at).append_alternatives(answers_of(exchange))
    return transcript


def answers_of(exchange: Exchange) -> tuple[Turn, ...]:
    """The turns that an exchange brought, one a choice; one that says what went wrong, where nothing came."""
    sent = body_of(exchange) or {}
    model = sent.get("model")
    received = ReceivedAnswer(Asked(model=model if isinstance(model, str) else ""), exchange.protocol, sent)
    answer = received.answer
    if exchange.protocol and (exchange.status or 0) < 300:
        last = exchange.reads[-1].at if exchange.reads else None  # what the end adds came with it
        for read, events in exchange.replay(get_protocol(exchange.protocol).decoder(exchange.content_type)):
            received.add_events(events, read.at if read.data else last)
    failure = exchange.failure
    if failure is None and answer.failure is not None and (exchange.complete or answer.failure.kind not in GUESSES):
        failure = answer.failure
    outcome = received.outcome(Ending.COMPLETE if exchange.complete else Ending.STOPPED, failure, exchange)
    return tuple(received.turn(new_id(), index, outcome) for index in sorted(answer.choices) or [0])


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
