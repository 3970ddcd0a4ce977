"""The seam between Qt and asyncio; the only file that imports qasync.

``run`` starts the loop, ``spawn`` starts a task, ``ask`` waits for a dialog, ``Throttle`` calls back at most
once a frame. No nested event loops anywhere: no ``exec()``, no ``processEvents()``.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from time import perf_counter
from typing import Any, TypeVar

os.environ["QT_API"] = "pyside6"  # read by qasync at import

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QDialog

T = TypeVar("T")
FRAME_MS = 16
COLLECT_MS = 1000  # between two looks at whether garbage is to be collected
TURN_S = 0.004  # drawing is begun for so long in a turn of Qt's
CLOSING_S = 0.02  # at the end, in which transports that were closed let their sockets go
THREADS = 10  # of ``asyncio.to_thread``, at most; each is made when all there are have something to do

_loop: asyncio.AbstractEventLoop | None = None
_tasks: set[asyncio.Task[Any]] = set()


def run(app: QApplication, main: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Run ``main`` as the first task and Qt's events until ``finish`` is called. Returns the exit code."""
    global _loop
    import qasync

    loop = qasync.QEventLoop(app)
    loop.set_default_executor(ThreadPoolExecutor(THREADS, "worker"))  # its own starts ten threads at the first call
    loop.set_exception_handler(_failed)
    asyncio.set_event_loop(loop)
    _loop = loop
    app.setProperty("exit_code", 0)
    collector = _Collector()
    try:
        with closing(loop):
            spawn(main(), name="main")
            loop.run_forever()
            loop.run_until_complete(asyncio.sleep(CLOSING_S))
    finally:
        collector.end()
        _loop = None
        asyncio.set_event_loop(None)
    return int(app.property("exit_code") or 0)


def _failed(_of: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What a callback raised goes where all errors go; what was never asked for is only written down."""
    error = context.get("exception")
    if error is not None and "handle" in context:
        sys.excepthook(type(error), error, error.__traceback__)
        return
    what = f" ({type(error).__name__})" if error is not None else ""
    logging.getLogger("playground.loop").error("%s%s", context.get("message", "The event loop failed."), what)


class _Collector(QTimer):
    """Collects garbage in the window's thread: on another one, Qt objects among it would be destroyed over there.

    What is there at the start is never looked at; the rest as often as Python's own thresholds say.
    """

    def __init__(self) -> None:
        super().__init__()
        self._was_on = gc.isenabled()
        gc.disable()
        gc.freeze()
        self.timeout.connect(self._collect)
        self.start(COLLECT_MS)

    def _collect(self) -> None:
        due = [count > most for count, most in zip(gc.get_count(), gc.get_threshold(), strict=True)]
        if any(due):
            gc.collect(max(generation for generation, is_due in enumerate(due) if is_due))

    def end(self) -> None:
        """Let Python collect by itself again."""
        self.stop()
        gc.unfreeze()
        if self._was_on:
            gc.enable()


def finish(exit_code: int = 0) -> None:
    """Leave ``run`` once the running callbacks are done, and what they lead to: a task that ends here is told of.

    Tasks must have ended before (``cancel_all``).
    """
    app = QApplication.instance()
    if app is not None:
        app.setProperty("exit_code", exit_code)
    if _loop is not None:
        _loop.call_soon(_loop.call_soon, _loop.stop)


def runs() -> bool:
    """Whether the loop does, so that a task can be started."""
    return _loop is not None


def spawn(coro: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
    """Start a task, keep it alive, and send what it raises to ``sys.excepthook``. The only way to start one."""
    if _loop is None:
        coro.close()
        raise RuntimeError(f"the task {name!r} cannot start: the event loop does not run")
    task = _loop.create_task(coro, name=name)
    _tasks.add(task)
    task.add_done_callback(_ended)
    return task


def _ended(task: asyncio.Task[Any]) -> None:
    _tasks.discard(task)
    if task.cancelled():
        return
    error = task.exception()
    if error is not None:
        sys.excepthook(type(error), error, error.__traceback__)


async def cancel_all(timeout: float = 3.0) -> None:
    """Cancel every spawned task but the caller's, those that are spawned meanwhile as well, and wait until they have
    ended, ``timeout`` seconds at most.
    """
    end = perf_counter() + timeout
    while waiting := [task for task in _tasks if task is not asyncio.current_task() and not task.done()]:
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting, timeout=max(end - perf_counter(), 0))
        if perf_counter() >= end:
            return


async def ask(dialog: QDialog) -> int:
    """Open ``dialog`` and wait for its result code, the event loop running on."""
    done: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def finished(result: int) -> None:
        if not done.done():
            done.set_result(result)

    dialog.finished.connect(finished)
    dialog.open()
    try:
        return await done
    finally:
        dialog.finished.disconnect(finished)


class _Turn:
    """One turn of Qt's events, in which many timers may be due: what there is no time for is left to the next one."""

    def __init__(self) -> None:
        self._until = 0.0  # nothing is begun after it; 0 before anything is

    def has_time(self) -> bool:
        """Whether there is time to begin something."""
        now = perf_counter()
        if not self._until:
            self._until = now + TURN_S
            QTimer.singleShot(0, self._end)
        return now <= self._until

    def _end(self) -> None:
        self._until = 0.0


_turn = _Turn()
has_time = _turn.has_time


class Throttle(QObject):
    """Calls ``callback`` soon after ``poke``, and not again before ``interval`` milliseconds have gone by.

    It ``waits`` for a turn of the loop that has time for it; who does not asks ``has_time`` for what can wait.
    """

    def __init__(
        self, callback: Callable[[], None], parent: QObject, interval: int = FRAME_MS, *, waits: bool = True
    ) -> None:
        super().__init__(parent)
        self._waits = waits
        self._callback = callback
        self._interval = interval
        self._poked = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)

    def poke(self) -> None:
        """Ask for a call; many asks within one interval make one call."""
        if self._poked:
            return  # at every token; to ask the timer would cost more than all else here
        self._poked = True
        if not self._timer.isActive():
            self._timer.start(0)

    def forget(self) -> None:
        """What was asked for was done meanwhile."""
        self._poked = False

    def _tick(self) -> None:
        if not self._poked:
            self._timer.stop()
            return
        if self._waits and not has_time():
            self._timer.start(0)
            return
        self._poked = False
        self._timer.start(self._interval)
        self._callback()


class Alternation(QObject):
    """Calls several callbacks, each soon after it was asked for and not again before ``interval`` milliseconds.

    One at a time, in turn, and the loop is free between two of them: six that take 8 ms each hold nobody up for 48. The
    interval may be set otherwise at any time.
    """

    def __init__(self, parent: QObject, interval: int) -> None:
        super().__init__(parent)
        self.interval = interval
        self._asked: dict[Callable[[], None], None] = {}
        self._last: dict[Callable[[], None], float] = {}
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._tick)

    def poke(self, callback: Callable[[], None]) -> None:
        """Ask for a call of it; many asks within one interval make one call."""
        self._asked[callback] = None
        if not self._timer.isActive():
            self._timer.start(0)

    def forget(self, callback: Callable[[], None]) -> None:
        """It is called no more."""
        self._asked.pop(callback, None)
        self._last.pop(callback, None)

    def _tick(self) -> None:
        now = perf_counter()
        due = {callback: self._last.get(callback, 0.0) + self.interval / 1000 for callback in self._asked}
        callback = min(due, key=due.__getitem__, default=None)
        if callback is None:
            return
        if due[callback] > now:
            self._timer.start(max(round((due[callback] - now) * 1000), 1))
            return
        del self._asked[callback]
        self._last[callback] = now
        if self._asked:
            self._timer.start(1)
        callback()
