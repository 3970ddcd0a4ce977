"""Change events of an experiment, told to observers synchronously and in order.

Changes are values: an observer reads the new state from the session.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from playground.domain.transcript import Transcript


class RunState(StrEnum):
    """State of the runs of a lane."""

    IDLE = "idle"
    WAITING = "waiting"  # the request was sent, nothing has come back
    STREAMING = "streaming"
    RETRYING = "retrying"  # an attempt failed before any content; another one follows after a wait
    ANSWERING = "answering"  # calls are being answered: by a server, or with a delay


@dataclass(frozen=True, slots=True)
class PathChanged:
    """Turns were added, removed or moved, or the head moved; `by_run`: not by hand."""

    by_run: bool = False


@dataclass(frozen=True, slots=True)
class TurnChanged:
    """One turn has new parts or a new outcome; its place is unchanged."""

    turn_id: str
    by_run: bool = False


@dataclass(frozen=True, slots=True)
class TurnGrew:
    """A turn being received has more content: `session.growing[turn_id]`."""

    turn_id: str


#: A call: the id of its turn, and its own id.
CallKey: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TurnsCopied:
    """Turns are copied for a new branch: their new ids by the old ones. Told before the branch exists."""

    copies: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CallEdited:
    """A call was edited: its key before and now, and the transcript before."""

    was: CallKey
    now: CallKey
    before: Transcript


@dataclass(frozen=True, slots=True)
class RunStateChanged:
    """A run began, got its first answer, or ended."""

    state: RunState


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """Gateway, protocol, model, parameters, tools or extra body changed, and with them the next request."""


@dataclass(frozen=True, slots=True)
class TitleChanged:
    """The experiment's title or summary changed."""


@dataclass(frozen=True, slots=True)
class ExchangeChanged:
    """An exchange was added, or more of it is known."""

    exchange_id: str


@dataclass(frozen=True, slots=True)
class DebugChanged:
    """The rules for calls, typed results, reasons for waiting, pending answers, server calls or runs changed.

    `progress`: only the progress of a server changed, 20 times a second at most.
    """

    progress: bool = False


@dataclass(frozen=True, slots=True)
class DraftChanged:
    """The content of the composer or of an open editor changed."""


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


Observer: TypeAlias = Callable[[Change], None]


#: Changes that are reported to every lane of an experiment, whichever lane they happen in.
_SHARED: Final = frozenset({PathChanged, TurnChanged, SettingsChanged, TitleChanged, DebugChanged, DraftChanged})


class _Callbacks:
    """Observers, each with the kinds of change it wants; none means all."""

    def __init__(self) -> None:
        self._observers: list[tuple[Observer, tuple[type[Change], ...]]] = []

    def add(self, callback: Observer, kinds: tuple[type[Change], ...]) -> Callable[[], None]:
        observer = (callback, kinds)
        self._observers.append(observer)

        def cancel() -> None:
            with contextlib.suppress(ValueError):
                self._observers.remove(observer)

        return cancel

    def clear(self) -> None:
        self._observers.clear()

    def tell(self, change: Change) -> None:
        for callback, kinds in tuple(self._observers):
            if not kinds or type(change) in kinds:
                callback(change)


class ObserverGroup:
    """The observers of all lanes of an experiment."""

    def __init__(self) -> None:
        self.everywhere = _Callbacks()
        self.lanes: list[_Callbacks] = []

    def clear(self) -> None:
        """Remove all observers."""
        for callbacks in (self.everywhere, *self.lanes):
            callbacks.clear()

    def tell(self, change: Change) -> None:
        """Tell a change to the observers of all lanes."""
        for callbacks in (self.everywhere, *self.lanes):
            callbacks.tell(change)


class Observers:
    """The observers of one lane."""

    def __init__(self, group: ObserverGroup) -> None:
        self._group = group
        self._own = _Callbacks()
        group.lanes.append(self._own)

    def subscribe(self, callback: Observer, *kinds: type[Change], everywhere: bool = False) -> Callable[[], None]:
        """Call `callback` for changes of these kinds in this lane, of all kinds if none is named.

        `everywhere`: once for changes in any lane of the experiment. Returns a function that cancels it.
        """
        return (self._group.everywhere if everywhere else self._own).add(callback, kinds)

    def forget(self) -> None:
        """Remove all observers of all lanes."""
        self._group.clear()

    def tell(self, change: Change, *, only_this_lane: bool = False) -> None:
        """Tell a change to the observers; shared kinds to those of all lanes, unless `only_this_lane`."""
        self._own.tell(change)
        self._group.everywhere.tell(change)
        if not only_this_lane and type(change) in _SHARED:
            for lane in tuple(self._group.lanes):
                if lane is not self._own:
                    lane.tell(change)
