"""The experiments there are, which of them are open, and which one is looked at. With a store they outlive the process.

Only what is looked at is loaded, off the window's thread; some that were looked at before are kept. Without a store
everything works the same, in memory.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from playground.domain.transcript import new_id
from playground.engine.changes import RunState, TitleChanged
from playground.engine.entry import Entry, entry_from, entry_of
from playground.engine.gateways import Gateways
from playground.engine.session import Session
from playground.engine.tapes import DEFAULT_LIMIT

if TYPE_CHECKING:
    from playground.engine.snapshot import Snapshot
    from playground.engine.store import Filters, Found, Status, Store
    from playground.engine.store.autosave import Autosave
    from playground.gateway.tape import Exchange

UNDELETED = 10  # experiments that can be brought back at most
OPEN = 24  # experiments that stay loaded
CURRENT = "current"  # the name under which the store remembers what was looked at


class Workspace:
    """Experiments, newest first. ``changed`` callbacks are told when the list or the current one is different.

    ``sessions`` are those that are open; with a store there are more, in ``entries``, which ``show`` opens.
    """

    def __init__(self, gateways: Gateways, store: Store | None = None) -> None:
        self.gateways = gateways
        self.store = store
        self._ready = asyncio.Event()
        self.sessions: list[Session] = []
        self._closed: dict[str, Entry] = {}
        self._alive: WeakValueDictionary[str, Autosave] = WeakValueDictionary()  # of closed ones, too
        self._autosaves: dict[str, Autosave] = {}
        self._used: dict[str, None] = {}  # open ones, looked at last at the end
        self._shows = 0
        self._observers: list[Callable[[], None]] = []
        self._deleted: list[tuple[int, Session | Entry]] = []
        self.tape_limit = DEFAULT_LIMIT
        self.current = self.new()
        self._begun = False  # somebody asked for a new experiment before the store was open

    def subscribe(self, callback: Callable[[], None]) -> None:
        """Tell ``callback`` when the list or the current experiment is different."""
        self._observers.append(callback)

    @property
    def entries(self) -> list[Entry]:
        """Every experiment, newest first, archived ones too; those that are open as they are now."""
        found = [*map(entry_of, self.sessions), *self._closed.values()]
        return sorted(found, key=lambda entry: entry.created_at, reverse=True)

    # With a store

    async def start(self) -> Status | None:
        """Open the store, fill the list, and show what was looked at last, unless there is something to do already."""
        if self.store is None:
            return None
        from playground.engine.store import StoreError

        try:
            status = await self.store.open()
            with contextlib.suppress(StoreError):  # the store says so itself
                await self._fill(await self.store.entries(), await self.store.recall(CURRENT))
        finally:
            self._ready.set()
        return status

    async def _fill(self, found: list[Entry], last: str) -> None:
        """Take over the list of a store that was just opened, and show the experiment ``last``."""
        open_ = {session.id for session in self.sessions}
        self._closed = {entry.id: entry for entry in found if entry.id not in open_}
        self._save_all()
        self._tell()
        first = self.current
        if last in self._closed and self._waits_for_the_store(first):
            session = await self.bring(last)
            if self._waits_for_the_store(first):
                self._forget(first)
                self._look_at(session)

    def _waits_for_the_store(self, first: Session) -> bool:
        """Whether nobody has begun something meanwhile."""
        return self.current is first and not self._begun and _untouched(first)

    async def show(self, experiment_id: str) -> Session:
        """Make an experiment the current one, loaded if it is not; of several asked for at once the last one.

        Raises KeyError for an unknown id, StoreError for one that cannot be read.
        """
        self._shows += 1
        number = self._shows
        session = await self.bring(experiment_id)
        if number == self._shows:
            self._look_at(session)
        return session

    async def bring(self, experiment_id: str) -> Session:
        """An open session for an experiment. Raises as ``show`` does."""
        if (found := self._open_one(experiment_id)) is not None:
            return found
        if self.store is None or experiment_id not in self._closed:
            raise KeyError(experiment_id)
        kept = self._held(experiment_id)
        if kept is None:
            loaded = await self.store.load(experiment_id)
            exchanges = await self.store.tape_heads(experiment_id)
            if (found := self._open_one(experiment_id)) is not None:
                return found  # loaded by somebody else meanwhile
            if experiment_id not in self._closed:
                raise KeyError(experiment_id)
            kept = self._restored(loaded, exchanges)
        self._put(kept, stored=True)
        return kept

    async def flush(self) -> None:
        """Return when everything is on the disk. Raises StoreError when that cannot be had now."""
        if self.store is not None:
            self._save_all()
            await self.store.flush()

    async def close(self) -> None:
        """Hand everything to the store and close it."""
        if self.store is not None:
            self._save_all()
            await self.store.close()

    async def backup(self, path: Path) -> None:
        """Copy all there is into one file. Raises StoreError."""
        if self.store is not None:
            self._save_all()
            await self.store.backup(path)

    async def restore(self, path: Path) -> Path | None:
        """Put such a copy in the place of all there is, which is set aside; returns its new name. Raises StoreError."""
        if self.store is None:
            return None
        self._save_all()
        for session in self.sessions:
            session.stop()
        for autosave in (*self._autosaves.values(), *self._alive.values()):
            autosave.end()
        try:
            aside = await self.store.restore(path)
        except BaseException:
            for session in self.sessions:
                self._watch(session, stored=True)
            raise
        found, last = await self.store.entries(), await self.store.recall(CURRENT)
        for session in tuple(self.sessions):
            self._forget(session)
        self._deleted.clear()
        self._alive.clear()
        self.current = self.new()
        self._begun = False  # that one only stands where the copy's will be
        await self._fill(found, last)
        return aside

    # The list

    def new(self) -> Session:
        """A new, empty experiment becomes the current one; an untouched one is used again."""
        self._begun = True
        current = self.sessions[0] if self.sessions else None
        if current is not None and not current.transcript.turns and current.draft.empty:
            self._look_at(current)
            return current
        model = protocol = profile_id = ""
        if self.sessions:
            profile_id, protocol, model = self.current.profile_id, self.current.protocol, self.current.model
        profile_id = profile_id or self.gateways.active_id
        session = self._session(profile_id)
        session.protocol = protocol or "chat"
        session.model = model or self.gateways.get(profile_id).default_model
        self.add(session)
        return session

    def add(self, session: Session, *, look: bool = True) -> None:
        """An experiment that was made elsewhere is on the list, and becomes the current one.

        Without ``look`` it does not, and nobody is told: more is to come.
        """
        self._put(session, stored=False)
        if look:
            self._look_at(session)

    async def knows(self, experiment_id: str) -> bool:
        """Whether an experiment of that id is here, or was deleted and can be brought back. Raises StoreError.

        Before all of them are known it waits.
        """
        if self.store is not None:
            await self._ready.wait()
        here = [entry.id for entry in self.entries] + [found.id for _, found in self._deleted]
        if experiment_id in here or self.store is None:
            return experiment_id in here
        return any(entry.id == experiment_id for entry in await self.store.entries(deleted=True))

    async def duplicate(self, experiment_id: str) -> Session:
        """The same experiment once more, its exchanges with it; it becomes the current one. Raises as ``show`` does."""
        from playground.engine.snapshot import copy_of, snapshot

        session = await self.bring(experiment_id)
        found = copy_of(snapshot(session), new_id(), f"{session.title} (copy)")
        made = self._restored(found, [replace(one) for one in session.exchanges.values() if one.ended is not None])
        self._put(made, stored=True)
        if self.store is not None:
            self._autosaves[session.id].now()
            self._autosaves[made.id].now()
            self.store.copy_tapes(session.id, made.id)
        self._look_at(made)
        return made

    async def rename(self, experiment_id: str, title: str) -> None:
        """Give a title; an empty one goes back to the first words. Raises as ``show`` does."""
        session = self._open_one(experiment_id) or self._held(experiment_id)
        if session is not None:
            session.rename(title)
        elif self.store is not None and experiment_id in self._closed:
            found = (await self.store.load(experiment_id)).model_copy(update={"title": title.strip()})
            self.store.save(found)
            self._closed[experiment_id] = entry_from(found)
            self._tell()
        else:
            raise KeyError(experiment_id)

    def pin(self, experiment_id: str, on: bool) -> None:
        """Keep an experiment above the others, or no longer. Raises KeyError for an unknown id."""
        self._flag(experiment_id, pinned=on)

    def archive(self, experiment_id: str, on: bool) -> None:
        """Put an experiment away, or back. Raises KeyError for an unknown id."""
        self._flag(experiment_id, archived=on)

    def _flag(self, experiment_id: str, *, pinned: bool | None = None, archived: bool | None = None) -> None:
        session = self._open_one(experiment_id) or self._held(experiment_id)
        if session is not None:
            session.pinned = session.pinned if pinned is None else pinned
            session.archived = session.archived if archived is None else archived
            session.tell(TitleChanged())
        if experiment_id in self._closed and self.store is not None:
            entry = self._closed[experiment_id]
            entry = replace(
                entry,
                pinned=entry.pinned if pinned is None else pinned,
                archived=entry.archived if archived is None else archived,
            )
            self._closed[experiment_id] = entry
            self.store.set_flags(experiment_id, pinned=entry.pinned, archived=entry.archived)
        elif session is None:
            raise KeyError(experiment_id)
        self._tell()

    def set_tape_limit(self, limit: int) -> None:
        """Keep at most ``limit`` bytes of each experiment's tapes in memory, from now on."""
        self.tape_limit = limit
        for session in self.sessions:
            session.exchanges.limit = limit

    def open(self, session_id: str) -> Session:
        """Make an open experiment the current one. Raises KeyError for an unknown id, and for one that is not open."""
        self._shows += 1
        self._look_at(self._find(session_id))
        return self.current

    def delete(self, experiment_id: str) -> None:
        """Take an experiment off the list, its run stopped; ``undelete`` brings it back. Raises KeyError."""
        session = self._open_one(experiment_id)
        if session is not None:
            session.stop()
            at = self.sessions.index(session)
            self.sessions.remove(session)
            self._deleted.append((at, session))
            if self.current is session:
                self.current = self.sessions[min(at, len(self.sessions) - 1)] if self.sessions else self.new()
        elif experiment_id in self._closed:
            self._deleted.append((0, self._closed.pop(experiment_id)))
        else:
            raise KeyError(experiment_id)
        if self.store is not None:
            if session is not None:
                self._autosaves[experiment_id].now()
            self.store.delete(experiment_id)
        for _, gone in self._deleted[:-UNDELETED]:
            self._autosaves.pop(gone.id, None)
            self._used.pop(gone.id, None)
        del self._deleted[:-UNDELETED]
        self._tell()

    def undelete(self) -> bool:
        """Bring the experiment deleted last back. Returns whether there was one."""
        if not self._deleted:
            return False
        at, found = self._deleted.pop()
        if self.store is not None:
            self.store.undelete(found.id)
        if isinstance(found, Session):
            self.sessions.insert(min(at, len(self.sessions)), found)
            self._look_at(found)
        else:
            self._closed[found.id] = found
            self._tell()
        return True

    # Searching

    async def find(self, typed: str, filters: Filters | None = None) -> list[Found]:
        """What is found as somebody types, with words around it. Asked again, the search before ends with nothing.

        Raises StoreError.
        """
        from playground.engine.find_open import find_open
        from playground.engine.store import Filters

        filters = filters or Filters()
        stored = await self.store.find(typed, filters) if self.store is not None else []
        behind = [one for one in self.sessions if self.store is None or self.store.unsaved(one.id)]
        fresh = [found for one in behind if (found := find_open(one, typed, filters)) is not None]
        known = {session.id: session for session in self.sessions}
        gone = {session.id for session in behind} | {found.id for _, found in self._deleted}
        rest = [found for found in stored if found.entry.id not in gone]
        rest = [replace(one, entry=entry_of(known[one.entry.id])) if one.entry.id in known else one for one in rest]
        return [*fresh, *rest]

    # Sessions

    def _session(self, profile_id: str) -> Session:
        return Session(self.gateways.client, profile_of=self.gateways.get, profile_id=profile_id)

    def _restored(self, found: Snapshot, exchanges: list[Exchange]) -> Session:
        """A session with what was loaded. Raises StoreError where this version cannot work with it."""
        from playground.engine.snapshot import restore
        from playground.engine.store import StoreError

        session = self._session("")
        try:
            restore(found.model_copy(update={"profile_id": self._profile_id(found)}), session)
        except ValueError as error:
            raise StoreError(f"This experiment cannot be opened. {error}") from None
        for exchange in exchanges:
            session.exchanges.keep(exchange)
        return session

    def _profile_id(self, found: Snapshot) -> str:
        """The gateway it was on; when that is gone one of the same name, else the one in use."""
        profiles = self.gateways.profiles
        if any(profile.id == found.profile_id for profile in profiles):
            return found.profile_id
        return next((one.id for one in profiles if one.name == found.gateway), self.gateways.active_id)

    def _put(self, session: Session, *, stored: bool) -> None:
        """Have a session among the open ones, newest first."""
        session.exchanges.limit = self.tape_limit
        self._closed.pop(session.id, None)
        if self._held(session.id) is session:
            self._autosaves[session.id] = self._alive[session.id]
        else:
            self._watch(session, stored=stored)
            if not stored and session.id in self._autosaves:
                self._autosaves[session.id].now()  # it may have come from the clipboard, and be nowhere else
        newer = sum(1 for one in self.sessions if one.created_at > session.created_at)
        self.sessions.insert(newer, session)
        self._used[session.id] = None
        self._let_go()

    def _watch(self, session: Session, *, stored: bool) -> None:
        from playground.engine.store.autosave import Autosave

        if self.store is not None:
            self._autosaves[session.id] = self._alive[session.id] = Autosave(session, self.store, stored=stored)
            session.fetch_exchange = self.store.tape

    def _look_at(self, session: Session) -> None:
        self.current = session
        self._used.pop(session.id, None)
        self._used[session.id] = None
        if self.store is not None:
            self.store.remember(CURRENT, session.id)
        self._let_go()
        self._tell()

    def _let_go(self) -> None:
        """Close those that were not looked at for long, where nothing is lost by it but what undo goes back to."""
        for key in list(self._used)[:-OPEN]:
            session = self._open_one(key)
            if session is None:
                del self._used[key]
            elif self._is_idle(session):
                entry = entry_of(session)
                self._forget(session)
                self._closed[key] = entry

    def _is_idle(self, session: Session) -> bool:
        if self.store is None or session is self.current or session.state is not RunState.IDLE:
            return False
        return not (self._autosaves[session.id].waiting or self.store.unsaved(session.id) or _untouched(session))

    def _forget(self, session: Session) -> None:
        """An open session is no longer one. Whoever still holds it finds its changes saved all the same."""
        self.sessions.remove(session)
        self._autosaves.pop(session.id, None)
        self._used.pop(session.id, None)

    def _held(self, session_id: str) -> Session | None:
        """A closed session that somebody still holds: a window of its own, say."""
        autosave = self._alive.get(session_id)
        return autosave.session if autosave is not None else None

    def _save_all(self) -> None:
        for autosave in self._autosaves.values():
            autosave.now()
        if self.store is not None:
            self.store.remember(CURRENT, self.current.id)

    def _open_one(self, session_id: str) -> Session | None:
        return next((session for session in self.sessions if session.id == session_id), None)

    def _find(self, session_id: str) -> Session:
        found = self._open_one(session_id)
        if found is None:
            raise KeyError(session_id)
        return found

    def _tell(self) -> None:
        for callback in tuple(self._observers):
            callback()


def _untouched(session: Session) -> bool:
    from playground.engine.snapshot import snapshot

    return snapshot(session).untouched
