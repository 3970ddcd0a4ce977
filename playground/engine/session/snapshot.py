"""All that one experiment holds, as one frozen value: for the store, for files, for duplicates.

Taking a snapshot costs next to nothing, since nearly everything in a session is a frozen value already. Tapes, undo
history, and what is under way are no part of it: a turn that is being received is in it as it would stand if the
process ended now, marked interrupted. This module reads no file and trusts nothing that came out of one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic import Field, ValidationError

from playground.domain.debugging import STOPPED, Answer, Reason, ResultDraft, held_back
from playground.domain.encoding import FieldFilter, encode, not_empty
from playground.domain.parameters import Parameters
from playground.domain.prices import Asked
from playground.domain.reasons import reason_of, shortened
from playground.domain.transcript import Ending, Outcome, Transcript, Turn
from playground.domain.values import Value
from playground.engine.gateways.secrets import has_written_key
from playground.engine.session.branching import system_text, under_system
from playground.engine.session.changes import DebugChanged, PathChanged, SettingsChanged, TitleChanged
from playground.engine.session.draft import Draft
from playground.engine.session.open_edits import OpenEdit, What
from playground.engine.session.settings import ExperimentSettings
from playground.jsonkit.foreign import amount_of
from playground.jsonkit.merge import merged
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import parameters_of

if TYPE_CHECKING:
    from playground.engine.session.session import Session

V = TypeVar("V", bound=Value)

LATEST = 2.5e11  # the largest Unix time that still is a date


def mended(transcript: Transcript, profile_id: str) -> Transcript:
    """The same conversation with what its turns can be told.

    How many choices the request of each had, what its gateway said it cost, and that it was asked on the gateway that
    the experiment stands on now, which may be another one later.
    """
    received = [(turn, turn.outcome) for turn in transcript.turns.values() if turn.outcome is not None]
    brought: dict[str, set[int]] = {}  # the choices there are of each exchange; edits may have copied a turn
    for turn, outcome in received:
        if outcome.exchange is not None and turn.parts:
            brought.setdefault(outcome.exchange, set()).add(outcome.choice)
    changed: dict[str, Turn] = {}
    for turn, outcome in received:
        if new := _told(outcome, len(brought.get(outcome.exchange or "", ())), profile_id):
            changed[turn.id] = turn.model_copy(update={"outcome": outcome.model_copy(update=new)})
    return Transcript({**transcript.turns, **changed}, transcript.head) if changed else transcript


def _told(outcome: Outcome, brought: int, profile_id: str) -> dict[str, object]:
    """The fields of an outcome that are to be others."""
    new: dict[str, object] = {}
    choices = max(brought, outcome.choice + 1, outcome.choices, 1)
    if choices != outcome.choices:
        new["choices"] = choices
    usage = outcome.usage
    if usage is None:
        return new
    if usage.cost is None and (cost := amount_of((usage.raw or {}).get("cost"))) is not None:
        new["usage"] = usage.model_copy(update={"cost": cost})
    if not outcome.asked.profile_id and profile_id:
        new["asked"] = outcome.asked.model_copy(update={"profile_id": profile_id})
    return new


def as_it_was_sent(parameters: Parameters, extra_body: JSONObject) -> Parameters:
    """The parameters that went out beside an extra body which replaced whole objects.

    Now it is merged into them: what it hid and what would be sent again is set back to default.
    """
    on = {hint.needs: True for _, hint in type(parameters).hints() if hint.needs}  # hidden is hidden, sent or not
    wire, kept = parameters.to_wire(on), parameters
    replaced = {name: value for name, value in extra_body.items() if isinstance(value, dict)}
    hidden = [name for name, value in replaced.items() if merged(wire.get(name), value) != value]
    for name in type(parameters).model_fields if hidden else ():
        without = parameters.with_value(name, None).to_wire(on)
        if any(without.get(member) != wire[member] for member in hidden):
            kept = kept.with_value(name, None)
    others = {name: value for name, value in (kept.model_extra or {}).items() if name not in hidden}
    if others == (kept.model_extra or {}):
        return kept
    fields = {name: getattr(kept, name) for name in type(kept).model_fields}
    return type(kept).model_construct(**fields, **others).set_by_hand(kept.by_hand)


class CallState(Value):
    """What is kept of one tool call besides its turn: why it waits, a result half typed, answers to be compared."""

    turn: str
    call: str
    reason: Reason | None = None
    typed: ResultDraft | None = None
    fork: tuple[Answer, ...] = ()


class Snapshot(ExperimentSettings):
    """One experiment: what is set, and all else that it holds."""

    id: str = Field(description="Tells this experiment from others.")
    created_at: float = Field(default=0.0, ge=0, le=LATEST, description="Unix time in seconds.")
    changed_at: float = Field(default=0.0, ge=0, le=LATEST, description="Unix time in seconds.")
    pinned: bool = False
    archived: bool = False
    gateway: str = Field(default="", description="The name of the gateway, for people and for other computers.")
    calls: tuple[CallState, ...] = Field(
        default=(),
        description="What is kept of calls besides their turns: why one waits, a result half typed, answers to "
        "be compared.",
    )
    draft: Draft = Field(default=Draft(), description="What stands in the composer.")
    editing: tuple[OpenEdit, ...] = Field(
        default=(),
        description="What stands in the editors that are open in turns, in the order in which they were opened, and "
        "what the next request's body is being edited to.",
    )
    turns: tuple[Turn, ...] = Field(
        default=(),
        description="The whole tree: each turn after the one it follows, alternatives one after another, oldest first.",
    )
    head: str | None = Field(
        default=None, description="The end of the branch that is shown; null: above the first turn."
    )
    heads: dict[str, str | None] = Field(
        default_factory=dict, description="The ends of the branches beside it, by the ids of their variants."
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
        """What is set."""
        return ExperimentSettings.model_construct(**{name: value for name, value in self if name not in APART})

    @property
    def untouched(self) -> bool:
        """Whether nothing in it is worth keeping: no turn, nothing typed, nothing set but gateway and model."""
        return (
            not (self.turns or self.pinned or self.archived)
            and self.draft.empty
            and not self.editing
            and self.settings.untouched
        )


#: What names an experiment stands above what it holds.
FIRST: Final = ("id", "title", "created_at", "changed_at", "pinned", "archived", "profile_id", "gateway")
#: What a snapshot holds besides the settings.
APART: Final = frozenset(Snapshot.model_fields) - frozenset(ExperimentSettings.model_fields)


# ---- of a session ----------------------------------------------------------------------------------------------------


def snapshot(session: Session, growing_limit: int | None = None) -> Snapshot:
    """What an experiment holds now. A turn being received is in it as far as it came, marked interrupted.

    Of such a turn's texts no more than the first ``growing_limit`` characters are in it; all for None.
    """
    session = session.main
    turns = tuple(session.transcript.turns.values())
    if session.growing:
        turns = tuple(_as_far_as_they_came(session, growing_limit))
    profile = session.profile
    return Snapshot.model_construct(
        **dict(_named(session)),
        id=session.id,
        created_at=session.created_at,
        changed_at=session.changed_at,
        pinned=session.pinned,
        archived=session.archived,
        gateway=profile.name if profile is not None else "",
        calls=_call_states(session),
        draft=session.draft,
        editing=tuple(edit for edit in session.editors.open.values() if not _secret(edit)),
        turns=turns,
        head=session.transcript.head,
        heads=session.history.heads,
        left_out=session.left_out,
    )


def lane_snapshot(lane: Session) -> Snapshot:
    """The same as a lane has it: what is set there, and its end."""
    profile = lane.profile
    own = {"head": lane.transcript.head, "gateway": profile.name if profile is not None else ""}
    return snapshot(lane).model_copy(update={**dict(lane.settings), **own})


def restore(found: Snapshot, session: Session) -> None:
    """Make a session hold what a snapshot says; nothing of what it held stays, undo included. It must be idle.

    Raises ValueError in words where this version cannot work with it; the session is as it was then.
    """
    if found.protocol not in PROTOCOLS:
        raise ValueError(f"It speaks the protocol “{shortened(found.protocol)}”, which this version does not know.")
    session.id = found.id
    session.pinned, session.archived = found.pinned, found.archived
    settings = found.settings.with_parameters(found.settings.current)  # those of a new experiment, where none are set
    session.history.begin_anew(mended(found.transcript, found.profile_id), settings, found.heads)
    for one in settings.variants:
        if one.system is not None and one.id not in found.heads:  # written by hand
            lane = session.history.lane(one.id)
            lane.transcript = under_system(lane.transcript, one.system)
    session.experiment.draft, session.left_out = found.draft, found.left_out
    session.editors.open = {edit.key: edit for edit in found.editing}
    session.forget_lanes()
    notes = session.debugger.notes
    notes.stops = {(kept.turn, kept.call): kept.reason for kept in found.calls if kept.reason is not None}
    notes.drafts = {(kept.turn, kept.call): kept.typed for kept in found.calls if kept.typed is not None}
    notes.fork_drafts = {(kept.turn, kept.call): kept.fork for kept in found.calls if kept.fork}
    for turn_id, call in session.transcript.waiting:
        if held := held_back(session.transcript.turns[turn_id], call):
            notes.stops.setdefault((turn_id, call.id), held)
    for change in (PathChanged(), SettingsChanged(), TitleChanged(), DebugChanged()):
        session.observers.tell(change)
    session.created_at, session.changed_at = found.created_at, found.changed_at


def copy_of(found: Snapshot, new_id: str, title: str) -> Snapshot:
    """The same experiment once more, as one that was made just now."""
    now = time.time()
    update = {"id": new_id, "title": title, "created_at": now, "changed_at": now, "pinned": False, "archived": False}
    return found.model_copy(update=update)


def _named(session: Session) -> ExperimentSettings:
    """What is set, the variants with the names of their gateways, as far as they are known, and their system turns."""
    settings = session.settings
    if not settings.variants:
        return settings
    named, ours = [], system_text(session.transcript)
    for variant in settings.variants:
        lane = session.lane(variant.id)
        other = lane.settings.profile_id != settings.profile_id
        profile = lane.profile if other else None
        gateway = profile.name if profile is not None else variant.gateway
        system = own if (own := system_text(lane.transcript)) != ours else None
        named.append(variant.model_copy(update={"gateway": gateway, "system": system}))
    return settings.model_copy(update={"variants": tuple(named)})


def _secret(edit: OpenEdit) -> bool:
    """Whether what stands there looks like a key, which may be in no file: what would not be taken over is not kept."""
    return edit.what is What.REQUEST and has_written_key(edit.text or "")


def _as_far_as_they_came(session: Session, limit: int | None) -> Iterator[Turn]:
    """The turns; one being received, and there may be thousands, as it would stand if nothing more came."""
    run, outcome = None, Outcome(ending=Ending.INTERRUPTED)
    for turn in session.transcript.turns.values():
        choice = session.growing.get(turn.id)
        if choice is None:
            yield turn
            continue
        if run is None or not run.brings(turn.id):
            run = session.run_of(turn.id)
            asked = run.asked if run is not None else Asked()
            exchange = run.exchange.id if run is not None and run.exchange is not None else None
            outcome = Outcome(ending=Ending.INTERRUPTED, model=asked.model, asked=asked, exchange=exchange)
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
    notes = session.debugger.notes
    # An answer that is waited for cannot come after a restart: the call would wait as one that was stopped.
    pending = [key for lane in session.lanes for key in lane.debugger.pending]
    stops = {**dict.fromkeys(pending, STOPPED), **notes.stops}
    keys = dict.fromkeys((*stops, *notes.drafts, *notes.fork_drafts))
    states = []
    for turn, call in keys:
        key = (turn, call)
        typed, fork = notes.drafts.get(key), notes.fork_drafts.get(key, ())
        states.append(CallState(turn=turn, call=call, reason=stops.get(key), typed=typed, fork=fork))
    return tuple(states)


# ---- as JSON ---------------------------------------------------------------------------------------------------------


def encode_experiment(found: Snapshot, kept: FieldFilter = not_empty) -> JSONObject:
    """The experiment as JSON holds it. “by_hand” beside the parameters says which of them a person set, and “merges”
    that the extra body is merged into what it is laid over; without that it replaced whole objects.
    """
    members = encode(found, kept)
    out: JSONObject = {name: members.pop(name) for name in FIRST if name in members}
    by_hand = {name: one.by_hand for name, one in found.parameters.items() if one.by_hand}  # on one line each
    for name, item in members.items():
        out[name] = item
        if name == "parameters" and by_hand:
            out["by_hand"] = by_hand
        elif name == "extra_body" and item:
            out["merges"] = True
    return out


class _Beside(Value):
    """What of an experiment's JSON says how the rest is to be read."""

    parameters: dict[str, JSONObject] = Field(default_factory=dict)
    by_hand: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    merges: bool = False


def decode(value: JSON) -> Snapshot:
    """The experiment that JSON holds, from whatever source. Raises ValueError in words that say what is wrong where."""
    if not isinstance(value, dict):
        raise ValueError("the experiment must be a JSON object")
    read = read_as(_Beside, {name: value[name] for name in _Beside.model_fields if name in value}, "the experiment")
    parameters = {}
    for name, fields in read.parameters.items():
        try:
            parameters[name] = parameters_of(name, fields, read.by_hand.get(name, ()))
        except (ValidationError, RecursionError) as error:
            raise ValueError(f"parameters.{shortened(name)}: {reason_of(error)}") from None
    rest = {name: item for name, item in value.items() if name not in _Beside.model_fields}
    found = read_as(Snapshot, {**rest, "parameters": parameters}, "the experiment")
    if found.extra_body and not read.merges:
        sent = {name: as_it_was_sent(one, found.extra_body) for name, one in found.parameters.items()}
        found = found.model_copy(update={"parameters": sent})
    check_tree(found.turns, found.head)
    return found


def read_as(kind: type[V], value: JSON, what: str) -> V:
    """``value`` as one of our values. Raises ValueError in words."""
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be a JSON object")
    try:
        return kind.model_validate(value)
    except (ValidationError, RecursionError) as error:
        raise ValueError(reason_of(error)) from None


def check_tree(turns: tuple[Turn, ...], head: str | None) -> None:
    """Raise ValueError where turns are no tree: an id twice, a parent or head that is not there, a circle."""
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
    """The ids from which no way leads to the top. Every parent must be there."""
    fine: set[str] = set()
    bad: dict[str, None] = {}
    for start in parents:
        trail: dict[str, None] = {}
        at: str | None = start
        while at is not None and at not in fine and at not in trail:
            trail[at] = None
            at = parents[at]
        if at is None or at in fine:
            fine.update(trail)
        else:
            bad.update(trail)
            fine.update(trail)
    return list(bad)
