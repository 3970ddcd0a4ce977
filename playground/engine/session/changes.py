"""What a session tells, and whom: synchronously, in order, each of the kinds of change that it named.

Changes are values only: an observer looks the new state up in the session.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from playground.domain.transcript import Transcript
from playground.engine.session.run_state import RunState as RunState


@dataclass(frozen=True, slots=True)
class PathChanged:
    """Turns were added, removed or moved, or the head went elsewhere; ``by_run``: nobody did so by hand."""

    by_run: bool = False


@dataclass(frozen=True, slots=True)
class TurnChanged:
    """One turn has new parts or a new outcome; its place is the same."""

    turn_id: str
    by_run: bool = False


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
    """The rules for calls, typed results, reasons for waiting, delayed answers, calls that a server is asked, or loops
    are different. ``progress``: nothing but how far a server is with a call, 20 times a second at most.
    """

    progress: bool = False


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


Observer: TypeAlias = Callable[[Change], None]


#: What is another one for every lane of an experiment, when it is for one of them; the rest comes with every token, or
#: is one lane's own.
_OF_ALL: Final = frozenset({PathChanged, TurnChanged, SettingsChanged, TitleChanged, DebugChanged, DraftChanged})


class _Callbacks:
    """Those who are told, by kind of change."""

    def __init__(self) -> None:
        self._all: list[tuple[Observer, tuple[type[Change], ...]]] = []
        self._by_kind: dict[type[Change], tuple[Observer, ...]] = {}  # found out when first needed

    def add(self, callback: Observer, kinds: tuple[type[Change], ...]) -> Callable[[], None]:
        observer = (callback, kinds)
        self._all.append(observer)
        self._by_kind.clear()

        def cancel() -> None:
            with contextlib.suppress(ValueError):
                self._all.remove(observer)
            self._by_kind.clear()

        return cancel

    def clear(self) -> None:
        self._all.clear()
        self._by_kind.clear()

    def of(self, kind: type[Change]) -> tuple[Observer, ...]:
        if not self._all:
            return ()
        callbacks = self._by_kind.get(kind)
        if callbacks is None:
            callbacks = tuple(callback for callback, kinds in self._all if not kinds or kind in kinds)
            self._by_kind[kind] = callbacks
        return callbacks


class Observers:
    """Those of a session; ``beside`` are those of another lane of the same experiment."""

    def __init__(self, beside: Observers | None = None) -> None:
        self._own = _Callbacks()
        self._everywhere: _Callbacks = beside._everywhere if beside is not None else _Callbacks()
        self._lanes: list[_Callbacks] = beside._lanes if beside is not None else []
        self._lanes.append(self._own)

    def subscribe(self, callback: Observer, *kinds: type[Change], everywhere: bool = False) -> Callable[[], None]:
        """Tell ``callback`` of every change of these kinds from now on; of every change where none is named.

        Two kinds come with every token: who names others costs nothing then. ``everywhere``: of what happens in any
        lane of the experiment, once. Returns a function that ends it.
        """
        return (self._everywhere if everywhere else self._own).add(callback, kinds)

    def forget(self) -> None:
        """Nobody is told any more, in any lane: what is told and what tells it no longer keep each other."""
        for callbacks in (self._everywhere, *self._lanes):
            callbacks.clear()

    def tell(self, change: Change, *, here: bool = False) -> None:
        """Pass a change on; ``here``: to no other lane, whatever it is."""
        kind = type(change)
        for callback in self._own.of(kind):
            callback(change)
        for callback in self._everywhere.of(kind):
            callback(change)
        if not here and len(self._lanes) > 1 and kind in _OF_ALL:
            for lane in tuple(self._lanes):
                if lane is not self._own:
                    for callback in lane.of(kind):
                        callback(change)
