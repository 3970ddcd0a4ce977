"""A frozen value of an experiment, for the store, files and duplicates.

Taking a snapshot is cheap, since nearly everything in an experiment is a frozen value already. Recordings and undo are
left out; a turn being received is included as far as it has arrived, marked interrupted. Input is not trusted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic import Field, ValidationError

from playground.domain.debugging import STOPPED, Answer, Reason, ResultDraft, held_back
from playground.domain.encoding import FieldFilter, encode, not_empty
from playground.domain.prices import Asked
from playground.domain.reasons import reason_of, shortened
from playground.domain.transcript import Ending, Outcome, Transcript, Turn
from playground.domain.values import Value
from playground.engine.gateways.secrets import has_written_key
from playground.engine.session.branching import system_text, with_system_text
from playground.engine.session.changes import DebugChanged, PathChanged, SettingsChanged, TitleChanged
from playground.engine.session.drafts import Draft, OpenEdit, What
from playground.engine.session.migrations import merged_parameters, with_missing_facts
from playground.engine.session.settings import ExperimentSettings
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import parameters_of

if TYPE_CHECKING:
    from playground.engine.session.session import Session

V = TypeVar("V", bound=Value)

#: The largest Unix time that is a date.
LATEST: Final = 2.5e11


class CallState(Value):
    """Notes on one tool call: why it waits, a typed result, answers to be compared."""

    turn: str
    call: str
    reason: Reason | None = None
    typed: ResultDraft | None = None
    fork: tuple[Answer, ...] = ()


class Snapshot(ExperimentSettings):
    """One experiment: its settings, turns, notes and drafts."""

    id: str = Field(description="Identifies the experiment.")
    created_at: float = Field(default=0.0, ge=0, le=LATEST, description="Unix time in seconds.")
    changed_at: float = Field(default=0.0, ge=0, le=LATEST, description="Unix time in seconds.")
    pinned: bool = False
    archived: bool = False
    gateway: str = Field(default="", description="The name of the gateway, for people and for other computers.")
    calls: tuple[CallState, ...] = Field(
        default=(),
        description="Notes on calls: why one waits, a typed result that was not sent, answers to compare.",
    )
    draft: Draft = Field(default=Draft(), description="The content of the composer.")
    editing: tuple[OpenEdit, ...] = Field(
        default=(),
        description="The content of the open editors, in the order in which they were opened; also of that of the "
        "next request.",
    )
    turns: tuple[Turn, ...] = Field(
        default=(),
        description="The whole tree: each turn after the one it follows, alternatives one after another, oldest first.",
    )
    head: str | None = Field(
        default=None, description="The end of the branch that is enabled; null: above the first turn."
    )
    heads: dict[str, str | None] = Field(
        default_factory=dict, description="The ends of the other lanes, by the ids of their variants."
    )
    left_out: tuple[str, ...] = Field(
        default=(),
        description="The lanes that no message goes to, by the ids of their variants; empty for the conversation.",
    )

    @property
    def transcript(self) -> Transcript:
        """The tree of turns."""
        return Transcript({turn.id: turn for turn in self.turns}, self.head)

    @property
    def settings(self) -> ExperimentSettings:
        """The settings."""
        return ExperimentSettings.model_construct(**{name: value for name, value in self if name not in APART})

    @property
    def untouched(self) -> bool:
        """Return whether it has no turn, no draft, and no setting but gateway and model."""
        return (
            not (self.turns or self.pinned or self.archived)
            and self.draft.empty
            and not self.editing
            and self.settings.untouched
        )


#: The first members of the JSON.
FIRST: Final = ("id", "title", "created_at", "changed_at", "pinned", "archived", "profile_id", "gateway")
#: The fields of a snapshot besides the settings.
APART: Final = frozenset(Snapshot.model_fields) - frozenset(ExperimentSettings.model_fields)


# ---- of a session ----------------------------------------------------------------------------------------------------


def snapshot(session: Session, growing_limit: int | None = None) -> Snapshot:
    """Return a snapshot of the experiment; a turn being received is marked interrupted.

    Its texts are cut after `growing_limit` characters, if given.
    """
    experiment, session = session.experiment, session.main
    turns = tuple(_received_turns(session, growing_limit)) if session.growing else session.transcript.turns.values()
    profile = session.profile
    return Snapshot.model_construct(
        **dict(_named_settings(session)),
        id=experiment.id,
        created_at=experiment.created_at,
        changed_at=experiment.changed_at,
        pinned=experiment.pinned,
        archived=experiment.archived,
        gateway=profile.name if profile is not None else "",
        calls=_call_states(session),
        draft=experiment.drafts.composer,
        editing=tuple(edit for edit in experiment.drafts.open.values() if not _has_key(edit)),
        turns=tuple(turns),
        head=session.transcript.head,
        heads=session.history.heads,
        left_out=experiment.left_out,
    )


def lane_snapshot(lane: Session) -> Snapshot:
    """Return a snapshot with the settings and the end of a lane."""
    profile = lane.profile
    update = {"head": lane.transcript.head, "gateway": profile.name if profile is not None else ""}
    return snapshot(lane).model_copy(update={**dict(lane.settings), **update})


def restore(stored: Snapshot, session: Session) -> None:
    """Replace the content of an idle experiment by a snapshot, without undo.

    Raises ValueError with a sentence if this version cannot use it; then nothing is changed.
    """
    if stored.protocol not in PROTOCOLS:
        raise ValueError(f"It speaks the protocol “{shortened(stored.protocol)}”, which this version does not know.")
    experiment, session = session.experiment, session.main
    experiment.id = stored.id
    experiment.pinned, experiment.archived = stored.pinned, stored.archived
    settings = stored.settings.with_parameters(stored.settings.current)
    session.history.reset(with_missing_facts(stored.transcript, stored.profile_id), settings, stored.heads)
    for variant in settings.variants:
        if variant.system is not None and variant.id not in stored.heads:  # a file written by hand
            place = experiment.stack.places[variant.id]
            session.history.set_place(variant.id, with_system_text(place, variant.system))
    experiment.drafts.composer, experiment.left_out = stored.draft, stored.left_out
    experiment.drafts.open = {edit.key: edit for edit in stored.editing}
    experiment.forget_lanes()
    notes = experiment.notes
    notes.stops = {(state.turn, state.call): state.reason for state in stored.calls if state.reason is not None}
    notes.drafts = {(state.turn, state.call): state.typed for state in stored.calls if state.typed is not None}
    notes.fork_drafts = {(state.turn, state.call): state.fork for state in stored.calls if state.fork}
    for turn_id, call in session.transcript.waiting:
        if reason := held_back(session.transcript.turns[turn_id], call):
            notes.stops.setdefault((turn_id, call.id), reason)
    for change in (PathChanged(), SettingsChanged(), TitleChanged(), DebugChanged()):
        session.observers.tell(change)
    experiment.created_at, experiment.changed_at = stored.created_at, stored.changed_at


def copy_of(stored: Snapshot, new_id: str, title: str) -> Snapshot:
    """Return a copy that is a new experiment."""
    now = time.time()
    update = {"id": new_id, "title": title, "created_at": now, "changed_at": now, "pinned": False, "archived": False}
    return stored.model_copy(update=update)


def _named_settings(session: Session) -> ExperimentSettings:
    """Return the settings with the names of the variants' gateways, if known, and their system turns."""
    settings = session.settings
    if not settings.variants:
        return settings
    variants, main_system = [], system_text(session.transcript)
    for variant in settings.variants:
        lane = session.experiment.lane(variant.id)
        profile = lane.profile if lane.settings.profile_id != settings.profile_id else None
        gateway = profile.name if profile is not None else variant.gateway
        system = text if (text := system_text(lane.transcript)) != main_system else None
        variants.append(variant.model_copy(update={"gateway": gateway, "system": system}))
    return settings.model_copy(update={"variants": tuple(variants)})


def _has_key(edit: OpenEdit) -> bool:
    """Return whether an edited request seems to contain a key, which must not be in any file."""
    return edit.what is What.REQUEST and has_written_key(edit.text or "")


def _received_turns(session: Session, limit: int | None) -> Iterator[Turn]:
    """Yield the turns; those being received as if nothing more arrived."""
    run, outcome = None, Outcome(ending=Ending.INTERRUPTED)
    for turn in session.transcript.turns.values():
        choice = session.growing.get(turn.id)
        if choice is None:
            yield turn
            continue
        if run is None or not run.brings(turn.id):
            run = session.run_of(turn.id)
            target = run.target if run is not None else Asked()
            exchange = run.exchange.id if run is not None and run.exchange is not None else None
            outcome = Outcome(ending=Ending.INTERRUPTED, model=target.model, asked=target, exchange=exchange)
        yield Turn(
            id=turn.id,
            role=turn.role,
            parts=choice.freeze(limit),
            parent=turn.parent,
            outcome=outcome.model_copy(update={"choice": choice.index}),
            members=turn.members,
            extra=choice.extra,
        )


def _call_states(session: Session) -> tuple[CallState, ...]:
    notes = session.experiment.notes
    # A pending answer cannot arrive after a restart: its call waits as a stopped one.
    pending = [key for lane in session.experiment.lanes for key in lane.debugger.pending]
    stops = {**dict.fromkeys(pending, STOPPED), **notes.stops}
    return tuple(
        CallState(
            turn=key[0],
            call=key[1],
            reason=stops.get(key),
            typed=notes.drafts.get(key),
            fork=notes.fork_drafts.get(key, ()),
        )
        for key in dict.fromkeys((*stops, *notes.drafts, *notes.fork_drafts))
    )


# ---- as JSON ---------------------------------------------------------------------------------------------------------


def encode_experiment(stored: Snapshot, field_filter: FieldFilter = not_empty) -> JSONObject:
    """Return the experiment as JSON.

    “by_hand” lists the parameters that a person set, “merges” says that the extra body is merged into the body; without
    it, it replaced whole objects.
    """
    members = encode(stored, field_filter)
    result: JSONObject = {name: members.pop(name) for name in FIRST if name in members}
    by_hand = {name: item.by_hand for name, item in stored.parameters.items() if item.by_hand}
    for name, item in members.items():
        result[name] = item
        if name == "parameters" and by_hand:
            result["by_hand"] = by_hand
        elif name == "extra_body" and item:
            result["merges"] = True
    return result


class _Reading(Value):
    """Members of an experiment's JSON that say how the others are read."""

    parameters: dict[str, JSONObject] = Field(default_factory=dict)
    by_hand: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    merges: bool = False


def decode(value: JSON) -> Snapshot:
    """Return the experiment in JSON of any source. Raises ValueError with the place and reason of an error."""
    if not isinstance(value, dict):
        raise ValueError("the experiment must be a JSON object")
    own = {name: value[name] for name in _Reading.model_fields if name in value}
    reading = read_as(_Reading, own, "the experiment")
    parameters = {}
    for name, fields in reading.parameters.items():
        try:
            parameters[name] = parameters_of(name, fields, reading.by_hand.get(name, ()))
        except (ValidationError, RecursionError) as error:
            raise ValueError(f"parameters.{shortened(name)}: {reason_of(error)}") from None
    rest = {name: item for name, item in value.items() if name not in _Reading.model_fields}
    stored = read_as(Snapshot, {**rest, "parameters": parameters}, "the experiment")
    if stored.extra_body and not reading.merges:
        sent = {name: merged_parameters(item, stored.extra_body) for name, item in stored.parameters.items()}
        stored = stored.model_copy(update={"parameters": sent})
    check_tree(stored.turns, stored.head)
    return stored


def read_as(kind: type[V], value: JSON, what: str) -> V:
    """Return JSON as a value of that kind. Raises ValueError with a sentence."""
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be a JSON object")
    try:
        return kind.model_validate(value)
    except (ValidationError, RecursionError) as error:
        raise ValueError(reason_of(error)) from None


def check_tree(turns: tuple[Turn, ...], head: str | None) -> None:
    """Raise ValueError where turns are no tree: a repeated id, an unknown parent or head, a cycle."""
    parents: dict[str, str | None] = {}
    for number, turn in enumerate(turns, 1):
        if turn.id in parents:
            raise ValueError(f"turn {number} has the id “{shortened(turn.id)}”, which another turn has, too")
        parents[turn.id] = turn.parent
        timing = turn.outcome.timing if turn.outcome is not None else None
        if timing is not None and not 0 <= timing.started_at <= LATEST:
            raise ValueError(f"turn {number}: outcome.timing.started_at is no Unix time")
    for number, turn in enumerate(turns, 1):
        if turn.parent is not None and turn.parent not in parents:
            raise ValueError(f"turn {number} follows “{shortened(turn.parent)}”, which is not among the turns")
    if head is not None and head not in parents:
        raise ValueError(f"the head is “{shortened(head)}”, which is not among the turns")
    if lost := circular(parents):
        raise ValueError(f"turn “{shortened(lost[0])}” follows itself, on a way around")


def circular(parents: Mapping[str, str | None]) -> list[str]:
    """Return ids of turns in cycles, so that the tree is sound once they have no parent. Every parent must exist."""
    connected: set[str] = set()
    cyclic: dict[str, None] = {}
    for start in parents:
        trail: dict[str, None] = {}
        key: str | None = start
        while key is not None and key not in connected and key not in trail:
            trail[key] = None
            key = parents[key]
        if key in trail:
            cyclic.update(trail)
        connected.update(trail)
    return list(cyclic)
