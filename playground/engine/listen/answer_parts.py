"""The texts and tool calls of a complete answer, as a person edits them."""

from __future__ import annotations

from dataclasses import dataclass

from playground.engine.listen.pauses import MadeCall
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSONObject
from playground.protocols.answer_format import AddCall, AnswerEdit, DropCall, SetCall, SetText
from playground.protocols.answer_format import MadeCall as AddedCall
from playground.protocols.protocol import get_protocol


@dataclass(frozen=True, slots=True)
class EditedCall:
    """A call of an answer; ``place`` is its number among the received calls, None for an added one.

    ``free_text``: its input is no JSON.
    """

    name: str
    arguments: str
    place: int | None = None
    free_text: bool = False


@dataclass(frozen=True, slots=True)
class AnswerParts:
    """Texts and calls of an answer, in order. An edited answer has all texts, and may lack or add calls."""

    texts: tuple[str, ...] = ()
    calls: tuple[EditedCall, ...] = ()

    @property
    def made_calls(self) -> tuple[MadeCall, ...]:
        """The calls of an answer that is made from scratch."""
        return tuple(MadeCall(call.name, call.arguments) for call in self.calls)


def read_parts(protocol: str, body: bytes) -> AnswerParts | None:
    """Return the parts of an answer body; None for one that is no answer of the protocol."""
    value = _object(body)
    if value is None or not protocol:
        return None
    answers = get_protocol(protocol).answers
    return AnswerParts(
        tuple(text.text for text in answers.texts(value)),
        tuple(
            EditedCall(call.name, call.arguments, place, call.free_text)
            for place, call in enumerate(answers.calls(value))
        ),
    )


def with_parts(protocol: str, body: bytes, edited: AnswerParts) -> JSONObject:
    """Return an answer with edited parts; all other members are as received. Raises ValueError in words."""
    value = _object(body)
    if value is None or not protocol:
        raise ValueError("The answer is no JSON object.")
    answers = get_protocol(protocol).answers
    edits: list[AnswerEdit] = [
        SetText(text.path, new)
        for text, new in zip(answers.texts(value), edited.texts, strict=True)
        if new != text.text
    ]
    by_place = {call.place: call for call in edited.calls if call.place is not None}
    for place, call in enumerate(answers.calls(value)):
        new_call = by_place.get(place)
        if new_call is None:
            edits.append(DropCall(call.path))
        elif (new_call.name, new_call.arguments) != (call.name, call.arguments):
            edits.append(SetCall(call.path, new_call.name, new_call.arguments))
    edits += [AddCall(AddedCall(call.name, call.arguments)) for call in edited.calls if call.place is None]
    return answers.edit(value, edits)


def _object(body: bytes) -> JSONObject | None:
    try:
        value = parse_json(body.decode("utf-8"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
