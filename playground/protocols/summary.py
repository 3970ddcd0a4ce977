"""A recorded response body in one plain dictionary, for the command line and for comparing gateways.

No bytes make it raise; only an unknown protocol does (ValueError).
"""

from __future__ import annotations

import itertools
from math import isfinite

from playground.domain.accumulator import Accumulator, GrowingChoice
from playground.domain.errors import Failure, FailureKind
from playground.jsonkit import foreign
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.cumulative import without_repeats
from playground.protocols.error_fields import error_fields
from playground.protocols.protocol import get_protocol

#: Verdicts of ours about a body; the gateway said nothing of the kind.
_OURS = (FailureKind.CUT_OFF, FailureKind.NO_BODY, FailureKind.EMPTY)


def summarise(
    protocol_name: str, data: bytes, content_type: str | None = None, *, cumulative: bool = False
) -> JSONObject:
    """Return the content of the body ``data``; ``cumulative`` removes the repeats of cumulative deltas.

    ``choices`` holds index, content, reasoning, tool_calls (id, name, arguments as raw text) and finish_reason of
    each completion, and where it has them, ``refusal`` and ``unknown``: items that the gateway ran itself, and
    parts of unknown kinds; ``usage`` is the object as received, or None; ``complete`` whether an end marker or all
    finish reasons came and no error; ``error`` is None or message, code (as received), type, status, param and
    request_id; ``deviations`` lists code and note. That an answer is cut off, empty or not there is a deviation,
    not an error. Ids made here for calls that came without one are ``call_1``, ``call_2`` and so on. All of it can
    be written as JSON.
    """
    numbers = itertools.count(1)
    decoder = get_protocol(protocol_name).decoder(content_type, make_id=lambda: f"call_{next(numbers)}")
    answer = Accumulator()
    events = [*decoder.decode_bytes(data), *decoder.close()]
    answer.add_events(without_repeats(events) if cumulative else events)
    failure = answer.failure
    ours = failure is not None and failure.kind in _OURS
    return {
        "choices": [_choice(answer.choices[index]) for index in sorted(answer.choices)],
        "usage": answer.usage.raw if answer.usage else None,
        "complete": answer.ending_seen and not answer.holes and (failure is None or failure.kind is FailureKind.EMPTY),
        "error": None if failure is None or ours else _error(failure),
        "deviations": [{"code": code, "note": note} for code, note in answer.deviations.items()],
    }


def _choice(choice: GrowingChoice) -> JSONObject:
    refusal = "".join(part.text for part in choice.parts if part.kind == "refusal")
    unknown: list[JSON] = [part.value for part in choice.freeze() if part.kind == "unknown"]
    return {
        "index": choice.index,
        "content": "".join(part.text for part in choice.parts if part.kind == "text"),
        "reasoning": "".join(part.text for part in choice.parts if part.kind == "reasoning"),
        "tool_calls": [{"id": call.id, "name": call.name, "arguments": call.text} for call in choice.calls.values()],
        "finish_reason": choice.finish_reason,
        **({"refusal": refusal} if refusal else {}),
        **({"unknown": unknown} if unknown else {}),
    }


def _error(failure: Failure) -> JSONObject:
    return {
        "message": failure.message,
        "code": _code(failure),
        "type": failure.type,
        "status": failure.status,
        "param": failure.param,
        "request_id": failure.request_id,
    }


def _code(failure: Failure) -> JSON:
    """The code as received, number or text, where the body can still be read."""
    try:
        code = error_fields(foreign.parse(failure.body)).code
    except ValueError:
        return failure.code
    finite = not isinstance(code, float) or isfinite(code)
    return code if finite and foreign.text_of(code) == failure.code else failure.code
