"""The one thread that writes. It is handed values and does all that takes time: encoding, comparing, the disk.

Work is done in the order it was given, several pieces in one transaction; a newer state of an experiment takes the
place of one that is still waiting. When the disk refuses, everything stays here and is tried again.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from playground.engine.cassettes.cassette import CassetteError
from playground.engine.io.database import error_words, is_damage, is_index_damage, is_transient
from playground.engine.library.experiment_summary import summarize_snapshot
from playground.engine.library.store.rows import ExperimentRows, Known, rebuild_index
from playground.engine.library.store.tape_rows import GrowingTape, write_tape
from playground.engine.library.store.trouble import StoreError
from playground.engine.session.history import Kept
from playground.engine.session.snapshot import Snapshot
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange, Read

T = TypeVar("T")

RETRY = 1.0  # seconds until what the disk refused is tried again
_MOST_KNOWN = 64  # experiments


@dataclass(frozen=True, slots=True)
class Save:
    """An experiment to be written. ``growing`` are the ids of turns that will be written again soon.

    ``past`` is what undo goes back to; None where that is not known.
    """

    found: Snapshot
    growing: frozenset[str]
    redactor: Redactor
    past: Kept | None = None


@dataclass(frozen=True, slots=True)
class Tape:
    """An exchange that has ended, to be written. It is nobody else's: nothing may be let go from it."""

    experiment_id: str
    exchange: Exchange
    redactor: Redactor


@dataclass(slots=True)
class Reads:
    """What came of an exchange under way since the last time. ``exchange`` is without its reads."""

    experiment_id: str
    exchange: Exchange
    reads: tuple[Read, ...]
    redactor: Redactor
    packed: bytes | None = None  # once it is known: a read is looked at once, whatever the disk does


@dataclass(frozen=True, slots=True)
class Work:
    """Anything else; nothing at all, to learn when all before it is done. ``waits`` keeps it while the disk refuses;
    else ``done`` has the refusal. ``touches`` says that rows of experiments may be others after it, ``apart`` that it
    has to be done outside a transaction, when the others are. ``slight`` work is nothing that a person would miss.
    """

    do: Callable[[sqlite3.Connection], Any] | None = None
    waits: bool = True
    touches: bool = False
    apart: bool = False
    slight: bool = False
    done: Future[Any] = field(default_factory=Future)


Job = Save | Tape | Reads | Work


def _answer(work: Work, result: object, refused: Exception | None) -> None:
    """Tell whoever waits; somebody who waits no longer is told nothing."""
    if work.done.done() or not work.done.set_running_or_notify_cancel():
        return
    if refused is not None:
        work.done.set_exception(refused)
    else:
        work.done.set_result(result)


class Writer:
    """Owns the connection from ``start`` to ``close``. ``tell`` is called on its thread when the trouble is another.
    ``committed`` after each transaction."""

    def __init__(
        self, connection: sqlite3.Connection, tell: Callable[[str], None], committed: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._committed = committed
        self._tell = tell
        self._rows = ExperimentRows(connection)
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._growing: dict[str, GrowingTape] = {}
        self._jobs: OrderedDict[object, Job] = OrderedDict()
        self._at_work: tuple[Job, ...] = ()
        self._changed = threading.Condition()
        self._closing = False
        self._trouble = ""
        self._odd: dict[str, str] = {}  # experiments that cannot be written, whatever the disk does, and why
        self._thread = threading.Thread(target=self._run, name="store writer", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def put(self, job: Job) -> None:
        """Have it done. What an experiment was before and is still waiting is forgotten."""
        with self._changed:
            key: object = ("save", job.found.id) if isinstance(job, Save) else object()
            self._jobs[key] = job
            self._changed.notify()

    def do(
        self,
        work: Callable[[sqlite3.Connection], T],
        *,
        touches: bool = False,
        apart: bool = False,
        slight: bool = False,
    ) -> Future[T]:
        """Have ``work`` done, inside a transaction unless ``apart``; once it can be, where the disk refuses."""
        job = Work(work, touches=touches, apart=apart, slight=slight)
        self.put(job)
        return job.done

    def barrier(self) -> Future[None]:
        """Done when all that was given before is on the disk; fails with StoreError when the disk refuses."""
        job = Work(waits=False)
        self.put(job)
        return job.done

    def unsaved(self, experiment_id: str) -> bool:
        """Whether a state of that experiment is not on the disk yet, or cannot get there."""
        with self._changed:
            at_work = any(isinstance(job, Save) and job.found.id == experiment_id for job in self._at_work)
            return at_work or ("save", experiment_id) in self._jobs or experiment_id in self._odd

    @property
    def behind(self) -> bool:
        """Whether anything that a person did is not on the disk yet, or cannot get there."""
        with self._changed:
            jobs = (*self._jobs.values(), *self._at_work)
            return bool(self._odd) or any(not (isinstance(job, Work) and (job.slight or not job.waits)) for job in jobs)

    def close(self) -> None:
        """Do what is waiting, once, and end. Blocks until then."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join()
        self._connection.close()

    # On the thread

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._jobs or self._closing)
                if not self._jobs:
                    return
                jobs, self._jobs = self._jobs, OrderedDict()
                self._at_work = tuple(jobs.values())
                closing = self._closing
            again = self._write(jobs)
            with self._changed:
                self._at_work = ()
                newer, self._jobs = self._jobs, OrderedDict(again)
                self._jobs.update(newer)
                if closing:
                    for job in self._jobs.values():
                        if isinstance(job, Work):
                            _answer(job, None, StoreError(self._trouble))
                    return
                if again:
                    self._changed.wait_for(lambda: self._closing or self._asked(), RETRY)

    def _asked(self) -> bool:
        """Whether somebody waits to hear how it stands."""
        return any(isinstance(job, Work) and not job.waits for job in self._jobs.values())

    def _write(self, jobs: OrderedDict[object, Job]) -> OrderedDict[object, Job]:
        """Do all of it in one transaction. Returns what has to be done again."""
        known: dict[str, Known] = {}
        results: list[tuple[Work, Any, Exception | None]] = []
        odd: dict[str, str] = {}
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for job in jobs.values():
                self._connection.execute("SAVEPOINT job")
                try:
                    result = self._do(job, known)
                    if isinstance(job, Work) and not job.apart:
                        results.append((job, result, None))
                except Exception as error:
                    if is_transient(error) or is_damage(error):
                        raise
                    self._connection.execute("ROLLBACK TO job")
                    if isinstance(job, Work):
                        results.append((job, None, error))
                    elif isinstance(job, Save):
                        known.pop(job.found.id, None)
                        title = summarize_snapshot(job.found, job.redactor.front).title
                        odd[job.found.id] = f"“{title}” could not be saved: {error_words(error)}"
                self._connection.execute("RELEASE job")
            self._connection.execute("COMMIT")
        except (sqlite3.Error, OSError, MemoryError) as error:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            self._known.clear()
            if is_index_damage(error) and self._rebuild():
                return jobs
            self._say(error_words(error))
            return self._kept(jobs, error)
        self._committed()
        for name, value in known.items():
            self._known[name] = value
            self._known.move_to_end(name)
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        saved = {job.found.id for job in jobs.values() if isinstance(job, Save)}
        self._odd = {**{name: words for name, words in self._odd.items() if name not in saved}, **odd}
        trouble = next(iter(self._odd.values()), "")
        self._say(trouble)
        with self._changed:
            self._at_work = ()  # before anybody is told
        for work, result, failure in (*results, *self._do_apart(jobs)):
            _answer(work, result, StoreError(trouble) if work.do is None and trouble else failure)
        return OrderedDict()

    def _rebuild(self) -> bool:
        """Make the full-text index anew. Returns whether that went well."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            rebuild_index(self._connection)
            self._connection.execute("COMMIT")
        except sqlite3.Error:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            return False
        return True

    def _kept(self, jobs: OrderedDict[object, Job], error: Exception) -> OrderedDict[object, Job]:
        out: OrderedDict[object, Job] = OrderedDict()
        for key, job in jobs.items():
            if isinstance(job, Work) and not job.waits:
                _answer(job, None, StoreError(error_words(error)))
            else:
                out[key] = job
        return out

    def _do(self, job: Job, known: dict[str, Known]) -> Any:
        if isinstance(job, Save):
            name = job.found.id
            before = known.get(name) or self._known.get(name)
            known[name] = self._rows.write(job.found, job.growing, job.redactor, before, job.past)
            return None
        if isinstance(job, Tape):
            return self._keep(job)
        if isinstance(job, Reads):
            return self._grow(job)
        if job.touches:
            known.clear()
            self._known.clear()
        return job.do(self._connection) if job.do is not None and not job.apart else None

    def _do_apart(self, jobs: OrderedDict[object, Job]) -> Iterator[tuple[Work, Any, Exception | None]]:
        for job in jobs.values():
            if isinstance(job, Work) and job.apart and job.do is not None:
                try:
                    yield job, job.do(self._connection), None
                except Exception as error:  # noqa: BLE001 - whoever asked for it is told
                    yield job, None, error

    def _keep(self, job: Tape) -> None:
        row = self._connection.execute("SELECT number FROM experiments WHERE id = ?", (job.experiment_id,)).fetchone()
        if row is None:
            return
        try:
            head, data = write_tape(job.exchange, job.redactor)
        except CassetteError:
            return  # its bodies are gone: there is nothing to keep
        self._connection.execute(
            "INSERT OR REPLACE INTO tapes VALUES (?, ?, ?, ?, ?, ?)",
            (row[0], job.exchange.id, job.exchange.started_at, head, len(data), data),
        )
        self._connection.execute("DELETE FROM tape_reads WHERE experiment = ? AND tape = ?", (row[0], job.exchange.id))
        self._growing.pop(job.exchange.id, None)

    def _grow(self, job: Reads) -> None:
        tape = self._growing.get(job.exchange.id)
        if tape is None:
            tape = self._growing[job.exchange.id] = GrowingTape()
        if job.packed is None:
            job.packed = tape.pack(job.reads, job.redactor)
        row = self._connection.execute("SELECT number FROM experiments WHERE id = ?", (job.experiment_id,)).fetchone()
        if row is None:
            return
        key = row[0], job.exchange.id
        known = self._connection.execute(
            "UPDATE tapes SET head = ?, size = size + ? WHERE experiment = ? AND id = ?",
            (tape.head(job.exchange), len(job.packed), *key),
        )
        if not known.rowcount:
            body = tape.body(job.exchange)
            self._connection.execute(
                "INSERT INTO tapes VALUES (?, ?, ?, ?, ?, ?)",
                (*key, job.exchange.started_at, tape.head(job.exchange), len(body) + len(job.packed), body),
            )
        if job.packed:
            self._connection.execute("INSERT INTO tape_reads VALUES (?, ?, ?)", (*key, job.packed))

    def _say(self, trouble: str) -> None:
        if trouble != self._trouble:
            self._trouble = trouble
            self._tell(trouble)
