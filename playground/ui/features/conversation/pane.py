"""The conversation: the messages of a session above, the composer below."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from playground.domain.costs import PriceLookup
from playground.domain.errors import RunRefusedError
from playground.domain.transcript import Role, Turn
from playground.engine.compare.lanes import Lanes
from playground.engine.session.changes import (
    Change,
    DebugChanged,
    PathChanged,
    RunState,
    RunStateChanged,
    SettingsChanged,
    TurnChanged,
)
from playground.engine.session.drafts import Draft, turn_of_draft
from playground.engine.session.session import Session
from playground.ui.features.conversation.calls.call_bar import pending_calls
from playground.ui.features.conversation.composer import Composer
from playground.ui.features.conversation.costs import ExperimentCost, TokenCount
from playground.ui.features.conversation.image_intake import ImageIntake
from playground.ui.features.conversation.measures import BELOW
from playground.ui.features.conversation.transcript_pane import TranscriptPane
from playground.ui.features.conversation.welcome import WelcomePage
from playground.ui.widgets.loop import Throttle, spawn

#: Returns how to wait for what is still loading, such as the list of models; None if all is loaded.
Loading = Callable[[], Callable[[], Awaitable[None]] | None]


class DeferredRun:
    """A run that starts when loading is done. The window sets `loading`."""

    def __init__(self, composer: Composer, run: Callable[[], None]) -> None:
        self._composer = composer
        self._run = run
        self.loading: Loading = _nothing_loading

    def defer(self, is_wanted: Callable[[], bool]) -> bool:
        """Return whether something is loading; then the run starts afterwards if it `is_wanted` still."""
        wait = self.loading()
        if wait is not None and not self._composer.busy:
            self._composer.set_starting(True)
            spawn(self._start(wait, is_wanted), name="run when loading is done")
        return wait is not None

    async def _start(self, wait: Callable[[], Awaitable[None]], is_wanted: Callable[[], bool]) -> None:
        try:
            await wait()
        finally:
            self._composer.set_starting(False)
        if is_wanted():
            self._run()


def _nothing_loading() -> None:
    return None


class Columns(Protocol):
    """The lanes of an experiment side by side."""

    @property
    def lanes(self) -> Lanes: ...

    @property
    def front(self) -> TranscriptPane: ...

    @property
    def ticked(self) -> Sequence[TranscriptPane]: ...

    def foot_height(self) -> int: ...


class CentralMode(Protocol):
    """A page in place of the conversation; Run, Stop and Find apply to it."""

    @property
    def under_way(self) -> bool: ...

    def run(self) -> None: ...

    def stop(self) -> None: ...

    def look_for(self) -> None: ...


class ConversationPane(TranscriptPane):
    """The messages of one session and the composer.

    With `columns` a message goes to their lanes, and keyboard commands to the lane in front.
    """

    def __init__(self, session: Session, entered: PriceLookup) -> None:
        self.welcome_page = WelcomePage()
        self.welcome = self.welcome_page.welcome
        self.composer: Composer = Composer()
        self.columns: Columns | None = None
        self.mode: CentralMode | None = None
        super().__init__(session, entered, self.welcome_page, self.composer)
        self.setObjectName("conversation")
        self.composer.edited.connect(self._draft_edited)
        self.composer.images.opened.connect(self._open_attached)
        self.composer.images.link_asked.connect(self.commands.link_asked)
        self.intake: ImageIntake = ImageIntake(self.composer, self.notice, self, self.sizes)
        self._count = TokenCount(self.composer, lambda: self.target_panes, self)
        self._pending = Throttle(self._show_pending, self, interval=30)
        self.cost = ExperimentCost(self, entered, self)
        self.deferred = DeferredRun(self.composer, self.run)
        self.calls.bar.set_own_continue(False)
        self.begin()
        self.composer.run_asked.connect(self.run)
        self.composer.stop_asked.connect(self._stop_pressed)
        self.composer.add_asked.connect(self.add_draft)
        self.intake.attend()

    def refresh(self) -> None:
        super().refresh()
        self._count.poke()

    def _show_session(self) -> None:
        session = self._session
        self.composer.set_calls(self.commands.answerable_calls, session.settings.tools)
        self.composer.set_draft(session.draft)
        self.intake.show_session(session)
        self.show_lanes()
        super()._show_session()

    @property
    def front(self) -> TranscriptPane:
        """The pane that keyboard commands apply to: this one, or that of the lane in front."""
        return self.columns.front if self.columns is not None else self

    @property
    def target_panes(self) -> Sequence[TranscriptPane]:
        """The panes that a message goes to."""
        return self.columns.ticked if self.columns is not None else (self,)

    def set_central(
        self, page: QWidget | None, columns: Columns | None = None, mode: CentralMode | None = None
    ) -> None:
        """Show a page in place of the messages; None: the messages. With `columns` the page contains them.

        With a `mode` the composer is hidden.
        """
        least = self.seen.minimumHeight()
        self.seen.setMinimumHeight(0)
        self._whole.removeWidget(self.seen)
        if page is not None:
            self.turns.setVisible(page.isAncestorOf(self.turns))  # another page may have hidden them
        self.mode = mode
        self._show_below(mode is None)
        self.seen = page or self.turns
        self.seen.setMinimumHeight(least)
        self._whole.insertWidget(1, self.seen, 1)
        self.seen.show()
        self.notice.float_over(self.seen, columns.foot_height if columns is not None else int)
        if page is None and self._column.indexOf(self.calls.bar) < 0:  # a page of lanes contained it
            self._column.insertWidget(self._column.indexOf(self.composer), self.calls.bar)
        self.columns = columns
        self.calls.bar.set_own_continue(columns is not None)
        self.show_lanes()

    def _show_below(self, on: bool) -> None:
        """Show or hide the composer and its bars."""
        below = self._column.parentWidget()
        if below is not None:
            below.setVisible(on)
        self._below.setContentsMargins(*(BELOW if on else (0, 0, 0, 0)))

    def show_lanes(self) -> None:
        """Show which lanes a message goes to, and whether they run."""
        lanes = self.columns.lanes if self.columns is not None else None
        if lanes is None:
            self.composer.set_lanes(None)
        else:
            ticked = lanes.ticked
            self.composer.set_lanes([lanes.letter(lane) for lane in ticked], all_of_them=len(ticked) == len(lanes.all))
        self._count.poke()
        states = [lane.state for lane in lanes.all] if lanes is not None else [self._session.state]
        self.composer.set_state(next((state for state in states if state is not RunState.IDLE), RunState.IDLE))
        self._show_pending()

    def estimate(self) -> None:
        """Count the tokens of the next request again."""
        self._count.poke()

    def show_branch(self, turn_id: str) -> None:
        """Select the branch with a turn of the lane in front, if there is such a turn."""
        session = self.front.session
        if turn_id in session.transcript.turns:
            session.turns.select_alternative(turn_id)

    def show_turn(self, turn_id: str, call_id: str = "") -> None:
        """Scroll to a turn of the lane in front, or to a call in it, and focus the turn; select its branch first."""
        view = self.front.view
        if view.row_of(turn_id) is None:
            self.show_branch(turn_id)
        card = view.card(turn_id)
        if card is None:
            return
        view.reveal(card.turn_to_call(call_id) or card)
        card.setFocus(Qt.FocusReason.OtherFocusReason)

    # Commands

    def run(self) -> None:
        """Add the message in the composer, if there is one, and run."""
        if self.mode is not None:
            self.mode.run()
            return
        session = self._session
        if self._waits_for_calls and (pending := pending_calls(session)) is not None:
            self._show_pending()
            if pending.ready:
                self.calls.bar.go_on()
            else:
                self._focus_waiting_call()
            return
        if self._is_incomplete():
            return
        turn = turn_of_draft(self.composer.draft, session.transcript)
        if self.columns is not None:
            self._run_lanes(self.columns.lanes, turn)
            return
        reason = session.next_request.refusal(*([turn] if turn else []))
        started = turn is not None or bool(session.transcript.turns)
        if reason and self.deferred.defer(lambda: self._session is session or not started):
            return
        if reason:
            self.say_refused(reason, turn)
            return
        session.editors.keep_open()
        if turn is not None:
            self._add(turn)
        self._run_session()

    @property
    def _waits_for_calls(self) -> bool:
        """Return whether tool calls go first: not with several lanes, nor if the message is the result of a call."""
        return self.columns is None and self.composer.role is not Role.TOOL

    def _show_pending(self) -> None:
        """Let the composer's main button continue while calls are pending."""
        self.composer.set_pending_calls(pending_calls(self._session) if self._waits_for_calls else None)

    def _run_lanes(self, lanes: Lanes, turn: Turn | None) -> None:
        refused = lanes.refusals(lanes.ticked, *([turn] if turn is not None else []))
        ready = [lane for lane in lanes.ticked if lanes.letter(lane) not in refused]
        if not ready:
            self.say_refused(next(iter(refused.values()), "Select at least one lane."), turn)
            return
        if turn is not None:
            lanes.write(turn, ready)
            self._clear_draft(turn)
        self.notice.hide()
        if refused:
            self.notice.say(" ".join(f"Lane {letter} was skipped: {reason}" for letter, reason in refused.items()))

        async def run() -> None:
            try:
                await lanes.run(ready)
            except RunRefusedError as error:
                self.say_refused(str(error))

        spawn(run(), name="run lanes")

    def stop(self) -> None:
        """Stop the run of the lane in front, or of this session."""
        if self.mode is not None:
            self.mode.stop()
        else:
            self.front.calls.stop()

    def look_for(self, step: int = 0) -> None:
        if self.mode is not None:
            self.mode.look_for()
        else:
            super().look_for(step)

    def _stop_pressed(self) -> None:
        """Stop all lanes, or the run."""
        if self.columns is not None:
            self.columns.lanes.stop()
        else:
            self.stop()

    def add_draft(self) -> None:
        """Add the message in the composer without a run."""
        turn = None if self._is_incomplete() else turn_of_draft(self.composer.draft, self._session.transcript)
        if turn is not None:
            self._add(turn)
            self.view.jump_to_latest()
        self.composer.setFocus()

    def _is_incomplete(self) -> bool:
        """Return whether the composer's content cannot become a message yet; then a notice says why."""
        if self.intake.busy:
            self.notice.say("An image is still being read. Try again in a moment.", stays=False)
            return True
        try:
            turn_of_draft(self.composer.draft, self._session.transcript)
        except ValueError as error:
            self.notice.say(str(error))
            return True
        return False

    def _add(self, turn: Turn) -> None:
        self._session.turns.add_written(turn)
        self._clear_draft(turn)

    def _clear_draft(self, turn: Turn) -> None:
        calls = self.composer.draft.calls if turn.role is not Role.ASSISTANT else ()  # written for another turn
        self.composer.set_draft(Draft(calls=calls))
        self._draft_edited()

    def choose_written_call(self) -> bool:
        if self.composer.role is not Role.TOOL:
            return False
        self.composer.choose_call()
        return True

    def _all_answered(self) -> None:
        self.composer.setFocus()
        super()._all_answered()

    def edit_by_hand(self, work: Callable[[], object]) -> None:
        super().edit_by_hand(work)
        self.composer.set_draft(self._session.draft)

    def _open_attached(self, number: int) -> None:
        self.commands.open_image(self.composer.attached[number])

    # Changes of the session

    def _changed(self, change: Change) -> None:
        super()._changed(change)
        match change:
            case TurnChanged(turn_id) if self._is_elsewhere(turn_id):
                pass
            case PathChanged() | TurnChanged():
                self.composer.set_calls(self.commands.answerable_calls, self._session.settings.tools)
                self._show_pending()
            case RunStateChanged():
                self.show_lanes()
            case DebugChanged():
                self._pending.poke()
            case SettingsChanged():
                self.composer.set_calls(self.commands.answerable_calls, self._session.settings.tools)
                self._show_pending()
                self._count.poke()
            case _:
                pass

    def _draft_edited(self) -> None:
        self._session.with_draft(self.composer.draft)
        self._show_pending()
        self._count.poke()
