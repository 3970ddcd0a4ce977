"""A lane of an experiment: a conversation with its own end in the tree of turns, its own settings and runs.

The first lane is the experiment's conversation; Compare adds a lane for each variant. Commands are methods; what
happened is told to subscribers as `Change` values, synchronously and in order. A session opens no connection itself and
knows no window.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from playground.domain.accumulator import GrowingChoice
from playground.domain.adaptations import Adaptation
from playground.domain.errors import RunRefusedError
from playground.domain.model_facts import NOTHING_TOLD, ModelFacts
from playground.domain.parameters import Parameters
from playground.domain.request import ReasoningReturn, Request
from playground.domain.transcript import Transcript
from playground.domain.variables import as_written
from playground.engine.session.branching import resend_from
from playground.engine.session.changes import (
    CallKey,
    Change,
    DebugChanged,
    DraftChanged,
    Observers,
    PathChanged,
    RunState,
    RunStateChanged,
    SettingsChanged,
    TitleChanged,
)
from playground.engine.session.cumulative_text import EDITED, read_as_cumulative
from playground.engine.session.debugger import Debugger
from playground.engine.session.drafts import Draft, Editors, OpenEdit, position_after
from playground.engine.session.history import MAIN, History
from playground.engine.session.next_request import UNDER_WAY, NextRequest
from playground.engine.session.run import Mode, Run
from playground.engine.session.settings import ExperimentSettings, changed_names
from playground.engine.session.titles import summary_of, title_of
from playground.engine.session.turns import Turns
from playground.jsonkit.values import JSON

if TYPE_CHECKING:
    from playground.domain.prices import Asked, Price
    from playground.engine.gateways.profiles import Profile
    from playground.engine.session.call_notes import Planned, ToolRequest
    from playground.engine.session.experiment import Experiment
    from playground.gateway.limits import RateLimits as RateLimits
    from playground.gateway.tape import Exchange as Exchange


class Session:
    """A lane of `experiment`, that of the variant `variant_id`; of the conversation by default.

    `active_run` is the run under way, `state` its state, `limits` the rate limits in the latest response.
    """

    def __init__(self, experiment: Experiment, variant_id: str = MAIN) -> None:
        self.experiment = experiment
        self.observers = Observers(experiment.observer_group)
        self.history = History(experiment.stack, variant_id)
        self.turns = Turns(self.history, self.observers, experiment.growing)
        self.editors = Editors(experiment, self.turns, self.observers)
        self.exchanges = experiment.exchanges
        self.limits: RateLimits | None = None
        self.state = RunState.IDLE
        self.active_run: Run | None = None
        self.requests_sent: int | None = None  # by the last run
        self.next_request = NextRequest(self)
        self.debugger = Debugger(self)

    # State

    @property
    def id(self) -> str:
        """The id of the experiment."""
        return self.experiment.id

    @property
    def main(self) -> Session:
        """The conversation, the first lane."""
        return self.experiment.main

    @property
    def transcript(self) -> Transcript:
        """The present turns."""
        return self.history.transcript

    @property
    def settings(self) -> ExperimentSettings:
        """The present settings."""
        return self.history.settings

    @property
    def growing(self) -> dict[str, GrowingChoice]:
        """The turns being received, in any lane."""
        return self.experiment.growing

    @property
    def profile(self) -> Profile | None:
        """The profile of the gateway; None if it is unknown."""
        profile_of = self.experiment.profile_of
        return profile_of(self.settings.profile_id) if profile_of is not None else None

    def price(self, model: str) -> Price | None:
        """Return the present price of a model of the gateway; None if unknown."""
        if self.experiment.price_of is not None:
            return self.experiment.price_of(self.settings.profile_id, model)
        profile = self.profile
        return profile.prices.get(model) if profile is not None else None

    def facts(self, model: str, profile_id: str = "") -> ModelFacts:
        """Return what a gateway tells of a model, by default the present gateway."""
        facts_of = self.experiment.facts_of
        return facts_of(profile_id or self.settings.profile_id, model) if facts_of is not None else NOTHING_TOLD

    def facts_asked(self, asked: Asked) -> ModelFacts:
        """Return what a gateway tells of a model that was asked."""
        return self.facts(asked.model or self.settings.model, asked.profile_id)

    @property
    def title(self) -> str:
        """The title set by a person, else the first words of the first user turn."""
        return title_of(self.transcript, self.settings.title, self.experiment.preview)

    @property
    def summary(self) -> str:
        """A summary in one line for the list: the model, then the most important fact."""
        words = summary_of(self.transcript, self.settings.model, self.state)
        return self.experiment.preview(words, len(words))

    def subscribe(
        self, callback: Callable[[Change], None], *kinds: type[Change], everywhere: bool = False
    ) -> Callable[[], None]:
        """Subscribe to changes; see `Observers.subscribe`."""
        return self.observers.subscribe(callback, *kinds, everywhere=everywhere)

    # Settings: each change can be undone

    def change(self, **fields: Any) -> None:
        """Change settings. Raises as `ExperimentSettings.changed` does."""
        self.set(self.settings.changed(**fields))

    def begin_with(self, **fields: Any) -> None:
        """Change settings without an undo step. Raises as `change` does."""
        self.history.settings = self.settings.changed(**fields)

    def set(self, settings: ExperimentSettings) -> None:
        """Replace the settings, as one edit."""
        before = self.settings
        if settings is not before and settings != before:
            self.history.push_setting(" ".join(changed_names(before, settings)))
            self.history.settings = settings
            self._tell_settings(before)

    def _tell_settings(self, before: ExperimentSettings) -> None:
        now = self.settings
        if now.model_copy(update={"title": before.title, "debugging": before.debugging}) != before:
            self.observers.tell(SettingsChanged())
        self.observers.tell(TitleChanged())
        if now.debugging != before.debugging:
            self.observers.tell(DebugChanged())

    def set_parameters(self, parameters: Parameters) -> None:
        """Replace the parameters of the present protocol."""
        self.set(self.settings.with_parameters(parameters))

    def switch_protocol(self, protocol: str) -> None:
        """Switch to another protocol, with all settings that have a counterpart (see `ExperimentSettings.switched`)."""
        if protocol != self.settings.protocol:
            self.set(self.settings.switched(protocol))

    def set_unsent(self, name: str, value: JSON) -> None:
        """Store the text of a field that is not valid yet; an empty value removes it."""
        self.set(self.settings.with_unsent(name, value))

    def send_as_written(self, names: Iterable[str]) -> None:
        """Send these variables as they are written, including braces."""
        self.change(variables={**self.settings.variables, **{name: as_written(name) for name in names}})

    def set_up(
        self, transcript: Transcript, settings: ExperimentSettings, lanes: Mapping[str, Transcript] | None = None
    ) -> None:
        """Replace turns and settings as one edit; `lanes` are the transcripts of lanes by their variants' ids."""
        before = self.settings
        self.history.push()
        self.history.transcript, self.history.settings = transcript, settings
        for variant_id, place in (lanes or {}).items():
            self.history.set_place(variant_id, place)
        self._path_changed()
        self._tell_settings(before)

    def load(self, request: Request, title: str = "") -> None:
        """Begin with the request of a file or a sample; replaces everything but the gateway, and can be undone."""
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

    @property
    def draft(self) -> Draft:
        """The content of the composer, shared by all lanes."""
        return self.experiment.draft

    def with_draft(self, draft: Draft) -> None:
        """Replace the content of the composer."""
        if draft != self.experiment.draft:
            self.experiment.draft = draft
            self.observers.tell(DraftChanged())

    # Undo

    def undo(self) -> bool:
        """Undo the last edit. Returns whether there was one; during a run there is none."""
        return self._travel(self.history.undo)

    def redo(self) -> bool:
        """Redo the edit undone last. Returns whether there was one."""
        return self._travel(self.history.redo)

    def _travel(self, restore: Callable[[], bool]) -> bool:
        before = self.settings
        if self.experiment.busy or not restore():
            return False
        self._path_changed()
        self._tell_settings(before)
        return True

    def _path_changed(self) -> None:
        for change in (PathChanged(), SettingsChanged(), TitleChanged()):
            self.observers.tell(change)

    # Runs

    async def run(self) -> None:
        """Send the next request, and go on by the rules for tool calls, which pause by default.

        Returns when a person must decide or the run is done, however it ended. Cancelling it stops the run and keeps
        what has arrived. Raises RunRefusedError.
        """
        self.prepare_run()
        await self.start_run()

    def prepare_run(self) -> None:
        """Keep open edits and push an undo state before a run. Raises RunRefusedError."""
        if reason := self.next_request.refusal():
            raise RunRefusedError(reason)
        self.editors.keep_open()
        self._drop_failed_head()
        self.history.push()

    async def run_edited(self, turn_id: str, text: str) -> None:
        """Replace the text of a turn and send from there; one undo reverts both.

        Raises RunRefusedError; during a run before anything is changed.
        """
        if self.state is not RunState.IDLE:
            raise RunRefusedError(UNDER_WAY)
        self.editors.set_editing(OpenEdit(turn=turn_id, text=text))
        if reason := self.editors.problem(turn_id):
            raise RunRefusedError(reason)
        before = self.transcript
        edited = self.editors.keep_open(turn_id).get(turn_id, turn_id)
        tip = resend_from(self.transcript, edited)
        tip = self.editors.keep_open(tip).get(tip, tip)
        if reason := self.next_request.refusal(tip=tip):
            raise RunRefusedError(reason)
        if self.transcript is before:
            self.history.push()
        transcript = self.transcript
        for child in transcript.children(tip):
            if self._is_empty_end(child):
                transcript = transcript.remove(child)
        self.history.transcript = transcript.truncate_after(tip)
        self._path_changed()
        await self.start_run()

    async def regenerate(self, turn_id: str, once: tuple[Adaptation, ...] = ()) -> None:
        """Send again for a turn, as an alternative; a failed empty turn is replaced.

        `once` are rules for this request alone, beside those the turn was requested with. Raises RunRefusedError.
        """
        outcome = self.transcript.turns[turn_id].outcome
        tried = outcome.tried if outcome is not None and once else ()
        self.prepare_again(turn_id)
        await self.start_run(once=(*tried, *once))

    def prepare_again(self, turn_id: str) -> None:
        """Keep open edits, push an undo state and go to the turn above, before a turn is generated again.

        Raises RunRefusedError.
        """
        parent = self.transcript.turns[turn_id].parent
        if reason := self.next_request.refusal(tip=parent):
            raise RunRefusedError(reason)
        copies = self.editors.keep_open(parent)
        parent = position_after(self.transcript, copies, parent)
        before = self.transcript
        self.history.push()
        transcript = before.remove(turn_id) if self._is_empty_end(turn_id) else before
        self.history.transcript = transcript.truncate_after(parent)
        self._drop_failed_head()
        self._path_changed()

    def _is_empty_end(self, turn_id: str) -> bool:
        """Return whether a turn is empty and has none below it."""
        return self.transcript.turns[turn_id].is_empty and not self.transcript.children(turn_id)

    def _drop_failed_head(self) -> None:
        turn = self.transcript.turns.get(self.transcript.head or "")
        if turn is not None and turn.is_empty:
            self.history.transcript = self.transcript.remove(turn.id)
            self.observers.tell(PathChanged())

    async def start_run(
        self,
        mode: Mode = Mode.RULES,
        planned: Mapping[CallKey, Planned | ToolRequest] | None = None,
        *,
        undo_steps: bool = True,
        once: tuple[Adaptation, ...] = (),
    ) -> None:
        """Perform a run from the head until it ends (see `Run`). The caller checks that a request is possible.

        Raises RunRefusedError where a run is under way.
        """
        if self.active_run is not None:
            raise RunRefusedError(UNDER_WAY)
        next_request = NextRequest(self, once) if once else self.next_request
        run = self.active_run = Run(self, next_request, mode, planned, undo_steps=undo_steps)
        self.history.begin(run.id)
        self.observers.tell(DebugChanged())
        try:
            await run.perform()
        finally:
            self.active_run, self.requests_sent = None, run.requests
            self.history.end(run.id)
            self.set_state(RunState.IDLE)
            self.observers.tell(DebugChanged())

    def set_state(self, state: RunState) -> None:
        """Set the state of the run, and tell the observers."""
        if state is not self.state:
            self.state = state
            self.observers.tell(RunStateChanged(state))
            self.observers.tell(TitleChanged())
            if state is RunState.IDLE:
                self.observers.tell(SettingsChanged(), only_this_lane=True)  # its next request is another one

    def stop(self, turn_id: str = "") -> None:
        """Stop the run and keep what has arrived; with a turn id only the run of any lane that receives that turn."""
        if turn_id:
            if (run := self.run_of(turn_id)) is not None:
                run.stop()
            return
        self.debugger.pending_calls.cancel_all()
        if self.active_run is not None:
            self.active_run.stop()

    def run_of(self, turn_id: str) -> Run | None:
        """Return the run of any lane that receives a turn."""
        runs = (lane.active_run for lane in self.experiment.all_lanes)
        return next((run for run in runs if run is not None and run.brings(turn_id)), None)

    def delete_turn(self, turn_id: str) -> None:
        """Delete one turn; one that is being received is stopped instead."""
        if turn_id in self.growing:
            self.stop(turn_id)
        else:
            self.turns.remove(turn_id)

    def delete_branch(self, turn_id: str) -> int:
        """Delete a turn and everything below it, on every branch. Returns the number of deleted turns.

        Turns being received there are stopped instead, and nothing is deleted. Raises KeyError for an unknown id.
        """
        below = self.transcript.below(turn_id)
        if growing := below & self.growing.keys():
            for key in growing:
                self.stop(key)
            return 0
        self.turns.remove_branch(turn_id)
        return len(below)

    async def read_as_cumulative(self, turn_id: str) -> str:
        """Read a turn again without the repeats of its cumulative deltas, as one edit. Returns the id of the turn.

        Raises ValueError with a sentence where that is impossible, and StoreError.
        """
        turn = self.transcript.turns[turn_id]
        exchange_id = (turn.outcome.exchange or "") if turn.outcome is not None else ""
        exchange = await self.experiment.bring_exchange(exchange_id)
        shortened = await asyncio.to_thread(read_as_cumulative, turn, exchange)  # a body may be large
        if self.transcript.turns.get(turn_id) != turn:
            raise ValueError(EDITED)
        return self.turns.replace_turn(shortened)
