"""The real window to measure in: the application as it is started, its gateway in another process, a probe of its loop.

Nothing here is part of what is measured but the probe, and that is one timer which keeps one number a tick.
"""

from __future__ import annotations

import asyncio
import gc
import time
from array import array
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, TypeVar

from PySide6.QtCore import QEvent, QObject, Qt, QTimerEvent
from PySide6.QtWidgets import QApplication

from playground.app import App, make_application
from playground.domain.transcript import Role, Transcript, make_turn
from playground.engine.gateways.profiles import Profile, ProfileStore
from playground.engine.session.session import Session
from playground.ui.widgets import loop
from tests.benchmarks.pacing import PacingServer

T = TypeVar("T")
TICK_MS = 4
LONGEST_S = 1800.0  # for anything that is waited for
SETTLE_S = 1.0  # until a window that was just opened has nothing left to do


class Pulse(QObject):
    """How long the event loop kept a timer waiting, and what the process spent meanwhile. Used as a context.

    A gap is the time from one tick to the next, the tick's own 4 ms included: never less than what an event had to
    wait. ``cpu`` is the process's time in seconds, all threads, ``wall`` the clock's.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gaps = array("d")
        self.cpu = self.wall = 0.0
        self._last = self._cpu = self._wall = 0.0

    def __enter__(self) -> Pulse:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        self._last = self._wall
        self._timer = self.startTimer(TICK_MS, Qt.TimerType.PreciseTimer)
        return self

    def timerEvent(self, event: QTimerEvent) -> None:
        now = time.perf_counter()
        self.gaps.append(now - self._last)
        self._last = now

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.killTimer(self._timer)
        self.cpu, self.wall = time.process_time() - self._cpu, time.perf_counter() - self._wall

    @property
    def longest_ms(self) -> float:
        """The longest gap."""
        return max(self.gaps, default=0.0) * 1000

    @property
    def p99_ms(self) -> float:
        """The gap that one tick in a hundred exceeds."""
        ordered = sorted(self.gaps)
        return ordered[int(len(ordered) * 0.99)] * 1000 if ordered else 0.0

    @property
    def cpu_share(self) -> float:
        """Per cent of one core."""
        return 100 * self.cpu / self.wall if self.wall else 0.0


class Window:
    """The surroundings of a benchmark: the application with the pacing server as the gateway in use."""

    def __init__(self, app: App, profile: Profile) -> None:
        self.app = app
        self.profile = profile

    def new(self, model: str, transcript: Transcript | None = None, text: str = "Write at length.") -> Session:
        """A new experiment in view, ready to run; ``transcript`` is its content."""
        session = self.app.workspace.new()
        session.change(profile_id=self.profile.id)
        session.change(model=model)
        for turn in transcript.path if transcript is not None else ():
            session.history.transcript = session.transcript.append(turn)
        session.turns.add_turn(make_turn(Role.USER, text))
        return session

    async def settle(self, seconds: float = SETTLE_S) -> None:
        """Let the window come to rest."""
        await asyncio.sleep(seconds)

    async def until(self, so: Callable[[], bool]) -> None:
        """Wait for a state that sends no signal. Raises TimeoutError when it does not come."""
        async with asyncio.timeout(LONGEST_S):
            while not so():  # noqa: ASYNC110 - the state sends no signal
                await asyncio.sleep(0.005)

    async def run(self, *sessions: Session) -> None:
        """Run these experiments at once, until all have ended. Raises AssertionError when one did not go well."""
        tasks = [loop.spawn(session.run(), name="measured run") for session in sessions]
        await asyncio.gather(*tasks)
        for session in sessions:
            outcome = session.transcript.path[-1].outcome
            assert outcome is not None, "the run left no outcome"
            assert outcome.finish_reason == "stop", outcome


def play(work: Callable[[Window], Coroutine[Any, Any, T]]) -> T:
    """Open the window, do ``work`` in it, quit. What it raises is raised here, what it gives is given back.

    Settings and profiles lie where the environment says: ``tests.support.surroundings.settle`` comes before this.
    """
    qt = QApplication.instance() or make_application()
    assert isinstance(qt, QApplication)
    values: list[T] = []
    raised: list[BaseException] = []
    with PacingServer() as gateway:
        profile = Profile(name="Pacing", base_url=gateway.url, default_model="paced-200-4000")
        store = ProfileStore()
        store.add_profile(profile)
        store.select(profile.id)  # before the window opens: the demo gateway must not start in this process
        app = App(qt)
        window = Window(app, profile)

        async def main() -> None:
            try:
                app.show()
                await window.settle()
                values.append(await work(window))
            except BaseException as error:
                raised.append(error)
            finally:
                app.quit()

        loop.run(qt, main)
        app.window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
    if raised:
        raise raised[0]
    return values[0]
