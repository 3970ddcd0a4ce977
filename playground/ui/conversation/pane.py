"""The conversation: a session's turns above, the composer below. Turns what a person does into session commands."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from playground.domain.accumulator import GrowingChoice
from playground.domain.parts import ToolResult
from playground.domain.transcript import Role, Turn, make_turn
from playground.engine.changes import (
    Change,
    PathChanged,
    RunState,
    RunStateChanged,
    SettingsChanged,
    TurnChanged,
    TurnGrew,
)
from playground.engine.run import RunRefusedError
from playground.engine.session import Session
from playground.ui.conversation.composer import Composer
from playground.ui.conversation.facts import estimate_tokens
from playground.ui.conversation.notice_bar import NoticeBar
from playground.ui.conversation.rows import make_rows
from playground.ui.conversation.transcript_view import MARGIN, READING_WIDTH, TranscriptView
from playground.ui.conversation.welcome import Welcome
from playground.ui.loop import Throttle, spawn

CLOCK_MS = 100


class ConversationPane(QWidget):
    """Shows one session at a time. Implements ``TurnCommands`` for its cards."""

    advice_asked = Signal(str)  # an action of playground.engine.advice that is not about the turn itself
    exchange_asked = Signal(str)  # exchange id
    link_asked = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._grown: set[str] = set()
        self.view = TranscriptView(self, self._growing)
        self.welcome = Welcome()
        self.notice = NoticeBar()
        self.composer = Composer()
        self.composer.run_asked.connect(self.run)
        self.composer.stop_asked.connect(self.stop)
        self.composer.add_asked.connect(self.add)
        self.composer.edited.connect(self._draft_edited)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.welcome)
        self._stack.addWidget(self.view)
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.notice)
        column.addWidget(self.composer)
        middle = QWidget()
        middle.setLayout(column)
        middle.setMaximumWidth(READING_WIDTH)
        middle.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        centred = QHBoxLayout()
        centred.setContentsMargins(MARGIN, 6, MARGIN, 12)
        centred.addStretch(1)
        centred.addWidget(middle, 1000)
        centred.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._stack, 1)
        layout.addLayout(centred)
        self._draw = Throttle(self._draw_grown, self)
        self._count = Throttle(self._count_tokens, self, interval=200)
        self._clock = QTimer(self)
        self._clock.setInterval(CLOCK_MS)
        self._clock.timeout.connect(self._tick)
        self._cancel = session.subscribe(self._changed)
        self._show_session()

    @property
    def session(self) -> Session:
        """The session shown."""
        return self._session

    def set_session(self, session: Session) -> None:
        """Show another session; the one before goes on by itself."""
        if session is self._session:
            return
        self._cancel()
        self._session = session
        self._cancel = session.subscribe(self._changed)
        self._show_session()

    def _show_session(self) -> None:
        session = self._session
        self.notice.hide()
        self.composer.blockSignals(True)
        self.composer.set_text(session.draft.text)
        self.composer.set_role(session.draft.role)
        self.composer.blockSignals(False)
        self.composer.set_state(session.state)
        self._clock_for(session.state)
        self._show_rows()
        self.view.jump_to_latest()
        self._count.poke()

    # Doing

    def run(self) -> None:
        """Add what is written as a turn, if anything is, and run."""
        session = self._session
        turn = self._written()
        if reason := session.refusal(*([turn] if turn else [])):
            self.notice.say(reason)
            self._focus_waiting_call()
            return
        self.notice.hide()
        if turn is not None:
            self._take(turn)
        self.view.jump_to_latest()
        self._start(None)

    def add(self) -> None:
        """Add what is written as a turn and do not run."""
        turn = self._written()
        if turn is not None:
            self._take(turn)
            self.view.jump_to_latest()
        self.composer.setFocus()

    def stop(self) -> None:
        """Stop the run under way; what has arrived stays."""
        self._session.stop()

    def _written(self) -> Turn | None:
        text, role = self.composer.text, self.composer.role
        if not text.strip():
            return None
        if role is Role.TOOL:
            waiting = self._session.transcript.unanswered()
            return make_turn(role, "", ToolResult(call_id=waiting[0].id if waiting else "", text=text))
        return make_turn(role, text)

    def _take(self, turn: Turn) -> None:
        self._session.add_turn(turn)
        self.composer.set_text("")
        if turn.role is not Role.USER:
            self.composer.set_role(Role.USER)

    def _start(self, regenerate: str | None) -> None:
        session = self._session

        async def go() -> None:
            try:
                await (session.regenerate(regenerate) if regenerate else session.run())
            except RunRefusedError as error:
                self.notice.say(str(error))

        spawn(go(), name="run")

    def _focus_waiting_call(self) -> None:
        waiting = {call.id for call in self._session.transcript.unanswered()}
        for turn in self._session.transcript.path:
            if any(call.id in waiting for call in turn.calls):
                card = self.view.card(turn.id)
                for call in card.calls if card else []:
                    if call.waiting:
                        call.focus_result()
                        return

    # TurnCommands

    def edit_text(self, turn_id: str, text: str) -> None:
        self._session.edit_text(turn_id, text)

    def edit_call(self, turn_id: str, call_id: str, arguments: str) -> None:
        self._session.edit_call(turn_id, call_id, arguments)

    def change_role(self, turn_id: str, role: Role) -> None:
        self._session.change_role(turn_id, role)

    def delete_turn(self, turn_id: str) -> None:
        if turn_id in self._session.growing:
            self._session.stop()
            return
        self._session.delete_turn(turn_id)
        self.notice.say("Turn deleted.", "Undo", self.undo, stays=False)

    def move_turn(self, turn_id: str, step: int) -> None:
        self._session.move_turn(turn_id, step)

    def select_variant(self, turn_id: str) -> None:
        self._session.select_variant(turn_id)

    def regenerate(self, turn_id: str) -> None:
        self._start(turn_id)

    def answer(self, call_id: str, text: str, is_error: bool) -> None:
        session = self._session
        session.answer(call_id, text, is_error=is_error)
        if not session.transcript.unanswered():
            self.run()
        else:
            self._focus_waiting_call()

    def take_advice(self, turn_id: str, action: str) -> None:
        session = self._session
        if action == "stream_on":
            session.set_parameters(session.current_parameters().with_value("stream", True))
        if action in ("retry", "stream_on"):
            self._start(turn_id)
        else:
            self.advice_asked.emit(action)

    def open_link(self, address: str) -> None:
        self.link_asked.emit(address)

    def show_exchange(self, turn_id: str) -> None:
        outcome = self._session.transcript.turns[turn_id].outcome
        if outcome is not None and outcome.exchange:
            self.exchange_asked.emit(outcome.exchange)

    def undo(self) -> None:
        """Take the last edit of the experiment back."""
        if not self._session.undo():
            self.notice.say("There is nothing to undo.", stays=False)

    def redo(self) -> None:
        """Do the edit taken back last again."""
        if not self._session.redo():
            self.notice.say("There is nothing to redo.", stays=False)

    def edit_focused(self) -> None:
        """Edit the turn that has the focus."""
        if turn_id := self.view.focused_turn():
            card = self.view.card(turn_id)
            if card is not None and turn_id not in self._session.growing:
                card.begin_edit()

    def regenerate_focused(self) -> None:
        """Ask again for the turn that has the focus, or for the last one."""
        path = self._session.transcript.path
        chosen = self.view.focused_turn() or (path[-1].id if path else "")
        if chosen and self._session.transcript.turns[chosen].role is Role.ASSISTANT:
            self.regenerate(chosen)

    # Following the session

    def _growing(self, turn_id: str) -> tuple[GrowingChoice, float] | None:
        choice, run = self._session.growing.get(turn_id), self._session.active_run
        return (choice, run.elapsed) if choice is not None and run is not None else None

    def _changed(self, change: Change) -> None:
        match change:
            case TurnGrew(turn_id):
                self._grown.add(turn_id)
                self._draw.poke()
            case PathChanged() | TurnChanged():
                self._show_rows()
            case RunStateChanged(state):
                self.composer.set_state(state)
                self._clock_for(state)
            case SettingsChanged():
                self.view.set_tools(self._session.tools)
                self._count.poke()
            case _:
                pass

    def _show_rows(self) -> None:
        session = self._session
        rows = make_rows(session.transcript, session.growing)
        self._stack.setCurrentWidget(self.view if rows else self.welcome)
        self.view.set_rows(rows, session.tools)

    def _draw_grown(self) -> None:
        grown, self._grown = self._grown, set()
        for turn_id in grown:
            self.view.grow(turn_id)

    def _clock_for(self, state: RunState) -> None:
        if state is RunState.IDLE:
            self._clock.stop()
        else:
            self._clock.start()

    def _tick(self) -> None:
        """The seconds go on although nothing arrives."""
        self._grown.update(self._session.growing)
        self._draw.poke()

    def _draft_edited(self) -> None:
        self._session.with_draft(self.composer.text, self.composer.role)
        self._count.poke()

    def _count_tokens(self) -> None:
        session = self._session
        letters = sum(
            len(turn.text) + sum(len(call.arguments) for call in turn.calls) + sum(len(r.text) for r in turn.results)
            for turn in session.transcript.path
        )
        letters += sum(len(str(tool.parameters)) + len(tool.description) for tool in session.tools if tool.sendable)
        self.composer.set_tokens(letters // 4 + estimate_tokens(self.composer.text))

    def open_turn(self, turn_id: str) -> None:
        """Scroll to a turn and give it the focus."""
        card = self.view.card(turn_id)
        if card is not None:
            card.setFocus()
