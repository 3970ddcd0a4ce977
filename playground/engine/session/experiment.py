"""An open experiment: its settings, its tree of turns with undo, its recordings, and its lanes.

The conversation is the first lane; Compare adds one for each variant (see `playground.engine.session.session`).
Everything shared by the lanes is here; everything that is a lane's own is there.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final

from playground.domain.accumulator import GrowingChoice
from playground.domain.model_facts import ModelFacts
from playground.domain.transcript import new_id
from playground.engine.session.call_notes import CallNotes
from playground.engine.session.changes import (
    Change,
    DebugChanged,
    ExchangeChanged,
    ObserverGroup,
    PathChanged,
    RunState,
    SettingsChanged,
    TurnChanged,
)
from playground.engine.session.drafts import Draft, OpenEdits
from playground.engine.session.history import UndoStack
from playground.engine.session.session import Session
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.titles import Preview, plain_preview
from playground.engine.session.tool_calls import Serving
from playground.gateway.tape import Exchange
from playground.protocols import DEFAULT
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.domain.costs import PriceLookup
    from playground.engine.gateways.profiles import Profile
    from playground.gateway.client import GatewayClient

#: Returns a client for a profile id; raises RunRefusedError if there is none.
Connect = Callable[[str], Awaitable["GatewayClient"]]
#: Returns a stored exchange by the ids of the experiment and its own.
FetchExchange = Callable[[str, str], Awaitable["Exchange | None"]]

#: Default limit of the memory of recorded bodies, in bytes.
DEFAULT_LIMIT: Final = 256 * 1024 * 1024
#: Memory of a read besides its bytes.
_READ_OVERHEAD: Final = 128


class Tapes(dict[str, Exchange]):
    """Exchanges by id, oldest first, with a limit of the memory of their bodies.

    Above the limit the oldest bodies are dropped; times, headers and failures remain. Exchanges under way and the
    latest one keep their bodies.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        super().__init__()
        self._limit = limit
        self._sizes: dict[str, int] = {}  # of ended exchanges with their bodies, oldest first

    @property
    def limit(self) -> int:
        """Bytes that the bodies of ended exchanges may take together. A lower one takes effect at once."""
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self._limit = limit
        self._drop_oldest()

    @property
    def bytes(self) -> int:
        """Bytes that the bodies of ended exchanges take now."""
        return sum(self._sizes.values())

    def keep(self, exchange: Exchange) -> None:
        """Add an exchange, or more of it; called for every read, so it costs nothing before the end."""
        self[exchange.id] = exchange
        if exchange.ended is not None and exchange.id not in self._sizes and not exchange.dropped:
            size = len(exchange.request_body) + exchange.size + _READ_OVERHEAD * len(exchange.reads)
            self._sizes[exchange.id] = size
            self._drop_oldest(spared=exchange.id)

    def _drop_oldest(self, spared: str = "") -> None:
        used = self.bytes
        for id_ in list(self._sizes):
            if used <= self._limit or id_ == spared:
                break
            used -= self._sizes.pop(id_)
            self[id_].drop()


class Experiment:
    """One open experiment. It begins with `settings`, or with the given profile, protocol and model.

    `profile_of` returns a gateway's profile, from which extra body and reasoning rule are inherited; `price_of` the
    price of a gateway's model (by default that in the profile); `facts_of` its context limits and abilities; `serving`
    the caller of tool servers, when it is first needed. `literal`: turns contain no variables. `preview` shortens texts
    and removes secrets. `unread` counts rows that the store could not read.
    """

    def __init__(
        self,
        connect: Connect,
        *,
        profile_id: str = "",
        protocol: str = DEFAULT,
        model: str = "",
        settings: ExperimentSettings | None = None,
        profile_of: Callable[[str], Profile] | None = None,
        literal: bool = False,
        preview: Preview = plain_preview,
        serving: Callable[[], Serving] | None = None,
        price_of: PriceLookup | None = None,
        facts_of: Callable[[str, str], ModelFacts] | None = None,
    ) -> None:
        if settings is None:
            settings = ExperimentSettings(
                profile_id=profile_id,
                protocol=protocol,
                model=model,
                parameters={protocol: get_protocol(protocol).parameters_type.begin({})},
            )
        self.id = new_id()
        self.created_at = self.changed_at = time.time()
        self.pinned = self.archived = False
        self.left_out: tuple[str, ...] = ()  # lanes that get no messages, as in a snapshot
        self.unread: Mapping[tuple[str, bool], int] = {}
        self.connect = connect
        self.fetch_exchange: FetchExchange | None = None
        self.profile_of = profile_of
        self.price_of = price_of
        self.facts_of = facts_of
        self.ask_servers = serving
        self.literal = literal
        self.preview = preview
        self.stack = UndoStack(settings)
        self.observer_group = ObserverGroup()
        self.growing: dict[str, GrowingChoice] = {}
        self.draft = Draft()
        self.open_edits: OpenEdits = {}
        self.exchanges = Tapes()
        self.notes = CallNotes(lambda: self.main.observers.tell(DebugChanged()))
        self._lanes: dict[str, Session] = {}
        self.main = Session(self)
        self.main.subscribe(self._touch, PathChanged, TurnChanged, SettingsChanged, DebugChanged)

    def _touch(self, change: Change) -> None:
        if not (isinstance(change, DebugChanged) and change.progress):
            self.changed_at = time.time()

    @property
    def serving(self) -> Serving | None:
        """The caller of tool servers; None without one."""
        return self.ask_servers() if self.ask_servers is not None else None

    # Lanes

    def lane(self, variant_id: str) -> Session:
        """Return the lane of a variant. A closed lane remains the same object, since closing can be undone.

        Raises KeyError for a variant that never existed.
        """
        lane = self._lanes.get(variant_id)
        if lane is None:
            if all(variant.id != variant_id for variant in self.stack.settings.variants):
                raise KeyError(variant_id)
            lane = self._lanes[variant_id] = Session(self, variant_id)
        return lane

    @property
    def lanes(self) -> tuple[Session, ...]:
        """The open lanes in the order of their columns, the conversation first."""
        return (self.main, *(self.lane(variant.id) for variant in self.stack.settings.variants))

    @property
    def all_lanes(self) -> tuple[Session, ...]:
        """All lanes, including closed ones."""
        return (self.main, *self._lanes.values())

    def forget_lanes(self) -> None:
        """Forget all lanes but the conversation, before another experiment is loaded."""
        self._lanes.clear()

    @property
    def busy(self) -> bool:
        """Return whether a run is under way in any lane."""
        return any(lane.state is not RunState.IDLE for lane in self.all_lanes)

    @property
    def calls_server(self) -> bool:
        """Return whether a tool server is answering a call of any lane, even without a run."""
        return any(lane.debugger.pending_calls.under_way for lane in self.all_lanes)

    def stop(self) -> None:
        """Stop the runs of all lanes and keep what has arrived."""
        for lane in self.all_lanes:
            lane.stop()

    # Recordings

    def exchange_changed(self, exchange: Exchange, lane: Session | None = None) -> None:
        """Add an exchange, or more of it, and tell the observers of the lane it belongs to."""
        self.exchanges.keep(exchange)
        (lane or self.main).observers.tell(ExchangeChanged(exchange.id))

    async def bring_exchange(self, exchange_id: str) -> Exchange | None:
        """Return an exchange with its bodies, from the store if they are not in memory; None for an unknown one.

        The bodies are missing if they are not stored either. Raises StoreError.
        """
        before = self.exchanges.get(exchange_id)
        if before is None:
            return None
        complete = await self.with_bodies(before)
        now = self.exchanges.get(exchange_id)
        if now is None or (now is not before and not now.dropped):
            return now  # fetched by another call meanwhile
        if complete is not before:
            self.exchange_changed(complete)
        return complete

    async def with_bodies(self, exchange: Exchange) -> Exchange:
        """Return an exchange with its bodies, without keeping them in memory. Raises StoreError."""
        if self.fetch_exchange is None or not exchange.dropped:
            return exchange
        return await self.fetch_exchange(self.id, exchange.id) or exchange

    def may_fetch(self, exchange: Exchange) -> bool:
        """Return whether the bodies of an exchange are not in memory and can be requested from the store."""
        return bool(exchange.dropped) and self.fetch_exchange is not None
