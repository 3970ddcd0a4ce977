"""The conversation in recorded exchanges: the turns of all requests and their answers.

Requests overlap, since each has all turns before it: equal turns in the same place are one turn.
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
    """Return the request body if it is a JSON object, or None."""
    try:
        body = parse_json(exchange.request_body.decode("utf-8", "replace"))
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def request_of(exchange: Exchange) -> Request | None:
    """Return the recorded request, or None if it cannot be parsed."""
    body = body_of(exchange)
    if body is None or not exchange.protocol:
        return None
    try:
        return get_protocol(exchange.protocol).read_body(body)[0]
    except (ValueError, RecursionError):
        return None


def transcript_of(exchanges: Iterable[Exchange]) -> Transcript:
    """Return all turns, with the head at the last answer."""
    transcript = Transcript()
    for exchange in exchanges:
        request = request_of(exchange)
        if request is None:
            continue
        parent: str | None = None
        for turn in request.turns:
            transcript, parent = _find_or_add(transcript, parent, turn)
        transcript = transcript.truncate_after(parent).append_alternatives(answers_of(exchange))
    return transcript


def answers_of(exchange: Exchange) -> tuple[Turn, ...]:
    """Return the turns of an answer, one for each choice; one with the failure if there is none."""
    sent = body_of(exchange) or {}
    model = sent.get("model")
    received = ReceivedAnswer(Asked(model=model if isinstance(model, str) else ""), exchange.protocol, sent)
    answer = received.answer
    if exchange.protocol and (exchange.status or 0) < 300:
        last = exchange.reads[-1].at if exchange.reads else None  # events of the end came with the last read
        for read, events in exchange.replay(get_protocol(exchange.protocol).decoder(exchange.content_type)):
            received.add_events(events, read.at if read.data else last)
    failure = exchange.failure
    if failure is None and answer.failure is not None and (exchange.complete or answer.failure.kind not in GUESSES):
        failure = answer.failure
    outcome = received.outcome(Ending.COMPLETE if exchange.complete else Ending.STOPPED, failure, exchange)
    return tuple(received.turn(new_id(), index, outcome) for index in sorted(answer.choices) or [0])


def _find_or_add(transcript: Transcript, parent: str | None, turn: Turn) -> tuple[Transcript, str]:
    """Return the transcript and the newest equal turn below ``parent``, which is added if there is none."""
    key = _turn_key(turn)
    for child in reversed(transcript.children(parent)):
        if _turn_key(transcript.turns[child]) == key:
            return transcript, child
    return transcript.truncate_after(parent).append(turn), turn.id


def _turn_key(turn: Turn) -> str:
    """Return a text that is equal for equal turns, without reasoning and the layout of arguments."""
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
