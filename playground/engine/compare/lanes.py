"""The lanes of an experiment in Compare, and what is done to several of them: columns, questions, answers, rules.

Each lane is a `Session`; what is done to one alone is done there. The first is the conversation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from playground.domain.adaptations import today
from playground.domain.debugging import Answer, signature
from playground.domain.errors import RunRefusedError
from playground.domain.transcript import Outcome, Role, Transcript, Turn, new_id
from playground.engine.advice.parts import Action, Offer
from playground.engine.advice.refused_fields import offers
from playground.engine.files.presets import Preset, preset_for_lane
from playground.engine.session.branching import system_text, with_system_text
from playground.engine.session.changes import DraftChanged, RunState
from playground.engine.session.history import MAIN
from playground.engine.session.next_request import UNDER_WAY
from playground.engine.session.session import Session
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
    """The lanes of a session's experiment. Each method that changes something is one undo step.

    Coroutines return when all runs that they started have ended; a lane that fails does not affect the others.
    """

    def __init__(self, session: Session) -> None:
        self._experiment = session.experiment
        self._main = session.main

    @property
    def all(self) -> tuple[Session, ...]:
        """All lanes in the order of their columns, the conversation first."""
        return self._experiment.lanes

    @property
    def free(self) -> int:
        """The number of lanes that can be added."""
        return max(MOST_LANES - len(self.all), 0)

    @property
    def _variants(self) -> tuple[Variant, ...]:
        return self._main.settings.variants

    def variant(self, lane: Session) -> Variant | None:
        """Return the variant of a lane; None for the conversation."""
        return next((variant for variant in self._variants if self._experiment.lane(variant.id) is lane), None)

    def letter(self, lane: Session) -> str:
        """Return the letter of a lane's column. Raises ValueError for a closed one."""
        return letter_of(self.all.index(lane))

    def title(self, lane: Session) -> str:
        """Return the letter of a lane, and its name if it has one."""
        variant = self.variant(lane)
        return f"{self.letter(lane)} · {variant.name}" if variant is not None and variant.name else self.letter(lane)

    def find(self, name: str) -> Session:
        """Return the lane with that name or letter. Raises LanesError."""
        folded = name.strip().casefold()
        variants = [variant for variant in self._variants if variant.name and variant.name.casefold() == folded]
        named = [self._experiment.lane(variant.id) for variant in variants]
        if len(named) > 1:
            raise LanesError(f"{len(named)} variants are called “{name}”; name one by its letter.")
        lettered = [lane for lane in self.all if self.letter(lane).casefold() == folded]
        if not (matches := named or lettered):
            raise LanesError(f"There is no variant “{name}”. There is {', '.join(map(self.title, self.all))}.")
        return matches[0]

    # Columns

    def add(self, like: Session | None = None, *, name: str = "") -> Session:
        """Add a lane at the end, a copy of `like`, by default of the conversation. Raises LanesError."""
        source = like or self._main
        return self._add([source.settings], source, [name])[0]

    def add_models(self, models: Iterable[str], like: Session | None = None) -> tuple[Session, ...]:
        """Add a lane for each of these models, otherwise like `like`. Raises LanesError."""
        source = like or self._main
        return self._add([source.settings.changed(model=model) for model in models], source)

    def add_preset(self, preset: Preset, like: Session | None = None) -> Session:
        """Add a lane with the name and settings of a preset, otherwise like `like`. Raises LanesError, PresetError."""
        source = like or self._main
        transcript, settings = preset_for_lane(source, preset)
        return self._add([settings], source, [preset.name], transcript)[0]

    def add_variant(self, variant: Variant) -> Session:
        """Add a lane with the settings and system turn of a variant. Raises LanesError."""
        self._check_free(1)
        variant, place = variant.model_copy(update={"id": new_id()}), self._main.transcript
        if variant.system is not None:
            place = with_system_text(place, variant.system)
        return self._put_more([variant], [place])[0]

    def _add(
        self,
        settings: Sequence[RequestSettings],
        like: Session,
        names: Sequence[str] = (),
        place: Transcript | None = None,
    ) -> tuple[Session, ...]:
        """Add a lane for each of these settings, at the end of `like` or at `place`. Raises LanesError."""
        self._check_free(len(settings))
        base, source = self._main.settings, self.variant(like) or Variant()
        variants = [
            source.with_settings(base, item).model_copy(
                update={"id": new_id(), "name": names[index] if index < len(names) else ""}
            )
            for index, item in enumerate(settings)
        ]
        return self._put_more(variants, [place or like.transcript] * len(variants))

    def alternatives(self, turn_id: str) -> tuple[str, ...]:
        """Return the alternatives of a turn that are in no lane, the nearest first. Raises KeyError."""
        siblings = self._main.transcript.siblings(turn_id)
        visible = {turn.id for lane in self.all for turn in lane.transcript.path}
        index = siblings.index(turn_id)
        nearest = sorted(range(len(siblings)), key=lambda place: abs(place - index))
        return tuple(siblings[place] for place in nearest if siblings[place] not in visible)

    def add_alternatives(self, turn_id: str) -> tuple[Session, ...]:
        """Add a lane for each alternative of a turn, as far as there is room: the nearest, the oldest of them first.

        Raises KeyError for an unknown turn, LanesError where there is none or no room.
        """
        transcript = self._main.transcript
        others = self.alternatives(turn_id)
        if not others:
            raise LanesError("This message has no alternatives to compare. Regenerate it to get one.")
        self._check_free(1)
        chosen = sorted(others[: self.free], key=transcript.siblings(turn_id).index)
        return self._put_more([Variant() for _ in chosen], [transcript.select(key) for key in chosen])

    def add_answers(
        self, like: Session, turn_id: str, call_id: str, answers: Sequence[Answer]
    ) -> Coroutine[Any, Any, None]:
        """Add a lane for each of these answers to one call of `like`. One undo reverts all of it.

        The returned coroutine continues each lane by the rules. Raises RunRefusedError, and LanesError without room.
        """
        self._check_free(len(answers))
        place, planned = like.debugger.prepare_fork(turn_id, call_id, answers)
        lanes = self._add([like.settings] * len(answers), like, place=place)
        return _all(
            [lane.runs.start(planned=item, undo_steps=False) for lane, item in zip(lanes, planned, strict=True)]
        )

    def close(self, lane: Session) -> None:
        """Close a lane and stop its run; its turns remain in the tree. Raises LanesError for the conversation."""
        closed = self._variant_of(lane)
        lane.stop()
        self._put(tuple(variant for variant in self._variants if variant is not closed))

    def move(self, lane: Session, to: int) -> None:
        """Move a lane to another place, from 1. Raises LanesError for the conversation, which remains the first."""
        moved = self._variant_of(lane)
        variants = [variant for variant in self._variants if variant is not moved]
        variants.insert(max(to, 1) - 1, moved)
        self._put(tuple(variants))

    def rename(self, lane: Session, name: str) -> None:
        """Rename a lane. Raises LanesError for the conversation."""
        self._replace(self._variant_of(lane).model_copy(update={"name": " ".join(name.split())}))

    def set_system(self, lane: Session, text: str | None) -> None:
        """Put a lane under another system turn, on a branch up to the first answer; None is that of the conversation.

        Raises LanesError for the conversation itself.
        """
        variant = self._variant_of(lane).model_copy(update={"system": text})
        system = text if text is not None else system_text(self._main.transcript)
        self._replace(variant, {variant.id: with_system_text(lane.transcript, system)})

    def continue_with(self, lane: Session) -> None:
        """Swap a lane with the conversation; the other lanes remain as they are.

        Raises LanesError for the conversation, RunRefusedError during a run.
        """
        chosen = self._variant_of(lane)
        if self._experiment.busy:
            raise RunRefusedError(UNDER_WAY)
        main, before, settings = self._main, self._main.settings, lane.settings
        after = before.model_copy(update={name: getattr(settings, name) for name in RequestSettings.model_fields})
        texts = {item.id: system_text(self._experiment.lane(item.id).transcript) for item in before.variants}
        texts[chosen.id] = system_text(main.transcript)
        new_text = system_text(lane.transcript)
        variants = []
        for item in before.variants:
            variant = item.with_settings(after, before if item is chosen else item.applied(before))
            system = texts[item.id] if texts[item.id] != new_text else None
            variants.append(variant.model_copy(update={"system": system, "name": "" if item is chosen else item.name}))
        after = after.model_copy(update={"variants": tuple(variants)})
        main.set_up(lane.transcript, after, {chosen.id: main.transcript})

    def _variant_of(self, lane: Session) -> Variant:
        variant = self.variant(lane)
        if variant is None:
            raise LanesError("The first lane is the conversation itself. Continue in another one to replace it.")
        return variant

    def _check_free(self, count: int) -> None:
        if count > self.free:
            raise LanesError(f"There can be {MOST_LANES} lanes at most. Close one first.")

    def _put(self, variants: tuple[Variant, ...], places: Mapping[str, Transcript] | None = None) -> None:
        self._main.set_up(self._main.transcript, self._main.settings.changed(variants=variants), places)

    def _put_more(self, variants: Sequence[Variant], places: Sequence[Transcript]) -> tuple[Session, ...]:
        ids = [variant.id for variant in variants]
        self._put((*self._variants, *variants), dict(zip(ids, places, strict=True)))
        return tuple(map(self._experiment.lane, ids))

    def _replace(self, variant: Variant, places: Mapping[str, Transcript] | None = None) -> None:
        self._put(tuple(variant if item.id == variant.id else item for item in self._variants), places)

    # Questions

    @property
    def ticked(self) -> tuple[Session, ...]:
        """The lanes that get the next question."""
        return tuple(lane for lane in self.all if self._key(lane) not in self._experiment.left_out)

    def tick(self, lane: Session, on: bool) -> None:
        """Include a lane in the next question, or leave it out; stored like the composer's draft."""
        key, experiment = self._key(lane), self._experiment
        others = {MAIN, *(variant.id for variant in self._variants)} - {key}
        experiment.left_out = (*(item for item in experiment.left_out if item in others), *(() if on else (key,)))
        self._main.observers.tell(DraftChanged())

    def _key(self, lane: Session) -> str:
        variant = self.variant(lane)
        return variant.id if variant is not None else MAIN

    def refusals(self, lanes: Iterable[Session], *more: Turn) -> dict[str, str]:
        """Return why these lanes could not send one more turn, by their letters; without those that could."""
        reasons = {self.letter(lane): lane.next_request.refusal(*more) for lane in lanes}
        return {letter: reason for letter, reason in reasons.items() if reason}

    def write(self, turn: Turn, lanes: Iterable[Session] | None = None) -> None:
        """Add a written turn to these lanes, by default the ticked ones. Open edits are kept.

        Lanes with the same end share the turn; their answers become alternatives. Raises ValueError for invalid ones.
        """
        chosen = self.ticked if lanes is None else tuple(lanes)
        edits = self._experiment.drafts.open
        for lane in chosen:
            lane.editors.reopen(edits)
            lane.editors.keep_open()
        if turn.role is Role.TOOL:
            with self._main.history.group():
                for lane in chosen:
                    lane.turns.add_written(turn.model_copy(update={"id": new_id()}))
            return
        main, tree = self._main, dict(self._main.transcript.turns)
        ids: dict[str | None, str] = {}
        ends: dict[str, str | None] = {MAIN: main.transcript.head}
        for lane in chosen:
            head = lane.transcript.head
            if head not in ids:
                ids[head] = turn.id if not ids else new_id()
                tree[ids[head]] = turn.model_copy(update={"id": ids[head], "parent": head})
            ends[self._key(lane)] = ids[head]
        places = {key: Transcript(tree, end) for key, end in ends.items()}
        main.set_up(places.pop(MAIN), main.settings, places)

    async def run(self, lanes: Iterable[Session] | None = None) -> None:
        """Run these lanes at once, by default the ticked ones; those that would be refused are left out.

        Raises RunRefusedError where all would be.
        """
        await self._at_once([(lane, lane.prepare_run) for lane in (self.ticked if lanes is None else lanes)])

    async def regenerate(self, lanes: Iterable[Session] | None = None) -> None:
        """Regenerate the last answers of these lanes at once, by default of the ticked ones. Raises as `run` does."""
        prepared: list[tuple[Session, Callable[[], None]]] = []
        for lane in self.ticked if lanes is None else lanes:
            path = lane.transcript.path
            if path and path[-1].role is Role.ASSISTANT:
                prepared.append((lane, partial(_prepare_again, lane, path[-1].id)))
        await self._at_once(prepared)

    async def _at_once(self, prepared: Sequence[tuple[Session, Callable[[], None]]]) -> None:
        reason, ready = "There is nothing to resend.", []
        edits = self._experiment.drafts.open
        with self._main.history.group():
            for lane, prepare in prepared:
                lane.editors.reopen(edits)
                try:
                    prepare()
                except RunRefusedError as error:
                    reason = str(error)
                else:
                    ready.append(lane)
        if not ready:
            self._main.history.discard(self._main.transcript)
            raise RunRefusedError(reason)
        await _all(lane.runs.start() for lane in ready)

    def stop(self) -> None:
        """Stop the runs of all lanes and keep what has arrived."""
        self._experiment.stop()

    # Answers to calls

    def same_calls(self, lane: Session, turn_id: str, call_id: str) -> tuple[SameCall, ...]:
        """Return the waiting calls of other lanes with the same name and arguments. Raises KeyError."""
        call = next((call for call in lane.transcript.turns[turn_id].calls if call.id == call_id), None)
        if call is None:
            raise KeyError(call_id)
        return tuple(
            SameCall(candidate, maker, waiting.id)
            for candidate in self.all
            if candidate is not lane
            for maker, waiting in candidate.debugger.waiting
            if signature(waiting) == signature(call)
        )

    async def answer(
        self, lane: Session, turn_id: str, call_id: str, answer: Answer, *, all_lanes: bool = False
    ) -> None:
        """Answer a waiting call, and with `all_lanes` the same calls of other lanes, as one undo step.

        Lanes in which no call waits then continue. Raises KeyError for a call that does not wait, RunRefusedError.
        """
        calls = (SameCall(lane, turn_id, call_id), *(self.same_calls(lane, turn_id, call_id) if all_lanes else ()))
        with self._main.history.group():
            for call in calls:
                call.lane.debugger.send_answer(call.turn_id, call.call_id, answer)
        done = [lane for lane in dict.fromkeys(call.lane for call in calls) if not lane.debugger.waiting]
        if done:
            await self.run(done)


def _prepare_again(lane: Session, turn_id: str) -> None:
    if turn_id in lane.transcript.turns:
        lane.prepare_again(turn_id)
    else:  # an empty turn that another lane with the same end has removed
        lane.prepare_run()


async def _all(runs: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Await all runs, then raise the first exception."""
    results = await asyncio.gather(*runs, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result


# ---- refusals --------------------------------------------------------------------------------------------------------


def keeping(action: Action, outcome: Outcome | None, profile_id: str) -> Action:
    """Return an action that keeps an offered rule for the gateway; its value is the gateway's profile id.

    The reason of the rule is the message of the failure.
    """
    if action.offer is None:
        return action
    failure = outcome.failure if outcome is not None else None
    why = failure.message if failure is not None else ""
    return action._replace(value=profile_id, offer=action.offer.with_saved_rules(action.value, why, today()))


def refused_alike(session: Session, offer: Offer, model: str) -> list[tuple[Session, str]]:
    """Return the other idle lanes of that gateway, and of `model` if given, whose last turn has the same refusal."""
    profile_id = session.settings.profile_id
    return [
        (lane, lane.transcript.path[-1].id)
        for lane in session.experiment.lanes
        if lane is not session and lane.state is RunState.IDLE and lane.transcript.path
        if lane.settings.profile_id == profile_id and model in ("", lane.settings.model)
        if any(item.rules == offer.rules for item in _offers(lane.transcript.path[-1]))
    ]


def _offers(turn: Turn) -> tuple[Offer, ...]:
    failure = turn.outcome.failure if turn.outcome is not None else None
    return offers(failure) if failure is not None and not turn.parts else ()
