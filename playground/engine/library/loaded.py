"""The experiments that are loaded: each is watched, so that it is kept; the ones not looked at for long are let go.

What may be in the list besides them, and which of all is looked at, is the workspace's to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from playground.engine.gateways.offered import Gateways
from playground.engine.library.experiment_summary import ExperimentSummary, summarize
from playground.engine.session.changes import RunState
from playground.engine.session.session import Session
from playground.engine.session.tapes import DEFAULT_LIMIT

if TYPE_CHECKING:
    from playground.engine.library.store import Store
    from playground.engine.library.store.autosave import Autosave
    from playground.engine.session.snapshot import Snapshot
    from playground.gateway.client import GatewayClient
    from playground.gateway.tape import Exchange

OPEN = 24  # experiments that stay loaded
CURRENT = "current"  # the name under which the store remembers what was looked at


class Loaded:
    """The part of a workspace that is about open sessions; ``current`` is the one looked at.

    What is run before the store is open is sent when it is: nothing would keep the exchange sooner.
    """

    current: Session

    def __init__(self, gateways: Gateways, store: Store | None) -> None:
        self.gateways = gateways
        self.store = store
        self.sessions: list[Session] = []
        self.tape_limit = DEFAULT_LIMIT
        self._ready = asyncio.Event()
        self._closed: dict[str, ExperimentSummary] = {}
        self._alive: WeakValueDictionary[str, Autosave] = WeakValueDictionary()  # of closed ones, too
        self._autosaves: dict[str, Autosave] = {}
        self._used: dict[str, None] = {}  # open ones, looked at last at the end
        self._observers: list[Callable[[], None]] = []

    @property
    def opening(self) -> bool:
        """Whether it is not known yet which experiment is to be looked at."""
        return self.store is not None and not self._ready.is_set()

    def subscribe(self, callback: Callable[[], None]) -> None:
        """Tell ``callback`` when the list or the current experiment is different."""
        self._observers.append(callback)

    async def ready(self) -> None:
        """Return when it is known which experiment is to be looked at."""
        if self.opening:
            await self._ready.wait()

    async def _client(self, profile_id: str) -> GatewayClient:
        await self.ready()
        return await self.gateways.client(profile_id)

    def blank(self, profile_id: str) -> Session:
        """A new, empty experiment on the gateway of that id, which is nowhere among the others yet."""
        return Session(
            self._client, profile_of=self.gateways.get, profile_id=profile_id, front=self.gateways.keys.front
        )

    def _restored(self, found: Snapshot, exchanges: list[Exchange]) -> Session:
        """A session with what was loaded. Raises StoreError where this version cannot work with it."""
        from playground.engine.library.store import StoreError
        from playground.engine.session.snapshot import restore

        session = self.blank("")
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
        from playground.engine.library.store.autosave import Autosave

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
                experiment = summarize(session)
                self._forget(session)
                self._closed[key] = experiment

    def _is_idle(self, session: Session) -> bool:
        if self.store is None or session is self.current or session.state is not RunState.IDLE:
            return False
        return not (self._autosaves[session.id].waiting or self._is_unsaved(session) or untouched(session))

    def _forget(self, session: Session) -> None:
        """An open session is no longer one. Whoever still holds it finds its changes saved all the same."""
        self.sessions.remove(session)
        self._autosaves.pop(session.id, None)
        self._used.pop(session.id, None)

    def _held(self, session_id: str) -> Session | None:
        """A closed session that somebody still holds: a window of its own, say."""
        autosave = self._alive.get(session_id)
        return autosave.session if autosave is not None else None

    @property
    def unsaved(self) -> list[Session]:
        """Open experiments in which there is something that is not on the disk."""
        return [session for session in self.sessions if self._is_unsaved(session)]

    def _is_unsaved(self, session: Session) -> bool:
        from playground.engine.library.store import Mode

        if self.store is None or not self.store.unsaved(session.id):
            return False
        return self.store.status.mode is Mode.READY or self._autosaves[session.id].holds_work

    @property
    def behind(self) -> bool:
        """Whether anything that a person did is not on the disk."""
        return bool(self.unsaved) or (self.store is not None and self.store.behind)

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


def untouched(session: Session) -> bool:
    """Whether there is nothing in it that is worth keeping."""
    from playground.engine.session.snapshot import snapshot

    return snapshot(session).untouched
