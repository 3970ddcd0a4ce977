"""How a protocol writes one turn by itself: for telling what of a turn is sent by taking things out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from playground.domain.members import Extra
from playground.domain.parts import Part, ToolCall
from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.transcript import Turn
from playground.jsonkit.values import JSONObject
from playground.protocols.conversion import is_object
from playground.protocols.protocol import get_protocol

MOST: Final = 40  # names that are looked at one by one; of more, several at once, and
TOO_MANY: Final = 1_000  # are looked at as one


class Wire:
    """One protocol, with all reasoning sent back; ``field`` is the name it goes under, empty: as it came.

    Raises ValueError for a protocol that we do not speak.
    """

    def __init__(self, protocol: str, field: str = "") -> None:
        self.protocol = get_protocol(protocol)
        self.name, self.title = protocol, self.protocol.title
        rule = ReasoningReturn(when=SendReasoning.ALWAYS, field=field)
        self._blank = Request(protocol=protocol, model="", reasoning_return=rule)

    def says(self, turn: Turn) -> JSONObject:
        """The body of nothing but this turn; arguments that cannot be written count as none."""
        sound = turn.model_copy(update={"parts": tuple(_sound(part) for part in turn.parts)})
        return self.protocol.encode(self._blank.model_copy(update={"turns": (sound,)}))

    def leaves_out(self, turn: Turn) -> bool:
        """Whether nothing of a turn is written, but perhaps a message without content."""
        body = self.says(turn)
        *above, said = self.protocol.conversation
        messages: list[JSONObject] = body[said]
        empty = all(message.keys() == {"role", "content"} and not message["content"] for message in messages)
        return empty and body.keys().isdisjoint(above)


def telling(names: Iterable[str], makes_a_difference: Callable[[frozenset[str]], bool]) -> list[str]:
    """Those of ``names`` without which something is different; of very many, whole groups are taken for telling."""
    given = list(names)
    step = -(-len(given) // MOST) if len(given) < TOO_MANY else len(given)
    groups = [given[at : at + step] for at in range(0, len(given), max(step, 1))]
    return [name for group in groups if makes_a_difference(frozenset(group)) for name in group]


def without(extra: Extra, protocol: str, names: frozenset[str]) -> Extra:
    """What something came with, less the members of these names."""
    return {**extra, protocol: {name: value for name, value in extra[protocol].items() if name not in names}}


def _sound(part: Part) -> Part:
    """A part that either protocol can write."""
    if isinstance(part, ToolCall) and not part.free_text and not is_object(part.arguments):
        return part.model_copy(update={"arguments": ""})
    return part
