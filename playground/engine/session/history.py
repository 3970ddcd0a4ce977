"""The states an experiment can go back and forth to: its turns and what is set, as they are, were, and would be again.

A run goes on while a person edits: what it brought is laid over a past state when that state is gone back to, so that
undoing an edit never loses an answer. Nothing is rewritten while turns arrive, however much is remembered. The lanes
of Compare are places in the same tree: their way back is one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final

from playground.domain.transcript import Transcript, Turn
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.variants import RequestSettings, Variant

UNDO_DEPTH = 200
TYPING: Final = 2.0  # seconds; a setting changed again before they are over is being typed, and that is one edit
AT_ONCE: Final = 0.3  # seconds; what is set so soon after something else belongs to it: a gateway and its model, say


#: The conversations of an experiment, by the lane they stand in; its own has no name. All are of the same tree.
Places = Mapping[str, Transcript]
#: The name of the conversation itself.
MAIN: Final = ""


@dataclass(frozen=True, slots=True)
class _Past:
    """A state, the sources that were bringing turns when it was kept with their lanes, and how much they had brought.

    ``moment`` is when the edit was made that left it.
    """

    places: Places
    settings: ExperimentSettings
    sources: Mapping[str, str]
    brought: int
    moment: float = -inf


@dataclass(frozen=True, slots=True)
class Kept:
    """The states that undo goes back to, newest first, as far as they can outlive the process: those of turns alone.

    ``stamp`` is another object whenever there may be others.
    """

    stamp: object
    states: tuple[Places, ...] = ()


@dataclass
class _States:
    """What all lanes of an experiment have together: the state as it is, and those around it."""

    settings: ExperimentSettings
    clock: Callable[[], float]
    places: Places = field(default_factory=lambda: {MAIN: Transcript()})
    typing: tuple[str, float] | None = None  # what was set last, and when, as long as nothing else happened
    undo: list[_Past] = field(default_factory=list)
    redo: list[_Past] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)  # sources, and the lanes they bring turns to
    brought: dict[str, tuple[int, str, Turn]] = field(default_factory=dict)  # turn → when it came first, its source, it
    count: int = 0
    kept: Kept | None = None
    as_one: bool = False  # what is edited now belongs to the edit before
    applied: dict[str, tuple[ExperimentSettings, ExperimentSettings]] = field(default_factory=dict)


class History:
    """``transcript`` and ``settings`` are the state as it is, free to be set; what can be undone is around it.

    A *source* is a name for something that brings turns: a tool loop, or one turn. ``clock`` gives seconds. ``lane``
    gives the same states as a lane sees them: it ends elsewhere in the tree, and what is set for it is what is set for
    all with what its variant has otherwise.
    """

    def __init__(self, settings: ExperimentSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._states = _States(settings, clock)
        self._lane = MAIN

    def lane(self, variant_id: str) -> History:
        """The same, of the lane of a variant."""
        made = copy(self)
        made._lane = variant_id
        return made

    @property
    def transcript(self) -> Transcript:
        """The turns as they are. Of a lane that is closed the head is the conversation's."""
        places = self._states.places
        found = places.get(self._lane)
        return found if found is not None else places[MAIN]

    @transcript.setter
    def transcript(self, transcript: Transcript) -> None:
        self._states.places = _moved(self._states.places, self._lane, transcript)

    @property
    def settings(self) -> ExperimentSettings:
        """What is set."""
        states = self._states
        if self._lane == MAIN:
            return states.settings
        known = states.applied.get(self._lane)
        if known is None or known[0] is not states.settings:
            variant = self._variant
            found = variant.applied(states.settings) if variant is not None else states.settings
            known = states.applied[self._lane] = (states.settings, found)
        return known[1]

    @settings.setter
    def settings(self, settings: ExperimentSettings) -> None:
        states, variant = self._states, self._variant
        if self._lane != MAIN:
            ours = {name: getattr(states.settings, name) for name in RequestSettings.model_fields}
            base = settings.model_copy(update=ours)
            if variant is not None:
                made = variant.of(base, settings)
                variants = tuple(made if one.id == variant.id else one for one in base.variants)
                base = base.model_copy(update={"variants": variants})
            settings = base
        states.settings = settings
        states.places = _of_variants(states.places, settings)

    @property
    def _variant(self) -> Variant | None:
        return next((one for one in self._states.settings.variants if one.id == self._lane), None)

    @property
    def ends(self) -> set[str | None]:
        """Where the lanes end, the conversation among them."""
        return {place.head for place in self._states.places.values()}

    @property
    def heads(self) -> dict[str, str | None]:
        """The ends of the lanes, by the ids of their variants."""
        return {name: place.head for name, place in self._states.places.items() if name != MAIN}

    def begin_anew(
        self, transcript: Transcript, settings: ExperimentSettings, heads: Mapping[str, str | None] | None = None
    ) -> None:
        """This is the state, and there is no other to go to. A lane without a head ends where the conversation does."""
        states = self._states
        ends = {name: head for name, head in (heads or {}).items() if head is None or head in transcript.turns}
        found = {name: transcript.truncate_after(head) for name, head in ends.items()}
        states.settings, states.places = settings, _of_variants({MAIN: transcript, **found}, settings)
        states.typing = states.kept = None
        for known in (states.undo, states.redo, states.open, states.brought):
            known.clear()

    def begin(self, source: str) -> None:
        """From now on ``source`` brings turns; the states kept meanwhile will hold them too."""
        self._states.open[source] = self._lane

    def end(self, source: str) -> None:
        """``source`` brings no more turns."""
        states = self._states
        states.open.pop(source, None)
        needed = set(states.open).union(*(past.sources for past in (*states.undo, *states.redo)))
        states.brought = {key: entry for key, entry in states.brought.items() if entry[1] in needed}

    def brought(self, source: str, turn: Turn) -> None:
        """``source`` brought a turn, or more of one."""
        states = self._states
        known = states.brought.get(turn.id)
        if known is None:
            states.count += 1
        elif turn.parent is None:  # it has lost its place meanwhile; the past may still have one
            turn = turn.model_copy(update={"parent": known[2].parent})
        states.brought[turn.id] = (known[0] if known else states.count, source, turn)
        states.kept = None

    def keep(self, by: str = "") -> None:
        """An edit is about to be made: this state can be gone back to. ``by`` is the source that goes on, if any."""
        states = self._states
        states.typing = states.kept = None
        if states.as_one:
            return
        states.undo.append(self._now(by))
        del states.undo[:-UNDO_DEPTH]
        states.redo.clear()

    @contextmanager
    def as_one(self) -> Iterator[None]:
        """What is edited in here, in whatever lane, is one edit."""
        self.keep()
        before, self._states.as_one = self._states.as_one, True
        try:
            yield
        finally:
            self._states.as_one = before

    def keep_for(self, what: str) -> None:
        """The same before something is set. ``what`` names it: while that goes on, as typing does, it is one edit."""
        states = self._states
        what = f"{self._lane}.{what}"
        now, before = states.clock(), states.typing
        again = before is not None and now - before[1] < (TYPING if before[0] == what else AT_ONCE)
        if not (again and states.undo):
            self.keep()
        states.typing, states.kept = (what, now), None

    @property
    def can_undo(self) -> bool:
        """Whether there is a state to go back to."""
        return bool(self._states.undo)

    @property
    def can_redo(self) -> bool:
        """Whether there is a state to go forth to."""
        return bool(self._states.redo)

    @property
    def moment(self) -> float:
        """When the edit was made that ``undo`` takes back, in seconds of the clock; before all time without one."""
        return self._states.undo[-1].moment if self._states.undo else -inf

    def kept(self) -> Kept:
        """What can be gone back to, for a store. What was set beside the turns is left out: undo goes over it, and
        where turns or ends were other ones with it the way back ends.
        """
        now = self._states
        if now.kept is None:
            states, newer, settings = [], now.places, now.settings
            for past in reversed(now.undo):
                state = self._whole(past)
                if past.settings is settings or past.settings == settings:
                    states.append(state)
                elif any(newer.get(name, place) is not place for name, place in state.items()):
                    break
                newer, settings = state, past.settings
            now.kept = Kept(object(), tuple(states))
        return now.kept

    def recall(self, states: Iterable[Places]) -> None:
        """Undo goes back to these, newest first: what was kept of another process's.

        A lane of which a state says nothing stands where it stood afterwards.
        """
        now = self._states
        older, newer = [], now.places
        for state in states:
            known = {name: state.get(name, place) for name, place in newer.items()}
            newer = _moved(known, MAIN, state[MAIN])
            older.append(_Past(newer, now.settings, {}, now.count))
        now.undo = older[::-1] + now.undo
        now.kept = None

    def forget(self, transcript: Transcript) -> None:
        """Forget the last state kept if its turns are those very ones."""
        states = self._states
        if states.undo and states.undo[-1].places.get(self._lane) is transcript:
            states.typing = states.kept = None
            states.undo.pop()

    def undo(self) -> bool:
        """Go to the state before, the present one kept for redo. Returns whether there was one."""
        return self._travel(self._states.undo, self._states.redo)

    def redo(self) -> bool:
        """Go to the state after, the present one kept for undo. Returns whether there was one."""
        return self._travel(self._states.redo, self._states.undo)

    def _now(self, by: str = "") -> _Past:
        states = self._states
        sources = {source: lane for source, lane in states.open.items() if source != by}
        return _Past(states.places, states.settings, sources, states.count, states.clock())

    def _travel(self, source: list[_Past], target: list[_Past]) -> bool:
        if not source:
            return False
        states = self._states
        states.typing = states.kept = None
        past = source.pop()
        target.append(replace(self._now(), moment=past.moment))
        states.places, states.settings = self._whole(past), past.settings
        return True

    def _whole(self, past: _Past) -> Places:
        """The places of a past state with what was being brought when it was kept, as far as that has come."""
        turns = past.places[MAIN].turns
        heads = {name: place.head for name, place in past.places.items()}
        for count, name, turn in self._states.brought.values():
            if name not in past.sources:
                continue
            known = turns.get(turn.id)
            if known is not None:
                if known.outcome is None and turn.outcome is not None:
                    turns = {**turns, turn.id: turn.model_copy(update={"parent": known.parent})}
            elif count > past.brought and (turn.parent is None or turn.parent in turns):
                turns = {**turns, turn.id: turn}
                lane = past.sources[name]
                if lane in heads and heads[lane] == turn.parent:
                    heads[lane] = turn.id
        if turns is past.places[MAIN].turns:
            return past.places
        return {name: Transcript(turns, head) for name, head in heads.items()}


def _moved(places: Places, lane: str, now: Transcript) -> Places:
    """The places when that lane is at another one; where the tree is another one, it is so for all."""
    return {name: now if name == lane else _in_tree(place, now.turns) for name, place in places.items()}


def _in_tree(place: Transcript, turns: Mapping[str, Turn]) -> Transcript:
    """A place in another tree: where it ended, or before that if that is not there."""
    if place.turns is turns:
        return place
    head = place.head
    while head is not None and head not in turns:
        head = place.turns[head].parent
    return Transcript(turns, head)


def _of_variants(places: Places, settings: ExperimentSettings) -> Places:
    """The places of these lanes; a new one ends where the conversation does."""
    main = places[MAIN]
    return {MAIN: main, **{one.id: places.get(one.id, main) for one in settings.variants}}
