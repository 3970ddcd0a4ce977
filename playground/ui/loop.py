"""The seam between Qt and asyncio; the only file that imports qasync.

``run`` starts the loop, ``spawn`` starts a task, ``ask`` waits for a dialog, ``Throttle`` calls back at most
once a frame. No nested event loops anywhere: no ``exec()``, no ``processEvents()``.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

os.environ["QT_API"] = "pyside6"  # read by qasync at import

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QDialog

T = TypeVar("T")
FRAME_MS = 16
SWEEP_MS = 250

_loop: asyncio.AbstractEventLoop | None = None
_tasks: set[asyncio.Task[Any]] = set()


def run(app: QApplication, main: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Run ``main`` as the first task and Qt's events until ``finish`` is called. Returns the exit code."""
    import qasync

    global _loop
    loop = qasync.QEventLoop(app)
    asyncio.set_event_loop(loop)
    _loop = loop
    app.setProperty("exit_code", 0)
    sweeper = QTimer()
    sweeper.timeout.connect(_sweep)
    sweeper.start(SWEEP_MS)
    collected = gc.isenabled()
    gc.disable()
    try:
        with loop:
            spawn(main(), name="main")
            loop.run_forever()
    finally:
        if collected:
            gc.enable()
        sweeper.stop()
        _loop = None
        asyncio.set_event_loop(None)
    return int(app.property("exit_code") or 0)


def _sweep() -> None:
    """Collect garbage here, when it is due: left to another thread's allocations, Qt objects would die over there."""
    for generation in (2, 1, 0):
        if gc.get_count()[generation] > gc.get_threshold()[generation]:
            gc.collect(generation)
            return


def finish(exit_code: int = 0) -> None:
    """Leave ``run`` once the running callbacks are done. Tasks must have ended before (``cancel_all``)."""
    app = QApplication.instance()
    if app is not None:
        app.setProperty("exit_code", exit_code)
    if _loop is not None:
        _loop.call_soon(_loop.stop)


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
    """Cancel every spawned task but the caller's and wait until they have ended, ``timeout`` seconds at most."""
    waiting = [task for task in _tasks if task is not asyncio.current_task()]
    for task in waiting:
        task.cancel()
    if waiting:
        await asyncio.wait(waiting, timeout=timeout)


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


class Throttle(QObject):
    """Calls ``callback`` soon after ``poke``, and not again before ``interval`` milliseconds have gone by."""

    def __init__(self, callback: Callable[[], None], parent: QObject, interval: int = FRAME_MS) -> None:
        super().__init__(parent)
        self._callback = callback
        self._interval = interval
        self._poked = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)

    def poke(self) -> None:
        """Ask for a call; many asks within one interval make one call."""
        self._poked = True
        if not self._timer.isActive():
            self._timer.start(0)

    def _tick(self) -> None:
        if not self._poked:
            self._timer.stop()
            return
        self._poked = False
        self._timer.start(self._interval)
        self._callback()
