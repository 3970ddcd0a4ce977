"""What a stream said, as the answer it would have been without streaming (specification, section 2.4)."""

from __future__ import annotations

from playground.domain.accumulator import Accumulator, GrowingChoice
from playground.domain.members import with_members
from playground.domain.request import ReasoningReturn, SendReasoning
from playground.domain.transcript import Role, make_turn
from playground.jsonkit.values import JSONObject
from playground.protocols.chat.encode import encode_turns

_ALL = ReasoningReturn(when=SendReasoning.ALWAYS)


def write_answer(answer: Accumulator, created: int) -> JSONObject:
    """The completion object; ``created`` is Unix time in seconds."""
    choices = [_choice(answer.choices[index]) for index in sorted(answer.choices)]
    body: JSONObject = {
        "id": answer.id,
        "object": "chat.completion",
        "created": created,
        "model": answer.model,
        "choices": choices,
    }
    if answer.usage is not None and answer.usage.raw is not None:
        body["usage"] = answer.usage.raw
    return body


def _choice(choice: GrowingChoice) -> JSONObject:
    (message,) = encode_turns((make_turn(Role.ASSISTANT, "", *choice.freeze()),), _ALL)
    # An empty text is what a request sends for reasoning that never was; an answer does not have it.
    message = {name: value for name, value in message.items() if name in ("role", "content") or value}
    return {
        "index": choice.index,
        "message": with_members(message, choice.extra.get("chat", {})),
        "finish_reason": choice.finish_reason,
    }
