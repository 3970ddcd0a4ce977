"""How a protocol changes a turn when it is sent: the terms and checks that all protocols share."""

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

#: LOST, CHANGED or DOUBTFUL, and a phrase for people.
ConversionNote = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TurnContext:
    """A turn and its position. ``before`` is the last turn that is no system turn.

    ``prompt`` means that a system turn precedes, ``answers`` that only results are between this turn and the calls
    before it. ``says`` returns the body of a request that has one turn only.
    """

    turn: Turn
    before: Turn | None
    prompt: bool
    answers: bool
    says: Callable[[Turn], JSONObject]


def side_of(turn: Turn) -> Role:
    """Return the side of a turn where there are only two: USER or ASSISTANT."""
    return Role.ASSISTANT if turn.role is Role.ASSISTANT else Role.USER


def is_object(arguments: str) -> bool:
    """Return whether the arguments of a call are a JSON object or empty."""
    try:
        return not arguments.strip() or isinstance(parse_json(arguments), dict)
    except ValueError:
        return False


def is_behind(turn: Turn, kind: type[Part]) -> bool:
    """Return whether a part of that kind follows one of another kind."""
    first = next((index for index, part in enumerate(turn.parts) if not isinstance(part, kind)), len(turn.parts))
    return any(isinstance(part, kind) for part in turn.parts[first:])
