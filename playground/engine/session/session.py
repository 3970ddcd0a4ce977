"""One open experiment and its runs. The one mutable owner; everything in it is a value.

Commands are methods; what happened is told to subscribers as ``Change`` values, synchronously and in order.
A session opens no connection itself and knows no window. What it is made of stands in files of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

from playground.domain.accumulator import GrowingChoice
from playground.domain.adaptations import Adaptation
from playground.domain.errors import RunRefusedError
from playground.domain.model_facts import ModelFacts
from playground.domain.parameters import Parameters
from playground.domain.request import ReasoningReturn, Request
from playground.domain.transcript import Transcript, new_id
from playground.domain.variables import as_written
from playground.engine.session.branching import asking
from playground.engine.session.changes import (
    Change,
    DebugChanged,
    DraftChanged,
    PathChanged,
    RunState,
    SettingsChanged,
    TitleChanged,
    TurnChanged,
)
from playground.engine.session.cumulative_text import EDITED, read_as_cumulative
from playground.engine.session.debugger import Debugger
from playground.engine.session.draft import Draft
from playground.engine.session.experiment import Connect, Experiment
from playground.engine.session.next_request import UNDER_WAY, NextRequest
from playground.engine.session.open_edits import OpenEdit
from playground.engine.session.run import Run
from playground.engine.session.serving import Serving
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.titles import Front, plain_front, summary_of, title_of
from playground.engine.session.turn_edits import standing
from playground.jsonkit.values import JSON
from playground.protocols import DEFAULT
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.domain.costs import PriceLookup
    from playground.engine.gateways.profiles import Profile
    from playground.gateway.limits import RateLimits as RateLimits
    from playground.gateway.tape import Exchange as Exchange

#: Gives an exchange that was kept, by the ids of the experiment and its own.
FetchExchange = Callable[[str, str], Awaitable["Exchange | None"]]

#: Changes after which the experiment is another one; what is merely shown or typed elsewhere is none.
_OF_CONTENT = (PathChanged, TurnChanged, SettingsChanged, DebugChanged)


class Session:
    """One open experiment. ``connect``, ``profile_of``, ``literal``, ``serving``, ``price_of`` and ``facts_of`` are as
    for ``Experiment``.

    It begins as the first three say, or with ``settings``.

    ``front`` shortens texts and knows the secrets. ``unread`` are rows of it that the store could not read, by
    ``Tally``. ``main`` is the session of the experiment's own conversation, of a lane as well.
    """

    def __init__(
        self,
        connect: Connect,
        *,
        profile_id: str = "",
        protocol: str = DEFAULT,
        model: str = "",
        settings: ExperimentSettings | None = None,
        profile_of: Callable[[str], Profile] | None = None,
        literal: bool = False,
        front: Front = plain_front,
        serving: Callable[[], Serving] | None = None,
        price_of: PriceLookup | None = None,
        facts_of: Callable[[str, str], ModelFacts] | None = None,
    ) -> None:
        if settings is None:
            settings = ExperimentSettings(
                profile_id=profile_id,
                protocol=protocol,
                model=model,
                parameters={protocol: get_protocol(protocol).parameters_type.begin({})},
            )
        self._of: Session | None = None  # whose lane it is: not itself, to be freed with its last user
        self.id = new_id()
        self.created_at = self.changed_at = time.time()
        self.pinned = self.archived = False
        self.left_out: tuple[str, ...] = ()  # the lanes that a message does not go to, as ``Snapshot`` has them
        self.fetch_exchange: FetchExchange | None = None
        self.unread: Mapping[tuple[str, bool], int] = {}
        self._front = front
        self._lanes: dict[str, Session] = {}
        self._stand_on(
            Experiment(
                connect,
                settings,
                profile_of,
                literal=literal,
                serving=serving,
                price_of=price_of,
                facts_of=facts_of,
            )
        )
        self.subscribe(self._changed, *_OF_CONTENT)

    def _stand_on(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.observers = self.experiment.observers
        self.history = self.experiment.history
        self.turns = self.experiment.turns
        self.editors = self.experiment.editors
        self.exchanges = self.experiment.exchanges
        self.next_request = NextRequest(self.experiment)
        self.debugger: Debugger = Debugger(
            experiment, self.next_request, None if self._of is None else self._of.debugger
        )

    @property
    def main(self) -> Session:
        """The session of the conversation."""
        return self._of or self

    def lane(self, variant_id: str) -> Session:
        """This experiment as the lane of a variant has it: a session in all, with an end of its own in the same tree.

        What is set there is what its variant has otherwise. One that is closed can be undone back, so it stays the same
        object. Raises KeyError for a variant there never was.
        """
        main = self.main
        known = main._lanes.get(variant_id)
        if known is None:
            if all(one.id != variant_id for one in main.settings.variants):
                raise KeyError(variant_id)
            known = main._lanes[variant_id] = copy(main)
            known._of = main
            known._stand_on(main.experiment.lane(variant_id))
        return known

    @property
    def lanes(self) -> tuple[Session, ...]:
        """All lanes, the conversation first, in the order of their columns."""
        main = self.main
        return (main, *(main.lane(one.id) for one in main.settings.variants))

    def forget_lanes(self) -> None:
        """The experiment is another one."""
        self.main._lanes.clear()

    @property
    def _everyone(self) -> tuple[Session, ...]:
        """The same, and those that are closed."""
        return (self.main, *self.main._lanes.values())

    @property
    def busy(self) -> bool:
        """Whether anything is under way in any lane."""
        return any(one.state is not RunState.IDLE for one in self._everyone)

    @property
    def asking(self) -> bool:
        """Whether a tool server is being asked in any lane, be it for a look only."""
        return any(one.debugger.asks.under_way for one in self._everyone)

    def _changed(self, change: Change) -> None:
        if not (isinstance(change, DebugChanged) and change.progress):
            self.changed_at = time.time()

    # What it is

    @property
    def transcript(self) -> Transcript:
        """The turns as they are."""
        return self.history.transcript

    @property
    def settings(self) -> ExperimentSettings:
        """What is set now."""
        return self.history.settings

    @property
    def growing(self) -> dict[str, GrowingChoice]:
        """The turns being received."""
        return self.turns.growing

    @property
    def state(self) -> RunState:
        """Where its runs stand."""
        return self.experiment.state

    @property
    def profile(self) -> Profile | None:
        """The gateway's settings, as far as they are known here."""
        return self.experiment.profile

    @property
    def title(self) -> str:
        """The title given, else the first words of the first user turn."""
        return title_of(self.transcript, self.settings.title, self._front)

    @property
    def summary(self) -> str:
        """One line of state for the list: model, then what stands out."""
        words = summary_of(self.transcript, self.settings.model, self.state)
        return self._front(words, len(words))

    def subscribe(
        self, callback: Callable[[Change], None], *kinds: type[Change], everywhere: bool = False
    ) -> Callable[[], None]:
        """Tell of changes; see ``Observers.subscribe``."""
        return self.observers.subscribe(callback, *kinds, everywhere=everywhere)

    # What is set: each change is an edit that can be undone

    def change(self, **fields: Any) -> None:
        """Set these fields of the settings. Raises as ``ExperimentSettings.changed`` does."""
        self.set(self.settings.changed(**fields))

    def begin_with(self, **fields: Any) -> None:
        """Have these fields set from the beginning: there is no way back over it. Raises as ``change`` does."""
        self.history.settings = self.settings.changed(**fields)

    def set(self, settings: ExperimentSettings) -> None:
        """Let all be set as these settings have it, from the next run on."""
        self.experiment.set(settings)

    def set_parameters(self, parameters: Parameters) -> None:
        """Replace the parameters of the protocol that is spoken."""
        self.set(self.settings.with_parameters(parameters))

    def switch_protocol(self, protocol: str) -> None:
        """Speak another protocol, with all that has a counterpart there (see ``ExperimentSettings.switched``)."""
        if protocol != self.settings.protocol:
            self.set(self.settings.switched(protocol))

    def set_unsent(self, name: str, value: JSON) -> None:
        """Keep what is typed in a field and cannot be sent yet; an empty value forgets it."""
        self.set(self.settings.with_unsent(name, value))

    def send_as_written(self, names: Iterable[str]) -> None:
        """Let these variables go out as they stand in the text, braces and all."""
        self.change(variables={**self.settings.variables, **{name: as_written(name) for name in names}})

    def set_up(
        self, transcript: Transcript, settings: ExperimentSettings, lanes: Mapping[str, Transcript] | None = None
    ) -> None:
        """Put these turns and settings in place of what there is, as one edit; ``lanes`` stand there then."""
        before = self.settings
        self.history.keep()
        self.history.transcript, self.history.settings = transcript, settings
        for variant_id, place in (lanes or {}).items():
            self.history.lane(variant_id).transcript = place
        self._path_changed()
        self.experiment.tell_settings(before)

    def load(self, request: Request, title: str = "") -> None:
        """Begin with what a file or a sample asks for; replaces everything but the gateway, and can be undone."""
        rule = request.reasoning_return
        settings = self.settings.changed(
            title=title,
            protocol=request.protocol,
            model=request.model,
            tools=request.tools,
            parameters={**self.settings.parameters, request.protocol: request.parameters},
            extra_body=request.extra_body,
            extra_headers=request.extra_headers,
            reasoning_return=rule if rule != ReasoningReturn() else None,
            unsent={},
        )
        self.set_up(Transcript().append(*request.turns), settings)

    def with_draft(self, draft: Draft) -> None:
        """Remember what stands in the composer."""
        if draft != self.draft:
            self.experiment.draft = draft
            self.observers.tell(DraftChanged())

    @property
    def draft(self) -> Draft:
        """What stands in the composer."""
        return self.experiment.draft

    # There and back

    def undo(self) -> bool:
        """Take the last edit back. Returns whether there was one."""
        return self._travel(self.history.undo)

    def redo(self) -> bool:
        """Do the edit taken back last again. Returns whether there was one."""
        return self._travel(self.history.redo)

    def _travel(self, go: Callable[[], bool]) -> bool:
        before = self.settings
        if self.busy or not go():
            return False
        self._path_changed()
        self.experiment.tell_settings(before)
        return True

    # Runs

    async def run(self) -> None:
        """Ask the gateway for the next turn, and go on as the rules for its calls say; by default they pause.

        Returns when somebody must decide or it is done, however it ended; raises RunRefusedError. Cancelling the task
        that runs this stops it and keeps what has arrived.
        """
        self.prepare_run()
        await self.debugger.start()

    def prepare_run(self) -> None:
        """All that comes before a run: keep what stands in open editors, and the way back. Raises RunRefusedError."""
        if reason := self.next_request.refusal():
            raise RunRefusedError(reason)
        self.editors.keep_open()
        self._drop_failed_head()
        self.history.keep()

    async def run_edited(self, turn_id: str, text: str) -> None:
        """Give a turn another text, as ``edit_text`` does, and ask from there; one undo takes both back.

        Raises RunRefusedError, during a run before anything is changed.
        """
        if self.state is not RunState.IDLE:
            raise RunRefusedError(UNDER_WAY)
        self.editors.set_editing(OpenEdit(turn=turn_id, text=text))
        if reason := self.editors.unkept(turn_id):
            raise RunRefusedError(reason)
        before = self.transcript
        edited = self.editors.keep_open(turn_id).get(turn_id, turn_id)
        at = asking(self.transcript, edited)
        at = self.editors.keep_open(at).get(at, at)
        if reason := self.next_request.refusal(at=at):
            raise RunRefusedError(reason)
        if self.transcript is before:
            self.history.keep()
        transcript = self.transcript
        for child in transcript.children(at):
            if self._is_hollow(child):
                transcript = transcript.remove(child)
        self._ask_from(transcript.truncate_after(at))
        await self.debugger.start()

    async def regenerate(self, turn_id: str, once: tuple[Adaptation, ...] = ()) -> None:
        """Ask again for that turn, as an alternative beside it; a failed one with nothing in it is replaced.

        ``once`` are rules for this alone; those that the turn was asked for with go on.
        """
        outcome = self.transcript.turns[turn_id].outcome
        tried = outcome.tried if outcome is not None and once else ()
        self.prepare_again(turn_id)
        await self.debugger.start(once=(*tried, *once))

    def prepare_again(self, turn_id: str) -> None:
        """All that comes before that. Raises RunRefusedError."""
        parent = self.transcript.turns[turn_id].parent
        if reason := self.next_request.refusal(at=parent):
            raise RunRefusedError(reason)
        copies = self.editors.keep_open(parent)
        parent = standing(self.transcript, copies, parent)
        before = self.transcript
        self.history.keep()
        kept = before.remove(turn_id) if self._is_hollow(turn_id) else before
        self.history.transcript = kept.truncate_after(parent)
        self._drop_failed_head()
        self._ask_from(self.transcript)

    def _ask_from(self, transcript: Transcript) -> None:
        self.history.transcript = transcript
        self._path_changed()

    def _path_changed(self) -> None:
        for change in (PathChanged(), SettingsChanged(), TitleChanged()):
            self.observers.tell(change)

    def _is_hollow(self, turn_id: str) -> bool:
        """Whether nothing came of a turn, and nothing is below it."""
        return self.transcript.turns[turn_id].is_empty and not self.transcript.children(turn_id)

    def _drop_failed_head(self) -> None:
        turn = self.transcript.turns.get(self.transcript.head or "")
        if turn is not None and turn.is_empty:
            self.history.transcript = self.transcript.remove(turn.id)
            self.observers.tell(PathChanged())

    def stop(self, turn_id: str = "") -> None:
        """End what is under way, keeping what has arrived; with a turn id only what brings that turn.

        Without anything under way, nothing happens.
        """
        for one in self._everyone if turn_id else (self,):
            if not turn_id:
                one.debugger.asks.cancel_all()
            loop = one.debugger.loop
            if loop is not None and (not turn_id or (loop.run is not None and loop.run.brings(turn_id))):
                loop.stop()

    def stop_all(self) -> None:
        """The same in every lane."""
        for one in self._everyone:
            one.stop()

    def delete_turn(self, turn_id: str) -> None:
        """Take one turn out; one that is being received is stopped, and nothing taken out yet."""
        if turn_id in self.growing:
            self.stop(turn_id)
        else:
            self.turns.take_out(turn_id)

    def delete_branch(self, turn_id: str) -> int:
        """Take a turn out with all that follows it, on every branch. Returns how many turns that were.

        What is being received there is stopped, and nothing taken out yet. Raises KeyError for an unknown id.
        """
        gone = self.transcript.below(turn_id)
        if growing := gone & self.growing.keys():
            for key in growing:
                self.stop(key)
            return 0
        self.turns.take_out_branch(turn_id)
        return len(gone)

    @property
    def active_run(self) -> Run | None:
        """The request under way, if any."""
        return self.debugger.loop.run if self.debugger.loop is not None else None

    def run_of(self, turn_id: str) -> Run | None:
        """The request that brings a turn, while it does."""
        runs = (one.active_run for one in self._everyone)
        return next((run for run in runs if run is not None and run.brings(turn_id)), None)

    # What went over the wire

    async def bring_exchange(self, exchange_id: str) -> Exchange | None:
        """An exchange with its bodies, fetched from the store where they are not in memory; None for an unknown one.

        Where they are no longer kept either, it is as it was. Raises StoreError.
        """
        known = self.exchanges.get(exchange_id)
        if known is None:
            return None
        whole = await self.whole(known)
        now = self.exchanges.get(exchange_id)
        if now is None or (now is not known and not now.dropped):
            return now  # somebody else has brought it meanwhile
        if whole is not known:
            self.experiment.exchange_changed(whole)
        return whole

    async def read_as_cumulative(self, turn_id: str) -> str:
        """Read a turn again without what its cumulative deltas repeat, as one edit. Returns the id of the turn then.

        Raises ValueError, with a sentence for people, where that cannot be done, and StoreError.
        """
        turn = self.transcript.turns[turn_id]
        exchange = await self.bring_exchange((turn.outcome.exchange or "") if turn.outcome is not None else "")
        read = await asyncio.to_thread(read_as_cumulative, turn, exchange)  # a body may be large
        if self.transcript.turns.get(turn_id) != turn:
            raise ValueError(EDITED)
        return self.turns.replace_turn(read)

    async def whole(self, exchange: Exchange) -> Exchange:
        """An exchange of this experiment with its bodies, as ``bring_exchange`` does; memory does not keep them."""
        fetch = self.main.fetch_exchange
        if fetch is None or not self.may_fetch(exchange):
            return exchange
        return await fetch(self.id, exchange.id) or exchange

    def may_fetch(self, exchange: Exchange) -> bool:
        """Whether the bodies of an exchange are not in memory, and the store is to be asked for them."""
        return bool(exchange.dropped) and self.main.fetch_exchange is not None
