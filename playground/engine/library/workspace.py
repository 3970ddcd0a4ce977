"""The experiments there are, which of them are open, and which one is looked at. With a store they outlive the process.

Only what is looked at is loaded, off the window's thread, and watched, so that it is kept; those not looked at for long
are let go. The trash outlives the process, too, and lets go by itself what lay in it for long; the last ones deleted
are kept as they were, so that taking a deletion back brings them to the very place with all that undo goes back to.
Without a store everything works the same, in memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakValueDictionary

from playground.domain.transcript import new_id
from playground.engine.gateways.gateways import Gateways
from playground.engine.library.experiment_summary import Deleted, ExperimentSummary, summarize
from playground.engine.session.changes import TitleChanged
from playground.engine.session.session import Session
from playground.engine.session.tapes import DEFAULT_LIMIT
from playground.protocols import DEFAULT

if TYPE_CHECKING:
    from playground.engine.evaluation.answers import AnswerStore
    from playground.engine.library.store import Filters, SearchResult, Status, Store
    from playground.engine.library.store.autosave import Autosave
    from playground.engine.session.snapshot import Snapshot
    from playground.engine.session.variants import Variant
    from playground.engine.tool_servers.calls import ToolCaller
    from playground.engine.tool_servers.servers import Servers
    from playground.gateway.client import GatewayClient
    from playground.gateway.tape import Exchange

OPEN: Final = 24  # experiments that stay loaded
UNDELETED: Final = 10  # experiments that are kept as they were at most, where a store has the others
ANSWERS: Final = "answers.sqlite"  # the name of the file of answers
CURRENT: Final = "current"  # the name under which the store remembers what was looked at


class _Gone(NamedTuple):
    """What was deleted, where in the list it stood, and when, by the clock of edits."""

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
        #: Awaited before an experiment that was asked for is looked at: what whoever shows it makes of it first.
        self.expect: Callable[[Session], Awaitable[None]] | None = None
        self.current: Session = self.new()
        self._begun = False  # somebody works in the current one, although the store is not open yet
        self.listed = store is None
        if store is not None:
            store.gone = self._forget_answers

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
        if number == self._shows and self.expect is not None:
            await self.expect(session)
            session = self._find(experiment_id)
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

    @cached_property
    def answers(self) -> AnswerStore:
        """The answers of evaluations, in a file of their own beside the experiments; without a store in memory."""
        from playground.engine.evaluation.answers import AnswerStore

        path = self.store.path.with_name(ANSWERS) if self.store is not None else Path(":memory:")
        return AnswerStore(path, self.gateways.keys.known())

    @cached_property
    def tool_servers(self) -> Servers:
        """The tool servers; nothing of them is loaded before somebody asks for them."""
        from playground.engine.tool_servers.registry import ServerRegistry
        from playground.engine.tool_servers.servers import Servers

        book = ServerRegistry(self.gateways.store.path.with_name("tool-servers.json"))
        made = self.__dict__["tool_servers"] = Servers(book, self.gateways.keys)  # who is told may ask for them
        for tell in self._await_servers:
            tell(made)
        return made

    def when_tool_servers(self, tell: Callable[[Servers], None]) -> None:
        """``tell`` is called with the tool servers once somebody asks for them, at once if somebody did before."""
        self._await_servers.append(tell)
        if "tool_servers" in self.__dict__:
            tell(self.tool_servers)

    @cached_property
    def serving(self) -> ToolCaller:
        """How the experiments ask the tool servers: all together, so that none is asked too much at once."""
        from playground.engine.tool_servers.calls import ToolCaller

        return ToolCaller(lambda: self.tool_servers)

    def _forget_answers(self, experiment_ids: Collection[str]) -> None:
        """These experiments are gone for good, and so are the answers of their evaluations."""
        if "answers" in self.__dict__ or (self.store is not None and self.store.path.with_name(ANSWERS).exists()):
            self.answers.forget_soon(experiment_ids)

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
            session.stop_all()
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

    # Those that are open

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
            self._client,
            profile_of=self.gateways.get,
            profile_id=profile_id,
            front=self.gateways.keys.front,
            serving=lambda: self.serving,
            price_of=self.gateways.price,
            facts_of=self.gateways.facts,
        )

    def restored(self, found: Snapshot) -> tuple[Session, str]:
        """A session with what was found, on its gateway, on one of that name or on the one in use; nowhere in the list.

        And the name of a gateway that there is none of. Raises ValueError where this version cannot work with it.
        """
        from playground.engine.session.snapshot import restore

        there = self._profile_ids(found.profile_id, found.gateway)
        session = self.blank(there[0] if there else self.gateways.active_id)
        plan, variants = found.evaluation, self._here(found.variants)
        if plan is not None:
            plan = plan.model_copy(update={"variants": self._here(plan.variants)})
        ours = {"profile_id": session.settings.profile_id, "variants": variants, "evaluation": plan}
        try:
            restore(found.model_copy(update=ours), session)
        except ValueError as error:
            raise ValueError(f"This experiment cannot be opened. {error}") from None
        return session, "" if there else found.gateway

    def _here(self, variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
        """Variants on gateways that there are here."""
        return tuple(
            one.on((*self._profile_ids(other, one.gateway), self.gateways.active_id)[0])
            if (other := one.profile_id) is not None
            else one
            for one in variants
        )

    def _profile_ids(self, there: str, name: str) -> list[str]:
        """The gateways here that one of that id and name can be: itself, then those of its name."""
        profiles = self.gateways.profiles
        return [*(one.id for one in profiles if one.id == there), *(one.id for one in profiles if one.name == name)]

    def _restored(self, found: Snapshot, exchanges: list[Exchange]) -> Session:
        """The same with what went over the wire. Raises StoreError."""
        from playground.engine.library.store import StoreError

        try:
            session, _ = self.restored(found)
        except ValueError as error:
            raise StoreError(str(error)) from None
        for exchange in exchanges:
            session.exchanges.keep(exchange)
        return session

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
        if self.store is None or session is self.current.main or session.busy or session.asking:
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

    # The trash

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
            session.stop_all()
            gone = _Gone(self.sessions.index(session), session, time.monotonic())
            self.sessions.remove(session)
            experiment = summarize(session)
            if self.current.main is session:
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
        else:
            self._forget_answers(ids)
        self._tell()

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


def untouched(session: Session) -> bool:
    """Whether there is nothing in it that is worth keeping."""
    from playground.engine.session.snapshot import snapshot

    return snapshot(session).untouched
