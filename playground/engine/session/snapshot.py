"""All that one experiment holds, as one frozen value: for the store, for files, for duplicates.

Taking a snapshot costs next to nothing, since nearly everything in a session is a frozen value already. Tapes, undo
history, and what is under way are no part of it: a turn that is being received is in it as it would stand if the
process ended now, marked interrupted. This module reads no file and trusts nothing that came out of one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pydantic import Field, ValidationError
from pydantic.fields import FieldInfo

from playground.domain.debugging import STOPPED, Answer, Debugging, Reason, ResultDraft, held_back
from playground.domain.parameters import Parameters
from playground.domain.parts import Unknown
from playground.domain.prices import Asked
from playground.domain.reasons import reason_of, shortened
from playground.domain.request import ReasoningReturn
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Transcript, Turn
from playground.domain.values import JSON, JSONObject, Value
from playground.engine.requests.extras import key_written
from playground.engine.session.changes import DebugChanged, PathChanged, SettingsChanged, TitleChanged
from playground.engine.session.history import History
from playground.engine.session.older import as_it_was_sent, mended
from playground.engine.session.open_edits import OpenEdit, What
from playground.engine.session.settings import Draft
from playground.protocols.protocol import PROTOCOLS, get_protocol

if TYPE_CHECKING:
    from playground.engine.session.session import Session

V = TypeVar("V", bound=Value)

LATEST = 2.5e11  # the largest Unix time that still is a date


class CallState(Value):
    """What is kept of one tool call besides its turn: why it waits, a result half typed, answers typed for a fork."""

    turn: str
    call: str
    reason: Reason | None = None
    typed: ResultDraft | None = None
    fork: tuple[Answer, ...] = ()


class Snapshot(Value):
    """One experiment.

    ``title`` is empty while it is the first words. ``created_at`` and ``changed_at`` are Unix times in seconds.
    ``gateway`` is the name of the gateway, for people and for other computers, where ``profile_id`` says nothing.
    ``parameters`` are the fields of each protocol's parameters by protocol (the output format is one of them), those
    at their default left out; ``by_hand`` names those that a person set to what a new experiment begins with.
    ``turns`` is the whole tree, oldest first; ``head`` the end of the branch that is shown.
    ``merges`` says that the extra body is merged into what it is laid over; without it, it replaced whole objects.
    ``editing`` is what stands in the editors that are open in turns, in the order in which they were opened, and what
    the next request's body is being edited to.
    ``reasoning_return`` is None where the gateway's rule holds. ``unsent`` is what was typed and cannot be sent yet.
    """

    id: str
    title: str = ""
    created_at: float = Field(default=0.0, ge=0, le=LATEST)
    changed_at: float = Field(default=0.0, ge=0, le=LATEST)
    pinned: bool = False
    archived: bool = False
    profile_id: str = ""
    gateway: str = ""
    protocol: str = "chat"
    model: str = ""
    parameters: dict[str, JSONObject] = Field(default_factory=dict)
    by_hand: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    tools: tuple[ToolDefinition, ...] = ()
    extra_body: JSONObject = Field(default_factory=dict)
    merges: bool = False
    extra_headers: dict[str, str] = Field(default_factory=dict)
    reasoning_return: ReasoningReturn | None = None
    variables: dict[str, str] = Field(default_factory=dict)
    unsent: dict[str, JSON] = Field(default_factory=dict)
    debugging: Debugging = Debugging()
    calls: tuple[CallState, ...] = ()
    draft: Draft = Draft()
    editing: tuple[OpenEdit, ...] = ()
    turns: tuple[Turn, ...] = ()
    head: str | None = None

    @property
    def transcript(self) -> Transcript:
        """The tree of turns."""
        return Transcript({turn.id: turn for turn in self.turns}, self.head)

    @property
    def untouched(self) -> bool:
        """Whether nothing in it is worth keeping: no turn, nothing typed, nothing set but gateway and model."""
        held = self.turns, self.title, not self.draft.empty, self.tools, self.variables, self.unsent, self.editing
        settings = self.extra_body, self.extra_headers, self.reasoning_return, self.pinned, self.archived
        if any(held) or any(settings) or self.debugging != Debugging():
            return False
        return all(fields.keys() <= {"stream", "include_usage"} for fields in self.parameters.values())


# ---- of a session ----------------------------------------------------------------------------------------------------


def snapshot(session: Session) -> Snapshot:
    """What a session holds now. A turn being received is in it as far as it came, marked interrupted."""
    turns = tuple(session.transcript.turns.values())
    if session.growing:
        turns = tuple(_as_interrupted(session, turn) if turn.id in session.growing else turn for turn in turns)
    profile = session.profile
    made = Snapshot.model_construct(
        id=session.id,
        title=session.given_title,
        created_at=session.created_at,
        changed_at=session.changed_at,
        pinned=session.pinned,
        archived=session.archived,
        profile_id=session.profile_id,
        gateway=profile.name if profile is not None else "",
        protocol=session.protocol,
        model=session.model,
        parameters={name: fields_of(found) for name, found in session.parameters.items()},
        by_hand={name: found.by_hand for name, found in session.parameters.items() if found.by_hand},
        tools=session.tools,
        extra_body=session.extra_body,
        merges=bool(session.extra_body),
        extra_headers=session.extra_headers,
        reasoning_return=session.reasoning_return,
        variables=session.variables,
        unsent=session.unsent,
        debugging=session.debugger.debugging,
        calls=_call_states(session),
        draft=session.draft,
        editing=tuple(edit for edit in session.editing.values() if not _secret(edit)),
        turns=turns,
        head=session.transcript.head,
    )
    return made.model_copy(update=session.unknown) if session.unknown else made


def restore(found: Snapshot, session: Session) -> None:
    """Make a session hold what a snapshot says; nothing of what it held stays, undo included. It must be idle.

    Raises ValueError in words where this version cannot work with it; the session is as it was then.
    """
    if found.protocol not in PROTOCOLS:
        raise ValueError(f"It speaks the protocol “{shortened(found.protocol)}”, which this version does not know.")
    parameters = {
        name: parameters_of(name, fields, found.by_hand.get(name, ())) for name, fields in found.parameters.items()
    }
    if not found.merges:
        parameters = {name: as_it_was_sent(one, found.extra_body) for name, one in parameters.items()}
    session.id = found.id
    session.given_title = found.title
    session.created_at, session.changed_at = found.created_at, found.changed_at
    session.pinned, session.archived = found.pinned, found.archived
    session.profile_id, session.protocol, session.model = found.profile_id, found.protocol, found.model
    session.parameters = parameters
    session.tools = found.tools
    session.extra_body, session.extra_headers = found.extra_body, found.extra_headers
    session.reasoning_return = found.reasoning_return
    session.variables, session.unsent = found.variables, found.unsent
    session.unknown = dict(found.model_extra or {})
    session.draft = found.draft
    session.editing = {edit.key: edit for edit in found.editing}
    session.history = History()
    session.transcript = mended(found.transcript, found.profile_id)
    debugger = session.debugger
    debugger.debugging = found.debugging
    debugger.stops = {(kept.turn, kept.call): kept.reason for kept in found.calls if kept.reason is not None}
    debugger.drafts = {(kept.turn, kept.call): kept.typed for kept in found.calls if kept.typed is not None}
    debugger.fork_drafts = {(kept.turn, kept.call): kept.fork for kept in found.calls if kept.fork}
    debugger.forks.clear()
    for turn_id, call in session.transcript.waiting:
        if held := held_back(session.transcript.turns[turn_id], call):
            debugger.stops.setdefault((turn_id, call.id), held)
    changed_at = session.changed_at
    for change in (PathChanged(), SettingsChanged(), TitleChanged(), DebugChanged()):
        session.tell(change)
    session.changed_at = changed_at


def copy_of(found: Snapshot, new_id: str, title: str) -> Snapshot:
    """The same experiment once more, as one that was made just now."""
    now = time.time()
    update = {"id": new_id, "title": title, "created_at": now, "changed_at": now, "pinned": False, "archived": False}
    return found.model_copy(update=update)


def _secret(edit: OpenEdit) -> bool:
    """Whether what stands there looks like a key, which may be in no file: what would not be taken over is not kept."""
    return edit.what is What.REQUEST and key_written(edit.text or "")


def _as_interrupted(session: Session, turn: Turn) -> Turn:
    """A turn being received, as it would stand if nothing more came."""
    run = session.run_of(turn.id)
    asked = run.asked if run is not None else Asked()
    choice = session.growing[turn.id]
    exchange = run.exchange.id if run is not None and run.exchange is not None else None
    outcome = Outcome(ending=Ending.INTERRUPTED, model=asked.model, asked=asked, exchange=exchange, choice=choice.index)
    return turn.model_copy(update={"parts": choice.freeze(), "outcome": outcome, "extra": choice.extra})


def _call_states(session: Session) -> tuple[CallState, ...]:
    debugger = session.debugger
    # An answer that is waited for cannot come after a restart: the call would wait as one that was stopped.
    stops = {**dict.fromkeys(debugger.pending, STOPPED), **debugger.stops}
    keys = dict.fromkeys((*stops, *debugger.drafts, *debugger.fork_drafts))
    states = []
    for turn, call in keys:
        key = (turn, call)
        typed, fork = debugger.drafts.get(key), debugger.fork_drafts.get(key, ())
        states.append(CallState(turn=turn, call=call, reason=stops.get(key), typed=typed, fork=fork))
    return tuple(states)


def fields_of(parameters: Parameters) -> JSONObject:
    """The fields that are set, under their own names, and the keys that no field is for."""
    known = {name: getattr(parameters, name) for name in type(parameters).model_fields}
    found = {name: value for name, value in {**known, **(parameters.model_extra or {})}.items() if value is not None}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def parameters_of(protocol: str, fields: JSONObject, by_hand: tuple[str, ...] = ()) -> Parameters:
    """The reverse; a value of a wrong type stays as it is, to be sent and flagged."""
    kind = get_protocol(protocol).parameters_type if protocol in PROTOCOLS else Parameters
    odd = {name: value for name, value in fields.items() if name in kind.model_fields and not kind.fits(name, value)}
    rest = {name: value for name, value in fields.items() if name not in odd}
    return kind.model_validate(rest).model_copy(update=odd).set_by_hand(by_hand)


# ---- as JSON ---------------------------------------------------------------------------------------------------------


#: Whether a field is written: its name, what is known of it, its value.
Kept: TypeAlias = Callable[[str, FieldInfo, Any], bool]


def _not_empty(_name: str, info: FieldInfo, item: Any) -> bool:
    return item is not None or info.default is not None


def encode(value: Value, kept: Kept = _not_empty) -> JSONObject:
    """A value as JSON holds it: fields in the order they are defined, unknown ones after them; only those ``kept``.

    Unlike pydantic's own way it takes values nested as deeply as JSON itself can be, and fields of a wrong type.
    """
    out: JSONObject = {}
    for name, info in type(value).model_fields.items():
        item = getattr(value, name)
        if kept(name, info, item):
            out[name] = _plain(item, kept)
    for name, item in (value.model_extra or {}).items():
        out[name] = _plain(item, kept)
    return out


def _plain(value: Any, kept: Kept) -> JSON:
    if isinstance(value, str):
        return str.__str__(value)  # a member of an enumeration as its text
    if isinstance(value, Unknown) and value.from_file:
        return value.value
    if isinstance(value, Value):
        return encode(value, kept)
    if isinstance(value, tuple):
        return [_plain(item, kept) for item in value]
    if isinstance(value, dict):
        typed = any(isinstance(item, Value) for item in value.values())
        return {name: _plain(item, kept) for name, item in value.items()} if typed else dict(value)
    return value


def decode(value: JSON) -> Snapshot:
    """The experiment that JSON holds, from whatever source. Raises ValueError in words that say what is wrong where."""
    found = read_as(Snapshot, value, "the experiment")
    if found.protocol in PROTOCOLS:
        for name, fields in found.parameters.items():
            try:
                parameters_of(name, fields)
            except (ValidationError, RecursionError) as error:
                raise ValueError(f"parameters.{shortened(name)}: {reason_of(error)}") from None
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
