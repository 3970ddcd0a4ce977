"""The bar above the composer while tool calls need results or requests are sent automatically."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QMenu, QPushButton, QWidget

from playground.domain.debugging import TRUNCATED, ReasonCode
from playground.domain.errors import RunRefusedError
from playground.engine.session.changes import (
    Change,
    DebugChanged,
    PathChanged,
    RunState,
    RunStateChanged,
    SettingsChanged,
    TurnChanged,
)
from playground.engine.session.debugger import FILLING
from playground.engine.session.experiment import needs_results
from playground.engine.session.session import Session
from playground.jsonkit.texts import quantity
from playground.ui.widgets.form_parts import look, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.plain_text import few_lines_of, shown_name, tip


@dataclass(frozen=True, slots=True)
class PendingCalls:
    """Tell whether a paused conversation can continue; `reason` says why not and is empty if it is `ready`."""

    ready: bool
    reason: str = ""


def pending_calls(session: Session) -> PendingCalls | None:
    """Return the calls that a session is paused at, or None if it is not paused."""
    debugger = session.debugger
    if not debugger.paused:
        return None
    waiting = debugger.waiting
    if any(session.transcript.turns[turn_id].truncated for turn_id, _ in waiting):
        return PendingCalls(False, TRUNCATED.words)
    missing = sum(not debugger.has_answer(turn_id, call.id) for turn_id, call in waiting)
    return PendingCalls(False, needs_results(missing)) if missing else PendingCalls(True)


CLOCK_MS = 200
SIDE_BY_SIDE = 480  # width in pixels above which the buttons are placed next to the title
FOLLOWED = (DebugChanged, PathChanged, RunStateChanged, TurnChanged, SettingsChanged)
MAX_NAMES = 6  # tools that the tooltip lists
FAIL_TIP = (
    f"Calls without a result get the error result “{FILLING}”; results that you entered are used. Undo reverts it."
)
#: Reasons that concern the whole run; a call's card shows the others.
_RUN_REASONS = ReasonCode.LIMIT, ReasonCode.LOOP, ReasonCode.TRUNCATED


class CallBar(QFrame):
    """Show what a session's tool calls wait for, with Stop and further commands; hidden if there are none.

    `message` carries why a command was refused or what it did. The bar has a Continue button of its own where the
    composer's main button does not continue: in the lanes of Compare.
    """

    message = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "banner")
        self.setObjectName("callBar")
        self._session = session
        self._has_continue = True
        self._title = text_label("", "heading")
        self._round = text_label("", "muted")
        self._details = text_label("", "small", wrap=True)
        self.continue_button = self._button("Continue", "Send the results and continue", self.go_on)
        look(self.continue_button, "primary")
        self.stop_button = self._button("Stop", "End the run here; nothing is sent (Esc)", self.stop)
        self.more_button = QPushButton("More")
        self.more_button.setAccessibleName("More commands for these tool calls")
        self._menu = QMenu(self.more_button)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.more_button.setMenu(self._menu)
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._line.setSpacing(8)
        self._line.addLayout(in_row(self._title, self._round, 1, margins=0, spacing=8), 1)
        self._line.addLayout(in_row(self.continue_button, self.stop_button, self.more_button, margins=0, spacing=6))
        in_column(self._line, self._details, parent=self, margins=(12, 5, 8, 5), spacing=2)
        self._show = Throttle(self._refresh, self, interval=30)
        self._clock = QTimer(self, interval=CLOCK_MS)
        self._clock.timeout.connect(self._refresh)
        self._cancel = session.subscribe(self._changed, *FOLLOWED)
        self.hide()
        self._refresh()

    def _button(self, text: str, description: str, command: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip(description))
        button.clicked.connect(command)
        return button

    def _fill_menu(self) -> None:
        ready = self._has_ready_result
        self._menu.clear()
        for text, description, command, enabled in (
            ("Step", "Answer the first call that has a result, then stop", self.step, ready),
            ("Send ready results and continue", "Answer the calls that have a result", self.go_on, ready),
            ("Run to end, ignoring breakpoints", "Continue past breakpoints and conditions", self.run_to_end, ready),
            ("Fail remaining calls", FAIL_TIP, self.fail_remaining, True),
        ):
            action = self._menu.addAction(text)
            action.setToolTip(tip(description))
            action.setEnabled(enabled)
            action.triggered.connect(command)

    @property
    def _has_ready_result(self) -> bool:
        debugger = self._session.debugger
        return any(debugger.has_answer(turn_id, call.id) for turn_id, call in debugger.waiting)

    def set_session(self, session: Session) -> None:
        """Follow another session."""
        self._cancel()
        self._session = session
        self._cancel = session.subscribe(self._changed, *FOLLOWED)
        self._refresh()

    def set_own_continue(self, has_continue: bool) -> None:
        """Show a Continue button in the bar, or leave it to the composer."""
        self._has_continue = has_continue
        self._refresh()

    def end(self) -> None:
        """Stop following the session."""
        self._cancel()
        self._clock.stop()

    @property
    def text(self) -> str:
        """The texts of the bar in one line."""
        return " · ".join(label.text() for label in (self._title, self._round, self._details) if label.text())

    # Commands

    def step(self) -> None:
        """Answer the first waiting call that has a result, then stop."""
        self.execute(self._session.debugger.step_next())

    def go_on(self) -> None:
        """Answer the calls that have a result and run to the next stop."""
        self.execute(self._session.debugger.go_on())

    def run_to_end(self) -> None:
        """Continue past breakpoints and conditions."""
        self.execute(self._session.debugger.run_to_end())

    def fail_remaining(self) -> None:
        """Answer every call without an entered result with an error; send no request."""
        try:
            typed, failed = self._session.debugger.fill()
        except RunRefusedError as error:
            self.message.emit(str(error))
        else:
            used = f" {quantity(typed, 'entered result')} used." if typed else ""
            self.message.emit(f"{quantity(failed, 'call')} failed.{used} Run (Ctrl+Enter) continues.")

    def stop(self) -> None:
        """End what is under way, including calls to servers; waiting calls stay open."""
        debugger = self._session.debugger
        if debugger.paused and not debugger.pending_calls.under_way:
            debugger.stop()
        else:
            self._session.stop()

    def execute(self, command: Coroutine[Any, Any, object]) -> None:
        """Start a command of the debugger; `message` carries why it was refused."""

        async def run() -> None:
            try:
                await command
            except RunRefusedError as error:
                self.message.emit(str(error))

        spawn(run(), name="debugger")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < SIDE_BY_SIDE
        self._line.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)

    # State

    def _changed(self, _change: Change) -> None:
        self._show.poke()

    def _refresh(self) -> None:
        debugger, state = self._session.debugger, self._session.state
        answering = state is RunState.ANSWERING
        running = answering or (state is not RunState.IDLE and debugger.requests > 1)
        if answering:
            self._clock.start()
        else:
            self._clock.stop()
        if not running and not debugger.paused:
            self.hide()
            return
        title = self._running_title(answering) if running else self._paused_title()
        self._title.setText(title)
        self._title.setToolTip(tip(_names(call.name for _, call in debugger.waiting)))
        self._round.setText(self._request_number())
        self._details.setText("" if running else few_lines_of(self._paused_details()))
        self._details.setVisible(bool(self._details.text()))
        self._offer(running)
        if self.accessibleName() != self.text and not answering:  # a countdown is not announced
            self.setAccessibleName(self.text)
        self.show()

    def _offer(self, running: bool) -> None:
        debugger = self._session.debugger
        pending = None if running else pending_calls(self._session)
        waiting = bool(debugger.waiting) and not running
        self.stop_button.setVisible(not debugger.stopped and (running or waiting))
        self.more_button.setVisible(waiting)
        self.continue_button.setVisible(self._has_continue and pending is not None)
        self.continue_button.setEnabled(pending is not None and pending.ready)
        reason = pending.reason if pending is not None else ""
        self.continue_button.setToolTip(tip(reason or "Send the results and continue"))
        self.continue_button.setAccessibleDescription(reason)

    def _paused_title(self) -> str:
        debugger = self._session.debugger
        if not debugger.waiting:
            return "Answer paused by the gateway"
        if debugger.stopped:
            return "Stopped; no result sent"
        pending = pending_calls(self._session)
        if pending is not None and pending.ready:
            count = len(debugger.waiting)
            return "1 result is ready" if count == 1 else f"{count:,} results are ready"
        missing = sum(not debugger.has_answer(turn_id, call.id) for turn_id, call in debugger.waiting)
        return needs_results(missing or len(debugger.waiting))

    def _paused_details(self) -> str:
        debugger = self._session.debugger
        if not debugger.waiting:
            return f"{debugger.pause_words} Continue sends it back unchanged."
        keys = [(turn_id, call.id) for turn_id, call in debugger.waiting]
        reasons = [reason for key in keys if (reason := debugger.reason(*key)) is not None]
        sentences = [reason.words for reason in reasons if reason.code in _RUN_REASONS][:1]
        sentences += [debugger.warnings[key] for key in keys if key in debugger.warnings][:1]
        return " ".join(dict.fromkeys(sentences))

    def _running_title(self, answering: bool) -> str:
        debugger = self._session.debugger
        if not answering:
            return "Running automatically"
        called = sum(debugger.ticket(turn_id, call.id) is not None for turn_id, call in debugger.waiting)
        if not debugger.pending:
            return f"Calling the tool server: {quantity(called, 'call')}" if called else "Sending results"
        remaining = min(entry.remaining for entry in debugger.pending.values())
        count = len(debugger.pending)
        results = "1 result" if count == 1 else f"{count:,} results"
        if remaining == float("inf"):
            return f"Waiting for {results}: simulates a timeout until Stop"
        return f"Waiting for {results}: {remaining:.1f} s"

    def _request_number(self) -> str:
        """Return the number of the current request, and the limit that counts from where a person continued."""
        debugger = self._session.debugger
        number, since, limit = debugger.round, debugger.requests, debugger.debugging.step_limit
        if not number:
            return ""
        if not limit or not since or since > limit:
            return f"request {number}"
        return f"request {number} of {limit}" if number == since else f"request {number} ({since} of {limit})"


def _names(names: Iterable[str]) -> str:
    counts = Counter(names)
    lines = [f"{shown_name(name)} × {count}" if count > 1 else shown_name(name) for name, count in counts.items()]
    rest = len(lines) - MAX_NAMES
    return "\n".join([*lines[:MAX_NAMES], *([f"and {rest:,} more"] if rest > 0 else [])])
