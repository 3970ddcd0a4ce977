"""The guided first experiment: hints above the composer that follow what happens in one experiment.

A hint is shown only while its sentence is true. The guide runs, answers and opens nothing by itself, except for what a
hint's own button names.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final, NamedTuple

from PySide6.QtCore import QObject, QSettings, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QWidget

from playground.domain.transcript import Ending, Role
from playground.engine.session.changes import Change, PathChanged, RunState, RunStateChanged, TurnChanged
from playground.engine.session.session import Session
from playground.ui.widgets.form_parts import paragraph, styled, text_label
from playground.ui.widgets.layouts import in_row

DONE = "guide/done"  # in the settings
READING_SECONDS = 3.0  # that a hint stays before the next one replaces it
SIDE_BY_SIDE = 560  # pixels; a narrower bar has its buttons below the text


class Hint(NamedTuple):
    """A hint, and whether its sentence is true. ``by_button``: only its button leads to the next one."""

    text: str
    holds: Callable[[Session], bool]
    button: str = "Next"
    by_button: bool = False


def _has_started(_session: Session) -> bool:
    return True


def _receives(session: Session) -> bool:
    return session.state is RunState.STREAMING or any(turn.outcome for turn in session.transcript.path)


def _needs_results(session: Session) -> bool:
    return bool(session.debugger.waiting)


def _has_results(session: Session) -> bool:
    return any(turn.results for turn in session.transcript.path) and not session.debugger.waiting


def _is_answered(session: Session) -> bool:
    path = session.transcript.path
    last = path[-1] if path else None
    complete = last is not None and last.outcome is not None and last.outcome.ending is Ending.COMPLETE
    return complete and last is not None and not last.calls and any(turn.role is Role.TOOL for turn in path)


HINTS: Final = (
    Hint("The request was sent. Next time, write your own below and press Run or Ctrl+Enter.", _has_started),
    Hint(
        "The model reasons before it answers. The reasoning has its own block, which folds when it is done.", _receives
    ),
    Hint(
        'The model calls tools and waits. Enter a result for each call, such as {"temp": 21}, and send it.',
        _needs_results,
    ),
    Hint("Every call has a result. Sending the last one continues the run, and so does Continue.", _has_results),
    Hint(
        "The model used the results for this answer. All events of the exchange are saved.",
        _is_answered,
        "Show the events",
        by_button=True,
    ),
    Hint(
        "Select an event to see its bytes, or select words in the answer and press Ctrl+E to find their events. "
        "Help (F1) has more.",
        _has_started,
        "Done",
        by_button=True,
    ),
)


class GuideBar(QFrame):
    """One hint with its buttons. ``acted``: the hint's own button; ``skipped``: no more hints."""

    acted = Signal()
    skipped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("guideBar")
        self.setProperty("kind", "banner")
        self._count = text_label("", "small")
        self._text = paragraph()
        self.act_button = QPushButton("Next")
        self.act_button.clicked.connect(self.acted)
        self.skip_button = styled(QPushButton("Skip all"), "quiet")
        self.skip_button.setToolTip("No more hints. Help can start them again.")
        self.skip_button.clicked.connect(self.skipped)
        text = in_row(self._count, (self._text, 1), spacing=10)
        buttons = in_row(1, self.act_button, self.skip_button, spacing=6)
        self._row = in_row((text, 1), buttons, parent=self, margins=(12, 8, 8, 8), spacing=8)
        self.hide()

    def show_hint(self, index: int) -> None:
        """Show a hint. After the last one there is nothing to skip."""
        hint, count = HINTS[index], f"{index + 1} of {len(HINTS)}"
        self._count.setText(count)
        self._text.setText(hint.text)
        self.act_button.setText(hint.button)
        self.act_button.setAccessibleName(hint.button)
        self.skip_button.setVisible(index < len(HINTS) - 1)
        self.setAccessibleName(f"Hint {count}: {hint.text}")
        self.show()

    def set_ready(self, ready: bool) -> None:
        """Enable the button of the hint; a disabled one says why."""
        reason = "" if ready else "Available when this step is done"
        self.act_button.setEnabled(ready)
        self.act_button.setToolTip(reason)
        self.act_button.setAccessibleDescription(reason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < SIDE_BY_SIDE
        self._row.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)


class Guide(QObject):
    """Shows ``HINTS`` in ``bar`` while its experiment is in view. ``open_frames`` shows the events."""

    def __init__(self, bar: GuideBar, settings: QSettings, open_frames: Callable[[], None]) -> None:
        super().__init__(bar)
        self._bar = bar
        self._settings = settings
        self._open_frames = open_frames
        self._session: Session | None = None
        self._unsubscribe: Callable[[], None] | None = None
        self._index = 0
        self._shown_at = 0.0
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._update)
        bar.acted.connect(self._act)
        bar.skipped.connect(self.end)

    @property
    def done(self) -> bool:
        """True if a person went through it or skipped it."""
        return bool(self._settings.value(DONE, False, type=bool))

    def begin(self, session: Session) -> None:
        """Guide through this experiment, from the first hint."""
        self._stop()
        self._session = session
        self._unsubscribe = session.subscribe(self._changed, PathChanged, TurnChanged, RunStateChanged)
        self._go_to(0)

    def show_session(self, session: Session) -> None:
        """Hide the hints while another experiment than theirs is in view."""
        if self._session is not None:
            self._bar.setVisible(session is self._session)

    def end(self) -> None:
        """Show no more hints, now and later."""
        self._stop()
        self._bar.hide()
        self._settings.setValue(DONE, True)

    def _stop(self) -> None:
        self._timer.stop()
        if self._unsubscribe is not None:
            self._unsubscribe()
        self._session, self._unsubscribe = None, None

    def _go_to(self, index: int) -> None:
        self._timer.stop()
        self._index, self._shown_at = index, monotonic()
        self._bar.show_hint(index)
        self._update()

    def _changed(self, _change: Change) -> None:
        self._update()

    def _next(self, session: Session) -> int | None:
        """Return the next hint whose sentence is true."""
        rest = range(self._index + 1, len(HINTS))
        return next((index for index in rest if HINTS[index].holds(session) and HINTS[index] is not HINTS[-1]), None)

    def _update(self) -> None:
        """Leave a hint that is no longer true at once, and one whose step is done after the reading time."""
        session = self._session
        if session is None:
            return
        hint, following = HINTS[self._index], self._next(session)
        if not hint.holds(session):
            before = [index for index in range(self._index) if HINTS[index].holds(session)]
            self._go_to(following if following is not None else before[-1])
            return
        self._bar.set_ready(hint.by_button or following is not None)
        remaining = READING_SECONDS - (monotonic() - self._shown_at)
        if hint.by_button or following is None or self._timer.isActive():
            return
        if remaining > 0:
            self._timer.start(round(remaining * 1000) + 1)
        else:
            self._go_to(following)

    def _act(self) -> None:
        if self._session is None:
            return
        hint, following = HINTS[self._index], self._next(self._session)
        if hint is HINTS[-1]:
            self.end()
        elif hint.by_button:
            self._open_frames()
            self._go_to(len(HINTS) - 1)
        elif following is not None:
            self._go_to(following)
