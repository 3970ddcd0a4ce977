"""Commands on turns: `TurnCommands` executes for one pane what its cards offer; cards never touch the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple, Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QInputDialog

from playground.domain.accumulator import GrowingChoice
from playground.domain.adaptations import Adaptation
from playground.domain.errors import RunRefusedError
from playground.domain.parts import Image
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Transcript, Turn
from playground.engine.advice.parts import (
    ASK_AGAIN,
    DROP_REASONING,
    GIVE_UP,
    KEEP_OFFER,
    READ_CUMULATIVE,
    RETRY,
    RETRY_NOW,
    SEND_ALL,
    STREAM_ON,
    TURNS,
    Action,
    Offer,
)
from playground.engine.library.store import StoreError
from playground.engine.session import thinking
from playground.engine.session.changes import RunState
from playground.engine.session.drafts import EditKey, OpenEdit
from playground.engine.session.edits import Answerable, answerable
from playground.engine.session.request_executor import RetryWait
from playground.engine.session.session import Session
from playground.engine.session.variants import letter_of
from playground.jsonkit.texts import listed
from playground.ui.features.conversation.calls.call_commands import CallCommands
from playground.ui.features.conversation.image_intake import ImageSizes, TurnPictures, shrink_in_turn
from playground.ui.widgets.dialogs import dress
from playground.ui.widgets.loop import ask, spawn
from playground.ui.widgets.notice_bar import NoticeBar

BRANCHED = "Saved as a new branch. Use ‹ › to switch."


class Growth(NamedTuple):
    """A turn that is being received: what has arrived, and the seconds since the request.

    `retry_wait` is set while the next attempt is waited for, `starting` until the request could be sent.
    """

    choice: GrowingChoice
    elapsed: float
    retry_wait: RetryWait | None = None
    starting: bool = False


class ThinkingGuard:
    """Check edits of one session at a time, and warn in a notice bar when signed thinking becomes invalid."""

    def __init__(self, notice: NoticeBar) -> None:
        self._notice = notice
        self._accepted: set[tuple[str, ...]] = set()  # turns for which "Keep as is" was chosen

    def edit(self, session: Session, change: Callable[[], object]) -> bool:
        """Execute `change`. Return whether it invalidated signed thinking; then a warning is shown."""
        before = session.transcript
        change()
        invalid = thinking.invalidated(before, session.transcript) if session.transcript is not before else ()
        if invalid:
            self._warn(session, before, invalid, "This edit changed messages before")
        return bool(invalid)

    def tools_changed(self, session: Session) -> None:
        """Warn that signed thinking belongs to the tools that were on offer before."""
        invalid = thinking.signed_turns(session.transcript)
        if invalid and invalid not in self._accepted:
            self._warn(session, session.transcript, invalid, "The tools were different for")

    def _warn(self, session: Session, before: Transcript, invalid: tuple[str, ...], reason: str) -> None:
        numbers = [str(number) for number, turn in enumerate(session.transcript.path, 1) if turn.id in invalid]
        place = f"of message{'s' * (len(numbers) > 1)} {listed(numbers)}" if numbers else "on another branch"
        act = partial(self._act, session, session.transcript)
        self._notice.offer(
            f"{reason} the reasoning {place}. A gateway may reject it.",
            ("Remove reasoning", partial(act, partial(session.turns.drop_thinking, invalid))),
            ("Branch", partial(act, partial(session.turns.branch, before, invalid))),
            ("Keep as is", partial(self._accepted.add, invalid)),
        )

    def _act(self, session: Session, edited: Transcript, act: Callable[[], None]) -> None:
        if session.state is not RunState.IDLE:
            self._notice.say("A run is active. Stop it first, or undo the edit later (Ctrl+Z).")
        elif session.transcript is not edited:
            self._notice.say("The conversation has changed. Nothing was done.")
        else:
            act()


class PaneInterface(Protocol):
    """The pane for which commands are executed."""

    @property
    def session(self) -> Session: ...

    notice: NoticeBar

    def undo(self) -> None: ...

    def say_refused(self, reason: str, turn: Turn | None = None, again: str = "") -> None: ...

    def cost_words(self, turn_id: str) -> str: ...

    def jump_to_latest(self) -> None: ...

    def focus_turn(self, turn_id: str) -> None: ...

    def focus_editor(self, key: EditKey) -> None: ...


class TurnCommands(QObject):
    """Execute commands on turns for the session that a pane shows; what others carry out, it asks for by a signal.

    `calls` has the commands on tool calls, `pictures` adds images. If it is `read_only`, nothing is offered that
    changes a turn.
    """

    # Requests of the window
    advice_asked = Signal(object)  # an `Action` that is not about the turn
    exchange_asked = Signal(str)  # exchange id
    link_asked = Signal(str)  # address
    alternatives_asked = Signal(str)  # turn id: show its alternatives as lanes
    case_asked = Signal(str)  # turn id: make a case of the evaluation from it and those before it
    # Requests of the inspector: how a turn, or a call in it, was transferred
    frames_asked = Signal(str, str)  # turn id, call id; without a call the events of the turn
    messages_asked = Signal(str, str)  # turn id, call id: messages with the call's tool server
    compare_asked = Signal(str)  # turn id
    lint_asked = Signal(str)  # turn id
    hole_asked = Signal(str)  # turn id: the part of it that could not be read

    def __init__(self, pane: PaneInterface, calls: CallCommands, sizes: ImageSizes, *, read_only: bool) -> None:
        super().__init__()
        self.calls = calls
        self.read_only = read_only
        self.guard = ThinkingGuard(pane.notice)
        self.pictures = TurnPictures(lambda: pane.session, pane.notice, self.edit, sizes, read_only=read_only)
        self._pane = pane

    @property
    def _session(self) -> Session:
        return self._pane.session

    # Facts that cards show

    @property
    def variables(self) -> Mapping[str, str]:
        """The values of variables by name."""
        return self._session.settings.variables

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The tools on offer."""
        return self._session.settings.tools

    def cost_words(self, turn_id: str) -> str:
        """Return the cost of the request that brought a turn; empty if unknown."""
        return self._pane.cost_words(turn_id)

    def output_limit(self, turn_id: str) -> int | None:
        """Return the output limit of the model that answered, in tokens; None if unknown."""
        turn = self._session.transcript.turns.get(turn_id)
        request = turn.outcome.asked if turn is not None and turn.outcome is not None else None
        return self._session.facts_asked(request).output if request is not None else None

    def other_lane(self, turn_id: str) -> str:
        """Return the other lane that shows a turn, such as "lane B"; empty if none does."""
        lanes = enumerate(self._session.experiment.lanes)
        others = ((number, lane.transcript.path) for number, lane in lanes if lane is not self._session)
        return next((f"lane {letter_of(n)}" for n, path in others if any(turn.id == turn_id for turn in path)), "")

    # Editors

    def editor(self, key: EditKey) -> OpenEdit | None:
        """Return the content of an open editor; None if it is closed."""
        return self._session.editors.open.get(key)

    def editors_of(self, turn_id: str) -> list[OpenEdit]:
        """Return the open editors of a turn in the order in which they were opened."""
        return [edit for edit in self._session.editors.open.values() if edit.turn == turn_id]

    def put_editor(self, edit: OpenEdit) -> None:
        """Open an editor, or store what was typed in it."""
        self._session.editors.set_editing(edit)

    def close_editor(self, key: EditKey) -> None:
        """Close an editor and forget its content."""
        self._session.editors.end_editing(key)

    def cancel_editor(self, key: EditKey) -> None:
        """Close an editor; what was typed in it can be brought back from the notice."""
        session, edit = self._session, self.editor(key)
        session.editors.end_editing(key)
        if edit is not None and edit.changed:
            reopen = partial(self._reopen_editor, session, edit)
            self._pane.notice.say("Edit discarded.", "Undo", reopen, stays=False)

    def _reopen_editor(self, session: Session, edit: OpenEdit) -> None:
        if edit.turn in session.transcript.turns:
            session.editors.set_editing(edit)
            self._pane.focus_editor(edit.key)

    def save_editor(self, key: EditKey) -> str:
        """Save the content of an editor and close it. Return why that is impossible, or nothing."""
        try:
            self.edit(key.turn, partial(self._session.editors.keep_editing, key))
        except ValueError as error:
            return str(error)
        return ""

    def save_and_run(self, turn_id: str, text: str) -> None:
        """Replace the text of a turn and run from there."""
        pane, session = self._pane, self._session
        pane.notice.hide()
        pane.jump_to_latest()

        async def run() -> None:
            try:
                await session.run_edited(turn_id, text)
            except RunRefusedError as error:
                pane.say_refused(str(error))

        spawn(run(), name="run")

    def branches(self, turn_id: str, call_id: str = "") -> bool:
        """Return whether an edit of a turn, or of a call in it, makes a branch."""
        return turn_id in self._session.transcript.turns and self._session.turns.branches(turn_id, call_id)

    # Edits

    def edit(self, turn_id: str, edit: Callable[[], object], done: str = "") -> None:
        """Execute an edit of a turn, and say `done` or that it made a branch. Raises what `edit` raises."""
        pane, session = self._pane, self._session
        count = len(session.transcript.siblings(turn_id))
        if self.guard.edit(session, edit):
            return
        transcript = session.transcript
        branched = turn_id in transcript.turns and len(transcript.siblings(turn_id)) > count
        if branched:
            pane.jump_to_latest()
        if branched or done:
            pane.notice.say(" ".join(filter(None, (done, BRANCHED * branched))), "Undo", pane.undo, stays=False)

    def set_image(self, turn_id: str, index: int, image: Image | None) -> None:
        """Replace an image of a turn; None removes it."""
        edit = partial(self._session.turns.set_image, turn_id, index, image)
        self.edit(turn_id, edit, "Image removed." if image is None else "")

    def shrink_image(self, turn_id: str, index: int) -> None:
        """Replace an image of a turn by a smaller copy."""
        shrink_in_turn(self._session, turn_id, index, self._pane.notice)

    def set_role(self, turn_id: str, role: Role) -> None:
        """Change the role of a turn."""
        self.edit(turn_id, partial(self._session.turns.change_role, turn_id, role))

    def delete_turn(self, turn_id: str) -> None:
        """Delete a turn."""
        if turn_id in self._session.growing:
            self._session.delete_turn(turn_id)
        elif not self.guard.edit(self._session, partial(self._session.delete_turn, turn_id)):
            self._pane.notice.say("Message deleted.", "Undo", self._pane.undo, stays=False)

    def move_turn(self, turn_id: str, step: int) -> None:
        """Move a turn up (-1) or down (+1)."""
        self.guard.edit(self._session, partial(self._session.turns.move_turn, turn_id, step))

    def delete_call(self, turn_id: str, call_id: str) -> None:
        """Delete a call with its results."""
        answered = self._session.debugger.result(turn_id, call_id) is not None
        done = "Call deleted, with its result." if answered else "Call deleted."
        self.edit(turn_id, partial(self._session.turns.delete_call, turn_id, call_id), done)

    def answerable_calls(self, turn_id: str = "") -> list[Answerable]:
        """Return the calls that a result in a turn may answer; without a turn, those for the end of the path."""
        transcript = self._session.transcript
        turn = transcript.turns.get(turn_id)
        return answerable(transcript.lineage(turn.parent) if turn is not None else transcript.path)

    def set_answered_call(self, turn_id: str, index: int, call_id: str) -> None:
        """Let a result of a tool turn answer another call."""
        self.edit(turn_id, partial(self._session.turns.give_call, turn_id, index, call_id))

    # Branches

    def select_alternative(self, turn_id: str) -> None:
        """Show the branch of a turn."""
        self._session.turns.select_alternative(turn_id)

    def choose_alternative(self, turn_id: str) -> None:
        """Ask for the number of an alternative, and show it."""
        spawn(self._choose_alternative(turn_id), name="go to an alternative")

    async def _choose_alternative(self, turn_id: str) -> None:
        siblings = self._session.transcript.siblings(turn_id)
        dialog = QInputDialog(self._pane.notice)
        dialog.setWindowTitle("Go to alternative")
        dialog.setLabelText(f"Number (1 to {len(siblings):,}, oldest first)")
        dialog.setInputMode(QInputDialog.InputMode.IntInput)
        dialog.setIntRange(1, len(siblings))
        dialog.setIntValue(siblings.index(turn_id) + 1)
        dress(dialog, "Go")
        if await ask(dialog) and (chosen := siblings[dialog.intValue() - 1]) in self._session.transcript.turns:
            self.select_alternative(chosen)
        dialog.deleteLater()

    # Runs

    def regenerate(self, turn_id: str, once: tuple[Adaptation, ...] = ()) -> None:
        """Send the request of a turn again, adapted `once`."""
        session = self._session

        async def run() -> None:
            try:
                await session.regenerate(turn_id, once)
            except RunRefusedError as error:
                self._pane.say_refused(str(error), again=turn_id)

        spawn(run(), name="run")

    def take_advice(self, turn_id: str, action: Action) -> None:
        """Execute the action that an error card offers."""
        session = self._session
        run = session.run_of(turn_id)
        wait = run.retry_wait if run is not None else None
        if action == RETRY_NOW and wait is not None:
            wait.retry_now()
            return
        if action == GIVE_UP and wait is not None:
            wait.give_up()
            return
        if action == STREAM_ON:
            session.set_parameters(session.settings.current.with_value("stream", True))
        if action == SEND_ALL:
            session.set_parameters(session.settings.current.stateless())
        if action == DROP_REASONING:
            session.turns.drop_thinking([turn.id for turn in session.transcript.path if thinking.sealed(turn)])
        if action in (RETRY, ASK_AGAIN, STREAM_ON, SEND_ALL, DROP_REASONING):
            self.regenerate(turn_id)
        elif action == TURNS:
            self._pane.focus_turn(session.transcript.path[0].id)
        elif action == READ_CUMULATIVE:
            spawn(self._read_as_cumulative(turn_id), name="read as cumulative text")
        elif action.offer is not None:
            self._take_offer(turn_id, action, action.offer)
        else:
            self.advice_asked.emit(action)

    async def _read_as_cumulative(self, turn_id: str) -> None:
        try:
            await self._session.read_as_cumulative(turn_id)
        except (ValueError, StoreError) as error:
            self._pane.notice.say(str(error), stays=False)

    def _take_offer(self, turn_id: str, action: Action, offer: Offer) -> None:
        """Send again with the rules of an offer; if they are saved, also in other lanes refused for the same reason."""
        from playground.engine.compare.lanes import keeping, refused_alike

        session = self._session
        if action.name == KEEP_OFFER:
            outcome = session.transcript.turns[turn_id].outcome
            self.advice_asked.emit(keeping(action, outcome, session.settings.profile_id))
            for lane, lane_turn_id in refused_alike(session, offer, action.value):
                spawn(lane.regenerate(lane_turn_id, offer.rules), name="run")
        self.regenerate(turn_id, offer.rules)

    # Links, images and the inspector

    def open_image(self, image: Image) -> None:
        """Show an image in a dialog."""
        from playground.ui.features.conversation.image_view import ImageDialog

        ImageDialog(image, self._pane.notice).show()

    def show_exchange(self, turn_id: str) -> None:
        """Show the request and the response of a turn."""
        outcome = self._session.transcript.turns[turn_id].outcome
        if outcome is not None and outcome.exchange:
            self.exchange_asked.emit(outcome.exchange)
