"""How a protocol writes one turn by itself: for telling what of a turn is sent by taking things out of it."""

from __future__ import annotations

from playground.domain.parts import Part, ToolCall
from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.tools import parse_json
from playground.domain.transcript import Turn
from playground.domain.values import JSONObject
from playground.protocols.protocol import get_protocol


class Wire:
    """One protocol, with all reasoning sent back; ``field`` is the name it goes under, empty: as it came.

    Raises ValueError for a protocol that we do not speak.
    """

    def __init__(self, protocol: str, field: str = "") -> None:
        self._protocol = get_protocol(protocol)
        self.name, self.title = protocol, self._protocol.title
        rule = ReasoningReturn(when=SendReasoning.ALWAYS, field=field)
        self._blank = Request(protocol=protocol, model="", reasoning_return=rule)

    def says(self, turn: Turn) -> JSONObject:
        """The body of nothing but this turn; arguments that cannot be written count as none."""
        sound = turn.model_copy(update={"parts": tuple(_sound(part) for part in turn.parts)})
        return self._protocol.encode(self._blank.model_copy(update={"turns": (sound,)}))

    def leaves_out(self, turn: Turn) -> bool:
        """Whether nothing of a turn is written, but perhaps a message without content."""
        body = self.says(turn)
        messages: list[JSONObject] = body["messages"]
        return "system" not in body and all(m.keys() == {"role", "content"} and not m["content"] for m in messages)


def is_object(arguments: str) -> bool:
    """Whether the arguments of a call are a JSON object, or nothing."""
    try:
        return not arguments.strip() or isinstance(parse_json(arguments), dict)
    except ValueError:
        return False


def _sound(part: Part) -> Part:
    """A part that either protocol can write."""
    if isinstance(part, ToolCall) and not is_object(part.arguments):
        return part.model_copy(update={"arguments": ""})
    return part
