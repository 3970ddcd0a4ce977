"""Answers questions about foreign schemas, patterns and paths without blocking the event loop.

Cheap questions are answered at once (`now`). Others go to a child process, because a validator holds the interpreter
while it works. The process is killed when an answer exceeds its time limit; that answer is "too costly to check".
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import pickle
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

from playground.engine.questions.child_process import ChildProcess
from playground.engine.questions.kinds import Question
from playground.engine.questions.worker import ARGUMENT, TIME_LIMIT, Message
from playground.jsonkit.limits import TooCostlyError

T = TypeVar("T")
Key: TypeAlias = tuple[Any, ...]

_START_LIMIT: Final = 30.0  # seconds for the process to start
_IDLE: Final = 30.0  # seconds without a question after which the process is ended
_MAX_ANSWERS: Final = 2_000  # in memory
_JOIN: Final = 1.0  # seconds for the thread to end after its process was killed
_MAX_TIMEOUTS: Final = 3  # of one schema, rule or path, after which it is not tried again
_MAX_QUESTION: Final = 16_000_000  # bytes


@dataclass(eq=False)
class _Job:
    question: Question[Any]
    future: Future[Any] = field(default_factory=Future)
    waiting: int = 0


class Checker:
    """The child process, the thread that speaks with it, and recent answers."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._queue: deque[_Job] = deque()
        self._open: dict[Key, _Job] = {}
        self._answers: OrderedDict[Key, tuple[Question[Any], Any]] = OrderedDict()  # with what the keys refer to
        self._timeouts: OrderedDict[int, tuple[object, int]] = OrderedDict()  # by the subject's id: subject, count
        self._thread: threading.Thread | None = None
        self._process: ChildProcess | None = None
        self._stopping = False
        atexit.register(self._kill)

    def now(self, question: Question[T]) -> T | None:
        """Return the answer of a cheap or recent question, None for one that needs the process."""
        if question.again:
            key = question.key
            with self._changed:
                if key in self._answers:
                    self._answers.move_to_end(key)
                    answer: T = self._answers[key][1]
                    return answer
                if key in self._open:
                    return None
        try:
            return question.answer()
        except TooCostlyError:
            return None

    async def answer(self, question: Question[T]) -> T:
        """Return the answer; waits for the process if need be."""
        answer = self.now(question)
        if answer is not None:
            return answer
        job = self._enter(question)
        try:
            shared: T = await asyncio.shield(asyncio.wrap_future(job.future))  # others may wait for it too
            return shared
        finally:
            self._leave(job)

    def later(self, question: Question[T], then: Callable[[T], None]) -> Callable[[], None]:
        """Call `then` in the running event loop with the answer of a costly question; return a function that cancels.

        Without a running loop the call blocks until `then` has returned.
        """
        job, is_wanted = self._enter(question), True

        def cancel() -> None:
            nonlocal is_wanted
            if is_wanted:
                is_wanted = False
                self._leave(job)

        def deliver() -> None:
            if is_wanted:
                cancel()
                if not job.future.cancelled():
                    then(job.future.result())

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            job.future.exception()
            deliver()
            return cancel

        def schedule(_future: Future[Any]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(deliver)

        job.future.add_done_callback(schedule)
        return cancel

    def rest(self) -> None:
        """End the process and the thread; the next question starts them again."""
        with self._changed:
            self._stopping = True
            for job in self._queue:
                self._open.pop(job.question.key, None)
                job.future.cancel()
            self._queue.clear()
            thread = self._thread
            self._changed.notify_all()
        self._kill()
        if thread is not None:
            thread.join(_JOIN)

    def _enter(self, question: Question[Any]) -> _Job:
        with self._changed:
            job = self._open.get(question.key)
            if job is None:
                job = self._open[question.key] = _Job(question)
                self._queue.append(job)
            job.waiting += 1
            self._stopping = False
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="checking", daemon=True)
                self._thread.start()
            self._changed.notify_all()
            return job

    def _leave(self, job: _Job) -> None:
        """Remove a question that is not needed any more from the queue."""
        with self._changed:
            job.waiting -= 1
            if not job.waiting and job in self._queue:
                self._queue.remove(job)
                self._open.pop(job.question.key, None)

    def _kill(self) -> None:
        if (process := self._process) is not None:
            process.kill()

    # In the thread

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._stopping, _IDLE)
                if not self._queue:
                    self._thread = None
                    break
                job = self._queue.popleft()
            try:
                answer = self._ask(job.question)
            except Exception as error:  # noqa: BLE001 - each question gets an answer
                answer = job.question.unanswered(f"the check could not be made ({type(error).__name__})", "")
            with self._changed:
                if not self._stopping:
                    self._answers[job.question.key] = (job.question, answer)
                if len(self._answers) > _MAX_ANSWERS:
                    self._answers.popitem(last=False)
                self._open.pop(job.question.key, None)
            job.future.set_result(answer)
        self._end_process()

    def _ask(self, question: Question[T]) -> T:
        subject = question.subject
        _, timeouts = self._timeouts.get(id(subject), (subject, 0))
        if subject is not None and timeouts >= _MAX_TIMEOUTS:
            return question.unanswered(f"the same took too long {timeouts} times before", "")
        try:
            data = pickle.dumps(question)
        except RecursionError:
            return question.unanswered("it is nested too deeply", "")
        if len(data) > _MAX_QUESTION:
            return question.unanswered(f"it is {len(data):,} bytes long", "")
        process = self._running_process()
        if process is None:
            return question.unanswered("the process that checks could not be started", "")
        partial = ""
        with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError), process.time_limit(TIME_LIMIT):
            process.input.write(data)
            process.input.flush()
            while True:
                kind, content = pickle.load(process.output)  # noqa: S301 - our own process wrote it
                if kind is Message.ANSWER:
                    answer: T = content
                    return answer
                partial = content
        self._end_process()
        self._timeouts[id(subject)] = subject, timeouts + 1
        if len(self._timeouts) > _MAX_ANSWERS:
            self._timeouts.popitem(last=False)
        return question.unanswered(f"it takes longer than {TIME_LIMIT:g} seconds", partial)

    def _running_process(self) -> ChildProcess | None:
        """Return the process, started if there is none; None where it cannot be started."""
        if self._process is not None and self._process.is_running:
            return self._process
        self._end_process()
        try:
            process = self._process = ChildProcess(ARGUMENT)
            with process.time_limit(_START_LIMIT):
                pickle.load(process.output)  # noqa: S301 - READY, of our own process
        except (OSError, EOFError, pickle.UnpicklingError):
            self._end_process()
            return None
        return process

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()


checker = Checker()
now, answer, later, rest = checker.now, checker.answer, checker.later, checker.rest
