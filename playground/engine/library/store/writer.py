"""The thread that writes the store: it encodes, compares and waits for the disk.

Jobs are done in their order, several in one transaction; a newer state of an experiment replaces one that still waits.
When the disk refuses, all jobs stay here and are tried again.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from playground.engine.cassettes.cassette import CassetteError
from playground.engine.io.database import error_words, is_damage, is_index_damage, is_transient, transaction
from playground.engine.library.experiment_summary import summarize_snapshot
from playground.engine.library.store.migrations import MOST_PLACES, SHIFT
from playground.engine.library.store.reading import number_of, tape_reads
from playground.engine.library.store.rows import ExperimentRows, StoredRows, rebuild_index
from playground.engine.library.store.tape_rows import GrowingTape, read_tape, write_tape
from playground.engine.library.store.trouble import StoreError
from playground.engine.session.snapshot import Snapshot
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange, Read

#: Columns of text by table, and the condition for the rows of the experiment with a given number.
_TEXTS: Final = (
    ("experiments", ("title", "summary", "model"), "number = ?"),
    ("turns", ("json",), f"number BETWEEN ?1 << {SHIFT} AND ?1 << {SHIFT} | {MOST_PLACES}"),
    ("settings", ("json",), "experiment = ?"),
    ("drafts", ("json",), "experiment = ?"),
    ("images", ("url",), "hash IN (SELECT hash FROM image_uses WHERE experiment = ?)"),
    ("tapes", ("head",), "experiment = ? AND data IS NULL"),
)
_NOTHING: Final = Redactor(())


def remove_secret(connection: sqlite3.Connection, experiment_id: str, redactor: Redactor) -> int:
    """Rewrite the rows of an experiment that hold the secret and the full-text index; return how many did.

    Raises sqlite3.Error. Pages that are freed by it keep nothing, and neither do the index and the write-ahead log.
    """
    number = number_of(connection, experiment_id)
    if number is None:
        return 0
    with transaction(connection):
        count = sum(
            _clean_texts(connection, table, columns, (condition, number), redactor)
            for table, columns, condition in _TEXTS
        )
        count += _clean_tapes(connection, experiment_id, number, redactor)
        if count:
            rebuild_index(connection)
    if count:
        connection.executescript("PRAGMA incremental_vacuum")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return count


def _clean_texts(
    connection: sqlite3.Connection,
    table: str,
    columns: tuple[str, ...],
    where: tuple[str, int],
    redactor: Redactor,
) -> int:
    """Redact columns of text where a condition holds for a value; return how many rows changed."""
    condition, value = where
    query = f"SELECT rowid, {', '.join(columns)} FROM {table} WHERE {condition}"  # noqa: S608 - our own names
    count = 0
    for rowid, *texts in connection.execute(query, (value,)).fetchall():
        clean = [redactor.text(text) if isinstance(text, str) else text for text in texts]
        if clean != texts:
            sets = ", ".join(f"{name} = ?" for name in columns)
            connection.execute(f"UPDATE {table} SET {sets} WHERE rowid = ?", (*clean, rowid))  # noqa: S608 - our own names
            count += 1
    return count


def _clean_tapes(connection: sqlite3.Connection, experiment_id: str, number: int, redactor: Redactor) -> int:
    """Redact exchanges with bodies, also where reads or events split the secret; return how many changed."""
    query = "SELECT rowid, id, head, data FROM tapes WHERE experiment = ? AND data IS NOT NULL"
    count = 0
    for rowid, tape_id, head, data in connection.execute(query, (number,)).fetchall():
        try:
            exchange = read_tape(head, data, tape_reads(connection, experiment_id, tape_id))
            if write_tape(exchange, redactor) == write_tape(exchange, _NOTHING):
                continue
            clean_head, clean_data = write_tape(exchange, redactor)
        except CassetteError:  # damaged: its bodies cannot be shown either
            count += _clean_texts(connection, "tapes", ("head",), ("rowid = ?", rowid), redactor)
            continue
        values = (clean_head, len(clean_data), clean_data, rowid)
        connection.execute("UPDATE tapes SET head = ?, size = ?, data = ? WHERE rowid = ?", values)
        connection.execute("DELETE FROM tape_reads WHERE experiment = ? AND tape = ?", (number, tape_id))
        count += 1
    return count


T = TypeVar("T")

RETRY: Final = 1.0  # seconds between two tries when the disk refuses
_MAX_CACHED: Final = 64  # experiments whose rows are remembered


@dataclass(frozen=True, slots=True)
class Save:
    """An experiment to write. ``growing`` are the ids of turns that will be written again soon."""

    snapshot: Snapshot
    growing: frozenset[str]
    redactor: Redactor


@dataclass(frozen=True, slots=True)
class Tape:
    """An exchange that has ended, to write. It is a copy: its body may not be dropped."""

    experiment_id: str
    exchange: Exchange
    redactor: Redactor


@dataclass(slots=True)
class Reads:
    """The new reads of an exchange under way; ``exchange`` is without reads."""

    experiment_id: str
    exchange: Exchange
    reads: tuple[Read, ...]
    redactor: Redactor
    packed: bytes | None = None  # of the first try: each read goes through the redactor once


@dataclass(frozen=True, slots=True)
class Task:
    """Any other work. Without ``run`` it only waits for the jobs before it, and fails when the disk refuses.

    A ``minor`` task is nothing that a person would miss. One with ``own_transaction`` runs outside the common one.
    """

    run: Callable[[sqlite3.Connection], Any] | None = None
    minor: bool = False
    own_transaction: bool = False
    done: Future[Any] = field(default_factory=Future)

    def finish(self, result: object, error: Exception | None) -> None:
        """Hand over the result or the error, unless the caller has given up."""
        if self.done.done() or not self.done.set_running_or_notify_cancel():
            return
        if error is not None:
            self.done.set_exception(error)
        else:
            self.done.set_result(result)


Job = Save | Tape | Reads | Task


class Writer:
    """Takes jobs at once, and does them on its thread from ``start`` to ``close``.

    ``on_trouble`` is called on that thread when the reason why writing fails changes, ``on_commit`` after each
    transaction.
    """

    def __init__(self, on_trouble: Callable[[str], None], on_commit: Callable[[], None]) -> None:
        self._on_trouble = on_trouble
        self._on_commit = on_commit
        self._cache: OrderedDict[str, StoredRows] = OrderedDict()
        self._growing: dict[str, GrowingTape] = {}
        self._jobs: OrderedDict[object, Job] = OrderedDict()
        self._running: tuple[Job, ...] = ()
        self._changed = threading.Condition()
        self._closing = False
        self._trouble = ""
        self._refused: dict[str, str] = {}  # experiments that cannot be encoded or written, and why
        self._thread = threading.Thread(target=self._run, name="store writer", daemon=True)
        self._connection: sqlite3.Connection

    def start(self, connection: sqlite3.Connection) -> None:
        """Begin to write to a connection, which is closed at the end."""
        self._connection = connection
        self._rows = ExperimentRows(connection)
        self._thread.start()

    def put(self, job: Job) -> None:
        """Take a job. A state of the same experiment that still waits is dropped."""
        with self._changed:
            key: object = ("save", job.snapshot.id) if isinstance(job, Save) else object()
            self._jobs[key] = job
            self._changed.notify()

    def do(
        self, run: Callable[[sqlite3.Connection], T], *, minor: bool = False, own_transaction: bool = False
    ) -> Future[T]:
        """Run ``run`` on the thread, again and again until the disk does not refuse; the future has its result."""
        task = Task(run, minor, own_transaction)
        self.put(task)
        return task.done

    def barrier(self) -> Future[None]:
        """Return a future that is done when all jobs before are on the disk; StoreError when the disk refuses."""
        task = Task(minor=True)
        self.put(task)
        return task.done

    def is_unsaved(self, experiment_id: str) -> bool:
        """Return whether a state of that experiment is not on the disk yet, or cannot get there."""
        with self._changed:
            running = any(isinstance(job, Save) and job.snapshot.id == experiment_id for job in self._running)
            return running or ("save", experiment_id) in self._jobs or experiment_id in self._refused

    @property
    def is_behind(self) -> bool:
        """True if anything that a person did is not on the disk yet, or cannot get there."""
        with self._changed:
            jobs = (*self._jobs.values(), *self._running)
            return bool(self._refused) or any(not (isinstance(job, Task) and job.minor) for job in jobs)

    def close(self) -> None:
        """Try all waiting jobs once, then end. Blocks until then."""
        with self._changed:
            self._closing = True
            self._changed.notify()
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
                self._running = tuple(jobs.values())
                closing = self._closing
            remaining = self._write(jobs)
            with self._changed:
                self._running = ()
                newer, self._jobs = self._jobs, remaining
                self._jobs.update(newer)
                if closing:
                    for job in self._jobs.values():
                        if isinstance(job, Task):
                            job.finish(None, StoreError(self._trouble))
                    return
                if remaining:
                    self._changed.wait_for(lambda: self._closing or self._has_barrier(), RETRY)

    def _has_barrier(self) -> bool:
        return any(isinstance(job, Task) and job.run is None for job in self._jobs.values())

    def _write(self, jobs: OrderedDict[object, Job]) -> OrderedDict[object, Job]:
        """Do all jobs; return those to do again."""
        results: list[tuple[Task, Any, Exception | None]] = []
        refused: dict[str, str] = {}
        try:
            with transaction(self._connection):
                for job in jobs.values():
                    self._do_in_savepoint(job, results, refused)
        except (sqlite3.Error, OSError, MemoryError) as error:
            self._cache.clear()
            if is_index_damage(error) and self._rebuild_index():
                return jobs
            self._set_trouble(error_words(error))
            return self._without_barriers(jobs, error)
        self._on_commit()
        while len(self._cache) > _MAX_CACHED:
            self._cache.popitem(last=False)
        saved = {job.snapshot.id for job in jobs.values() if isinstance(job, Save)}
        self._refused = {key: words for key, words in self._refused.items() if key not in saved} | refused
        trouble = next(iter(self._refused.values()), "")
        self._set_trouble(trouble)
        for job in jobs.values():
            if isinstance(job, Task) and job.own_transaction:
                try:
                    results.append((job, self._do(job), None))
                except Exception as error:  # noqa: BLE001 - the caller gets it
                    results.append((job, None, error))
        with self._changed:
            self._running = ()  # before the callers get the results
        for task, result, failure in results:
            task.finish(result, StoreError(trouble) if task.run is None and trouble else failure)
        return OrderedDict()

    def _do_in_savepoint(
        self, job: Job, results: list[tuple[Task, Any, Exception | None]], refused: dict[str, str]
    ) -> None:
        """Do one job; an error that would come again with every try undoes this job alone."""
        if isinstance(job, Task) and job.own_transaction:
            return
        self._connection.execute("SAVEPOINT job")
        try:
            result = self._do(job)
            if isinstance(job, Task):
                results.append((job, result, None))
        except Exception as error:
            if is_transient(error) or is_damage(error):
                raise
            self._connection.execute("ROLLBACK TO job")
            if isinstance(job, Task):
                results.append((job, None, error))
            elif isinstance(job, Save):
                title = summarize_snapshot(job.snapshot, job.redactor.front).title
                refused[job.snapshot.id] = f"“{title}” could not be saved: {error_words(error)}"
        self._connection.execute("RELEASE job")

    def _rebuild_index(self) -> bool:
        """Replace the damaged full-text index; return whether that succeeded."""
        try:
            with transaction(self._connection):
                rebuild_index(self._connection)
        except sqlite3.Error:
            return False
        return True

    def _without_barriers(self, jobs: OrderedDict[object, Job], error: Exception) -> OrderedDict[object, Job]:
        remaining: OrderedDict[object, Job] = OrderedDict()
        for key, job in jobs.items():
            if isinstance(job, Task) and job.run is None:
                job.finish(None, StoreError(error_words(error)))
            else:
                remaining[key] = job
        return remaining

    def _do(self, job: Job) -> Any:
        if isinstance(job, Save):
            key = job.snapshot.id
            self._cache[key] = self._rows.write(job.snapshot, job.growing, job.redactor, self._cache.pop(key, None))
        elif isinstance(job, Tape):
            self._write_tape(job)
        elif isinstance(job, Reads):
            self._write_reads(job)
        elif job.run is not None:
            self._cache.clear()  # it may change any row
            return job.run(self._connection)
        return None

    def _write_tape(self, job: Tape) -> None:
        number = number_of(self._connection, job.experiment_id)
        if number is None:
            return
        try:
            head, data = write_tape(job.exchange, job.redactor)
        except CassetteError:
            return  # its bodies were dropped: there is nothing to keep
        self._connection.execute(
            "INSERT OR REPLACE INTO tapes VALUES (?, ?, ?, ?, ?, ?)",
            (number, job.exchange.id, job.exchange.started_at, head, len(data), data),
        )
        self._connection.execute("DELETE FROM tape_reads WHERE experiment = ? AND tape = ?", (number, job.exchange.id))
        self._growing.pop(job.exchange.id, None)

    def _write_reads(self, job: Reads) -> None:
        tape = self._growing.setdefault(job.exchange.id, GrowingTape())
        if job.packed is None:
            job.packed = tape.pack(job.reads, job.redactor)
        number = number_of(self._connection, job.experiment_id)
        if number is None:
            return
        key = number, job.exchange.id
        updated = self._connection.execute(
            "UPDATE tapes SET head = ?, size = size + ? WHERE experiment = ? AND id = ?",
            (tape.head(job.exchange), len(job.packed), *key),
        )
        if not updated.rowcount:
            body = tape.body(job.exchange)
            self._connection.execute(
                "INSERT INTO tapes VALUES (?, ?, ?, ?, ?, ?)",
                (*key, job.exchange.started_at, tape.head(job.exchange), len(body) + len(job.packed), body),
            )
        if job.packed:
            self._connection.execute("INSERT INTO tape_reads VALUES (?, ?, ?)", (*key, job.packed))

    def _set_trouble(self, trouble: str) -> None:
        if trouble != self._trouble:
            self._trouble = trouble
            self._on_trouble(trouble)
