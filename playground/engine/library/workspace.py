"""The experiments there are, which of them are open, and which one is looked at. With a store they outlive the process.

Only what is looked at is loaded, off the window's thread; some that were looked at before are kept. Without a store
everything works the same, in memory.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from playground.domain.transcript import new_id
from playground.engine.gateways.offered import Gateways
from playground.engine.library.experiment_summary import Deleted, ExperimentSummary, summarize
from playground.engine.library.loaded import CURRENT, untouched
from playground.engine.library.trash import Trash
from playground.engine.session.changes import TitleChanged
from playground.engine.session.session import Session
from playground.protocols import DEFAULT

if TYPE_CHECKING:
    from playground.engine.library.store import Filters, SearchResult, Status, Store


class Workspace(Trash):
    """Experiments, newest first. ``changed`` callbacks are told when the list or the current one is different.

    ``sessions`` are those that are open; with a store there are more, in ``experiments``, which ``show`` opens.
    ``listed`` says that all of them are known.
    """

    def __init__(self, gateways: Gateways, store: Store | None = None) -> None:
        super().__init__(gateways, store)
        self._shows = 0
        self.current = self.new()
        self._begun = False  # somebody works in the current one, although the store is not open yet
        self.listed = store is None

    @property
    def experiments(self) -> list[ExperimentSummary]:
        """Every experiment, newest first, archived ones too; those that are open as they are now."""
        found = [*map(summarize, self.sessions), *self._closed.values()]
        return sorted(found, key=lambda experiment: experiment.created_at, reverse=True)

    @property
    def stand_in(self) -> str:
        """The id of the empty experiment that stands where another one will, while it is not known which."""
        return self.current.id if self.opening and self._waits_for_the_store(self.current) else ""

    # With a store

    async def start(self) -> Status | None:
        """Open the store, fill the list, and show what was looked at last, unless there is something to do already."""
        if self.store is None:
            return None
        from playground.engine.library.store import StoreError

        try:
            status = await self.store.open()
            with contextlib.suppress(StoreError):  # the store says so itself
                await self._fill(*await self._listed_in(self.store))
        finally:
            self._set_ready()
        return status

    def _set_ready(self) -> None:
        self.listed = True
        self._ready.set()
        self._tell()

    def keep_current(self) -> None:
        """Somebody works in the current experiment: no other one takes its place when the store is open."""
        self._begun = True

    async def _listed_in(self, store: Store) -> tuple[list[ExperimentSummary], list[Deleted], str]:
        """The experiments of a store that was just opened, its trash, and which was looked at last."""
        return await store.experiments(), await store.deleted(), await store.recall(CURRENT)

    async def _fill(self, found: list[ExperimentSummary], deleted: list[Deleted], last: str) -> None:
        """Take over the list of a store, and show the experiment ``last``."""
        open_ = {session.id for session in self.sessions}
        self._closed = {experiment.id: experiment for experiment in found if experiment.id not in open_}
        self._fill_trash([*deleted, *self._trash.values()])
        self.listed = True
        self._save_all()
        self._tell()
        first = self.current
        if last in self._closed and self._waits_for_the_store(first):
            session = await self.bring(last)
            if self._waits_for_the_store(first):
                self._forget(first)
                self._look_at(session)

    async def list_again(self) -> None:
        """The rows of the store are others: show the list as they have it now. Raises StoreError."""
        if self.store is not None:
            found, deleted, _ = await self._listed_in(self.store)
            self._closed = {experiment.id: experiment for experiment in found if experiment.id in self._closed}
            self._fill_trash(deleted)
            self._tell()

    def _waits_for_the_store(self, first: Session) -> bool:
        """Whether nobody has begun something meanwhile."""
        return self.current is first and not self._begun and untouched(first)

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
            from playground.engine.library.store.unread import tally

            loaded = await self.store.load(experiment_id)
            exchanges = await self.store.tape_heads(experiment_id)
            past = await self.store.past(experiment_id, loaded.transcript)
            unread = await self.store.unread(experiment_id)
            if (found := self._open_one(experiment_id)) is not None:
                return found  # loaded by somebody else meanwhile
            if experiment_id not in self._closed:
                raise KeyError(experiment_id)
            kept = self._restored(loaded, exchanges)
            kept.history.recall(past)
            kept.unread = tally(unread)
        self._put(kept, stored=True)
        return kept

    async def flush(self) -> None:
        """Return when everything is on the disk. Raises StoreError when that cannot be had now."""
        if self.store is not None:
            self._save_all()
            await self.store.flush()

    def flush_now(self, seconds: float) -> bool:
        """Block until everything is on the disk, so long at most. Returns whether nothing would be lost."""
        if self.store is not None:
            self._save_all()
            self.store.wait(seconds)
        return not self.behind

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
        self._ready.clear()
        try:
            return await self._restore(self.store, path)
        finally:
            self._set_ready()

    async def _restore(self, store: Store, path: Path) -> Path | None:
        for session in self.sessions:
            session.stop()
        for autosave in (*self._autosaves.values(), *self._alive.values()):
            autosave.end()
        try:
            aside = await store.restore(path)
        except BaseException:
            for session in self.sessions:
                self._watch(session, stored=True)
                self._autosaves[session.id].again()  # not all of it may have got there before
            raise
        listed = await self._listed_in(store)  # before another one is looked at
        for session in tuple(self.sessions):
            self._forget(session)
        self._gone.clear()
        self._trash.clear()
        self._alive.clear()
        self.current = self.new()
        self._begun = False  # that one only stands where the copy's will be
        await self._fill(*listed)
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
            like = self.current.settings
            profile_id, protocol, model = like.profile_id, like.protocol, like.model
        profile_id = profile_id or self.gateways.active_id
        session = self.blank(profile_id)
        session.begin_with(protocol=protocol or DEFAULT, model=model or self.gateways.get(profile_id).default_model)
        self.add_experiment(session)
        return session

    def add_experiment(self, session: Session, *, look: bool = True) -> None:
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
        await self.ready()
        return experiment_id in self._trash or any(experiment.id == experiment_id for experiment in self.experiments)

    async def duplicate(self, experiment_id: str) -> Session:
        """The same experiment once more, its exchanges with it; it becomes the current one. Raises as ``show`` does."""
        from playground.engine.session.snapshot import copy_of, snapshot

        session = await self.bring(experiment_id)
        found = copy_of(snapshot(session), new_id(), f"{session.title} (copy)")
        made = self._restored(found, [replace(one) for one in session.exchanges.values() if one.ended is not None])
        self._put(made, stored=True)
        if self.store is not None:
            self._autosaves[session.id].now()
            self._autosaves[made.id].again()
            self.store.copy_tapes(session.id, made.id)
        self._look_at(made)
        return made

    async def rename(self, experiment_id: str, title: str) -> None:
        """Give a title; an empty one goes back to the first words. Raises as ``show`` does."""
        session = self._held(experiment_id) or await self.bring(experiment_id)
        session.change(title=title)
        self._tell()

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
            session.observers.tell(TitleChanged())
        if experiment_id in self._closed and self.store is not None:
            experiment = self._closed[experiment_id]
            experiment = replace(
                experiment,
                pinned=experiment.pinned if pinned is None else pinned,
                archived=experiment.archived if archived is None else archived,
            )
            self._closed[experiment_id] = experiment
            self.store.set_flags(experiment_id, pinned=experiment.pinned, archived=experiment.archived)
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

    # Searching

    async def find_deleted(self, typed: str) -> list[SearchResult]:
        """What is found in the trash. Asked again, the search before ends with nothing. Raises StoreError."""
        from playground.engine.library.find_open import find_open
        from playground.engine.library.store import Filters

        if self.store is not None:
            stored = await self.store.find(typed, deleted=True)
            return [found for found in stored if found.experiment.id in self._trash]
        sessions = [gone.what for gone in reversed(self._gone) if isinstance(gone.what, Session)]
        return [found for one in sessions if (found := find_open(one, typed, Filters())) is not None]

    async def find(self, typed: str, filters: Filters | None = None) -> list[SearchResult]:
        """What is found as somebody types, with words around it. Asked again, the search before ends with nothing.

        What is in the trash is not. Raises StoreError.
        """
        from playground.engine.library.find_open import find_all
        from playground.engine.library.store import Filters

        filters = filters or Filters()
        stored = await self.store.find(typed, filters) if self.store is not None else []
        behind = [one for one in self.sessions if self.store is None or self.store.unsaved(one.id)]
        return find_all(stored, self.sessions, behind, self._trash, typed, filters)
