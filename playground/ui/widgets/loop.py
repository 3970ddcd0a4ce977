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
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import Context, copy_context
from time import perf_counter
from typing import Any, TypeVar

os.environ["QT_API"] = "pyside6"  # read by qasync at import

import qasync
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QDialog

T = TypeVar("T")
FRAME_MS = 16
COLLECT_MS = 1000  # between checks for garbage to collect
CLOSING_S = 0.02  # at the end, so that closed transports can close their sockets
THREADS = 10  # of ``asyncio.to_thread``, at most; each starts when all others are busy

_loop: asyncio.AbstractEventLoop | None = None
_tasks: set[asyncio.Task[Any]] = set()


def run(app: QApplication, main: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Run ``main`` as the first task and Qt's events until ``finish`` is called. Returns the exit code."""
    global _loop
    loop = _Loop(app)
    loop.set_default_executor(
        ThreadPoolExecutor(THREADS, "worker")
    )  # qasync's own starts ten threads at the first call
    loop.set_exception_handler(_handle_error)
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


class _Loop(qasync.QEventLoop):  # type: ignore[misc]  # qasync has no types
    """qasync's loop with one timer for all callbacks that are due at once, instead of one timer for each."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._due: deque[_Call] = deque()

    def call_soon(
        self, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> asyncio.Handle:
        """Call ``callback(*args)`` after the callbacks that are due already."""
        call = _Call(callback, args, self, context or copy_context())
        if not self._due:
            self.call_later(0, self._run_due)
        self._due.append(call)
        return call

    def _run_due(self) -> None:
        # Callbacks scheduled by these run after the next Qt events.
        due, self._due = self._due, deque()
        for call in due:
            call.run()


class _Call(asyncio.Handle):
    """A callback that is due at once."""

    def __init__(
        self,
        callback: Callable[..., object],
        args: tuple[object, ...],
        loop: asyncio.AbstractEventLoop,
        context: Context,
    ) -> None:
        super().__init__(callback, args, loop, context)
        self._call = (context, callback, args, loop)

    def run(self) -> None:
        """Make the call unless it was cancelled; pass an exception to the loop's exception handler."""
        if self.cancelled():
            return
        context, callback, args, loop = self._call
        try:
            context.run(callback, *args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001  # also a cancellation, as in asyncio
            message = {"message": f"Exception in callback {callback!r}", "exception": error, "handle": self}
            loop.call_exception_handler(message)


def _handle_error(_source: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Pass an error of a callback to ``sys.excepthook``; log any other message of the loop."""
    error = context.get("exception")
    if error is not None and "handle" in context:
        sys.excepthook(type(error), error, error.__traceback__)
        return
    detail = f" ({type(error).__name__})" if error is not None else ""
    logging.getLogger("playground.loop").error("%s%s", context.get("message", "The event loop failed."), detail)


class _Collector(QTimer):
    """Collects garbage in the GUI thread: a collection in another thread would destroy Qt objects there.

    Objects made before the start are frozen; the others are collected by Python's own thresholds.
    """

    def __init__(self) -> None:
        super().__init__()
        self._was_enabled = gc.isenabled()
        gc.disable()
        gc.freeze()
        self.timeout.connect(self._collect)
        self.start(COLLECT_MS)

    def _collect(self) -> None:
        due = [count > most for count, most in zip(gc.get_count(), gc.get_threshold(), strict=True)]
        if any(due):
            gc.collect(max(generation for generation, is_due in enumerate(due) if is_due))

    def end(self) -> None:
        """Turn Python's automatic garbage collection on again."""
        self.stop()
        gc.unfreeze()
        if self._was_enabled:
            gc.enable()


def finish(exit_code: int = 0) -> None:
    """Leave ``run`` with ``exit_code`` after the pending callbacks. Tasks must have ended before (``cancel_all``)."""
    app = QApplication.instance()
    if app is not None:
        app.setProperty("exit_code", exit_code)
    if _loop is not None:
        _loop.call_soon(_loop.call_soon, _loop.stop)


def runs() -> bool:
    """Return whether the event loop runs, so that a task can be started."""
    return _loop is not None


def spawn(coro: Coroutine[Any, Any, T], *, name: str, owner: QObject | None = None) -> asyncio.Task[T]:
    """Start a task, keep it alive, and pass its exception to ``sys.excepthook``. All tasks start here.

    The task is cancelled when its ``owner`` is destroyed, so it never continues with a deleted widget.
    """
    if _loop is None:
        coro.close()
        raise RuntimeError(f"the task {name!r} cannot start: the event loop does not run")
    task = _loop.create_task(coro, name=name)
    _tasks.add(task)
    task.add_done_callback(_finish_task)
    if owner is not None:
        connection = owner.destroyed.connect(lambda _owner: task.cancel())
        task.add_done_callback(lambda _task: QObject.disconnect(connection))
    return task


def _finish_task(task: asyncio.Task[Any]) -> None:
    _tasks.discard(task)
    if task.cancelled():
        return
    error = task.exception()
    if error is not None:
        sys.excepthook(type(error), error, error.__traceback__)


async def cancel_all(timeout: float = 3.0) -> None:
    """Cancel all spawned tasks but the caller's, and wait at most ``timeout`` seconds until they have ended.

    Tasks that start during the wait are cancelled as well.
    """
    end = perf_counter() + timeout
    while waiting := [task for task in _tasks if task is not asyncio.current_task() and not task.done()]:
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting, timeout=max(end - perf_counter(), 0))
        if perf_counter() >= end:
            return


async def ask(dialog: QDialog) -> int:
    """Open ``dialog`` and wait for its result code without blocking the event loop."""
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
    """Calls ``callback`` soon after ``poke``, and not again before ``interval`` milliseconds have passed.

    ``interval`` may be changed at any time.
    """

    def __init__(self, callback: Callable[[], None], parent: QObject, interval: int = FRAME_MS) -> None:
        super().__init__(parent)
        self.interval = interval
        self.pending = False  # a requested call has not been made yet
        self._callback = callback
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)

    def poke(self) -> None:
        """Ask for a call; many requests within one interval make one call."""
        if self.pending:
            return  # cheap: a stream pokes with every token
        self.pending = True
        if not self._timer.isActive():
            self._timer.start(0)

    def cancel(self) -> None:
        """Drop the pending call."""
        self.pending = False

    def flush(self) -> None:
        """Make the pending call now."""
        if self.pending:
            self.pending = False
            self._callback()

    def _tick(self) -> None:
        if not self.pending:
            self._timer.stop()
            return
        self.pending = False
        self._timer.start(self.interval)
        self._callback()
