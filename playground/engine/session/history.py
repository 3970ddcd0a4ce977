"""Undo and redo of an experiment: its tree of turns, the ends of its lanes, and its settings.

A run goes on while a person edits: when a past state is restored, the turns received since are added to it, so that
undoing an edit never loses an answer. All lanes share one tree and one undo stack.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final

from playground.domain.transcript import Transcript, Turn
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.variants import RequestSettings, Variant

UNDO_DEPTH = 200
#: Seconds within which changes of the same setting are one edit, as typing is.
TYPING: Final = 2.0
#: Seconds within which changes of different settings are one edit: a gateway and its model, for instance.
AT_ONCE: Final = 0.3

#: Transcripts by lane: the variant's id, or `MAIN`. All share one tree of turns and differ in their heads.
Places = Mapping[str, Transcript]
#: The name of the conversation's own lane.
MAIN: Final = ""


@dataclass(frozen=True, slots=True)
class _State:
    """A state of undo: the sources that were adding turns with their lanes, and how many turns had been received.

    `moment` is the time of the edit that followed it.
    """

    places: Places
    settings: ExperimentSettings
    sources: Mapping[str, str]
    received: int
    moment: float = -inf


@dataclass
class UndoStack:
    """The present state of an experiment and the states around it, shared by the histories of its lanes.

    `clock` gives seconds. `sources` are runs that add turns, with their lanes.
    """

    settings: ExperimentSettings
    clock: Callable[[], float] = time.monotonic
    places: Places = field(default_factory=lambda: {MAIN: Transcript()})
    typing: tuple[str, float] | None = None  # name and time of the last change of a setting, if nothing followed
    undo: list[_State] = field(default_factory=list)
    redo: list[_State] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    received: dict[str, tuple[int, str, Turn]] = field(default_factory=dict)  # turn id → number, source, turn
    count: int = 0
    grouping: bool = False
    applied: dict[str, tuple[ExperimentSettings, ExperimentSettings]] = field(default_factory=dict)

    def state(self, source: str = "") -> _State:
        """Return the present state; `source` is the run that causes the next edit, if any."""
        sources = {name: lane for name, lane in self.sources.items() if name != source}
        return _State(self.places, self.settings, sources, self.count, self.clock())

    def places_of(self, past: _State) -> Places:
        """Return the places of a past state, with the turns received since from the sources of that time."""
        turns = past.places[MAIN].turns
        heads = {name: place.head for name, place in past.places.items()}
        for number, source, turn in self.received.values():
            if source not in past.sources:
                continue
            old = turns.get(turn.id)
            if old is not None:
                if old.outcome is None and turn.outcome is not None:
                    turns = {**turns, turn.id: turn.model_copy(update={"parent": old.parent})}
            elif number > past.received and (turn.parent is None or turn.parent in turns):
                turns = {**turns, turn.id: turn}
                lane = past.sources[source]
                if lane in heads and heads[lane] == turn.parent:
                    heads[lane] = turn.id
        if turns is past.places[MAIN].turns:
            return past.places
        return {name: Transcript(turns, head) for name, head in heads.items()}

    def travel(self, source: list[_State], target: list[_State]) -> bool:
        """Restore the last state of `source` and push the present one to `target`. Returns False without one."""
        if not source:
            return False
        self.typing = None
        past = source.pop()
        target.append(replace(self.state(), moment=past.moment))
        self.places, self.settings = self.places_of(past), past.settings
        return True


class History:
    """The undo stack as seen in one lane. `transcript` and `settings` are the present state and can be set.

    The settings of a lane are those of the experiment with the differences of its variant. A *source* is the name of
    something that adds turns: a run, or a single turn.
    """

    def __init__(self, stack: UndoStack, lane: str = MAIN) -> None:
        self.stack = stack
        self._lane = lane

    @property
    def transcript(self) -> Transcript:
        """The present transcript; a closed lane ends where the conversation does."""
        places = self.stack.places
        place = places.get(self._lane)
        return place if place is not None else places[MAIN]

    @transcript.setter
    def transcript(self, transcript: Transcript) -> None:
        self.stack.places = _moved(self.stack.places, self._lane, transcript)

    def set_place(self, variant_id: str, transcript: Transcript) -> None:
        """Set the transcript of another lane."""
        self.stack.places = _moved(self.stack.places, variant_id, transcript)

    @property
    def settings(self) -> ExperimentSettings:
        """The present settings of the lane."""
        stack = self.stack
        if self._lane == MAIN:
            return stack.settings
        cached = stack.applied.get(self._lane)
        if cached is None or cached[0] is not stack.settings:
            variant = self._variant
            settings = variant.applied(stack.settings) if variant is not None else stack.settings
            cached = stack.applied[self._lane] = (stack.settings, settings)
        return cached[1]

    @settings.setter
    def settings(self, settings: ExperimentSettings) -> None:
        stack, variant = self.stack, self._variant
        if self._lane != MAIN:
            shared = {name: getattr(stack.settings, name) for name in RequestSettings.model_fields}
            base = settings.model_copy(update=shared)
            if variant is not None:
                new = variant.with_settings(base, settings)
                variants = tuple(new if item.id == variant.id else item for item in base.variants)
                base = base.model_copy(update={"variants": variants})
            settings = base
        stack.settings = settings
        stack.places = _places_of_variants(stack.places, settings)

    @property
    def _variant(self) -> Variant | None:
        return next((variant for variant in self.stack.settings.variants if variant.id == self._lane), None)

    @property
    def ends(self) -> set[str | None]:
        """The heads of all lanes."""
        return {place.head for place in self.stack.places.values()}

    @property
    def heads(self) -> dict[str, str | None]:
        """The heads of the lanes by the ids of their variants."""
        return {name: place.head for name, place in self.stack.places.items() if name != MAIN}

    def reset(
        self, transcript: Transcript, settings: ExperimentSettings, heads: Mapping[str, str | None] | None = None
    ) -> None:
        """Set the state without anything to undo. A lane without a head ends where the conversation does."""
        stack = self.stack
        ends = {name: head for name, head in (heads or {}).items() if head is None or head in transcript.turns}
        places = {name: transcript.truncate_after(head) for name, head in ends.items()}
        stack.settings, stack.places = settings, _places_of_variants({MAIN: transcript, **places}, settings)
        stack.typing = None
        for collection in (stack.undo, stack.redo, stack.sources, stack.received):
            collection.clear()

    # Received turns

    def begin(self, source: str) -> None:
        """Register a source; states pushed from now on will get its turns when they are restored."""
        self.stack.sources[source] = self._lane

    def end(self, source: str) -> None:
        """Remove a source; it adds no more turns."""
        stack = self.stack
        stack.sources.pop(source, None)
        needed = set(stack.sources).union(*(past.sources for past in (*stack.undo, *stack.redo)))
        stack.received = {key: entry for key, entry in stack.received.items() if entry[1] in needed}

    def add_received(self, source: str, turn: Turn) -> None:
        """Remember a turn of a source, or a newer version of one."""
        stack = self.stack
        entry = stack.received.get(turn.id)
        if entry is None:
            stack.count += 1
        elif turn.parent is None:  # deleted meanwhile; past states may still have a place for it
            turn = turn.model_copy(update={"parent": entry[2].parent})
        stack.received[turn.id] = (entry[0] if entry else stack.count, source, turn)

    # Undo

    def push(self, source: str = "") -> None:
        """Push the present state before an edit; `source` is the run that causes the edit, if any."""
        stack = self.stack
        stack.typing = None
        if stack.grouping:
            return
        stack.undo.append(stack.state(source))
        del stack.undo[:-UNDO_DEPTH]
        stack.redo.clear()

    @contextmanager
    def group(self) -> Iterator[None]:
        """Make all edits inside, in any lane, one undo step."""
        self.push()
        before, self.stack.grouping = self.stack.grouping, True
        try:
            yield
        finally:
            self.stack.grouping = before

    def push_setting(self, name: str) -> None:
        """Push the present state before a setting changes; repeated changes of one setting are merged, as typing is."""
        stack = self.stack
        name = f"{self._lane}.{name}"
        now, before = stack.clock(), stack.typing
        is_same = before is not None and now - before[1] < (TYPING if before[0] == name else AT_ONCE)
        if not (is_same and stack.undo):
            self.push()
        stack.typing = (name, now)

    def discard(self, transcript: Transcript) -> None:
        """Remove the last pushed state if it has this transcript."""
        stack = self.stack
        if stack.undo and stack.undo[-1].places.get(self._lane) is transcript:
            stack.typing = None
            stack.undo.pop()

    @property
    def can_undo(self) -> bool:
        """Return whether there is a state to undo to."""
        return bool(self.stack.undo)

    @property
    def can_redo(self) -> bool:
        """Return whether there is a state to redo to."""
        return bool(self.stack.redo)

    @property
    def moment(self) -> float:
        """The time of the edit that `undo` reverts, in seconds of the clock; minus infinity without one."""
        return self.stack.undo[-1].moment if self.stack.undo else -inf

    def undo(self) -> bool:
        """Restore the previous state. Returns whether there was one."""
        return self.stack.travel(self.stack.undo, self.stack.redo)

    def redo(self) -> bool:
        """Restore the next state. Returns whether there was one."""
        return self.stack.travel(self.stack.redo, self.stack.undo)


def _moved(places: Places, lane: str, transcript: Transcript) -> Places:
    """Return the places with another transcript of a lane, whose tree becomes that of all lanes."""
    return {name: transcript if name == lane else _in_tree(place, transcript.turns) for name, place in places.items()}


def _in_tree(place: Transcript, turns: Mapping[str, Turn]) -> Transcript:
    """Return a place in another tree: its head is the old one, or the nearest turn above that exists."""
    if place.turns is turns:
        return place
    head = place.head
    while head is not None and head not in turns:
        head = place.turns[head].parent
    return Transcript(turns, head)


def _places_of_variants(places: Places, settings: ExperimentSettings) -> Places:
    """Return the places of the conversation and the variants; a new lane ends where the conversation does."""
    main = places[MAIN]
    return {MAIN: main, **{variant.id: places.get(variant.id, main) for variant in settings.variants}}
