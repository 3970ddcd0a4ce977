"""The store: experiments on disk. The one way in; everything that takes time happens on threads of its own.

Values go in with ``save`` and ``keep_tape``, which return at once; ``flush`` says when they are on the disk. Coroutines
answer on the event loop that called ``open``. Whatever a disk does is told in ``status``, never raised at a save.
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
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from playground.domain.transcript import Transcript
from playground.engine.gateways.known_secrets import LateRedactor, values_of
from playground.engine.gateways.secrets import Secret
from playground.engine.io.database import error_words, is_damage, is_index_damage
from playground.engine.io.file_lock import FileLock, LockedError
from playground.engine.library.experiment_summary import Deleted, ExperimentSummary
from playground.engine.library.store import reading, search
from playground.engine.library.store.backups import Backup, back_up_if_due, check_copy, copy_database, list_backups
from playground.engine.library.store.cleaning import ScanPosition, look, put, settle
from playground.engine.library.store.opening import OpenedStore, default_path, open_store
from playground.engine.library.store.readers import Reader
from playground.engine.library.store.recovery import note_damage, put_back, remove_marker
from playground.engine.library.store.retention import KeepTapes, copy_tapes, give_back, prune
from playground.engine.library.store.rows import erase, index_rest, purge, rebuild_index
from playground.engine.library.store.schema import MIGRATIONS
from playground.engine.library.store.texts import no_words
from playground.engine.library.store.trouble import Mode, Status, StoreError
from playground.engine.library.store.unread import Unread, Unreadable, all_unread, as_file, set_aside
from playground.engine.library.store.writer import Reads, Save, Tape, Writer
from playground.engine.session.history import Kept, Places
from playground.engine.session.snapshot import Snapshot
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange, Read

T = TypeVar("T")

DAYS_DELETED: Final = 30  # days after which what was deleted is gone for good, unless something else is set
_CLEANING: Final = "cleaning"  # the word on that in the file
_BACKUP_CHECK: Final = 60.0  # seconds between two checks whether a backup is due
_PRUNE_EVERY: Final = 50  # tapes written


class Store:
    """``path`` is the file, by default the one in the platform's folder. ``known`` are the secrets of this process, of
    which none gets into the file; ``recognise`` adds to them those that stand in a text. Before ``open`` nothing is
    opened.
    """

    def __init__(
        self,
        path: Path | None = None,
        known: Callable[[], Iterable[Secret]] = tuple,
        recognise: Callable[[str], bool] = lambda _: False,
        *,
        migrations: Sequence[Sequence[str]] = MIGRATIONS,
    ) -> None:
        self.status = Status()
        self._path = path
        self._ask = known
        self._migrations = migrations
        self._observers: list[Callable[[], None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opened: OpenedStore | None = None
        self._writer: Writer | None = None
        self._reader: Reader | None = None
        self._searcher: Reader | None = None
        self._before: list[Callable[[], None]] | None = []  # what was given before ``open``
        self._recognise = recognise
        self._redactor: LateRedactor | None = None
        self._keep_tapes = KeepTapes()
        self.days_deleted: float | None = DAYS_DELETED
        #: Told the ids of experiments that are gone for good, on the event loop's thread.
        self.gone: Callable[[Sequence[str]], None] = lambda _ids: None
        self._tapes = 0
        self._searches = 0
        self._backup_thread: threading.Thread | None = None
        self._backup_checked = -_BACKUP_CHECK  # when it was checked last whether a backup is due, in seconds
        self._closing = threading.Event()
        self.backup_problem = ""  # why the last rolling backup was not made
        self._met: dict[str, Unread] = {}  # rows that could not be read since the file was opened, by their hash

    @property
    def path(self) -> Path:
        """Where the file is, or would be."""
        return self._path if self._path is not None else default_path()

    def subscribe(self, callback: Callable[[], None]) -> None:
        """Tell ``callback`` when ``status`` is another; on the event loop's thread."""
        self._observers.append(callback)

    # From open to close

    async def open(self) -> Status:
        """Open the file in the best way there is, and say in ``status`` which that was."""
        self._loop = asyncio.get_running_loop()
        self._met = {}
        self._closing.clear()
        self._backup_checked = -_BACKUP_CHECK
        opened = self._opened = await asyncio.to_thread(open_store, self.path, self._migrations)
        if opened.mode is Mode.READ_ONLY:
            opened.connection.close()
        else:
            self._writer = Writer(opened.connection, self._trouble_from_thread, self._committed_from_thread)
            self._writer.start()
        if opened.path is not None:
            options = "mode=ro&immutable=1" if opened.immutable else "mode=ro"
            self._reader, self._searcher = Reader(opened.path, options), Reader(opened.path, options)
        before, self._before = self._before or [], None
        for give in before:
            give()
        self._set_status(Status(opened.mode, opened.words))
        if opened.mode is Mode.READY and self._writer is not None:
            self._purge()
            self._writer.do(index_rest, slight=True)
            self._prune()
        return self.status

    async def close(self) -> None:
        """Write what is waiting, if the disk takes it, and let the file go."""
        self._closing.set()
        writer, self._writer = self._writer, None
        opened, self._opened = self._opened, None
        readers = [reader for reader in (self._reader, self._searcher) if reader is not None]
        self._reader = self._searcher = None
        for reader in readers:
            await asyncio.to_thread(reader.close)
        backup, self._backup_thread = self._backup_thread, None
        if backup is not None:
            await asyncio.to_thread(backup.join)  # the writer's connection is the last: it empties the log
        if writer is not None:
            await asyncio.to_thread(writer.close)
        if opened is not None and opened.lock is not None:
            if opened.words:
                remove_marker(self.path)  # its notice was shown
            opened.lock.release()
        self._set_status(Status(Mode.CLOSED))

    # Writing: all of these return at once

    def save(self, found: Snapshot, growing: frozenset[str] = frozenset(), past: Kept | None = None) -> None:
        """Write an experiment soon. ``growing`` are the ids of its turns that are being received.

        ``past`` is what undo goes back to; None leaves what is in the file.
        """
        if self._before is not None:
            self._before.append(partial(self.save, found, growing, past))
        elif self._writer is not None:
            self._writer.put(Save(found, growing, self._redact(), past))

    def keep_tape(self, experiment_id: str, exchange: Exchange) -> None:
        """Write an exchange that has ended; its experiment was saved before."""
        if self._before is not None:
            self._before.append(partial(self.keep_tape, experiment_id, exchange))
        if self._writer is None:
            return
        self._writer.put(Tape(experiment_id, replace(exchange), self._redact()))
        self._tapes += 1
        if self._tapes % _PRUNE_EVERY == 0:
            self._prune()

    def grow_tape(self, experiment_id: str, exchange: Exchange, written: int) -> None:
        """Write what came of an exchange under way since the last time, when it had ``written`` reads."""
        self._grow(experiment_id, replace(exchange, reads=[]), tuple(exchange.reads[written:]))

    def _grow(self, experiment_id: str, exchange: Exchange, reads: tuple[Read, ...]) -> None:
        if self._before is not None:
            self._before.append(partial(self._grow, experiment_id, exchange, reads))
        if self._writer is not None:
            self._writer.put(Reads(experiment_id, exchange, reads, self._redact()))

    def keep_tapes(self, rule: KeepTapes) -> None:
        """Keep tapes by that rule from now on."""
        self._keep_tapes = rule
        self._prune()

    def set_flags(self, experiment_id: str, *, pinned: bool, archived: bool) -> None:
        """Pin or archive an experiment that is not open."""
        values = (pinned, archived, experiment_id)
        self._do(
            lambda c: c.execute("UPDATE experiments SET pinned = ?, archived = ? WHERE id = ?", values), touches=True
        )

    def keep_deleted(self, days: float | None) -> None:
        """Let what was deleted go for good after that many days from now on; None: never by itself."""
        self.days_deleted = days
        self._purge()

    def delete(self, experiment_id: str) -> None:
        """Take an experiment off the list, into the trash; ``undelete`` brings it back."""
        self._set_deleted(experiment_id, time.time())

    def undelete(self, experiment_id: str) -> None:
        """Bring it back."""
        self._set_deleted(experiment_id, None)

    def erase(self, experiment_ids: Iterable[str]) -> None:
        """Let experiments go for good, as far as they are in the trash."""
        ids = tuple(experiment_ids)
        if self._before is not None:
            self._before.append(partial(self.erase, ids))
        self._let_go(lambda c: erase(c, ids))
        if self._writer is not None:
            self._writer.do(give_back, apart=True, slight=True)

    def copy_tapes(self, source: str, target: str) -> None:
        """Let an experiment have the exchanges of another one as well."""
        self._do(lambda c: copy_tapes(c, source, target))

    def remember(self, name: str, value: str) -> None:
        """Keep a word on the window's state, such as which experiment was looked at."""
        self._do(lambda c: c.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, value)), slight=True)

    def unsaved(self, experiment_id: str) -> bool:
        """Whether what was given last of that experiment is not on the disk, or never gets there."""
        return self.status.mode is not Mode.READY or self._writer is None or self._writer.unsaved(experiment_id)

    @property
    def behind(self) -> bool:
        """Whether something that a person did waits for a disk that would keep it, or cannot get there."""
        return self.status.mode is Mode.READY and self._writer is not None and self._writer.behind

    async def flush(self) -> None:
        """Return when all that was given is on the disk. Raises StoreError when that cannot be had now."""
        if self._writer is None:
            raise StoreError(self.status.words or "The store is not open.")
        await asyncio.wrap_future(self._writer.barrier())

    def wait(self, seconds: float) -> None:
        """Block until all that was given is on the disk, or cannot be had there now, so long at most."""
        if self._writer is not None:
            with contextlib.suppress(StoreError, TimeoutError):
                self._writer.barrier().result(seconds)

    # Reading

    async def experiments(self) -> list[ExperimentSummary]:
        """Every experiment that is not deleted, newest first. Raises StoreError."""
        return await self._noting(reading.experiments)

    async def deleted(self) -> list[Deleted]:
        """What is in the trash, deleted last first; without what is about to go for good. Raises StoreError."""
        self._purge()
        since = time.time() - self.days_deleted * 86400 if self.days_deleted is not None else 0
        return [one for one in await self._noting(reading.deleted) if one.at >= since]

    async def trash_size(self) -> int:
        """About how many bytes the trash takes. Raises StoreError."""
        await self._catch_up()
        return await self._read(reading.trash_size)

    async def load(self, experiment_id: str) -> Snapshot:
        """One experiment. Raises KeyError for an unknown id, StoreError for one that cannot be read."""
        await self._catch_up()
        return await self._noting(lambda c, lost: reading.load(c, experiment_id, lost))

    async def past(self, experiment_id: str, now: Transcript) -> list[Places]:
        """What undo goes back to in an experiment whose turns are ``now``, newest first. Raises StoreError."""
        return await self._noting(lambda c, lost: reading.past(c, experiment_id, now, lost))

    async def tape_heads(self, experiment_id: str) -> list[Exchange]:
        """The exchanges of an experiment, without bodies (``dropped``), oldest first. Raises StoreError."""
        await self._catch_up()
        return await self._noting(lambda c, lost: reading.tape_heads(c, experiment_id, lost))

    async def tape(self, experiment_id: str, exchange_id: str) -> Exchange | None:
        """One exchange with its bodies; None where they are no longer kept. Raises StoreError."""
        await self._catch_up()
        return await self._read(lambda c: reading.tape(c, experiment_id, exchange_id))

    async def recall(self, name: str) -> str:
        """What ``remember`` kept, else nothing. Raises StoreError."""
        return await self._noting(lambda c, lost: reading.recall(c, name, lost))

    async def unread(self, experiment_id: str | None = None) -> list[Unread]:
        """The rows that could not be read and are set aside, of an experiment or all there are. Raises StoreError.

        Where nothing can be written they are those that were met since the file was opened.
        """
        return await self._read(lambda c: all_unread(c, tuple(self._met.values()), experiment_id))

    async def unread_file(self, experiment_id: str | None = None) -> bytes:
        """The same as a file for people, with the secrets of this process taken out. Raises StoreError."""
        return await asyncio.to_thread(as_file, await self.unread(experiment_id), self._redact())

    async def _noting(self, work: Callable[[sqlite3.Connection, Unreadable], T]) -> T:
        """Read, and hand what could not be read to the writer: nothing is written over it before."""

        def both(connection: sqlite3.Connection) -> tuple[T, list[Unread]]:
            lost = Unreadable(connection)
            return work(connection, lost), lost.found

        result, found = await self._read(both)
        new = {one.hash: one for one in found if one.hash not in self._met}
        if new:
            self._met.update(new)
            self._do(lambda c: set_aside(c, new.values()), touches=True)
            self._do(rebuild_index, slight=True)  # what is searched is what can be read
        return result

    async def find(
        self, typed: str, filters: search.Filters = search.EVERYTHING, *, deleted: bool = False
    ) -> list[search.SearchResult]:
        """Search; asked again before it has answered, the first ends with nothing. Raises StoreError.

        With ``deleted`` the trash is searched, and nothing else.
        """
        self._searches += 1
        number = self._searches

        def work(connection: sqlite3.Connection) -> list[search.SearchResult]:
            return search.find(connection, typed, filters, deleted=deleted) if number == self._searches else []

        self._give_up_search()
        try:
            return await self._read(work, self._searcher)
        except _InterruptedError:
            return []
        except asyncio.CancelledError:
            self._give_up_search()
            raise

    def _give_up_search(self) -> None:
        if self._searcher is not None:
            self._searcher.interrupt()

    async def clean(self) -> int:
        """Take what is known to be secret by now out of all that was stored before. Returns how many rows had it.

        Raises StoreError where that cannot be done now; it is due then, as it is when the process ends meanwhile.
        """
        if self._opened is None or self._writer is None:
            raise StoreError(self.status.words or "The store is not open.")
        self.remember(_CLEANING, "due")
        await self.flush()  # what was given before the secret was known
        path, rows = self._opened.path, 0
        reader = Reader(path, "mode=ro") if path is not None else None
        try:
            place: ScanPosition | None = ScanPosition()
            while place is not None:
                found, place = await self._read(partial(look, redactor=self._redact(), place=place), reader)
                if found and self._writer is not None:
                    rows += await asyncio.wrap_future(self._writer.do(partial(put, rows=found), touches=True))
        finally:
            if reader is not None:
                await asyncio.to_thread(reader.close)
        if rows and self._writer is not None:
            self._met.clear()  # those rows are set aside as they are now
            await asyncio.wrap_future(self._writer.do(settle, apart=True))
        self._do(lambda c: c.execute("DELETE FROM state WHERE name = ?", (_CLEANING,)), slight=True)
        await self.flush()
        return rows

    async def clean_due(self) -> bool:
        """Whether that was begun, and not ended before the process was. Raises StoreError."""
        return bool(await self.recall(_CLEANING))

    # Copies

    async def backup(self, path: Path) -> None:
        """Copy the whole store into one file. Raises StoreError."""
        if self._writer is not None and self.status.mode is Mode.READY:
            await self.flush()
        await self._read(lambda c: copy_database(c, path))

    async def backups(self) -> list[Backup]:
        """The rolling backups, newest first."""
        return await asyncio.to_thread(list_backups, self.path)

    async def restore(self, path: Path) -> Path | None:
        """Put a copy in the place of the store, which is set aside, under the name returned. Raises StoreError.

        The copy is checked first; if it is damaged, nothing changes.
        """
        if self.status.mode is Mode.READ_ONLY:
            raise StoreError("The store cannot be written, so nothing can be put in its place.")
        await asyncio.to_thread(check_copy, path, len(self._migrations))
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
            raise StoreError("Another window has these experiments open, so nothing can be put in place.") from None
        try:
            return put_back(path, self.path)
        finally:
            lock.release()

    def _committed_from_thread(self) -> None:
        """Start a backup if one is due; called on the writer's thread after each transaction."""
        now = time.monotonic()
        if now - self._backup_checked < _BACKUP_CHECK or self._closing.is_set() or self.status.mode is not Mode.READY:
            return
        self._backup_checked = now
        if self._backup_thread is None or not self._backup_thread.is_alive():
            self._backup_thread = threading.Thread(target=self._back_up, name="store backup", daemon=True)
            self._backup_thread.start()

    def _back_up(self) -> None:
        try:
            back_up_if_due(self.path, self._closing.is_set)
            self.backup_problem = ""
        except (StoreError, sqlite3.Error) as error:
            self.backup_problem = str(error)
            if is_damage(error):
                note_damage(self.path)

    # Inside

    def _do(self, work: Callable[[sqlite3.Connection], object], *, touches: bool = False, slight: bool = False) -> None:
        if self._writer is not None:
            self._writer.do(work, touches=touches, slight=slight)

    def _set_deleted(self, experiment_id: str, moment: float | None) -> None:
        if self._before is not None:
            self._before.append(partial(self._set_deleted, experiment_id, moment))
        values = (moment, experiment_id)
        self._do(lambda c: c.execute("UPDATE experiments SET deleted_at = ? WHERE id = ?", values))

    def _purge(self) -> None:
        if self.days_deleted is not None:
            days = self.days_deleted
            self._let_go(lambda c: purge(c, time.time() - days * 86400), slight=True)

    def _let_go(self, work: Callable[[sqlite3.Connection], list[str]], *, slight: bool = False) -> None:
        if self._writer is not None:
            self._writer.do(work, touches=True, slight=slight).add_done_callback(self._gone_from_thread)

    def _gone_from_thread(self, done: Future[list[str]]) -> None:
        if self._loop is not None and not done.cancelled() and done.exception() is None and done.result():
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self.gone, done.result())

    def _prune(self) -> None:
        rule = self._keep_tapes
        self._do(lambda c: prune(c, rule), slight=True)
        if self._writer is not None:
            self._writer.do(give_back, apart=True, slight=True)

    async def _catch_up(self) -> None:
        """Let what was given before be read; where the disk refuses it, what is there is read."""
        with contextlib.suppress(StoreError):
            await self.flush()

    async def _read(self, work: Callable[[sqlite3.Connection], T], reader: Reader | None = None) -> T:
        reader = reader or self._reader
        if reader is not None:
            future = reader.do(work)
        elif self._writer is not None:
            future = self._writer.do(work, apart=True, slight=True)  # a copy cannot be made inside a transaction
        else:
            raise StoreError("The store is not open.")
        try:
            return await asyncio.wrap_future(future)
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                raise _InterruptedError from None
            if is_index_damage(error):
                self._do(rebuild_index, slight=True)
                raise StoreError("The index for searching was damaged and is made again. Search once more.") from None
            if is_damage(error) and self.status.mode is Mode.READY:
                await asyncio.to_thread(note_damage, self.path)
            raise StoreError(error_words(error)) from None

    def _known(self) -> Iterable[Secret]:
        return no_words(self._ask())

    def _redact(self) -> Redactor:
        if self._redactor is None or values_of(self._known()) != self._redactor.known:
            self._redactor = LateRedactor(self._known, self._recognise)
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


class _InterruptedError(StoreError):
    """A search was given up for the next one."""
