"""What a session tells its observers. Values only: an observer looks the new state up in the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from playground.domain.transcript import Transcript
from playground.engine.session.run_state import RunState as RunState


@dataclass(frozen=True, slots=True)
class PathChanged:
    """Turns were added, removed or moved, or the head went elsewhere."""


@dataclass(frozen=True, slots=True)
class TurnChanged:
    """One turn has new parts or a new outcome; its place is the same."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class TurnGrew:
    """A turn being received has more in it: ``session.growing[turn_id]``."""

    turn_id: str


#: A call: the turn that made it, and its id there.
CallKey: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TurnsCopied:
    """Turns are being copied for a branch that is shown from then on: ids of both. Told before it is there."""

    copies: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CallEdited:
    """A call is another one: what it was, where it is now, and the turns as they were before."""

    was: CallKey
    now: CallKey
    before: Transcript


@dataclass(frozen=True, slots=True)
class RunStateChanged:
    """The run began, got its first answer, or ended."""

    state: RunState


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """Gateway, protocol, model, parameters, tools or extra body are different: what will be sent is too."""


@dataclass(frozen=True, slots=True)
class TitleChanged:
    """The experiment's title or its line of state is different."""


@dataclass(frozen=True, slots=True)
class ExchangeChanged:
    """An exchange was added, or more of it is known."""

    exchange_id: str


@dataclass(frozen=True, slots=True)
class DebugChanged:
    """The rules for calls, typed results, reasons for waiting, delayed answers, loops or forks are different."""


@dataclass(frozen=True, slots=True)
class DraftChanged:
    """What stands in the composer is different."""


Change: TypeAlias = (
    PathChanged
    | TurnChanged
    | TurnGrew
    | TurnsCopied
    | CallEdited
    | RunStateChanged
    | SettingsChanged
    | TitleChanged
    | ExchangeChanged
    | DebugChanged
    | DraftChanged
)
