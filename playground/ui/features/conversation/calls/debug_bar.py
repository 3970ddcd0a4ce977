"""The line above the composer while calls wait or the loop runs: what it stands at, and the ways to go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QWidget

from playground.domain.debugging import ReasonCode
from playground.domain.errors import RunRefusedError
from playground.domain.parts import ToolCall
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
from playground.engine.session.session import Session
from playground.jsonkit.texts import cut
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.plain_text import shown_name, tip

CLOCK_MS = 200
READABLE = 230  # pixels for the words beside the buttons; where there are fewer, the buttons stand below them
GAP = 6
LONGEST_NAMES = 80  # characters
SHOWN = (DebugChanged, PathChanged, RunStateChanged, TurnChanged, SettingsChanged)
FILL = "Fill with errors"
FILL_SAYS = (
    f"Every waiting call without a typed result gets the error result “{FILLING}”; typed ones are kept. "
    "They go out with the next run; undo takes it back."
)
_OF_THE_LOOP = ReasonCode.LIMIT, ReasonCode.LOOP, ReasonCode.TRUNCATED  # the card of a call says the other reasons


class DebugBar(QFrame):
    """Follows one session; hidden while there is nothing to go on with.

    ``refused`` says why something was not begun, ``told`` what was done.
    """

    refused = Signal(str)
    told = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "banner")
        self.setObjectName("callBar")
        self._session = session
        self._words = MarkLabel(wraps=True)
        self.step_button = self._button("Step", "Answer the first call that has an answer, then stop again", self.step)
        self.continue_button = self._button(
            "Continue", "Answer what has an answer, go on until the next stop", self.go_on
        )
        self.continue_button.setProperty("kind", "primary")
        self.end_button = self._button("Run to the end", "Go on past breakpoints and conditions", self.run_to_end)
        self.fill_button = self._button(FILL, FILL_SAYS, self.fill)
        self.stop_button = self._button("Stop", "End the loop here; everything stays as it is (Esc)", self.stop)
        buttons = QWidget()
        flow = FlowLayout(buttons, GAP)
        self._all = (self.continue_button, self.step_button, self.end_button, self.fill_button, self.stop_button)
        for button in self._all:
            flow.addWidget(button)
        self._buttons = buttons
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._line.setContentsMargins(12, 5, 8, 5)
        self._line.setSpacing(6)
        self._line.addWidget(self._words, 1)
        self._line.addWidget(buttons)
        self._show = Throttle(self._refresh, self, interval=30)
        self._clock = QTimer(self, interval=CLOCK_MS)
        self._clock.timeout.connect(self._refresh)
        self._cancel = session.subscribe(self._changed, *SHOWN)
        self.hide()
        self._refresh()

    def set_session(self, session: Session) -> None:
        """Follow another session."""
        self._cancel()
        self._session = session
        self._cancel = session.subscribe(self._changed, *SHOWN)
        self._refresh()

    def end(self) -> None:
        """Follow none any more."""
        self._cancel()
        self._clock.stop()

    @property
    def words(self) -> str:
        """What it says."""
        return self._words.text()

    # Doing

    def step(self) -> None:
        """Answer the first waiting call that has an answer; without one, say so."""
        self.run(self._session.debugger.step_next())

    def go_on(self) -> None:
        """Continue until the next stop."""
        self.run(self._session.debugger.go_on())

    def run_to_end(self) -> None:
        """Go on past breakpoints and conditions."""
        self.run(self._session.debugger.run_to_end())

    def fill(self) -> None:
        """Answer every waiting call with an error; nothing is run."""
        try:
            typed, filled = self._session.debugger.fill()
        except RunRefusedError as error:
            self.refused.emit(str(error))
        else:
            self.told.emit(_filled_words(typed, filled))

    def stop(self) -> None:
        """End whatever is under way, servers that are asked as well; where calls wait for a person, leave them."""
        debugger = self._session.debugger
        if debugger.paused and not debugger.pending_calls.under_way:
            debugger.stop()
        else:
            self._session.stop()

    def run(self, work: Coroutine[Any, Any, object]) -> None:
        """Start a command of the debugger; what it refuses is told."""

        async def go() -> None:
            try:
                await work
            except RunRefusedError as error:
                self.refused.emit(str(error))

        spawn(go(), name="debugger")

    # Looks

    def _changed(self, _change: Change) -> None:
        self._show.poke()

    def _refresh(self) -> None:
        debugger, state = self._session.debugger, self._session.state
        answering = state is RunState.ANSWERING
        looping = state is not RunState.IDLE and debugger.requests > 1
        shown = answering or looping or debugger.paused
        if answering:
            self._clock.start()
        else:
            self._clock.stop()
        if shown:
            words = self._pending_words() if answering else self._loop_words() if looping else self._paused_words()
            self._words.setText(words)
            self._words.set_mark("" if answering or looping else "pause")
            self.setAccessibleName(words)
            at_calls = bool(debugger.waiting)
            self.continue_button.setVisible(not (answering or looping))
            for button in (self.step_button, self.end_button, self.fill_button):
                button.setVisible(not (answering or looping) and at_calls)
            self.stop_button.setVisible(not debugger.stopped and (answering or looping or at_calls))
            self._arrange()
        self.setVisible(shown)

    def _paused_words(self) -> str:
        debugger = self._session.debugger
        waiting = debugger.waiting
        if not waiting:
            return f"{debugger.pause_words} Press Continue to send it back unchanged.{self._steps()}"
        counts = Counter(call.name for _, call in waiting)
        names = ", ".join(f"{shown_name(n)} × {count}" if count > 1 else shown_name(n) for n, count in counts.items())
        names = cut(names, LONGEST_NAMES)
        names += "" if names.endswith("…") else "."
        count = "1 call" if len(waiting) == 1 else f"{len(waiting)} calls"
        reasons = [debugger.reason(turn_id, call.id) for turn_id, call in waiting]
        why = next((reason.words for reason in reasons if reason is not None and reason.code in _OF_THE_LOOP), "")
        warning = next((words for key, words in debugger.warnings.items() if key in _keys(waiting)), "")
        said = " ".join(dict.fromkeys(text for text in (why, warning) if text))
        if debugger.stopped:
            it = "It has" if len(waiting) == 1 else "They have"
            said = f"{it} no result yet, and nothing is sent until you answer or go on. {said}"
            return f"Stopped at {count}: {names} {said}".rstrip()
        return f"Paused at {count}: {names} {said}{self._steps()}".rstrip()

    def _pending_words(self) -> str:
        pending = self._session.debugger.pending
        debugger = self._session.debugger
        asked = sum(debugger.ticket(turn_id, call.id) is not None for turn_id, call in debugger.waiting)
        if not pending and asked:
            calls = "1 call is" if asked == 1 else f"{asked} calls are"
            return f"{calls} being asked of the tool's server.{self._steps()}"
        if not pending:
            return f"Answering the calls.{self._steps()}"
        left = min(entry.remaining for entry in pending.values())
        count = "1 call" if len(pending) == 1 else f"{len(pending)} calls"
        when = "never, as its answer says; Stop ends it" if left == float("inf") else f"in {left:.1f} s"
        return f"Answering {count}: the next {when}.{self._steps()}"

    def _loop_words(self) -> str:
        return f"The loop is running.{self._steps()}"

    def _steps(self) -> str:
        """Which request of the loop this is, and how far the limit is, which counts from where a person went on."""
        debugger = self._session.debugger
        here, since, limit = debugger.round, debugger.requests, debugger.debugging.step_limit
        if not here:
            return ""
        if not limit or not since or since > limit:
            return f"  Request {here}."
        if here == since:
            return f"  Request {here} of {limit}."
        return f"  Request {here} ({since} of {limit} since you went on)."

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """The buttons in one line after the words, which have all the rest, or below them where that is little."""
        taken = sum(button.sizeHint().width() + GAP for button in self._all if not button.isHidden()) - GAP
        below = self.width() - taken < READABLE
        self._buttons.setMinimumWidth(0 if below else taken)
        self._line.setDirection(QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight)

    def _button(self, text: str, words: str, act: Callable[[], None]) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(tip(words))
        button.clicked.connect(act)
        return button


def _filled_words(typed: int, filled: int) -> str:
    """What was filled in, and what goes on from there."""
    kept = f"{typed} as typed" if typed else ""
    errors = f"{filled} with an error" if filled else ""
    calls = "1 call is" if typed + filled == 1 else f"{typed + filled} calls are"
    return f"{calls} answered: {' and '.join(filter(None, (kept, errors)))}. Run (Ctrl+Enter) goes on."


def _keys(waiting: Iterable[tuple[str, ToolCall]]) -> set[tuple[str, str]]:
    return {(turn_id, call.id) for turn_id, call in waiting}
