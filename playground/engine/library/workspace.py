"""The workspace: all experiments, the open ones, the current one, and the trash.

With a store, experiments outlive the process: they are loaded when they are shown, saved by themselves, and closed when
they were not shown for long. The last deleted ones stay in memory, so that undoing a deletion restores their place and
their undo steps. Without a store everything is in memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakValueDictionary

from playground.domain.transcript import new_id
from playground.engine.gateways.gateways import Gateways
from playground.engine.library.experiment_summary import Deleted, ExperimentSummary, summarize
from playground.engine.library.store import Filters, Mode, SearchResult, Status, Store, StoreError
from playground.engine.library.store.autosave import Autosave
from playground.engine.library.store.search import EVERYTHING, find_in
from playground.engine.session.changes import ExchangeChanged, TitleChanged
from playground.engine.session.experiment import DEFAULT_LIMIT
from playground.engine.session.session import Experiment, Session
from playground.engine.session.snapshot import Snapshot, copy_of, restore, snapshot
from playground.protocols import DEFAULT

if TYPE_CHECKING:
    from playground.engine.evaluation.answers import AnswerStore
    from playground.engine.gateways.secrets import Secret
    from playground.engine.session.variants import Variant
    from playground.engine.tool_servers.calls import ServerToolCaller
    from playground.engine.tool_servers.servers import Servers
    from playground.gateway.client import GatewayClient
    from playground.gateway.tape import Exchange

OPEN: Final = 24  # experiments that stay loaded
UNDELETED: Final = 10  # experiments that are kept as they were at most, where a store has the others
ANSWERS: Final = "answers.sqlite"  # the name of the file of answers
CURRENT: Final = "current"  # the name under which the store remembers what was looked at


class _Gone(NamedTuple):
    """A deleted experiment, its place in the list, and when it was deleted, by the monotonic clock."""

    place: int
    what: Session | ExperimentSummary
    moment: float


class Workspace:
    """Experiments, newest first. ``changed`` callbacks are told when the list or the current one is different.

    ``sessions`` are those that are open, ``current`` the one looked at, or a lane of it; with a store there are more,
    in ``experiments``, which ``show`` opens. ``listed`` says that all of them are known. What is run before the store
    is open is sent when it is: nothing would keep the exchange sooner.
    """

    def __init__(self, gateways: Gateways, store: Store | None = None) -> None:
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
        self._await_servers: list[Callable[[Servers], None]] = []
        self._trash: dict[str, Deleted] = {}
        self._gone: list[_Gone] = []
        self._shows = 0
        self.current: Session = self.new()
        self._begun = False  # a person works in the current one, although the store is not open yet
        self.listed = store is None
        if store is not None:
            store.gone = self._forget_answers

    @property
    def experiments(self) -> list[ExperimentSummary]:
        """Every experiment, newest first, archived ones too; those that are open as they are now."""
        summaries = [*map(summarize, self.sessions), *self._closed.values()]
        return sorted(summaries, key=lambda experiment: experiment.created_at, reverse=True)

    @property
    def stand_in(self) -> str:
        """Id of the empty experiment that is replaced once the store is open; empty if there is none."""
        return self.current.id if self.opening and self._waits_for_the_store(self.current) else ""

    # With a store

    async def start(self) -> Status | None:
        """Open the store, fill the list, and show what was looked at last, unless there is something to do already."""
        if self.store is None:
            return None
        try:
            status = await self.store.open()
            with contextlib.suppress(StoreError):  # the store says so itself
                await self._fill(*await _listed_in(self.store))
        finally:
            self._set_ready()
        return status

    def _set_ready(self) -> None:
        self.listed = True
        self._ready.set()
        self._tell()

    def keep_current(self) -> None:
        """Keep the current experiment when the store is open: a person works in it."""
        self._begun = True

    async def _fill(self, summaries: list[ExperimentSummary], deleted: list[Deleted], last: str) -> None:
        """Take over the list of a store, and show the experiment ``last``."""
        open_ = {session.id for session in self.sessions}
        self._closed = {experiment.id: experiment for experiment in summaries if experiment.id not in open_}
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

    def _waits_for_the_store(self, first: Session) -> bool:
        """Return whether that experiment is still current and untouched."""
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
        if (session := self._open_one(experiment_id)) is not None:
            return session
        if self.store is None or experiment_id not in self._closed:
            raise KeyError(experiment_id)
        session = self._closed_session(experiment_id)
        if session is None:
            loaded = await self.store.load(experiment_id)
            exchanges = await self.store.tape_heads(experiment_id)
            if (opened := self._open_one(experiment_id)) is not None:
                return opened  # by another task meanwhile
            if experiment_id not in self._closed:
                raise KeyError(experiment_id)
            session = self._restored(loaded, exchanges)
        self._put(session, stored=True)
        return session

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

    @cached_property
    def answers(self) -> AnswerStore:
        """The answers of evaluations, in a file of their own beside the experiments; without a store in memory."""
        from playground.engine.evaluation.answers import AnswerStore

        path = self.store.path.with_name(ANSWERS) if self.store is not None else Path(":memory:")
        return AnswerStore(path, self.gateways.keys.known_secrets())

    @cached_property
    def tool_servers(self) -> Servers:
        """The tool servers, loaded with the first access."""
        from playground.engine.tool_servers.registry import ServerRegistry
        from playground.engine.tool_servers.servers import Servers

        book = ServerRegistry(self.gateways.store.path.with_name("tool-servers.json"))
        servers = self.__dict__["tool_servers"] = Servers(book, self.gateways.keys)  # a callback may access them
        for tell in self._await_servers:
            tell(servers)
        return servers

    def when_tool_servers(self, tell: Callable[[Servers], None]) -> None:
        """Call ``tell`` with the tool servers once they are loaded."""
        self._await_servers.append(tell)
        if "tool_servers" in self.__dict__:
            tell(self.tool_servers)

    @cached_property
    def serving(self) -> ServerToolCaller:
        """How the experiments ask the tool servers: all together, so that none is asked too much at once."""
        from playground.engine.tool_servers.calls import ServerToolCaller

        return ServerToolCaller(lambda: self.tool_servers)

    def _forget_answers(self, experiment_ids: Collection[str]) -> None:
        """These experiments are gone for good, and so are the answers of their evaluations."""
        if self._has_answers:
            self.answers.forget_soon(experiment_ids)

    @property
    def _has_answers(self) -> bool:
        return "answers" in self.__dict__ or (self.store is not None and self.store.path.with_name(ANSWERS).exists())

    async def close(self) -> None:
        """Hand everything to the store and close it, then end the tool servers."""
        if self.store is not None:
            self._save_all()
            await self.store.close()
        if "answers" in self.__dict__:
            await self.answers.aclose()
        if "tool_servers" in self.__dict__:
            await self.tool_servers.close()

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
            session.experiment.stop()
        for autosave in (*self._autosaves.values(), *self._alive.values()):
            autosave.end()
        try:
            aside = await store.restore(path)
        except BaseException:
            for session in self.sessions:
                self._watch(session, stored=True)
                self._autosaves[session.id].again()  # not all of it may have got there before
            raise
        listed = await _listed_in(store)  # before another one is looked at
        for session in tuple(self.sessions):
            self._forget(session)
        self._gone.clear()
        self._trash.clear()
        self._alive.clear()
        self.current = self.new()
        self._begun = False  # one of the copy takes its place
        await self._fill(*listed)
        return aside

    # The list

    def new(self) -> Session:
        """A new, empty experiment becomes the current one; an untouched one is used again."""
        self._begun = True
        current = self.sessions[0] if self.sessions else None
        if current is not None and untouched(current):
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

        Without ``look`` it does not, and no observer is called: more experiments follow.
        """
        self._put(session, stored=False)
        if look:
            self._look_at(session)

    async def knows(self, experiment_id: str) -> bool:
        """Return whether there is an experiment of that id, in the trash or not. Raises StoreError.

        Before all of them are known it waits.
        """
        await self.ready()
        return experiment_id in self._trash or any(experiment.id == experiment_id for experiment in self.experiments)

    async def duplicate(self, experiment_id: str) -> Session:
        """Copy an experiment with its exchanges; the copy becomes the current one. Raises as ``show`` does."""
        session = await self.bring(experiment_id)
        snapshot_copy = copy_of(snapshot(session), new_id(), f"{session.title} (copy)")
        exchanges = [replace(exchange) for exchange in session.exchanges.values() if exchange.ended is not None]
        copy = self._restored(snapshot_copy, exchanges)
        self._put(copy, stored=True)
        if self.store is not None:
            self._autosaves[session.id].now()
            self._autosaves[copy.id].again()
            self.store.copy_tapes(session.id, copy.id)
        self._look_at(copy)
        return copy

    async def rename(self, experiment_id: str, title: str) -> None:
        """Give a title; an empty one goes back to the first words. Raises as ``show`` does."""
        session = self._closed_session(experiment_id) or await self.bring(experiment_id)
        session.change(title=title)
        self._tell()

    def pin(self, experiment_id: str, on: bool) -> None:
        """Keep an experiment above the others, or no longer. Raises KeyError for an unknown id."""
        self._flag(experiment_id, pinned=on)

    def archive(self, experiment_id: str, on: bool) -> None:
        """Put an experiment away, or back. Raises KeyError for an unknown id."""
        self._flag(experiment_id, archived=on)

    def _flag(self, experiment_id: str, **flags: bool) -> None:
        session = self._open_one(experiment_id) or self._closed_session(experiment_id)
        if session is not None:
            for name, on in flags.items():
                setattr(session.experiment, name, on)
            session.observers.tell(TitleChanged())
        if experiment_id in self._closed and self.store is not None:
            experiment = self._closed[experiment_id]
            experiment = replace(
                experiment,
                pinned=flags.get("pinned", experiment.pinned),
                archived=flags.get("archived", experiment.archived),
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

    # Those that are open

    @property
    def opening(self) -> bool:
        """True until it is known which experiment is the current one."""
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
        return Experiment(
            self._client,
            profile_of=self.gateways.get,
            profile_id=profile_id,
            preview=self.gateways.keys.front,
            serving=lambda: self.serving,
            price_of=self.gateways.price,
            facts_of=self.gateways.facts,
        ).main

    def restored(self, stored: Snapshot) -> tuple[Session, str]:
        """Return a session with a snapshot, on its gateway, on one of that name or on the active one; it is in no list.

        And the name of a gateway that there is none of. Raises ValueError where this version cannot work with it.
        """
        profile_ids = self._profile_ids(stored.profile_id, stored.gateway)
        session = self.blank(profile_ids[0] if profile_ids else self.gateways.active_id)
        plan, variants = stored.evaluation, self._on_own_gateways(stored.variants)
        if plan is not None:
            plan = plan.model_copy(update={"variants": self._on_own_gateways(plan.variants)})
        ours = {"profile_id": session.settings.profile_id, "variants": variants, "evaluation": plan}
        try:
            restore(stored.model_copy(update=ours), session)
        except ValueError as error:
            raise ValueError(f"This experiment cannot be opened. {error}") from None
        return session, "" if profile_ids else stored.gateway

    def _on_own_gateways(self, variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
        """Return the variants on gateways that exist in this program."""
        return tuple(
            variant.on((*self._profile_ids(profile_id, variant.gateway), self.gateways.active_id)[0])
            if (profile_id := variant.profile_id) is not None
            else variant
            for variant in variants
        )

    def _profile_ids(self, profile_id: str, name: str) -> list[str]:
        """Return the ids of the gateway with that id and of those with that name, in this order."""
        profiles = self.gateways.profiles
        same_id = [profile.id for profile in profiles if profile.id == profile_id]
        return [*same_id, *(profile.id for profile in profiles if profile.name == name)]

    def _restored(self, stored: Snapshot, exchanges: list[Exchange]) -> Session:
        """Return a session with a snapshot and its exchanges. Raises StoreError."""
        try:
            session, _ = self.restored(stored)
        except ValueError as error:
            raise StoreError(str(error)) from None
        for exchange in exchanges:
            session.exchanges.keep(exchange)
        return session

    def _put(self, session: Session, *, stored: bool) -> None:
        """Have a session among the open ones, newest first."""
        session.exchanges.limit = self.tape_limit
        self._closed.pop(session.id, None)
        if self._closed_session(session.id) is session:
            self._autosaves[session.id] = self._alive[session.id]
        else:
            self._watch(session, stored=stored)
            if not stored and session.id in self._autosaves:
                self._autosaves[session.id].now()  # it may have come from the clipboard, and be nowhere else
        newer = sum(1 for opened in self.sessions if opened.experiment.created_at > session.experiment.created_at)
        self.sessions.insert(newer, session)
        self._used[session.id] = None
        self._let_go()

    def _watch(self, session: Session, *, stored: bool) -> None:
        if self.store is not None:
            self._autosaves[session.id] = self._alive[session.id] = Autosave(session, self.store, stored=stored)
            session.experiment.fetch_exchange = self.store.tape

    def _look_at(self, session: Session) -> None:
        self.current = session
        self._used[session.id] = self._used.pop(session.id, None)
        if self.store is not None:
            self.store.remember(CURRENT, session.id)
        self._let_go()
        self._tell()

    def look_in(self, lane: Session) -> None:
        """Look at the experiment as one of its lanes has it; all that is about the one looked at is about that then."""
        if lane is not self.current and lane.main is self.current.main:
            self.current = lane
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
        if (
            self.store is None
            or session is self.current.main
            or session.experiment.busy
            or session.experiment.calls_server
        ):
            return False
        return not (self._autosaves[session.id].waiting or self._is_unsaved(session) or untouched(session))

    def _forget(self, session: Session) -> None:
        """Close a session. Its changes are still saved as long as it is in use."""
        self.sessions.remove(session)
        self._autosaves.pop(session.id, None)
        self._used.pop(session.id, None)

    def _closed_session(self, session_id: str) -> Session | None:
        """Return a closed session that is still in use, for example by a window of its own."""
        autosave = self._alive.get(session_id)
        return autosave.session if autosave is not None else None

    @property
    def unsaved(self) -> list[Session]:
        """Open experiments in which there is something that is not on the disk."""
        return [session for session in self.sessions if self._is_unsaved(session)]

    def _is_unsaved(self, session: Session) -> bool:
        if self.store is None or not self.store.unsaved(session.id):
            return False
        return self.store.status.mode is Mode.READY or self._autosaves[session.id].holds_work

    @property
    def behind(self) -> bool:
        """True if anything that a person did is not on the disk."""
        return bool(self.unsaved) or (self.store is not None and self.store.behind)

    def _save_all(self) -> None:
        for autosave in self._autosaves.values():
            autosave.now()
        if self.store is not None:
            self.store.remember(CURRENT, self.current.id)

    def _open_one(self, session_id: str) -> Session | None:
        return next((session for session in self.sessions if session.id == session_id), None)

    def _find(self, session_id: str) -> Session:
        """Return an open session. Raises KeyError."""
        return {session.id: session for session in self.sessions}[session_id]

    def _tell(self) -> None:
        for callback in tuple(self._observers):
            callback()

    # The trash

    @property
    def trash(self) -> list[Deleted]:
        """The deleted experiments that can be restored, deleted last first."""
        return sorted(self._trash.values(), key=lambda deleted: deleted.time, reverse=True)

    async def look_through_trash(self) -> None:
        """Learn what is in the trash now: some of it may have gone by itself. Raises StoreError."""
        if self.store is not None:
            with contextlib.suppress(StoreError):  # what is there is read
                await self.store.flush()
            self._fill_trash(await self.store.deleted())
            self._tell()

    def _fill_trash(self, trash: Iterable[Deleted]) -> None:
        listed = {session.id for session in self.sessions} | self._closed.keys()
        self._trash = {deleted.experiment.id: deleted for deleted in trash if deleted.experiment.id not in listed}

    async def keep_deleted(self, days: float | None) -> None:
        """Let what was deleted go for good after that many days; None: never by itself."""
        if self.store is not None:
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

        An empty one is not kept there, but ``undelete`` restores it.
        """
        session = self._open_one(experiment_id)
        empty = session is not None and untouched(session)
        if session is not None:
            session.experiment.stop()
            deleted = _Gone(self.sessions.index(session), session, time.monotonic())
            self.sessions.remove(session)
            experiment = summarize(session)
            if self.current.main is session:
                self.current = (
                    self.sessions[min(deleted.place, len(self.sessions) - 1)] if self.sessions else self.new()
                )
        elif experiment_id in self._closed:
            experiment = self._closed.pop(experiment_id)
            deleted = _Gone(0, experiment, time.monotonic())
        else:
            raise KeyError(experiment_id)
        if self.store is not None:
            if session is not None:
                self._autosaves[experiment_id].now()
            self.store.delete(experiment_id)
            if empty:
                self.store.erase([experiment_id])
        self._gone.append(deleted)
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
        experiment = self._gone[-1].what
        self._put_back(experiment.id)
        if isinstance(experiment, Session):
            self._look_at(experiment)
            return summarize(experiment)
        self._tell()
        return experiment

    def put_back(self, experiment_ids: Collection[str]) -> None:
        """Bring experiments back from the trash. Those that are not in it are left alone."""
        for experiment_id in experiment_ids:
            if experiment_id in self._trash:
                self._put_back(experiment_id)
        self._tell()

    def _put_back(self, experiment_id: str) -> None:
        in_trash = self._trash.pop(experiment_id, None)
        index = next((i for i, entry in enumerate(self._gone) if entry.what.id == experiment_id), None)
        entry = self._gone.pop(index) if index is not None else None
        if self.store is not None:
            self.store.undelete(experiment_id)
        if entry is not None and isinstance(entry.what, Session):
            self.sessions.insert(min(entry.place, len(self.sessions)), entry.what)
        elif in_trash is not None:
            self._closed[experiment_id] = in_trash.experiment

    def erase(self, experiment_ids: Collection[str]) -> None:
        """Let experiments in the trash go for good; nothing brings them back."""
        ids = [key for key in experiment_ids if key in self._trash]
        for experiment_id in ids:
            del self._trash[experiment_id]
            autosave = self._alive.pop(experiment_id, None)
            if autosave is not None:
                autosave.end()  # a run that goes on there would write it again
            self._drop(experiment_id)
        self._gone = [entry for entry in self._gone if entry.what.id not in ids]
        if self.store is not None:
            self.store.erase(ids)
        else:
            self._forget_answers(ids)
        self._tell()

    # Secrets

    async def remove_secret(self, experiment_id: str, secret: Secret) -> int:
        """Remove a secret from all that is stored of an experiment and from its session, which loses its undo steps.

        Returns how many stored rows and answers had it. Raises KeyError for an unknown id, StoreError with the reason
        where that cannot be done now, and AnswersError.
        """
        session = await self.bring(experiment_id)
        if session.experiment.busy or session.experiment.calls_server:
            raise StoreError("Stop the run of this experiment first.")
        if self.store is None:
            return 0
        await self.flush()
        count = await self.store.remove_secret(experiment_id, secret)
        if self._has_answers:
            count += await self.answers.remove_secret(experiment_id, secret)
        restore(await self.store.load(experiment_id), session)
        session.exchanges.clear()
        for exchange in await self.store.tape_heads(experiment_id):
            session.exchanges.keep(exchange)
        for exchange_id in session.exchanges:
            session.observers.tell(ExchangeChanged(exchange_id))
        self._tell()
        return count

    # Searching

    async def find_deleted(self, typed: str) -> list[SearchResult]:
        """Search the trash; a search that is followed by another one returns nothing. Raises StoreError."""
        if self.store is not None:
            results = await self.store.find(typed, deleted=True)
            return [result for result in results if result.experiment.id in self._trash]
        return self._find_open([entry.what for entry in self._gone if isinstance(entry.what, Session)], typed)

    async def find(self, typed: str, filters: Filters = EVERYTHING) -> list[SearchResult]:
        """Search all experiments but the trash as they are now; a search that is followed by another returns nothing.

        Raises StoreError.
        """
        if self.store is None:
            return self._find_open(self.sessions, typed, filters)
        self._save_all()
        results = await self.store.find(typed, filters)
        return [result for result in results if result.experiment.id not in self._trash]

    def _find_open(self, sessions: Iterable[Session], typed: str, filters: Filters = EVERYTHING) -> list[SearchResult]:
        """Search sessions that no store has, in the same way."""
        return find_in([snapshot(session) for session in sessions], typed, filters)


async def _listed_in(store: Store) -> tuple[list[ExperimentSummary], list[Deleted], str]:
    """Return the experiments of an opened store, its trash, and the id of the experiment shown last."""
    return await store.experiments(), await store.deleted(), await store.recall(CURRENT)


def untouched(session: Session) -> bool:
    """Return whether a session holds nothing worth saving."""
    return snapshot(session).untouched
