"""Questions about foreign schemas, patterns and paths, answered without ever keeping a window from drawing.

What is cheap is answered at once (``now``). What is not goes to one process of our own (``questions.worker``), which
is started when it is first needed, ended when an answer takes longer than it may, and started anew for the next. A
process, because a validator holds the interpreter while it works, and nothing else could stop it. What ran out of its
time is "too costly to check": never a freeze, and never "fits".
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import pickle
import subprocess
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from playground.engine.questions.kinds import Question
from playground.engine.questions.worker import ANSWER, ARGUMENT, KNOWN, READY, SECONDS, receive, send
from playground.jsonkit.limits import TooCostlyError

T = TypeVar("T")

_START: Final = 30.0  # seconds in which the process has to be there
_IDLE: Final = 30.0  # seconds without a question after which it is ended
_KEPT: Final = 2_000  # answers
_REST: Final = 1.0  # seconds that the thread has to end; a process that was ended keeps it no longer
_TRIES: Final = 3  # for which one schema, rule or path may take too long
_LARGEST: Final = 16_000_000  # bytes of one question
_LATE: Final = f"it takes longer than {SECONDS:g} seconds"


def now(question: Question[T]) -> T | None:
    """The answer, where it is known or cheap; None where it takes a process."""
    return _worker.known(question)


async def answer(question: Question[T]) -> T:
    """The answer. Waits for the process where it takes one; cancelled, it leaves nothing behind."""
    found = _worker.known(question)
    return found if found is not None else await _worker.ask(question)


def rest() -> None:
    """End the process and the thread that talks with it; the next question starts them anew."""
    _worker.rest()


def later(question: Question[T], then: Callable[[T], None]) -> Callable[[], None]:
    """Have ``then`` called with an answer that is not known now; what is returned calls that off.

    It is called by the running event loop; without one it is waited for, and called before this returns.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        then(_worker.wait_for(question))
        return lambda: None
    return _worker.tell(question, loop, then)


@dataclass(eq=False)
class _Job:
    question: Question[Any]
    future: Future[Any] = field(default_factory=Future)
    waiting: int = 0


class _Worker:
    """The process, the thread that talks with it, and the answers that are known."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._jobs: deque[_Job] = deque()
        self._open: dict[tuple[Any, ...], _Job] = {}
        self._known: OrderedDict[tuple[Any, ...], tuple[Question[Any], Any]] = OrderedDict()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._late: OrderedDict[int, tuple[object, int]] = OrderedDict()  # what took too long, and how often
        self._ended = self._resting = False
        atexit.register(self.end)

    def known(self, question: Question[T]) -> T | None:
        if question.again:
            key = question.key
            with self._lock:
                found = self._known.get(key)
                if found is not None:
                    self._known.move_to_end(key)
                    known: T = found[1]
                    return known
                if key in self._open:
                    return None
        try:
            return question.answer()
        except TooCostlyError:
            return None

    async def ask(self, question: Question[T]) -> T:
        job = self._enter(question)
        try:
            # Shielded: another may wait for the same answer.
            found: T = await asyncio.shield(asyncio.wrap_future(job.future))
            return found
        finally:
            self._leave(job)

    def wait_for(self, question: Question[T]) -> T:
        job = self._enter(question)
        try:
            found: T = job.future.result()
            return found
        finally:
            self._leave(job)

    def tell(
        self, question: Question[T], loop: asyncio.AbstractEventLoop, then: Callable[[T], None]
    ) -> Callable[[], None]:
        job, wanted = self._enter(question), [then]

        def call_off() -> None:
            if wanted:
                wanted.clear()
                self._leave(job)

        def arrived() -> None:
            for told in wanted[:]:
                call_off()
                if not job.future.cancelled():
                    told(job.future.result())

        def done(_future: Future[Any]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is there to be told
                loop.call_soon_threadsafe(arrived)

        job.future.add_done_callback(done)
        return call_off

    def _enter(self, question: Question[Any]) -> _Job:
        with self._lock:
            job = self._open.get(question.key)
            if job is None:
                job = self._open[question.key] = _Job(question)
                self._jobs.append(job)
            job.waiting += 1
            self._resting = False
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="checking", daemon=True)
                self._thread.start()
            self._lock.notify_all()
            return job

    def _leave(self, job: _Job) -> None:
        with self._lock:
            job.waiting -= 1
            if not job.waiting and job in self._jobs:  # nobody asks any more
                self._jobs.remove(job)
                self._open.pop(job.question.key, None)

    # In the thread

    def _work(self) -> None:
        while True:
            with self._lock:
                awake = self._lock.wait_for(lambda: bool(self._jobs) or self._resting, _IDLE)
                if not awake or (self._resting and not self._jobs):
                    self._thread = None
                    break
                job = self._jobs.popleft()
            try:
                found = self._answer(job.question)
            except Exception as error:  # noqa: BLE001 - whoever waits has to hear of it
                found = job.question.unanswered(f"the check could not be made ({type(error).__name__})", "")
            with self._lock:
                if not self._resting:
                    self._known[job.question.key] = (job.question, found)
                if len(self._known) > _KEPT:
                    self._known.popitem(last=False)
                self._open.pop(job.question.key, None)
            job.future.set_result(found)
        self._stop()

    def _answer(self, question: Question[T]) -> T:
        subject = question.subject
        _, times = self._late.get(id(subject), (subject, 0))
        if subject is not None and times >= _TRIES:
            return question.unanswered(f"the same took too long {times} times before", "")
        try:
            asked = pickle.dumps(question)
        except RecursionError:
            return question.unanswered("it is nested too deeply", "")
        if len(asked) > _LARGEST:
            return question.unanswered(f"it is {len(asked):,} bytes long", "")
        process = self._started()
        if process is None or process.stdin is None or process.stdout is None:
            return question.unanswered("the process that checks could not be started", "")
        timer = threading.Timer(SECONDS, process.kill)
        timer.daemon = True
        timer.start()
        words = ""
        try:
            send(process.stdin, b"Q", asked)  # type: ignore[arg-type]  # buffered, as Popen makes it
            while (received := receive(process.stdout)) is not None:  # type: ignore[arg-type]
                if received[0] == ANSWER:
                    found: T = pickle.loads(received[1])  # noqa: S301 - our own process wrote it
                    return found
                if received[0] == KNOWN:
                    words = received[1].decode()
        except OSError:
            pass  # it is gone
        finally:
            timer.cancel()
        self._stop()
        self._late[id(subject)] = subject, times + 1
        if len(self._late) > _KEPT:
            self._late.popitem(last=False)
        return question.unanswered(_LATE, words)

    def _started(self) -> subprocess.Popen[bytes] | None:
        """The process, started if there is none."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._stop()
        frozen = bool(getattr(sys, "frozen", False))
        command = [sys.executable, ARGUMENT] if frozen else [sys.executable, "-P", "-m", "playground", ARGUMENT]
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
        try:
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet, creationflags=flags)  # noqa: S603
        except OSError:
            return None
        with self._lock:
            self._process = process
        timer = threading.Timer(_START, process.kill)
        timer.daemon = True
        timer.start()
        try:
            first = receive(process.stdout) if process.stdout is not None else None  # type: ignore[arg-type]
        finally:
            timer.cancel()
        if first is None or first[0] != READY or self._ended:
            self._stop()
            return None
        return process

    def _stop(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            process.wait()

    def rest(self) -> None:
        with self._lock:
            self._resting = True
            for job in self._jobs:
                self._open.pop(job.question.key, None)
                job.future.cancel()
            self._jobs.clear()
            thread, process = self._thread, self._process
            self._lock.notify_all()
        if process is not None:
            process.kill()
        if thread is not None:
            thread.join(_REST)

    def end(self) -> None:
        """This program ends: so does the process."""
        self._ended = True
        with self._lock:
            process = self._process
        if process is not None:
            process.kill()
            process.wait()


_worker = _Worker()
