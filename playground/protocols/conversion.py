"""What becomes of a turn in a protocol: what all of them say of it in the same way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from playground.domain.parts import Part
from playground.domain.transcript import Role, Turn
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSONObject

LOST: Final = "lost"  # will not be sent
CHANGED: Final = "changed"  # will be sent, in another shape or place
DOUBTFUL: Final = "doubtful"  # will be sent as it is, and may be refused

#: What becomes of something: LOST, CHANGED or DOUBTFUL, and the words.
Told = tuple[str, str]

SYSTEM: Final = (Role.SYSTEM, Role.DEVELOPER)


@dataclass(frozen=True, slots=True)
class TurnContext:
    """A turn, and where it stands. ``before`` is the last turn that is not of the system.

    ``prompt`` is whether a system turn came before, ``answers`` whether this one stands behind calls, with nothing but
    results between. ``says`` gives the body of nothing but a turn.
    """

    turn: Turn
    before: Turn | None
    prompt: bool
    answers: bool
    says: Callable[[Turn], JSONObject]


def side_of(turn: Turn) -> Role:
    """Who says a turn, where there are but two sides."""
    return Role.ASSISTANT if turn.role is Role.ASSISTANT else Role.USER


def is_object(arguments: str) -> bool:
    """Whether the arguments of a call are a JSON object, or nothing."""
    try:
        return not arguments.strip() or isinstance(parse_json(arguments), dict)
    except ValueError:
        return False


def is_behind(turn: Turn, kind: type[Part]) -> bool:
    """Whether a part of that kind stands behind one of another kind."""
    first = next((at for at, part in enumerate(turn.parts) if not isinstance(part, kind)), len(turn.parts))
    return any(isinstance(part, kind) for part in turn.parts[first:])
