"""An open experiment and its lanes, with the commands of a person.

A session is a lane: a conversation with its own end in the tree of turns, its own settings and runs. The first lane is
the experiment's conversation; Compare adds a lane for each variant. Commands are methods; what happened is reported to
subscribers as `Change` values, synchronously and in order.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from playground.domain.accumulator import Accumulator
from playground.domain.adaptations import Adaptation
from playground.domain.errors import RunRefusedError
from playground.domain.events import Event
from playground.domain.parameters import Parameters
from playground.domain.parts import Part, Reasoning, Text
from playground.domain.request import ReasoningReturn, Request
from playground.domain.transcript import Transcript, Turn
from playground.domain.variables import as_written
from playground.engine.session.branching import resend_from
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
from playground.engine.session.debugger import Debugger
from playground.engine.session.drafts import Draft, OpenEdit, position_after
from playground.engine.session.experiment import ExperimentState, Lane
from playground.engine.session.history import MAIN
from playground.engine.session.next_request import UNDER_WAY, NextRequest
from playground.engine.session.run import Mode, Run, RunResult, Runs
from playground.engine.session.settings import ExperimentSettings
from playground.jsonkit.values import JSON
from playground.protocols.cumulative import CUMULATIVE, without_repeats
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.gateway.limits import RateLimits as RateLimits
    from playground.gateway.tape import Exchange as Exchange

#: The deviation of a turn that was read so.
READ_SO: Final = "cumulative_text_read"
_NOTE: Final = "each delta repeated the text so far; the text is read without the repeats (undo to see it as received)"
GONE: Final = "The recorded bytes of this message are deleted, so it cannot be read again. Retry instead."
EDITED: Final = "The message was edited, so its text is not read again. Undo the edit first."


def is_cumulative(turn: Turn) -> bool:
    """Return whether a turn came in cumulative deltas and shows their repeats."""
    return turn.outcome is not None and any(code == CUMULATIVE for code, _ in turn.outcome.deviations)


def read_as_cumulative(turn: Turn, exchange: Exchange | None) -> Turn:
    """Return the turn with the text and reasoning of its exchange without their repeats.

    Raises ValueError, with a sentence for people, where that cannot be done.
    """
    if turn.outcome is None or exchange is None or exchange.dropped or not exchange.reads:
        raise ValueError(GONE)
    decoder = get_protocol(exchange.protocol).decoder(exchange.content_type)
    events = [*decoder.decode_bytes(exchange.body), *decoder.close(delimited=exchange.delimited)]
    choice = turn.outcome.choice
    received, shortened = _texts(events, choice), _texts(without_repeats(events), choice)
    if received != [part.text for part in turn.parts if isinstance(part, Text | Reasoning)]:
        raise ValueError(EDITED)
    texts = iter(shortened)
    parts: list[Part] = [
        part.model_copy(update={"text": next(texts, "")}) if isinstance(part, Text | Reasoning) else part
        for part in turn.parts
    ]
    deviations = tuple(
        (READ_SO, _NOTE) if code == CUMULATIVE else (code, note) for code, note in turn.outcome.deviations
    )
    outcome = turn.outcome.model_copy(update={"deviations": deviations})
    return turn.model_copy(update={"parts": tuple(parts), "outcome": outcome})


def _texts(events: Sequence[Event], choice: int) -> list[str]:
    """Return the texts and the reasoning of one completion, in order."""
    answer = Accumulator()
    answer.add_events(events)
    parts = answer.choice(choice).freeze()
    return [part.text for part in parts if isinstance(part, Text | Reasoning)]


class Session(Lane):
    """A lane with the commands of a person; by default the conversation of `experiment`."""

    experiment: Experiment

    def __init__(self, experiment: Experiment, variant_id: str = MAIN) -> None:
        super().__init__(experiment, variant_id)
        self.next_request = NextRequest(self)
        self.runs = Runs(self, self.next_request)
        self.debugger = Debugger(self, self.runs, self.next_request)

    # The experiment

    @property
    def main(self) -> Session:
        """The conversation, the first lane."""
        return self.experiment.main

    # Settings: each change can be undone

    def change(self, **fields: Any) -> None:
        """Change settings. Raises as `ExperimentSettings.changed` does."""
        self.set(self.settings.changed(**fields))

    def begin_with(self, **fields: Any) -> None:
        """Change settings without an undo step. Raises as `change` does."""
        self.history.settings = self.settings.changed(**fields)

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
        self.tell_settings(before)

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

    def with_draft(self, draft: Draft) -> None:
        """Replace the content of the composer."""
        if draft != self.draft:
            self.experiment.drafts.composer = draft
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
        self.tell_settings(before)
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
        await self.runs.start()

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
        await self.runs.start()

    async def regenerate(self, turn_id: str, once: tuple[Adaptation, ...] = ()) -> None:
        """Send again for a turn, as an alternative; a failed empty turn is replaced.

        `once` are rules for this request alone, beside those the turn was requested with. Raises RunRefusedError.
        """
        outcome = self.transcript.turns[turn_id].outcome
        tried = outcome.tried if outcome is not None and once else ()
        self.prepare_again(turn_id)
        await self.runs.start(once=(*tried, *once))

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

    def stop(self, turn_id: str = "") -> None:
        """Stop the run and keep what has arrived; with a turn id only the run of any lane that receives that turn."""
        if turn_id:
            if (run := self.run_of(turn_id)) is not None:
                run.stop()
            return
        self.pending_calls.cancel_all()
        if self.active_run is not None:
            self.active_run.stop()

    @property
    def active_run(self) -> Run | None:
        """The run under way; None without one."""
        return self.runs.active

    async def complete(self, mode: Mode = Mode.END) -> RunResult:
        """Run the next request to its end by the tool rules in the settings; with `Mode.ONCE`, calls are left open.

        Cancelling it stops the run.
        """
        before = {turn.id for turn in self.transcript.path}
        refusal = ""
        try:
            await (self.runs.start(mode) if mode is Mode.ONCE else self.debugger.run_to_end())
        except RunRefusedError as error:
            refusal = str(error)
        turns = tuple(turn for turn in self.transcript.path if turn.id not in before)
        last = next((turn.outcome for turn in reversed(turns) if turn.outcome is not None), None)
        return RunResult(turns, refusal, last.failure if last is not None else None, self.debugger.paused)

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


class Experiment(ExperimentState):
    """One open experiment with its lanes, the conversation first. The arguments are those of `ExperimentState`."""

    @cached_property
    def main(self) -> Session:
        """The conversation, the first lane."""
        main = Session(self)
        main.subscribe(self._touch, PathChanged, TurnChanged, SettingsChanged, DebugChanged)
        return main

    @cached_property
    def _lanes(self) -> dict[str, Session]:
        return {}

    def _touch(self, change: Change) -> None:
        if not (isinstance(change, DebugChanged) and change.progress):
            self.changed_at = time.time()

    # Lanes

    def lane(self, variant_id: str) -> Session:
        """Return the lane of a variant. A closed lane remains the same object, since closing can be undone.

        Raises KeyError for a variant that never existed.
        """
        lane = self._lanes.get(variant_id)
        if lane is None:
            if all(variant.id != variant_id for variant in self.stack.settings.variants):
                raise KeyError(variant_id)
            lane = self._lanes[variant_id] = Session(self, variant_id)
        return lane

    @property
    def lanes(self) -> tuple[Session, ...]:
        """The open lanes in the order of their columns, the conversation first."""
        return (self.main, *(self.lane(variant.id) for variant in self.stack.settings.variants))

    @property
    def all_lanes(self) -> tuple[Session, ...]:
        """All lanes, including closed ones."""
        return (self.main, *self._lanes.values())

    def forget_lanes(self) -> None:
        """Forget all lanes but the conversation, before another experiment is loaded."""
        self._lanes.clear()

    def close(self) -> None:
        """Release the experiment's memory at once, not at the next garbage collection; it cannot be used any more."""
        self.observer_group.clear()
        for lane in self.all_lanes:
            del lane.next_request, lane.runs, lane.debugger
        self._lanes.clear()
        del self.main

    @property
    def busy(self) -> bool:
        """Return whether a run is under way in any lane."""
        return any(lane.state is not RunState.IDLE for lane in self.all_lanes)

    @property
    def calls_server(self) -> bool:
        """Return whether a tool server is answering a call of any lane, even without a run."""
        return any(lane.pending_calls.under_way for lane in self.all_lanes)

    def stop(self) -> None:
        """Stop the runs of all lanes and keep what has arrived."""
        for lane in self.all_lanes:
            lane.stop()

    async def bring_exchange(self, exchange_id: str) -> Exchange | None:
        """Return an exchange with its bodies, from the store if they are not in memory; None for an unknown one.

        The bodies are missing if they are not stored either. Raises StoreError.
        """
        before = self.exchanges.get(exchange_id)
        if before is None:
            return None
        complete = await self.with_bodies(before)
        now = self.exchanges.get(exchange_id)
        if now is None or (now is not before and not now.dropped):
            return now  # fetched by another call meanwhile
        if complete is not before:
            self.exchange_changed(complete)
        return complete

    async def with_bodies(self, exchange: Exchange) -> Exchange:
        """Return an exchange with its bodies, without keeping them in memory. Raises StoreError."""
        if self.fetch_exchange is None or not exchange.dropped:
            return exchange
        return await self.fetch_exchange(self.id, exchange.id) or exchange

    def may_fetch(self, exchange: Exchange) -> bool:
        """Return whether the bodies of an exchange are not in memory and can be requested from the store."""
        return bool(exchange.dropped) and self.fetch_exchange is not None
