"""The lanes of one experiment, and what is done to several of them at once: columns, questions, answers to calls.

Each lane is a session (see ``Session.lane``); what is done to one alone is done there. The first is the conversation
itself, as set. Nothing here is drawn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from playground.domain.debugging import Answer, signature
from playground.domain.errors import RunRefusedError
from playground.domain.parts import ToolCall
from playground.domain.transcript import Role, Transcript, Turn, new_id
from playground.engine.files.presets import Preset, beside
from playground.engine.session.branching import system_text, under_system
from playground.engine.session.changes import DraftChanged
from playground.engine.session.session import Session
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.variants import MOST_LANES, RequestSettings, Variant, letter_of


class LanesError(ValueError):
    """Something cannot be done with lanes; the text is a sentence that says why."""


@dataclass(frozen=True)
class SameCall:
    """A call that waits in a lane."""

    lane: Session
    turn_id: str
    call_id: str


class Lanes:
    """Those of the experiment of a session. Each method that changes something is one step of the way back.

    Coroutines return when nothing that they began is under way any more; a lane that fails leaves the others alone.
    """

    def __init__(self, session: Session) -> None:
        self._main = session.main

    # Which there are

    @property
    def all(self) -> tuple[Session, ...]:
        """All of them, in the order of their columns; the first is the conversation."""
        return self._main.lanes

    @property
    def free(self) -> int:
        """How many more there can be."""
        return max(MOST_LANES - len(self.all), 0)

    def variant(self, lane: Session) -> Variant | None:
        """What is different in a lane; None for the conversation."""
        return next((one for one in self._variants if self._main.lane(one.id) is lane), None)

    def letter(self, lane: Session) -> str:
        """What a lane is called by its place. Raises ValueError for one that is closed."""
        return letter_of(self.all.index(lane))

    def title(self, lane: Session) -> str:
        """Its letter, and its name if it has one."""
        variant = self.variant(lane)
        return f"{self.letter(lane)} · {variant.name}" if variant is not None and variant.name else self.letter(lane)

    def find(self, name: str) -> Session:
        """The lane of that name or letter. Raises LanesError."""
        wanted = name.strip().casefold()
        named = [
            lane for lane in self.all if (one := self.variant(lane)) and one.name and one.name.casefold() == wanted
        ]
        if len(named) > 1:
            raise LanesError(f"{len(named)} variants are called “{name}”; name one by its letter.")
        lettered = [lane for lane in self.all if self.letter(lane).casefold() == wanted]
        if not (found := named or lettered):
            raise LanesError(f"There is no variant “{name}”. There is {', '.join(map(self.title, self.all))}.")
        return found[0]

    @property
    def _variants(self) -> tuple[Variant, ...]:
        return self._main.settings.variants

    # Columns

    def add(self, like: Session | None = None, *, name: str = "") -> Session:
        """One more lane, at the end: a copy of another one, by default of the conversation. Raises LanesError."""
        source = like or self._main
        return self._add([source.settings], source, [name])[0]

    def add_models(self, models: Iterable[str], like: Session | None = None) -> tuple[Session, ...]:
        """A lane for each of these models, else as ``like``. Raises LanesError."""
        source = like or self._main
        return self._add([source.settings.changed(model=model) for model in models], source)

    def add_preset(self, preset: Preset, like: Session | None = None) -> Session:
        """A lane named after a preset and set as it says, else as ``like``. Raises LanesError, PresetError."""
        source = like or self._main
        transcript, settings = beside(source, preset)
        return self._add([settings], source, [preset.name], transcript)[0]

    def add_variant(self, variant: Variant) -> Session:
        """A lane that is set as a variant says, under its system turn. Raises LanesError."""
        self._check_free(1)
        made, at = variant.model_copy(update={"id": new_id()}), self._main.transcript
        if variant.system is not None:
            at = under_system(at, variant.system)
        self._put((*self._variants, made), {made.id: at})
        return self._main.lane(made.id)

    def _add(
        self, wanted: Sequence[RequestSettings], like: Session, names: Sequence[str] = (), at: Transcript | None = None
    ) -> tuple[Session, ...]:
        """A lane for each of these settings, where ``like`` stands, or ``at``. Raises LanesError."""
        self._check_free(len(wanted))
        base, given = self._main.settings, self.variant(like) or Variant()
        made = [
            given.of(base, settings).model_copy(update={"id": new_id(), "name": names[nth] if nth < len(names) else ""})
            for nth, settings in enumerate(wanted)
        ]
        self._put((*self._variants, *made), dict.fromkeys((one.id for one in made), at or like.transcript))
        return tuple(self._main.lane(one.id) for one in made)

    def alternatives(self, turn_id: str) -> tuple[str, ...]:
        """The turns beside a turn that are in no lane, the nearest to it first. Raises KeyError for an unknown turn."""
        beside = self._main.transcript.siblings(turn_id)
        shown = {turn.id for lane in self.all for turn in lane.transcript.path}
        at = beside.index(turn_id)
        near = sorted(range(len(beside)), key=lambda place: abs(place - at))
        return tuple(beside[place] for place in near if beside[place] not in shown)

    def add_alternatives(self, turn_id: str) -> tuple[Session, ...]:
        """A lane for each of those, with all that follows it there, as far as there is room: the nearest, the oldest of
        them first.

        Raises KeyError for an unknown turn, LanesError where there is none or no room.
        """
        transcript = self._main.transcript
        beside, others = transcript.siblings(turn_id), self.alternatives(turn_id)
        if not others:
            raise LanesError("Nothing stands beside this turn. Regenerate it, and there is something to compare.")
        self._check_free(1)
        chosen = sorted(others[: self.free], key=beside.index)
        made = [Variant() for _ in chosen]
        places = {one.id: transcript.select(key) for one, key in zip(made, chosen, strict=True)}
        self._put((*self._variants, *made), places)
        return tuple(self._main.lane(one.id) for one in made)

    def add_answers(
        self, like: Session, turn_id: str, call_id: str, answers: Sequence[Answer]
    ) -> Coroutine[Any, Any, None]:
        """A lane for each of these answers to one call of ``like``'s, which is answered there and in that way only.

        What is returned is to be awaited: each goes on from there by the rules. One undo takes all of it back. Raises
        RunRefusedError, LanesError where there is no room.
        """
        self._check_free(len(answers))
        at, given = like.debugger.given(turn_id, call_id, answers)
        made = self._add([like.settings] * len(answers), like, at=at)
        return _all(
            [lane.debugger.start(planned=planned, steps_back=False) for lane, planned in zip(made, given, strict=True)]
        )

    def close(self, lane: Session) -> None:
        """Take a lane away, its run stopped; its turns stay in the tree. Raises LanesError for the conversation."""
        gone = self._known(lane)
        lane.stop()
        self._put(tuple(one for one in self._variants if one is not gone))

    def move(self, lane: Session, to: int) -> None:
        """Put a lane at another place, from 1, for the conversation stays the first. Raises LanesError for that one."""
        moved = self._known(lane)
        others = [one for one in self._variants if one is not moved]
        others.insert(max(to, 1) - 1, moved)
        self._put(tuple(others))

    def rename(self, lane: Session, name: str) -> None:
        """Give a lane a name. Raises LanesError for the conversation."""
        renamed = self._known(lane).model_copy(update={"name": " ".join(name.split())})
        self._put(tuple(renamed if one.id == renamed.id else one for one in self._variants))

    def set_system(self, lane: Session, text: str | None) -> None:
        """Put a lane under another system turn, on a branch of its own up to the first answer.

        None: under that of the conversation. Raises LanesError for the conversation itself.
        """
        variant = self._known(lane)
        wanted = text if text is not None else system_text(self._main.transcript)
        changed = variant.model_copy(update={"system": text})
        variants = tuple(changed if one is variant else one for one in self._variants)
        self._put(variants, {variant.id: under_system(lane.transcript, wanted)})

    def continue_with(self, lane: Session) -> None:
        """Make a lane the conversation. What was the conversation is that lane then; the others stay as they were.

        Raises LanesError for the conversation, RunRefusedError while anything is under way.
        """
        chosen = self._known(lane)
        if self._main.busy:
            raise RunRefusedError("A run is under way. Stop it first.")
        main, before, wanted = self._main, self._main.settings, lane.settings
        after = before.model_copy(update={name: getattr(wanted, name) for name in RequestSettings.model_fields})
        texts = {one.id: system_text(main.lane(one.id).transcript) for one in before.variants}
        places = {chosen.id: main.transcript}
        texts[chosen.id] = system_text(main.transcript)
        ours = system_text(lane.transcript)
        variants = []
        for one in before.variants:
            made = one.of(after, before if one is chosen else one.applied(before))
            system = texts[one.id] if texts[one.id] != ours else None
            variants.append(made.model_copy(update={"system": system, "name": "" if one is chosen else one.name}))
        main.set_up(lane.transcript, after.model_copy(update={"variants": tuple(variants)}), places)

    def _known(self, lane: Session) -> Variant:
        found = self.variant(lane)
        if found is None:
            raise LanesError(
                "The first lane is the conversation itself. Continue in another one to put that in its place."
            )
        return found

    def _check_free(self, wanted: int) -> None:
        if wanted > self.free:
            raise LanesError(f"There can be {MOST_LANES} lanes at most. Close one first.")

    def _put(self, variants: tuple[Variant, ...], places: Mapping[str, Transcript] | None = None) -> None:
        main = self._main
        settings: ExperimentSettings = main.settings.changed(variants=variants)
        main.set_up(main.transcript, settings, places)

    # Asking

    @property
    def ticked(self) -> tuple[Session, ...]:
        """The lanes that a question goes to: all, but for those that were left out."""
        return tuple(lane for lane in self.all if self._key(lane) not in self._main.left_out)

    def tick(self, lane: Session, on: bool) -> None:
        """Have a question go to a lane, or no longer; this is kept as what stands in the composer is."""
        key, main = self._key(lane), self._main
        known = {"", *(one.id for one in self._variants)} - {key}
        main.left_out = (*(one for one in main.left_out if one in known), *(() if on else (key,)))
        main.observers.tell(DraftChanged())

    def _key(self, lane: Session) -> str:
        variant = self.variant(lane)
        return variant.id if variant is not None else ""

    def refusals(self, lanes: Iterable[Session], *more: Turn) -> dict[str, str]:
        """Why these lanes could not be asked now with one more turn, by their letters; empty where all could."""
        found = {self.letter(lane): lane.next_request.refusal(*more) for lane in lanes}
        return {letter: reason for letter, reason in found.items() if reason}

    def write(self, turn: Turn, lanes: Iterable[Session] | None = None) -> None:
        """Add a turn that a person wrote to these lanes, by default the ticked ones; what stands in editors is kept.

        Those that end at the same turn share it, with what comes of it as alternatives. Raises ValueError where
        something that is being written cannot be kept.
        """
        chosen = self.ticked if lanes is None else tuple(lanes)
        typed = self._main.editors.open
        for lane in chosen:
            lane.editors.bring_back(typed)
            lane.editors.keep_open()
        if turn.role is Role.TOOL:
            with self._main.history.as_one():
                for lane in chosen:
                    lane.turns.add_written(turn.model_copy(update={"id": new_id()}))
            return
        main, tree = self._main, dict(self._main.transcript.turns)
        made: dict[str | None, str] = {}
        ends: dict[str, str | None] = {"": main.transcript.head}
        for lane in chosen:
            head = lane.transcript.head
            if head not in made:
                made[head] = turn.id if not made else new_id()
                tree[made[head]] = turn.model_copy(update={"id": made[head], "parent": head})
            ends[self._key(lane)] = made[head]
        places = {key: Transcript(tree, end) for key, end in ends.items()}
        main.set_up(places.pop(""), main.settings, places)

    async def run(self, lanes: Iterable[Session] | None = None) -> None:
        """Ask in these lanes at once, by default the ticked ones. Those that cannot be asked are left out.

        Raises RunRefusedError where none can.
        """
        await self._at_once([(lane, lane.prepare_run) for lane in (self.ticked if lanes is None else lanes)])

    async def regenerate(self, lanes: Iterable[Session] | None = None) -> None:
        """Ask again for the last answer of these lanes, likewise."""
        found: list[tuple[Session, Callable[[], None]]] = []
        for lane in self.ticked if lanes is None else lanes:
            path = lane.transcript.path
            if path and path[-1].role is Role.ASSISTANT:
                found.append((lane, partial(_prepare_again, lane, path[-1].id)))
        await self._at_once(found)

    async def _at_once(self, wanted: Sequence[tuple[Session, Callable[[], None]]]) -> None:
        reason, ready = "There is nothing to ask again.", []
        typed = self._main.editors.open
        with self._main.history.as_one():
            for lane, prepare in wanted:
                lane.editors.bring_back(typed)
                try:
                    prepare()
                except RunRefusedError as error:
                    reason = str(error)
                else:
                    ready.append(lane)
        if not ready:
            self._main.history.forget(self._main.transcript)
            raise RunRefusedError(reason)
        await _all(lane.debugger.start() for lane in ready)

    def stop(self) -> None:
        """End what is under way in every lane, keeping what has arrived."""
        self._main.stop_all()

    # Answers to calls

    def same_calls(self, lane: Session, turn_id: str, call_id: str) -> tuple[SameCall, ...]:
        """The calls that wait in other lanes and ask the same: one of that name with the same arguments."""
        asks = _asks(lane, turn_id, call_id)
        return tuple(
            SameCall(other, maker, call.id)
            for other in self.all
            if other is not lane
            for maker, call in other.debugger.waiting
            if signature(call) == asks
        )

    async def answer(
        self, lane: Session, turn_id: str, call_id: str, answer: Answer, *, all_lanes: bool = False
    ) -> None:
        """Answer a call that waits, ``all_lanes``: and those that ask the same elsewhere; one step of the way back.

        Lanes in which no call waits then go on. Raises KeyError for a call that does not wait, RunRefusedError.
        """
        found = (SameCall(lane, turn_id, call_id), *(self.same_calls(lane, turn_id, call_id) if all_lanes else ()))
        with self._main.history.as_one():
            for one in found:
                one.lane.debugger.send_answer(one.turn_id, one.call_id, answer)
        done = [one for one in dict.fromkeys(one.lane for one in found) if not one.debugger.waiting]
        if done:
            await self.run(done)


def _prepare_again(lane: Session, turn_id: str) -> None:
    if turn_id in lane.transcript.turns:
        lane.prepare_again(turn_id)
    else:  # nothing came of it, and another lane that ended there has made room for the next try
        lane.prepare_run()


def _asks(lane: Session, turn_id: str, call_id: str) -> str:
    call: ToolCall | None = next((one for one in lane.transcript.turns[turn_id].calls if one.id == call_id), None)
    if call is None:
        raise KeyError(call_id)
    return signature(call)


async def _all(runs: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Await all of them, whatever becomes of one; then raise what was raised."""
    ended = await asyncio.gather(*runs, return_exceptions=True)
    for failure in ended:
        if isinstance(failure, Exception):
            raise failure
