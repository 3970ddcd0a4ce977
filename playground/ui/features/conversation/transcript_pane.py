"""The messages of a session with their commands: the conversation without its composer, or a lane of Compare."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar
from weakref import WeakKeyDictionary

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
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
from playground.engine.session.drafts import EditKey
from playground.engine.session.edits import answers_none, calls_first, without_call
from playground.engine.session.experiment import needs_results
from playground.engine.session.next_request import UNDER_WAY
from playground.engine.session.session import Session
from playground.engine.session.variants import letter_of
from playground.ui.features.conversation.calls.call_commands import CallCommands
from playground.ui.features.conversation.commands import Growth, TurnCommands
from playground.ui.features.conversation.editors import Editor, InlineEditor
from playground.ui.features.conversation.finder import Finder
from playground.ui.features.conversation.image_intake import ImageSizes
from playground.ui.features.conversation.measures import Centre, at_reading_width
from playground.ui.features.conversation.rows import PathSize, make_rows
from playground.ui.features.conversation.transcript_view import Position, TranscriptView
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.notice_bar import Choice, NoticeBar

CLOCK_MS = 100
DRAW_MS = 40  # between two drawings of what arrives: text that grows faster is not easier to read

#: The changes that a pane handles; changes of exchanges come with every token and are left out.
_FOLLOWED = (TurnGrew, TurnChanged, PathChanged, SettingsChanged, RunStateChanged, DebugChanged, DraftChanged)


def cost_of_turn(session: Session, turn_id: str, entered: PriceLookup) -> str:
    """Return the cost of the request that brought a turn, with all its choices; empty if unknown."""
    turn = session.transcript.turns.get(turn_id)
    outcome = turn.outcome if turn is not None else None
    price = cost(outcome, session.settings.profile_id, entered) if outcome is not None else None
    return total([price]) if price is not None else ""


class TranscriptPane(Centre):
    """Show the messages of one session at a time. Call `begin` once it is complete.

    `empty` is shown while there are no messages, `below` under the bar of the debugger and the notice. With `fixed`
    nothing is offered that changes a message.
    """

    advice_asked = Signal(object)  # an `Action` that is not about the turn itself
    exchange_asked = Signal(str)  # exchange id
    link_asked = Signal(str)
    compare_asked = Signal(str)  # turn id, to compare it with its alternatives
    case_asked = Signal(str)  # turn id, to make it and the messages above a case
    commands_type: ClassVar[type[TurnCommands]] = TurnCommands
    refused = Signal(str, str)  # the reason, and the turn to regenerate

    def __init__(
        self, session: Session, entered: PriceLookup, empty: QWidget, *below: QWidget, fixed: bool = False
    ) -> None:
        super().__init__()
        self._session = session
        self._entered = entered
        self._empty = empty
        self._grown: set[str] = set()
        self.path_size = PathSize()
        self._positions: WeakKeyDictionary[Session, Position] = WeakKeyDictionary()  # of sessions shown before
        self.notice = NoticeBar(self)
        self.notice.setObjectName("conversationNotice")
        self.sizes = ImageSizes(self.notice, self)
        self.calls = CallCommands(session, self._all_answered, self._focus_waiting_call, self)
        self.calls.message.connect(self.notice.say)
        commands = self.commands = self.commands_type(self, self.calls, self.sizes, read_only=fixed)
        commands.advice_asked.connect(self.advice_asked)
        commands.exchange_asked.connect(self.exchange_asked)
        commands.link_asked.connect(self.link_asked)
        commands.alternatives_asked.connect(self.compare_asked)
        commands.case_asked.connect(self.case_asked)
        self.view: TranscriptView = TranscriptView(self.commands, self._growing)
        self.finder = Finder(self.view, self)
        self._whole = in_column(self.finder.bar, parent=self, margins=0, spacing=0)
        self._stack = self.seen = QStackedWidget(self)
        self._whole.addWidget(self._stack, 1)
        self._stack.addWidget(empty)
        self._stack.addWidget(self.view)
        column = self._column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        bar = self.calls.bar
        if fixed:
            hidden = QWidget(self)  # the bar shows itself, but there is nothing to continue
            hidden.hide()
            bar.setParent(hidden)
        for widget in (*([] if fixed else [bar]), *below):
            column.addWidget(widget)
        below_turns = self._below = at_reading_width(column, self)
        self._whole.addLayout(below_turns)
        self.notice.float_over(self.seen)
        self._own_draw = Throttle(self.draw, self, interval=DRAW_MS).poke
        self._poke_draw = self._own_draw
        self.begun = False
        self.stale = False  # rows are updated with the next drawing
        self._debug = Throttle(self.view.refresh_calls, self)
        self._clock = QTimer(self, interval=CLOCK_MS)
        self._clock.timeout.connect(self._tick)

    def begin(self) -> None:
        """Show the session and its changes."""
        self.begun = True
        self._cancel = self._session.subscribe(self._changed, *_FOLLOWED)
        self._show_session()

    def end(self) -> None:
        """Handle no more changes of the session."""
        if self.begun:
            self._cancel()
        self._clock.stop()
        self.calls.bar.end()

    @property
    def session(self) -> Session:
        """The session shown."""
        return self._session

    def set_session(self, session: Session) -> None:
        """Show another session, at the scroll position it had; the one before continues by itself."""
        if session is self._session:
            return
        self._cancel()
        self._positions[self._session] = self.view.position
        self._session = session
        self.calls.set_session(session)
        self._cancel = session.subscribe(self._changed, *_FOLLOWED)
        self._show_session()

    def _show_session(self) -> None:
        self.notice.hide()
        self._clock.stop()  # of the session shown before
        self._clock_for(self._session.state)
        self.view.setAccessibleDescription("")
        self.view.begin(self._positions.get(self._session))
        self._show_rows()

    @property
    def turns(self) -> QWidget:
        """The widget with the messages, or with what is shown while there are none."""
        return self._stack

    # Commands

    def choose_written_call(self) -> bool:
        """Let the call be chosen that the message in the composer answers. Return whether it is a result."""
        return False

    def add_draft(self) -> None:
        """Add the message in the composer, if there is one."""

    def add_bar(self, bar: QWidget) -> None:
        """Show a bar below the messages."""
        self._column.insertWidget(0, bar)

    def say_refused(self, reason: str, turn: Turn | None = None, again: str = "") -> None:
        """Show why a run was refused, with the remedy if there is one. `turn` is the message in the composer."""
        if remedy := self.remedy(reason, turn):
            self.notice.offer(reason, remedy)
        else:
            self.notice.say(reason, stays=reason != UNDER_WAY)  # not true any more when the run ends
            self.refused.emit(reason, again)

    def stop(self) -> None:
        """Stop the active run, or the paused loop. What has arrived stays."""
        self.calls.stop()

    def _all_answered(self) -> None:
        self._run_session()

    def _run_session(self) -> None:
        """Run without the message in the composer."""
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
                self.view.reveal(call)
                return

    def servers_changed(self) -> None:
        """Show on the calls in view which tool servers can be called now."""
        self._debug.poke()

    def jump_to_latest(self) -> None:
        """Scroll to the last turn, and follow it."""
        self.view.jump_to_latest()

    def focus_turn(self, turn_id: str) -> None:
        """Scroll to a turn of the path, and focus it."""
        self.view.focus_turn(turn_id)

    def focus_editor(self, key: EditKey) -> None:
        """Scroll to an open editor, and focus it."""
        self.view.focus_turn(key.turn)
        editor = next((editor for editor in self.view.findChildren(Editor) if editor.key == key), None)
        if editor is not None:
            editor.setFocus()
            self.view.reveal(editor)

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
        """Warn if signed thinking belongs to the former tools."""
        self.commands.guard.tools_changed(self._session)

    def edit_by_hand(self, work: Callable[[], object]) -> None:
        """Execute an edit made elsewhere; warn if it invalidates signed thinking."""
        self.commands.guard.edit(self._session, work)

    def regenerate(self, turn_id: str) -> None:
        """Send the request of a turn again."""
        self.commands.regenerate(turn_id)

    def cost_words(self, turn_id: str) -> str:
        """Return the cost of the request that brought a turn; empty if unknown."""
        return cost_of_turn(self._session, turn_id, self._entered)

    def refresh(self) -> None:
        """Show figures that depend on settings again."""
        for card in self.view.cards.values():
            card.refresh_header()

    def undo(self) -> None:
        """Undo the last edit of the experiment."""
        self.notice.hide()
        if not self._session.undo():
            self.notice.say(self._why_not("undo"), stays=False)

    def redo(self) -> None:
        """Redo the edit that was undone last."""
        if not self._session.redo():
            self.notice.say(self._why_not("redo"), stays=False)

    def _why_not(self, command: str) -> str:
        return f"Stop the run to {command}." if self._session.experiment.busy else f"Nothing to {command}."

    def look_for(self, step: int = 0) -> None:
        """Open the find bar, or go to the next (+1) or previous (-1) result."""
        if not self.view.rows:
            self.notice.say("No messages to search yet.", stays=False)
        elif step:
            self.finder.step(step)
        else:
            self.finder.open()

    def edit_focused(self) -> None:
        """Edit the focused message."""
        if turn_id := self.view.focused_turn():
            card = self.view.card(turn_id)
            if card is not None and turn_id not in self._session.growing:
                card.editing.begin()

    def retry_last(self) -> None:
        """Regenerate the last message."""
        path = self._session.transcript.path
        if path and path[-1].role is Role.ASSISTANT:
            self.regenerate(path[-1].id)

    def regenerate_focused(self) -> None:
        """Regenerate the focused message, or else the last one."""
        path = self._session.transcript.path
        turn_id = self.view.focused_turn() or (path[-1].id if path else "")
        if turn_id and self._session.transcript.turns[turn_id].role is Role.ASSISTANT:
            self.regenerate(turn_id)

    # Changes of the session

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
                if change.by_run and self._poke_draw is not self._own_draw:  # several lanes may start or end at once
                    self.stale = True
                    self._poke_draw()
                else:
                    self._show_rows()
            case RunStateChanged(state):
                self._clock_for(state)
            case DebugChanged(progress=True):
                pass  # the card of a pending call updates itself
            case DebugChanged():
                self._debug.poke()
            case DraftChanged():
                self.view.refresh_editors()
            case SettingsChanged():
                self.view.set_tools(self._session.settings.tools)
                self._debug.poke()  # another protocol may accept images in results, another tool may have a server
            case _:
                pass

    def _is_elsewhere(self, turn_id: str) -> bool:
        """Return whether a turn is an answer that is not on the path; there may be thousands."""
        turn = self._session.transcript.turns.get(turn_id)
        return turn is not None and turn.role is Role.ASSISTANT and self.view.row_of(turn_id) is None

    def _show_rows(self) -> None:
        session = self._session
        self.stale = False
        rows = make_rows(session.transcript, session.growing, self.view.rows)
        self._stack.setCurrentWidget(self.view if rows else self._empty)
        self.view.set_rows(rows, session.settings.tools)
        self.finder.set_rows(rows)

    def draw_by(self, poke: Callable[[], None] | None) -> None:
        """Call `poke` when `draw` is needed; None: the pane calls `draw` itself."""
        self._poke_draw = poke or self._own_draw

    def grew(self, turn_id: str) -> None:
        """Draw what the run of another lane has received for a turn."""
        self._grown.add(turn_id)
        self._poke_draw()

    def draw(self) -> None:
        """Draw what has arrived since the last time."""
        if self.stale:
            self._show_rows()
        grown, self._grown = self._grown, set()
        for turn_id in grown:
            self.view.draw_growing_turn(turn_id)

    def _clock_for(self, state: RunState) -> None:
        if state is not RunState.IDLE:
            self._clock.start()
        elif self._clock.isActive():
            self._clock.stop()
            self._announce_end()

    def _announce_end(self) -> None:
        """Tell screen readers once how the run ended."""
        waiting, path = len(self._session.debugger.waiting), self._session.transcript.path
        outcome = path[-1].outcome if path else None
        if waiting and self._session.debugger.paused:
            words = needs_results(waiting)
        else:
            words = f"Answer {outcome.ending.words or 'complete'}" if outcome is not None else "Run ended"
        lanes = self._session.experiment.lanes
        if len(lanes) > 1 and self._session in lanes:
            words = f"Lane {letter_of(lanes.index(self._session))}: {words}"
        self.view.setAccessibleDescription(words)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.view, words))

    def _tick(self) -> None:
        """Show the elapsed time while nothing arrives."""
        self._grown.update(self._session.growing)
        if self._session.debugger.pending:
            self._debug.poke()
        self._poke_draw()
