"""The output of `playground run --json`: one answer, or the transcript of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from playground.domain.members import Extra
from playground.domain.parts import Reasoning, Text, ToolResult
from playground.domain.request import Request
from playground.domain.transcript import Outcome, Role, Turn
from playground.engine.inspect.endings import ending_note
from playground.jsonkit.values import JSONObject
from playground.protocols import DEFAULT, MESSAGES
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.session.session import Session


def received_answers(session: Session) -> tuple[Turn, ...]:
    """Return the answers to the last request by choice; empty where none was sent."""
    transcript = session.transcript
    last = transcript.path[-1] if transcript.path else None
    if last is None or last.outcome is None:
        return ()
    return choices_of(session, last)


def choices_of(session: Session, turn: Turn) -> tuple[Turn, ...]:
    """Return all answers to the request that `turn` answers, in the order of the choices."""
    exchange = turn.outcome.exchange if turn.outcome is not None else None
    if exchange is None:
        return (turn,)
    siblings = [session.transcript.turns[key] for key in session.transcript.siblings(turn.id)]
    choices = [(item.outcome.choice, item) for item in siblings if item.outcome and item.outcome.exchange == exchange]
    return tuple(item for _, item in sorted(choices, key=lambda pair: pair[0]))


def answer_json(turns: Sequence[Turn]) -> JSONObject:
    """Return the answer to one request: the first choice at the top, all of them under ``choices``."""
    choices = [_choice(turn) for turn in turns if turn.parts or turn.extra or _finish(turn) is not None]
    first = choices[0] if choices else _choice(None)
    outcome = turns[0].outcome if turns else None
    return {
        "role": "assistant",
        **{name: value for name, value in first.items() if name != "index"},
        "id": outcome.response_id if outcome else "",
        "model": outcome.model if outcome else "",
        "usage": outcome.usage.raw if outcome and outcome.usage else None,
        "complete": bool(turns) and all(map(is_complete, turns)),
        "error": _error(outcome),
        "deviations": _deviations(outcome),
        "choices": choices,
    }


def is_complete(turn: Turn) -> bool:
    """Return whether an answer was received completely and could be read."""
    return turn.outcome is not None and turn.outcome.is_complete


def _finish(turn: Turn | None) -> str | None:
    return turn.outcome.finish_reason if turn is not None and turn.outcome is not None else None


def _choice(turn: Turn | None) -> JSONObject:
    out: JSONObject = {
        "index": turn.outcome.choice if turn is not None and turn.outcome is not None else 0,
        "content": turn.text if turn is not None else "",
        "reasoning": turn.reasoning if turn is not None else "",
        "tool_calls": _calls(turn) if turn is not None else [],
        "finish_reason": _finish(turn),
    }
    return {**out, **_rare_parts(turn), **_ending(turn)} if turn is not None else out


def _ending(turn: Turn) -> JSONObject:
    """Return the note on an unusual end of an answer."""
    note = ending_note(turn)
    return {"ending": {"message": note.words, "usable": note.usable}} if note is not None else {}


def _rare_parts(turn: Turn) -> JSONObject:
    """Return the parts that few answers have."""
    out: JSONObject = {"refusal": turn.refusal} if turn.refusal else {}
    if unknown := [part.value for part in turn.parts if part.kind == "unknown"]:
        out["unknown"] = unknown
    texts = [part for part in turn.parts if isinstance(part, Text | Reasoning) and part.extra]
    if texts:
        out["texts"] = [{"kind": part.kind, "text": part.text, **_extra(part.extra)} for part in texts]
    return {**out, **_extra(turn.extra)}


def _calls(turn: Turn) -> list[JSONObject]:
    return [
        {
            "id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            **({"type": "custom"} if call.free_text else {}),
            **_extra(call.extra),
        }
        for call in turn.calls
    ]


def _server_fields(result: ToolResult) -> JSONObject:
    """Return a result's images, and the server and structured content where a tool server gave it."""
    out: JSONObject = {"images": [image.url for image in result.images]} if result.images else {}
    if (served := result.served) is not None:
        out["server"] = served.server
        if served.structured is not None:
            out["structured"] = served.structured
    return out


def _extra(extra: Extra) -> JSONObject:
    """Return the members that no field holds, unchanged."""
    return {"extra": members} if (members := next(iter(extra.values()), None)) else {}


def _error(outcome: Outcome | None) -> JSONObject | None:
    failure = outcome.failure if outcome is not None else None
    return failure.model_dump(mode="json", exclude_none=True) if failure is not None else None


def _deviations(outcome: Outcome | None) -> list[JSONObject]:
    if outcome is None:
        return []
    return [
        {"code": code, "note": note, **({"hole": True} if code in outcome.holes else {})}
        for code, note in outcome.deviations
    ]


def transcript_json(session: Session) -> JSONObject:
    """Return a whole loop: its turns, the waiting calls and warnings."""
    debugger = session.debugger
    return {
        "requests": debugger.requests,
        "turns": [message for turn in session.transcript.path for message in _messages(session, turn)],
        "waiting": [
            {
                "id": call.id,
                "name": call.name,
                "arguments": call.arguments,
                "reason": reason.code.value if (reason := debugger.reason(turn_id, call.id)) else "no_row",
            }
            for turn_id, call in debugger.waiting
        ],
        "paused": debugger.answer_paused,
        "warnings": list(debugger.warnings.values()),
    }


def _messages(session: Session, turn: Turn) -> list[JSONObject]:
    """Return a turn: the fields of its messages (specification, section 2.1) and of its outcome."""
    if turn.role is Role.TOOL and turn.results:
        return [
            {
                "role": "tool",
                "tool_call_id": result.call_id,
                "content": result.text,
                "is_error": result.is_error,
                "answered_by": result.by,
                **_server_fields(result),
            }
            for result in turn.results
        ]
    if turn.role is not Role.ASSISTANT:
        request = Request(protocol=DEFAULT, model="", turns=(turn,))
        messages: list[JSONObject] = get_protocol(DEFAULT).encode(request)[MESSAGES]
        return messages
    out: JSONObject = {"role": turn.role.value, "content": turn.text}
    if turn.reasoning:
        out["reasoning"] = turn.reasoning
    out |= _rare_parts(turn)
    if turn.calls:
        out["tool_calls"] = _calls(turn)
    outcome = turn.outcome
    if outcome is not None:
        out |= {
            "model": outcome.model,
            "id": outcome.response_id,
            "finish_reason": outcome.finish_reason,
            "usage": outcome.usage.raw if outcome.usage else None,
            "complete": is_complete(turn) and not turn.truncated,
            "seconds": outcome.timing.end if outcome.timing else None,
            "error": _error(outcome),
            "deviations": _deviations(outcome),
            **_ending(turn),
        }
        if len(choices := choices_of(session, turn)) > 1:
            out["choices"] = [_choice(item) for item in choices]
    return [out]
