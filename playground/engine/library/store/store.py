"""The store: experiments on disk. Everything that takes time happens on threads of its own.

Values go in with ``save`` and ``keep_tape``, which return at once, also before ``open``; ``flush`` waits until they
are on the disk. Coroutines answer on the event loop that called ``open``. A save never raises an error of the disk: it
is in ``status``.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from playground.engine.gateways.redaction import values_of
from playground.engine.gateways.secrets import Secret
from playground.engine.io.database import connect, error_words, is_damage, is_index_damage
from playground.engine.io.file_lock import FileLock, LockedError
from playground.engine.library.experiment_summary import Deleted, ExperimentSummary
from playground.engine.library.store import reading, search
from playground.engine.library.store.backups import Backup, back_up_if_due, check_copy, copy_database, list_backups
from playground.engine.library.store.migrations import MIGRATIONS
from playground.engine.library.store.opening import OpenedStore, default_path, open_store
from playground.engine.library.store.reading import Reader
from playground.engine.library.store.recovery import finish, note_damage, put_back
from playground.engine.library.store.rows import erase, index_rest, purge, rebuild_index
from playground.engine.library.store.tape_rows import KeepTapes, copy_tapes, give_back, prune
from playground.engine.library.store.texts import without_format_words
from playground.engine.library.store.trouble import DamagedStoreError, Mode, Status, StoreError
from playground.engine.library.store.writer import Reads, Save, Tape, Writer, remove_secret
from playground.engine.session.snapshot import Snapshot
from playground.gateway.redact import SHORTEST, Redactor
from playground.gateway.tape import Exchange

T = TypeVar("T")

DAYS_DELETED: Final = 30  # days in the trash, unless something else is set
_BACKUP_CHECK: Final = 60.0  # seconds between two checks whether a backup is due
_PRUNE_EVERY: Final = 50  # exchanges written


class Store:
    """The experiments in the file at ``path``, by default the one in the platform's folder.

    ``secrets`` gives the secrets of this process, none of which gets into the file.
    """

    def __init__(
        self,
        path: Path | None = None,
        secrets: Callable[[], Iterable[Secret]] = tuple,
        *,
        migrations: Sequence[Sequence[str]] = MIGRATIONS,
    ) -> None:
        self.status = Status()
        self.days_deleted: float | None = DAYS_DELETED
        self.backup_problem = ""  # why the last rolling backup was not made
        #: How many rows of the experiments loaded so far could not be read, by experiment.
        self.corrupt_rows: dict[str, int] = {}
        #: Called with the ids of experiments that were deleted for good, on the event loop's thread.
        self.gone: Callable[[Sequence[str]], None] = lambda _ids: None
        self._path = path
        self._read_secrets = secrets
        self._redactor = Redactor(())
        self._secrets: tuple[str, ...] = ()
        self._migrations = migrations
        self._observers: list[Callable[[], None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opened: OpenedStore | None = None
        self._writer: Writer | None = self._new_writer()
        self._reader: Reader | None = None
        self._searcher: Reader | None = None
        self._keep_tapes = KeepTapes()
        self._tapes = 0
        self._searches = 0
        self._remembered: dict[str, str] = {}
        self._backup_thread: threading.Thread | None = None
        self._backup_checked = -_BACKUP_CHECK  # a time of the monotonic clock
        self._backup_lock = threading.Lock()  # of the thread and the event
        self._closing = threading.Event()

    @property
    def path(self) -> Path:
        """Path of the file, which may not exist yet."""
        return self._path if self._path is not None else default_path()

    def subscribe(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when ``status`` changes, on the event loop's thread."""
        self._observers.append(callback)

    # From open to close

    def _new_writer(self) -> Writer:
        return Writer(self._trouble_from_thread, self._committed_from_thread)

    async def open(self) -> Status:
        """Open the file in the best way there is, and return the status that says which."""
        self._loop = asyncio.get_running_loop()
        self._closing.clear()
        self._backup_checked = -_BACKUP_CHECK
        opened = self._opened = await asyncio.to_thread(open_store, self.path, self._migrations)
        writer = self._writer or self._new_writer()
        if opened.mode is Mode.READ_ONLY:
            opened.connection.close()
            self._writer = None
        else:
            writer.start(opened.connection)
            self._writer = writer
        if opened.path is not None:
            options = "mode=ro&immutable=1" if opened.immutable else "mode=ro"
            self._reader, self._searcher = Reader(opened.path, options), Reader(opened.path, options)
        self._set_status(Status(opened.mode, opened.words))
        if opened.mode is Mode.READY:
            self._purge()
            writer.do(index_rest, minor=True)
            self._prune()
        return self.status

    async def close(self) -> None:
        """Write what is waiting, if the disk takes it, and close the file."""
        with self._backup_lock:
            self._closing.set()
            backup, self._backup_thread = self._backup_thread, None
        writer, self._writer = self._writer, None
        opened, self._opened = self._opened, None
        readers = [reader for reader in (self._reader, self._searcher) if reader is not None]
        self._reader = self._searcher = None
        for reader in readers:
            await asyncio.to_thread(reader.close)
        if backup is not None:
            await asyncio.to_thread(backup.join)  # the writer's connection is the last: it empties the log
        if writer is not None and opened is not None:
            await asyncio.to_thread(writer.close)
        if opened is not None and opened.lock is not None:
            if opened.words:
                finish(self.path)
            opened.lock.release()
        self._remembered.clear()
        self._set_status(Status(Mode.CLOSED))

    # Writing: all of these return at once

    def save(self, snapshot: Snapshot, growing: frozenset[str] = frozenset()) -> None:
        """Write an experiment soon. ``growing`` are the ids of its turns that are being received."""
        if self._writer is not None:
            self._writer.put(Save(snapshot, growing, self._current_redactor()))

    def keep_tape(self, experiment_id: str, exchange: Exchange) -> None:
        """Write an exchange that has ended; its experiment was saved before."""
        if self._writer is None:
            return
        self._writer.put(Tape(experiment_id, replace(exchange), self._current_redactor()))
        self._tapes += 1
        if self._tapes % _PRUNE_EVERY == 0:
            self._prune()

    def grow_tape(self, experiment_id: str, exchange: Exchange, written: int) -> None:
        """Write the reads of an exchange under way after the first ``written``."""
        if self._writer is not None:
            reads = tuple(exchange.reads[written:])
            self._writer.put(Reads(experiment_id, replace(exchange, reads=[]), reads, self._current_redactor()))

    def keep_tapes(self, rule: KeepTapes) -> None:
        """Keep bodies of exchanges by that rule from now on."""
        self._keep_tapes = rule
        self._prune()

    def set_flags(self, experiment_id: str, *, pinned: bool, archived: bool) -> None:
        """Pin or archive an experiment that is not open."""
        values = (pinned, archived, experiment_id)
        self._do(lambda c: c.execute("UPDATE experiments SET pinned = ?, archived = ? WHERE id = ?", values))

    def keep_deleted(self, days: float | None) -> None:
        """Delete what is in the trash for good after that many days from now on; None: never."""
        self.days_deleted = days
        self._purge()

    def delete(self, experiment_id: str) -> None:
        """Move an experiment into the trash."""
        self._set_deleted(experiment_id, time.time())

    def undelete(self, experiment_id: str) -> None:
        """Move an experiment out of the trash."""
        self._set_deleted(experiment_id, None)

    def _set_deleted(self, experiment_id: str, moment: float | None) -> None:
        values = (moment, experiment_id)
        self._do(lambda c: c.execute("UPDATE experiments SET deleted_at = ? WHERE id = ?", values))

    def erase(self, experiment_ids: Iterable[str]) -> None:
        """Delete experiments for good, as far as they are in the trash."""
        ids = tuple(experiment_ids)
        self._delete_rows(lambda c: erase(c, ids))
        if self._writer is not None:
            self._writer.do(give_back, minor=True, own_transaction=True)

    def copy_tapes(self, source: str, target: str) -> None:
        """Copy the exchanges of one experiment to another."""
        self._do(lambda c: copy_tapes(c, source, target))

    def remember(self, name: str, value: str) -> None:
        """Keep a word on the window's state, such as which experiment is shown. Nothing happens before ``open``."""
        if self.status.mode is Mode.CLOSED or self._remembered.get(name) == value:
            return
        self._remembered[name] = value
        self._do(lambda c: c.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, value)), minor=True)

    def unsaved(self, experiment_id: str) -> bool:
        """Return whether the last state of an experiment is not on the disk, or never gets there."""
        return self.status.mode is not Mode.READY or self._writer is None or self._writer.is_unsaved(experiment_id)

    @property
    def behind(self) -> bool:
        """True if something that a person did waits for the disk, or cannot get there."""
        return self.status.mode is Mode.READY and self._writer is not None and self._writer.is_behind

    async def flush(self) -> None:
        """Return when all changes are on the disk. Raises StoreError when the disk refuses them."""
        if self._writer is None or self._opened is None:
            raise StoreError(self.status.words or "The store is not open.")
        await asyncio.wrap_future(self._writer.barrier())

    def wait(self, seconds: float) -> None:
        """Block until all changes are on the disk or the disk refuses them, for a limited time."""
        if self._writer is not None and self._opened is not None:
            with contextlib.suppress(StoreError, TimeoutError):
                self._writer.barrier().result(seconds)

    # Reading

    async def experiments(self) -> list[ExperimentSummary]:
        """Return every experiment that is not deleted, newest first. Raises StoreError."""
        return await self._read(reading.experiments)

    async def deleted(self) -> list[Deleted]:
        """Return the trash, deleted last first, without what is about to be deleted for good. Raises StoreError."""
        self._purge()
        since = time.time() - self.days_deleted * 86400 if self.days_deleted is not None else 0
        return [deleted for deleted in await self._read(reading.deleted) if deleted.time >= since]

    async def trash_size(self) -> int:
        """Return about how many bytes the trash takes. Raises StoreError."""
        await self._catch_up()
        return await self._read(reading.trash_size)

    async def load(self, experiment_id: str) -> Snapshot:
        """Return one experiment. Raises KeyError for an unknown id, StoreError for one that cannot be read.

        Rows that cannot be read are left out and counted in ``corrupt_rows``.
        """
        await self._catch_up()
        loaded = await self._read(lambda c: reading.load(c, experiment_id))
        self.corrupt_rows[experiment_id] = loaded.corrupt_rows
        return loaded.snapshot

    async def tape_heads(self, experiment_id: str) -> list[Exchange]:
        """Return the exchanges of an experiment without bodies (``dropped``), oldest first. Raises StoreError.

        Those that cannot be read are counted in ``corrupt_rows``.
        """
        await self._catch_up()
        exchanges, corrupt = await self._read(lambda c: reading.tape_heads(c, experiment_id))
        self.corrupt_rows[experiment_id] = self.corrupt_rows.get(experiment_id, 0) + corrupt
        return exchanges

    async def tape(self, experiment_id: str, exchange_id: str) -> Exchange | None:
        """Return one exchange with its bodies; None if they are no longer kept. Raises StoreError."""
        await self._catch_up()
        return await self._read(lambda c: reading.tape(c, experiment_id, exchange_id))

    async def recall(self, name: str) -> str:
        """Return the word that ``remember`` kept; empty if there is none. Raises StoreError."""
        return await self._read(lambda c: reading.recall(c, name))

    async def find(
        self, typed: str, filters: search.Filters = search.EVERYTHING, *, deleted: bool = False
    ) -> list[search.SearchResult]:
        """Search the experiments, or the trash. Raises StoreError.

        A search that is followed by another one before it has ended returns nothing.
        """
        self._searches += 1
        number = self._searches
        self._interrupt_search()
        await self._catch_up()

        def work(connection: sqlite3.Connection) -> list[search.SearchResult]:
            return search.find(connection, typed, filters, deleted=deleted) if number == self._searches else []

        try:
            return await self._read(work, self._searcher)
        except _InterruptedError:
            return []
        except asyncio.CancelledError:
            self._interrupt_search()
            raise

    def _interrupt_search(self) -> None:
        if self._searcher is not None:
            self._searcher.interrupt()

    # Secrets

    async def remove_secret(self, experiment_id: str, secret: Secret) -> int:
        """Remove a secret from an experiment, in the store and its backups; return how many rows of the store had it.

        Raises StoreError, with the reason, where that cannot be done.
        """
        if self._writer is None or self._opened is None or self.status.mode is Mode.READ_ONLY:
            raise StoreError(self.status.words or "The store is not open.")
        if len(secret.get_secret_value()) < SHORTEST:
            raise StoreError(f"A secret has at least {SHORTEST} characters.")
        if not without_format_words((secret,)):
            raise StoreError("This is a word of the file format, so it cannot be removed.")
        redactor = Redactor(values_of((secret,)))
        await self.flush()
        work = self._writer.do(lambda c: remove_secret(c, experiment_id, redactor), own_transaction=True)
        try:
            count = await asyncio.wrap_future(work)
            if self.status.mode is Mode.READY:
                await asyncio.to_thread(_remove_from_backups, self.path, experiment_id, redactor)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(error_words(error)) from None
        return count

    # Copies

    async def backup(self, path: Path) -> None:
        """Copy the whole store into one file. Raises StoreError."""
        if self._writer is not None and self.status.mode is Mode.READY:
            await self.flush()
        await self._read(lambda c: copy_database(c, path))

    async def backups(self) -> list[Backup]:
        """Return the rolling backups, newest first."""
        return await asyncio.to_thread(list_backups, self.path)

    async def restore(self, path: Path) -> Path | None:
        """Put a copy in the place of the store, and return the new name of the old file. Raises StoreError.

        The copy is checked first; if it is damaged, nothing changes.
        """
        if self.status.mode is Mode.READ_ONLY:
            raise StoreError("The store cannot be written, so no backup can be restored.")
        await asyncio.to_thread(check_copy, path, self._migrations)
        await self.close()
        try:
            return await asyncio.to_thread(self._put_back, path)
        finally:
            await self.open()

    def _put_back(self, path: Path) -> Path | None:
        lock = FileLock(self.path.with_name(f"{self.path.name}.lock"))
        try:
            lock.acquire()
        except (LockedError, OSError):
            raise StoreError("Another window has these experiments open, so no backup can be restored.") from None
        try:
            return put_back(path, self.path)
        finally:
            lock.release()

    def _committed_from_thread(self) -> None:
        """Start a backup if one is due; called on the writer's thread after each transaction."""
        now = time.monotonic()
        if now - self._backup_checked < _BACKUP_CHECK or self.status.mode is not Mode.READY:
            return
        self._backup_checked = now
        with self._backup_lock:
            running = self._backup_thread is not None and self._backup_thread.is_alive()
            if not running and not self._closing.is_set():
                self._backup_thread = threading.Thread(target=self._back_up, name="store backup", daemon=True)
                self._backup_thread.start()

    def _back_up(self) -> None:
        try:
            back_up_if_due(self.path, self._closing.is_set)
            self.backup_problem = ""
        except (StoreError, sqlite3.Error) as error:
            self.backup_problem = str(error)
            if isinstance(error, DamagedStoreError) or is_damage(error):
                note_damage(self.path)

    # Inside

    def _do(self, work: Callable[[sqlite3.Connection], object], *, minor: bool = False) -> None:
        if self._writer is not None:
            self._writer.do(work, minor=minor)

    def _purge(self) -> None:
        if self.days_deleted is not None and self.status.mode is Mode.READY:
            days = self.days_deleted
            self._delete_rows(lambda c: purge(c, time.time() - days * 86400), minor=True)

    def _delete_rows(self, work: Callable[[sqlite3.Connection], list[str]], *, minor: bool = False) -> None:
        if self._writer is not None:
            self._writer.do(work, minor=minor).add_done_callback(self._gone_from_thread)

    def _gone_from_thread(self, done: Future[list[str]]) -> None:
        if self._loop is not None and not done.cancelled() and done.exception() is None and done.result():
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self.gone, done.result())

    def _prune(self) -> None:
        if self._writer is not None and self.status.mode is Mode.READY:
            rule = self._keep_tapes
            self._writer.do(lambda c: prune(c, rule), minor=True)
            self._writer.do(give_back, minor=True, own_transaction=True)

    async def _catch_up(self) -> None:
        """Write what is waiting before something is read; where the disk refuses it, the old rows are read."""
        with contextlib.suppress(StoreError):
            await self.flush()

    async def _read(self, work: Callable[[sqlite3.Connection], T], reader: Reader | None = None) -> T:
        reader = reader or self._reader
        if reader is not None:
            future = reader.do(work)
        elif self._writer is not None and self._opened is not None:
            future = self._writer.do(work, minor=True, own_transaction=True)  # in memory: there is one connection
        else:
            raise StoreError("The store is not open.")
        try:
            return await asyncio.wrap_future(future)
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                raise _InterruptedError from None
            if is_index_damage(error):
                self._do(rebuild_index, minor=True)
                raise StoreError("The index for searching was damaged and is made again. Search once more.") from None
            if is_damage(error) and self.status.mode is Mode.READY:
                await asyncio.to_thread(note_damage, self.path)
            raise StoreError(error_words(error)) from None

    def _current_redactor(self) -> Redactor:
        """Return the redactor of all secrets that are known now."""
        secrets = values_of(self._read_secrets())
        if secrets != self._secrets:
            self._secrets = secrets
            self._redactor = Redactor(values_of(without_format_words(self._read_secrets())))
        return self._redactor

    def _trouble_from_thread(self, trouble: str) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._set_trouble, trouble)

    def _set_trouble(self, trouble: str) -> None:
        self._set_status(replace(self.status, trouble=trouble))

    def _set_status(self, status: Status) -> None:
        if status != self.status:
            self.status = status
            for callback in tuple(self._observers):
                callback()


def _remove_from_backups(store: Path, experiment_id: str, redactor: Redactor) -> None:
    """Remove a secret from an experiment in all rolling backups of a store. Raises sqlite3.Error."""
    for backup in list_backups(store):
        with contextlib.closing(connect(backup.path)) as connection:
            remove_secret(connection, experiment_id, redactor)


class _InterruptedError(StoreError):
    """A search was given up for the next one."""
