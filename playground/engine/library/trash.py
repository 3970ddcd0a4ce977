"""The experiments that were deleted: off the list, in the trash, and on the way back or away for good.

With a store the trash outlives the process, and lets go by itself what lay in it for long. The last ones deleted are
kept as they were, so that taking a deletion back brings them to the very place with all that undo goes back to.
"""

from __future__ import annotations

import contextlib
import time
from abc import abstractmethod
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from playground.engine.gateways.offered import Gateways
from playground.engine.library.experiment_summary import Deleted, ExperimentSummary, summarize
from playground.engine.library.loaded import Loaded, untouched
from playground.engine.session.session import Session

if TYPE_CHECKING:
    from playground.engine.library.store import Store

UNDELETED: Final = 10  # experiments that are kept as they were at most, where a store has the others


class _Gone(NamedTuple):
    """What was deleted, where in the list it stood, and when, by the clock of edits."""

    place: int
    what: Session | ExperimentSummary
    moment: float


class Trash(Loaded):
    """The part of a workspace that is about deleted experiments."""

    def __init__(self, gateways: Gateways, store: Store | None) -> None:
        super().__init__(gateways, store)
        self._trash: dict[str, Deleted] = {}
        self._gone: list[_Gone] = []

    @abstractmethod
    def new(self) -> Session:
        """A new, empty experiment becomes the current one; an untouched one is used again."""

    @property
    def trash(self) -> list[Deleted]:
        """What was deleted and can be brought back, deleted last first."""
        return sorted(self._trash.values(), key=lambda one: one.at, reverse=True)

    async def look_through_trash(self) -> None:
        """Learn what is in the trash now: some of it may have gone by itself. Raises StoreError."""
        if self.store is not None:
            from playground.engine.library.store import StoreError

            with contextlib.suppress(StoreError):  # what is there is read
                await self.store.flush()
            self._fill_trash(await self.store.deleted())
            self._tell()

    def _fill_trash(self, found: Iterable[Deleted]) -> None:
        here = {session.id for session in self.sessions} | self._closed.keys()
        self._trash = {one.experiment.id: one for one in found if one.experiment.id not in here}

    async def keep_deleted(self, days: float | None) -> None:
        """Let what was deleted go for good after that many days; None: never by itself."""
        if self.store is not None:
            from playground.engine.library.store import StoreError

            self.store.keep_deleted(days)
            with contextlib.suppress(StoreError):  # it is looked through again when it is looked at
                await self.look_through_trash()

    @property
    def days_deleted(self) -> float | None:
        """After how many days what was deleted is gone; None: never by itself."""
        return self.store.days_deleted if self.store is not None else None

    async def trash_size(self) -> int:
        """About how many bytes on the disk the trash takes. Raises StoreError."""
        return await self.store.trash_size() if self.store is not None else 0

    def delete(self, experiment_id: str) -> None:
        """Take an experiment off the list and into the trash, its run stopped. Raises KeyError.

        One in which there is nothing is not kept there; ``undelete`` brings it back all the same.
        """
        session = self._open_one(experiment_id)
        empty = session is not None and untouched(session)
        if session is not None:
            session.stop()
            gone = _Gone(self.sessions.index(session), session, time.monotonic())
            self.sessions.remove(session)
            experiment = summarize(session)
            if self.current is session:
                self.current = self.sessions[min(gone.place, len(self.sessions) - 1)] if self.sessions else self.new()
        elif experiment_id in self._closed:
            experiment = self._closed.pop(experiment_id)
            gone = _Gone(0, experiment, time.monotonic())
        else:
            raise KeyError(experiment_id)
        if self.store is not None:
            if session is not None:
                self._autosaves[experiment_id].now()
            self.store.delete(experiment_id)
            if empty:
                self.store.erase([experiment_id])
        self._gone.append(gone)
        if not empty:
            self._trash[experiment_id] = Deleted(experiment, time.time())
        if self.store is not None:
            for old in self._gone[:-UNDELETED]:
                self._drop(old.what.id)
            del self._gone[:-UNDELETED]
        self._tell()

    def _drop(self, experiment_id: str) -> None:
        self._autosaves.pop(experiment_id, None)
        self._used.pop(experiment_id, None)

    @property
    def deleted_last(self) -> float | None:
        """When the last deletion was that ``undelete`` takes back, by the clock of edits; None without one."""
        return self._gone[-1].moment if self._gone else None

    def undelete(self) -> ExperimentSummary | None:
        """Bring the experiment deleted last back, and look at it where it is open. Returns which; None without one."""
        if not self._gone:
            return None
        found = self._gone[-1].what
        self._put_back(found.id)
        if isinstance(found, Session):
            self._look_at(found)
            return summarize(found)
        self._tell()
        return found

    def put_back(self, experiment_ids: Collection[str]) -> None:
        """Bring experiments back from the trash. Those that are not in it are left alone."""
        for experiment_id in experiment_ids:
            if experiment_id in self._trash:
                self._put_back(experiment_id)
        self._tell()

    def _put_back(self, experiment_id: str) -> None:
        known = self._trash.pop(experiment_id, None)
        at = next((n for n, gone in enumerate(self._gone) if gone.what.id == experiment_id), None)
        gone = self._gone.pop(at) if at is not None else None
        if self.store is not None:
            self.store.undelete(experiment_id)
        if gone is not None and isinstance(gone.what, Session):
            self.sessions.insert(min(gone.place, len(self.sessions)), gone.what)
        elif known is not None:
            self._closed[experiment_id] = known.experiment

    def erase(self, experiment_ids: Collection[str]) -> None:
        """Let experiments in the trash go for good; nothing brings them back."""
        ids = [key for key in experiment_ids if key in self._trash]
        for experiment_id in ids:
            del self._trash[experiment_id]
            autosave = self._alive.pop(experiment_id, None)
            if autosave is not None:
                autosave.end()  # else something that still goes on there would write it anew
            self._drop(experiment_id)
        self._gone = [gone for gone in self._gone if gone.what.id not in ids]
        if self.store is not None:
            self.store.erase(ids)
        self._tell()
