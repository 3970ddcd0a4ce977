"""A session's turns, drawn, with all that can be done to them: what a person does becomes session commands.

The conversation is one of them with a message field below it, a lane of Compare another. Nothing here is written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import ClassVar

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from playground.domain.costs import PriceLookup, cost, total
from playground.domain.errors import RunRefusedError
from playground.domain.transcript import Role, Turn
from playground.engine.session.changes import (
    Change,
    DebugChanged,
    DraftChanged,
    PathChanged,
    RunState,
    RunStateChanged,
    SettingsChanged,
    TurnChanged,
    TurnGrew,
)
from playground.engine.session.edits import answers_none, calls_first, without_call
from playground.engine.session.next_request import UNDER_WAY
from playground.engine.session.session import Session
from playground.ui.features.conversation.aside import Aside
from playground.ui.features.conversation.calls.call_commands import CallCommands
from playground.ui.features.conversation.commands import Growth, TurnCommands, WireSignals
from playground.ui.features.conversation.finder import Finder
from playground.ui.features.conversation.image_intake import ImageSizes, TurnPictures
from playground.ui.features.conversation.inline_editor import InlineEditor
from playground.ui.features.conversation.measures import Centre, at_reading_width
from playground.ui.features.conversation.rows import Rows
from playground.ui.features.conversation.thinking_guard import ThinkingGuard
from playground.ui.features.conversation.transcript_view import TranscriptView
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.notice_bar import Choice, NoticeBar

CLOCK_MS = 100
DRAW_MS = 40  # between two pictures of what arrives: the eye sees no more in words, and it is less than half the work

#: What a pane hears of its session: not of exchanges, word of which comes with every token.
_FOLLOWED = (TurnGrew, TurnChanged, PathChanged, SettingsChanged, RunStateChanged, DebugChanged, DraftChanged)


def cost_of_turn(session: Session, turn_id: str, entered: PriceLookup) -> str:
    """What the request that brought a turn cost, all its choices; empty where that is not known."""
    turn = session.transcript.turns.get(turn_id)
    outcome = turn.outcome if turn is not None else None
    found = cost(outcome, session.settings.profile_id, entered) if outcome is not None else None
    return total([found]) if found is not None else ""


class TranscriptPane(Centre):
    """Shows one session at a time, and does what its cards ask for: implements ``TurnCommands``.

    ``empty`` is seen while there is no turn; ``below`` stands under the turns, behind the bar of the debugger and the
    line that says what happened. Whoever makes one calls ``begin`` when all of it is there. The turns of one
    that is ``fixed`` are only to be read: nothing is offered that would change them.
    """

    advice_asked = Signal(object)  # an ``Action`` that is not about the turn itself
    exchange_asked = Signal(str)  # exchange id
    link_asked = Signal(str)
    compare_asked = Signal(str)  # turn id: what stands beside it is to be seen with it
    case_asked = Signal(str)  # turn id: with what stands above it, it is to be a case of the evaluation
    commands_type: ClassVar[type[TurnCommands]] = TurnCommands
    refused = Signal(str, str)  # why a run was refused, and the turn it was to bring again

    def __init__(
        self, session: Session, entered: PriceLookup, empty: QWidget, *below: QWidget, fixed: bool = False
    ) -> None:
        super().__init__()
        self._session = session
        self._entered = entered
        self._empty = empty
        self._grown: set[str] = set()
        self.rows = Rows()
        self._aside = Aside()
        self.notice = NoticeBar(self)
        self.notice.setObjectName("conversationNotice")
        self._guard = ThinkingGuard(self.notice)
        self.calls = CallCommands(session, self._all_answered, self._focus_waiting_call, self)
        self.calls.said.connect(self.notice.say)
        self.wire = WireSignals(self)
        self.commands: TurnCommands = self.commands_type(self, self.calls, self.wire, self._guard, read_only=fixed)
        self.sizes = ImageSizes(self.notice, self)
        self.commands.pictures = TurnPictures(lambda: self._session, self.notice, self.commands.edit, self.sizes)
        self.commands.pictures.read_only = fixed
        for request, signal in (
            (self.commands.signals.advice_asked, self.advice_asked),
            (self.commands.signals.exchange_asked, self.exchange_asked),
            (self.commands.signals.link_asked, self.link_asked),
            (self.commands.signals.compare_asked, self.compare_asked),
            (self.commands.signals.case_asked, self.case_asked),
        ):
            request.connect(signal)
        self.view: TranscriptView = TranscriptView(self.commands, self._growing)
        self.finder = Finder(self.view, self)
        self._whole = in_column(self.finder.bar, of=self, margins=0, spacing=0)
        self._stack = self.seen = QStackedWidget(self)
        self._whole.addWidget(self._stack, 1)
        self._stack.addWidget(empty)
        self._stack.addWidget(self.view)
        column = self._column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        bar = self.calls.bar
        if fixed:
            aside = QWidget(self)  # nothing is gone on with: the bar shows itself in there, and is not seen
            aside.hide()
            bar.setParent(aside)
        for widget in (*([] if fixed else [bar]), *below):
            column.addWidget(widget)
        below_turns = self._below = at_reading_width(column, self)
        self._whole.addLayout(below_turns)
        self.notice.float_over(self.seen)
        self._own_draw = Throttle(self.draw, self, interval=DRAW_MS).poke
        self._poke_draw = self._own_draw
        self.begun = False
        self.stale = False  # rows are to be looked at with the next picture
        self._debug = Throttle(self.view.refresh_calls, self)
        self._clock = QTimer(self, interval=CLOCK_MS)
        self._clock.timeout.connect(self._tick)

    def begin(self) -> None:
        """Follow the session, and show it."""
        self.begun = True
        self._cancel = self._session.subscribe(self._changed, *_FOLLOWED)
        self._show_session()

    def end(self) -> None:
        """Follow it no longer."""
        if self.begun:
            self._cancel()
        self._clock.stop()
        self.calls.bar.end()

    @property
    def session(self) -> Session:
        """The session shown."""
        return self._session

    async def expect(self, session: Session) -> None:
        """Another session will be shown: make what would take a frame then."""
        if session is not self._session:
            await self._aside.make(session, self.view.guess)

    def set_session(self, session: Session) -> None:
        """Show another session; the one before goes on by itself."""
        if session is self._session:
            return
        self._cancel()
        self._aside.keep(self._session, self.rows, self.view.heights)
        self._session = session
        self.calls.set_session(session)
        self.rows, heights = self._aside.take(session)
        self.view.take_heights(heights)
        self._cancel = session.subscribe(self._changed, *_FOLLOWED)
        self._show_session()

    def _show_session(self) -> None:
        self.notice.hide()
        self._clock_for(self._session.state)
        self._show_rows(latest=True)

    @property
    def turns(self) -> QWidget:
        """Where the turns stand, or what is seen while there are none."""
        return self._stack

    # Doing

    def choose_written_call(self) -> bool:
        """Have the call chosen that what is being written answers. Returns whether anything is."""
        return False

    def add_draft(self) -> None:
        """Add what is being written, if anything is."""

    def add_bar(self, bar: QWidget) -> None:
        """Put a bar below the messages."""
        self._column.insertWidget(0, bar)

    def say_refused(self, reason: str, turn: Turn | None = None, again: str = "") -> None:
        """Why a run was refused, and the button that mends it; ``turn`` is the one that is written."""
        if cure := self.remedy(reason, turn):
            self.notice.offer(reason, cure)
        else:
            self.notice.say(reason, stays=reason != UNDER_WAY)  # a run ends, and then it is true no more
            self.refused.emit(reason, again)

    def stop(self) -> None:
        """Stop the run under way, or the loop where it is paused; what has arrived stays."""
        self.calls.stop()

    def _all_answered(self) -> None:
        self._run_as_it_stands()

    def _run_as_it_stands(self) -> None:
        """Run without what is written in the composer."""
        self.notice.hide()
        self.view.jump_to_latest()
        session = self._session

        async def run() -> None:
            try:
                await session.run()
            except RunRefusedError as error:
                self.say_refused(str(error))

        spawn(run(), name="run")

    def _focus_waiting_call(self) -> None:
        waiting = {call.id for call in self._session.transcript.unanswered()}
        for turn in self._session.transcript.path:
            first = next((call.id for call in turn.calls if call.id in waiting), "")
            card = self.view.card(turn.id) if first else None
            call = card.turn_to_call(first) if card is not None else None
            if call is not None and call.waiting:
                call.focus_result()
                return

    def servers_changed(self) -> None:
        """What can be asked of tool servers may be different."""
        self._debug.poke()

    def jump_to_latest(self) -> None:
        """Scroll to the last turn, and follow it."""
        self.view.jump_to_latest()

    def focus_turn(self, turn_id: str) -> None:
        """Scroll to a turn of the path, and focus it."""
        self.view.focus_turn(turn_id)

    def remedy(self, reason: str, turn: Turn | None) -> Choice | None:
        """Return the button that helps where a run was refused because of calls; `turn` is in the composer."""
        path = self._session.transcript.path
        if reason == without_call((*path, *([turn] if turn is not None else []))):
            return "Choose its call", partial(self.choose_call, self._result_without_call())
        if turn is not None and reason == calls_first((turn,)):
            return "Add the message", self.add_draft
        return None

    def choose_call(self, turn_id: str = "") -> None:
        """Let the person choose the call that a result answers: of this turn, else of the focused one, else of the
        first without a call, else of the one in the composer."""
        turns = self._session.transcript.turns
        focused = self.view.focused_turn()
        if not turn_id and focused is not None and turns[focused].role is Role.TOOL:
            turn_id = focused
        card = self.view.card(turn_id or self._result_without_call())
        if card is not None:
            card.editing.choose_call()
        elif not self.choose_written_call():
            self.notice.say("Every result already belongs to a call.", stays=False)

    def _result_without_call(self) -> str:
        return next((turn.id for turn in self._session.transcript.path if answers_none(turn)), "")

    def write_call(self) -> None:
        """Add a tool call to the focused assistant turn, else to the last one."""
        path = self._session.transcript.path
        last = next((turn.id for turn in reversed(path) if turn.role is Role.ASSISTANT), "")
        card = self.view.card(self.view.focused_turn() or last)
        if card is None or card.turn.role is not Role.ASSISTANT or card.row.growing:
            self.notice.say("Only assistant messages have tool calls. Select one, or write one below.", stays=False)
        else:
            card.editing.add_call()

    def edit_and_run(self) -> None:
        """Save the open editor and run; without one, edit the focused turn, else the last one that a person wrote."""
        editors = [editor for editor in self.view.findChildren(InlineEditor) if editor.runs and editor.isVisible()]
        if editors:
            focused = next((editor for editor in editors if editor.isAncestorOf(self.focusWidget())), editors[0])
            focused.run_asked.emit()
            return
        written = next((turn.id for turn in reversed(self._session.transcript.path) if turn.outcome is None), "")
        card = self.view.card(self.view.focused_turn() or written)
        if card is None or card.row.growing:
            self.notice.say("There is no message to edit yet.", stays=False)
        else:
            card.editing.begin()
            self.notice.say("Edit the text, then press Alt+Enter to run from there.", stays=False)

    def tools_changed(self) -> None:
        """Other tools are on offer: thinking that is bound to the former ones is pointed out."""
        self._guard.tools_changed(self._session)

    def edit_by_hand(self, work: Callable[[], object]) -> None:
        """Carry out an edit that was made elsewhere; thinking that it makes stale is pointed out."""
        self._guard.edit(self._session, work)

    def open_in_compare(self, turn_id: str) -> None:
        """Show the alternatives of a turn as lanes."""
        self.commands.open_in_compare(turn_id)

    def regenerate(self, turn_id: str) -> None:
        """Send the request of a turn again."""
        self.commands.regenerate(turn_id)

    def cost_words(self, turn_id: str) -> str:
        """Return the cost of the request that brought a turn; empty if unknown."""
        return cost_of_turn(self._session, turn_id, self._entered)

    def refresh(self) -> None:
        """Draw the turns in view again, for figures that depend on settings."""
        for card in self.view.cards.values():
            card.refresh_header()

    def undo(self) -> None:
        """Take the last edit of the experiment back."""
        self.notice.hide()
        if not self._session.undo():
            self.notice.say(self._no_travel("undo"), stays=False)

    def redo(self) -> None:
        """Do the edit taken back last again."""
        if not self._session.redo():
            self.notice.say(self._no_travel("redo"), stays=False)

    def _no_travel(self, what: str) -> str:
        if self._session.experiment.busy:
            return f"A run is under way; stop it to {what}."
        return f"There is nothing to {what}."

    def look_for(self, step: int = 0) -> None:
        """Look for words in the turns; with ``step`` go to the next place (+1) or the one before (-1)."""
        if not self.rows.rows:
            self.notice.say("There are no turns to search yet.", stays=False)
        elif step:
            self.finder.step(step)
        else:
            self.finder.open()

    def edit_focused(self) -> None:
        """Edit the turn that has the focus."""
        if turn_id := self.view.focused_turn():
            card = self.view.card(turn_id)
            if card is not None and turn_id not in self._session.growing:
                card.editing.begin()

    def retry_last(self) -> None:
        """Ask again for the last turn."""
        path = self._session.transcript.path
        if path and path[-1].role is Role.ASSISTANT:
            self.regenerate(path[-1].id)

    def regenerate_focused(self) -> None:
        """Ask again for the turn that has the focus, or for the last one."""
        path = self._session.transcript.path
        chosen = self.view.focused_turn() or (path[-1].id if path else "")
        if chosen and self._session.transcript.turns[chosen].role is Role.ASSISTANT:
            self.regenerate(chosen)

    # Following the session

    def _growing(self, turn_id: str) -> Growth | None:
        choice, run = self._session.growing.get(turn_id), self._session.run_of(turn_id)
        if choice is None or run is None:
            return None
        return Growth(choice, run.elapsed, run.retry_wait, starting=run.exchange is None)

    def _changed(self, change: Change) -> None:
        match change:
            case TurnGrew(turn_id):
                self._grown.add(turn_id)
                self._poke_draw()
            case TurnChanged(turn_id) if self._is_elsewhere(turn_id):
                pass
            case PathChanged() | TurnChanged():
                if self._may_wait(change):
                    self.stale = True
                    self._poke_draw()
                else:
                    self._show_rows()
            case RunStateChanged(state):
                self._clock_for(state)
            case DebugChanged(progress=True):
                pass  # the card of a call that is asked looks for itself
            case DebugChanged():
                self._debug.poke()
            case DraftChanged():
                self.view.refresh_editors()
            case SettingsChanged():
                self.view.set_tools(self._session.settings.tools)
                self._debug.poke()  # another protocol may carry pictures, and another tool have a server
            case _:
                pass

    def _may_wait(self, change: PathChanged | TurnChanged) -> bool:
        """Whether it is drawn lane after lane: several runs may begin or end at once."""
        if self._poke_draw is self._own_draw:
            return False
        path, rows = self._session.transcript.path, self.rows.path
        elsewhere = isinstance(change, PathChanged) and [turn.id for turn in path] == [turn.id for turn in rows]
        return change.by_run or elsewhere

    def _is_elsewhere(self, turn_id: str) -> bool:
        """Whether an answer is not on the path; there may be thousands beside the one that is."""
        turn = self._session.transcript.turns.get(turn_id)
        return turn is not None and turn.role is Role.ASSISTANT and self.view.row_of(turn_id) is None

    def _show_rows(self, *, latest: bool = False) -> None:
        session, began = self._session, perf_counter()
        self.stale = False
        rows = self.rows.follow(session.transcript, session.growing)
        self._stack.setCurrentWidget(self.view if rows else self._empty)
        self.view.set_rows(rows, session.settings.tools, began=began, latest=latest)
        self.finder.set_rows(rows)

    def draw_by(self, poke: Callable[[], None] | None) -> None:
        """Call ``poke`` when there is something to ``draw``; None: the pane draws by itself."""
        self._poke_draw = poke or self._own_draw

    def grew(self, turn_id: str) -> None:
        """More of a turn has arrived that the run of another lane brings."""
        self._grown.add(turn_id)
        self._poke_draw()

    def draw(self) -> None:
        """Draw what has arrived."""
        if self.stale:
            self._show_rows()
        grown, self._grown = self._grown, set()
        for turn_id in grown:
            self.view.draw_growing_turn(turn_id)

    def _clock_for(self, state: RunState) -> None:
        if state is RunState.IDLE:
            self._clock.stop()
        else:
            self._clock.start()

    def _tick(self) -> None:
        """The seconds go on although nothing arrives."""
        self._grown.update(self._session.growing)
        if self._session.debugger.pending:
            self._debug.poke()
        self._poke_draw()
