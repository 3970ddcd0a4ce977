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
from contextvars import Context
from time import perf_counter, thread_time
from typing import Any, TypeVar

os.environ["QT_API"] = "pyside6"  # read by qasync at import

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, QTimerEvent, Slot
from PySide6.QtWidgets import QApplication, QDialog

from playground.giving_way import give_way_to
from playground.ui.widgets.stillness import Keeper

T = TypeVar("T")
FRAME_MS = 16
SWEEP_MS = 250
LEFT_OUT = 3  # sweeps of the young between two, at most, while they find nothing
CALM_S = 0.02  # of this thread's time between two sweeps: less is a calm moment
CALM_SWEEPS, PUT_OFF_SWEEPS = 4, 240
#: Objects more than at the last sweep: data that was loaded, not what events leave behind, an evaluation's among them.
BURST = 60_000
LOT = 40_000  # objects of some sweeps: sessions of an evaluation outlive one, and together they would take 0.1 s
SWITCH_S = 0.000_1  # that another thread may go on while this one waits to do so: Python's own 5 ms add up
#: Callbacks are begun on end for so long before Qt's events have their turn. Sockets, later times and what is due have
#: a stretch each in one turn of Qt's.
STRETCH_S = 0.002
TURN_S = 0.004  # drawing is begun for so long in a turn of Qt's
THREADS = 10  # of ``asyncio.to_thread``, at most; each is made when all there are have something to do
APART_S = 0.000_3  # between two events that have nothing of Qt's between them, at most

_loop: asyncio.AbstractEventLoop | None = None
_tasks: set[asyncio.Task[Any]] = set()


def run(app: QApplication, main: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Run ``main`` as the first task and Qt's events until ``finish`` is called. Returns the exit code."""
    global _loop
    loop = _make_loop(app)
    loop.set_exception_handler(_failed)
    asyncio.set_event_loop(loop)
    _loop = loop
    app.setProperty("exit_code", 0)
    switch = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    give_way_to(loop.call_soon_threadsafe)
    sweeper = _Sweeper()
    sweeper.begin()
    try:
        with closing(loop):
            spawn(main(), name="main")
            loop.run_forever()
    finally:
        give_way_to(None)
        sweeper.end()
        sys.setswitchinterval(switch)
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


def _make_loop(app: QApplication) -> asyncio.AbstractEventLoop:
    """qasync's loop with four of its ways made short.

    Left as it is, each callback is a timer of its own, and each pause in reading a socket makes a notifier anew: for
    a token that comes alone that is more work than all the rest. A timer goes on when its callback is called off, and
    wakes a window that has nothing to do. The first ``asyncio.to_thread`` starts ten threads.
    """
    import qasync

    class Loop(qasync.QEventLoop):  # type: ignore[misc]  # qasync has no types
        def __init__(self) -> None:
            self._queue = _Ready()
            self._later = _Later()
            self._notifiers: dict[tuple[int, QSocketNotifier.Type], _Notifier] = {}
            super().__init__(app)
            self.set_default_executor(ThreadPoolExecutor(THREADS, "worker"))

        def call_soon(
            self, callback: Callable[..., object], *args: Any, context: Context | None = None
        ) -> asyncio.Handle:
            handle = asyncio.Handle(callback, args, self, context)
            self._queue.add(handle)
            return handle

        def call_later(
            self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
        ) -> asyncio.TimerHandle:
            """As asyncio has it: a handle that knows when it is due."""
            handle = _Due(self._queue, self.time() + delay, callback, args, self, context)
            self._later.add(handle, max(delay, 0))
            return handle

        def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
            self._later.call_off(handle)

        def _add_reader(self, fd: Any, callback: Callable[..., object], *args: Any) -> None:
            self._watch(fd, QSocketNotifier.Type.Read, asyncio.Handle(callback, args, self))

        def _remove_reader(self, fd: Any) -> bool:
            return self._unwatch(fd, QSocketNotifier.Type.Read)

        def _add_writer(self, fd: Any, callback: Callable[..., object], *args: Any) -> None:
            self._watch(fd, QSocketNotifier.Type.Write, asyncio.Handle(callback, args, self))

        def _remove_writer(self, fd: Any) -> bool:
            return self._unwatch(fd, QSocketNotifier.Type.Write)

        def _watch(self, fd: Any, kind: QSocketNotifier.Type, handle: asyncio.Handle) -> None:
            key = (fd if isinstance(fd, int) else int(fd.fileno()), kind)
            notifier = self._notifiers.get(key)
            if notifier is None:
                notifier = self._notifiers[key] = _Notifier(*key, self._queue, self)
            notifier.watch(handle)

        def _unwatch(self, fd: Any, kind: QSocketNotifier.Type) -> bool:
            notifier = self._notifiers.get((fd if isinstance(fd, int) else int(fd.fileno()), kind))
            return notifier is not None and notifier.rest()

        def close(self) -> None:
            for notifier in self._notifiers.values():
                notifier.rest()
            super().close()
            self._later.close()
            self._queue.close()

    return Loop()


class _Ready(QObject):
    """Callbacks that are due, run in order, many in one event; after a while Qt's own events have their turn."""

    def __init__(self) -> None:
        super().__init__()
        self._handles: deque[asyncio.Handle] = deque()
        self._timer = 0
        self._running = False
        self._until = 0.0  # when the stretch under way is over
        self._ended = 0.0  # when something ran last, or came to be run

    def begin(self) -> bool:
        """Whether there is time for what comes now: what comes at once after something else shares its stretch."""
        now = perf_counter()
        if now - self._ended > APART_S:
            self._until = now + STRETCH_S
        self._ended = now
        return now <= self._until

    def add(self, handle: asyncio.Handle) -> None:
        """Run ``handle`` after those that were added before."""
        self._handles.append(handle)
        if not self._timer and not self._running:
            self._timer = self.startTimer(0)

    def timerEvent(self, event: QTimerEvent) -> None:
        self._ended = 0.0
        self.run()

    def run(self, first: Callable[[], object] | None = None) -> None:
        """Run what is due, and what that makes due, until nothing is left or ``STRETCH_S`` is over.

        ``first`` runs before it, in a stretch that was begun already.
        """
        if self._running:  # within a callback that lets Qt's events have their turn
            if first is not None:
                first()
            return
        self._running = True
        handles = self._handles
        try:
            if first is None:
                self.begin()
            else:
                first()
            while handles:
                handle = handles.popleft()
                if not handle.cancelled():
                    handle._run()
                if perf_counter() > self._until:
                    break
        finally:
            self._running = False
            self._ended = perf_counter()
            if bool(handles) is not bool(self._timer):
                if handles:
                    self._timer = self.startTimer(0)
                else:
                    self.killTimer(self._timer)
                    self._timer = 0

    def close(self) -> None:
        """Forget what is left: the loop has ended."""
        self._handles.clear()
        if self._timer:
            self.killTimer(self._timer)
            self._timer = 0


class _Due(asyncio.TimerHandle):
    """A callback for a later time; what it makes due, as the task that slept, is run with it, not in a turn of its own.

    Left to the next turn of Qt's events, whoever slept for a moment waited twice for everything else that is due.
    """

    __slots__ = ("_ready", "timer")

    def __init__(self, ready: _Ready, *args: Any) -> None:
        super().__init__(*args)
        self._ready = ready
        self.timer = 0  # of Qt, while it runs

    def _run(self) -> None:
        self._ready.begin()
        self._ready.run(super()._run)


class _Later(QObject):
    """Callbacks for later times, each with a timer of Qt, which ends when they are called off."""

    def __init__(self) -> None:
        super().__init__()
        self._handles: dict[int, _Due] = {}

    def add(self, handle: _Due, delay: float) -> None:
        """Run ``handle`` in so many seconds."""
        handle.timer = self.startTimer(int(delay * 1000))
        self._handles[handle.timer] = handle

    def call_off(self, handle: asyncio.TimerHandle) -> None:
        """Do not, unless it was."""
        if isinstance(handle, _Due) and self._handles.pop(handle.timer, None) is not None:
            self.killTimer(handle.timer)

    def timerEvent(self, event: QTimerEvent) -> None:
        self.killTimer(event.timerId())
        handle = self._handles.pop(event.timerId(), None)
        if handle is not None:
            handle._run()

    def close(self) -> None:
        """Run nothing any more."""
        for timer in self._handles:
            self.killTimer(timer)
        self._handles.clear()


class _Notifier(QSocketNotifier):
    """Says when a socket can be read or written; kept while its number is in use, and at rest when nobody waits."""

    def __init__(self, fd: int, kind: QSocketNotifier.Type, ready: _Ready, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(fd, kind)
        self._ready, self._loop = ready, loop
        self._put_off = False
        self._handle: asyncio.Handle | None = None
        self.setEnabled(False)
        self.activated.connect(self._activated)

    def watch(self, handle: asyncio.Handle) -> None:
        """Run ``handle`` whenever the socket is ready, in place of what was run before."""
        self._handle = handle
        self.setEnabled(not self._put_off)

    def rest(self) -> bool:
        """Watch no more. Returns whether it did."""
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.cancel()
            self.setEnabled(False)
        return handle is not None

    @Slot()  # half of what it costs to look at each event
    def _activated(self) -> None:
        if self._handle is not None:
            if self._ready.begin():
                self._ready.run(self._handle._run)
            else:  # many sockets are ready at once: this one has its turn behind what is due
                self._put_off = True
                self.setEnabled(False)
                self._ready.add(asyncio.Handle(self._resume, (), self._loop))

    def _resume(self) -> None:
        self._put_off = False
        if self._handle is not None:
            self.setEnabled(True)
            self._handle._run()


class _Sweeper(Keeper):
    """Collects garbage when it is due, here: left to another thread's allocations, Qt objects would die over there.

    What is there at the start is never looked at, nor what is loaded and made until the first calm moment, nor what a
    large experiment is made of: it holds no cycles. The rest is looked at as a whole only in a calm moment, because
    that takes longer than a frame. The young are looked at four times a second, and once where that finds nothing: of
    an evaluation under way those are some 10,000 objects, and each look is late for an event. Where nothing is due and
    nothing happens, it does not look either.
    """

    def __init__(self) -> None:
        super().__init__(SWEEP_MS)
        self._was_on = gc.isenabled()
        self._spent = thread_time()
        self._calm = 0  # sweeps on end in which little was done
        self._young = 0  # objects more, at all sweeps since the middle generation was looked at
        self._count = 0  # objects more since anything was looked at, as the last sweep left it
        self._left_out = self._to_leave_out = 0  # sweeps of the young, since one and until the next
        self._put_off = 0  # sweeps since all should have been looked at
        self._loaded = False  # whether what comes after the first frame is there

    def begin(self) -> None:
        """From now on garbage is collected here and nowhere else."""
        gc.disable()
        gc.freeze()
        self.keep()

    def keep(self) -> None:
        self._calm = 0
        super().keep()

    def end(self) -> None:
        """As it was before."""
        self.leave()
        gc.unfreeze()
        if self._was_on:
            gc.enable()

    def timerEvent(self, event: QTimerEvent) -> None:
        self._calm = self._calm + 1 if thread_time() - self._spent < CALM_S else 0
        young, middle, old = (count > most for count, most in zip(gc.get_count(), gc.get_threshold(), strict=True))
        self._put_off = self._put_off + 1 if old else 0
        more = gc.get_count()[0] - self._count
        self._young += more
        if more > BURST:
            gc.freeze()
        elif not self._loaded and self._calm >= CALM_SWEEPS:
            self._loaded = True
            gc.collect()
            gc.freeze()
        elif old and (self._calm >= CALM_SWEEPS or self._put_off > PUT_OFF_SWEEPS):
            gc.collect()
        elif middle or self._young > LOT:
            self._young = 0
            gc.collect(1)
        elif young and self._left_out < self._to_leave_out:
            self._left_out += 1
        elif young:
            self._left_out = 0
            self._to_leave_out = 0 if gc.collect(0) else min(2 * self._to_leave_out + 1, LEFT_OUT)
        elif not old and self._calm >= CALM_SWEEPS:
            self.rest()
        self._count = gc.get_count()[0]
        self._spent = thread_time()


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
