"""The guided first experiment: hints that follow what happens in one experiment, and end for good.

It only looks: nothing is run, answered or opened unless the person presses the hint's button. Every hint can be left
with that, and is left by itself once its point is reached, in whatever way.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final, NamedTuple

from PySide6.QtCore import QObject, QSettings, QTimer

from playground.domain.transcript import Ending, Role
from playground.engine.session.changes import Change, PathChanged, RunState, RunStateChanged, TurnChanged
from playground.engine.session.session import Session
from playground.ui.features.first_start.guide_bar import GuideBar

DONE = "guide/done"
READ_S = 3.0  # a hint stays at least this long: time to read it


class Hint(NamedTuple):
    """One hint. ``over`` says whether the experiment is past it, whatever way it took; None: only the button ends it.

    What is past stays past: a hint that is looked at late is not waited for.
    """

    words: str
    over: Callable[[Session], bool] | None
    action: str = "Next"


def _arriving(session: Session) -> bool:
    begun = session.state is RunState.STREAMING or any(turn.outcome for turn in session.transcript.turns.values())
    return begun or _called(session)


def _called(session: Session) -> bool:
    turns = session.transcript.turns.values()
    return any(turn.calls and turn.id not in session.growing for turn in turns) or _answered(session)


def _given(session: Session) -> bool:
    """Every call on the path has its result, or on another branch the results went out already."""
    turns = session.transcript.turns
    sent = (turns[turn.parent].role is Role.TOOL for turn in turns.values() if turn.outcome and turn.parent)
    return not session.debugger.waiting or any(sent)


def _answered(session: Session) -> bool:
    """There is an answer that asks for no tool."""
    turns = session.transcript.turns.values()
    return any(turn.outcome and turn.outcome.ending is Ending.COMPLETE and not turn.calls for turn in turns)


HINTS: Final = (
    Hint(
        "The request has just gone out. Next time you start it yourself: write below, then Run or Ctrl+Enter.",
        _arriving,
    ),
    Hint(
        "The model thinks before it answers. Its reasoning has a block of its own, and folds up when it is done.",
        _called,
    ),
    Hint(
        'The model asks for tools and waits. Type what a tool should give back, such as {"temp": 21}, and send it.',
        _given,
    ),
    Hint(
        "Every call has a result. The next request takes the results to the model: sending the last one starts it, "
        "and otherwise Run does.",
        _answered,
    ),
    Hint(
        "The answer was made from the results. Everything that went over the wire is kept, frame by frame.",
        None,
        "Show the frames",
    ),
    Hint(
        "Choose a frame to see its bytes, or select words in the answer and press Ctrl+E to find theirs. "
        "That is all: Help (F1) has more.",
        None,
        "Done",
    ),
)


class Guide(QObject):
    """Shows ``HINTS`` in ``bar`` while its experiment is looked at. ``open_frames`` shows the timeline."""

    def __init__(self, bar: GuideBar, settings: QSettings, open_frames: Callable[[], None]) -> None:
        super().__init__(bar)
        self._bar = bar
        self._settings = settings
        self._open_frames = open_frames
        self.read_s = READ_S
        self._session: Session | None = None
        self._unsubscribe: Callable[[], None] | None = None
        self._at = 0
        self._since = 0.0
        self._later = QTimer(self, singleShot=True)
        self._later.timeout.connect(self._look)
        bar.acted.connect(self._act)
        bar.skipped.connect(self.end)

    @property
    def done(self) -> bool:
        """Whether it was gone through, or skipped."""
        return bool(self._settings.value(DONE, False, type=bool))

    @property
    def at(self) -> int:
        """The number of the hint shown, from 0; -1 when there is none."""
        return self._at if self._session is not None else -1

    def begin(self, session: Session) -> None:
        """Guide through that experiment, from the first hint."""
        self._stop()
        self._session = session
        self._unsubscribe = session.subscribe(self._changed, PathChanged, TurnChanged, RunStateChanged)
        self._go_to(0)

    def show_session(self, session: Session) -> None:
        """Another experiment is looked at, or the same one again: the hints belong to theirs."""
        if self._session is not None:
            self._bar.setVisible(session is self._session)

    def end(self) -> None:
        """No more hints, now and later."""
        self._stop()
        self._bar.hide()
        self._settings.setValue(DONE, True)

    def _stop(self) -> None:
        self._later.stop()
        if self._unsubscribe is not None:
            self._unsubscribe()
        self._session, self._unsubscribe = None, None

    def _go_to(self, number: int) -> None:
        self._at, self._since = number, monotonic()
        hint = HINTS[number]
        self._bar.show_hint(number + 1, len(HINTS), hint.words, hint.action, last=number == len(HINTS) - 1)
        self._look()

    def _changed(self, _change: Change) -> None:
        if not self._later.isActive():
            self._look()

    def _look(self) -> None:
        """Go on when the experiment is past the hint and the hint was there long enough to be read."""
        session = self._session
        if session is None or self._later.isActive():
            return
        over = HINTS[self._at].over
        if over is None or not over(session):
            return
        left = self.read_s - (monotonic() - self._since)
        if left > 0:
            self._later.start(round(left * 1000) + 1)
        else:
            self._go_to(self._at + 1)

    def _act(self) -> None:
        """The button of the hint; one that waits for something can be left without it."""
        if self._at == len(HINTS) - 1:
            self.end()
            return
        if HINTS[self._at].over is None:
            self._open_frames()
        self._go_to(self._at + 1)
