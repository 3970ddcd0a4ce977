"""Watch one open experiment and hand every change to the store.

On the window's thread a snapshot is made, nothing else. Finished turns are handed over at once, typed and set values
after a short delay, and turns that are being received once a second.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from playground.engine.session.changes import (
    Change,
    DebugChanged,
    ExchangeChanged,
    PathChanged,
    RunStateChanged,
    TurnChanged,
    TurnGrew,
)
from playground.engine.session.snapshot import snapshot

if TYPE_CHECKING:
    from playground.engine.library.store.store import Store
    from playground.engine.session.session import Session

SOON: Final = 0.2  # seconds after what is typed or set
GROWING: Final = 0.8  # seconds between two states of a turn that is being received
#: Characters of a text being received that are saved before it ends. All of a longer one every second would be
#: hundreds of megabytes each time; if the process ends in the middle, the rest is in the exchange's frames.
GROWING_LIMIT: Final = 4_000_000


class Autosave:
    """Saves ``session`` to ``store``. A session that is not ``stored`` yet is saved once it holds something."""

    def __init__(self, session: Session, store: Store, *, stored: bool = False) -> None:
        self._session = session
        self._store = store
        self._began = stored
        self._stored = snapshot(session) if stored else None
        self._given = (self._stored, frozenset(session.growing))
        self._timer: asyncio.Handle | None = None
        self._due = 0.0  # when the timer is due; not every event loop's handle tells
        self._growing: dict[str, int] = {}  # reads of exchanges under way that were handed over
        self._saved_ids = set(session.exchanges) if stored else set()
        self._unsubscribe = session.subscribe(self._changed, everywhere=True)

    @property
    def session(self) -> Session:
        """The watched experiment."""
        return self._session

    @property
    def holds_work(self) -> bool:
        """True if it holds something that was not in the store at the beginning; it may be saved by now."""
        current, stored = snapshot(self._session), self._stored
        if stored is None:
            return not current.untouched
        return current.model_copy(update={"changed_at": stored.changed_at}) != stored

    def end(self) -> None:
        """Stop watching; changes that were not handed over are not saved."""
        self._unsubscribe()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def waiting(self) -> bool:
        """True if a change is to be handed over soon."""
        return self._timer is not None

    def again(self) -> None:
        """Hand over all of it but the exchanges, whatever the store has."""
        self._stored, self._given = None, (None, frozenset())
        self.now()

    def now(self) -> None:
        """Hand over the changes at once, if there is anything worth saving."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        session = self._session
        current = snapshot(session, GROWING_LIMIT)
        if not self._began and current.untouched:
            return
        self._began = True
        growing = frozenset(session.growing)
        state = (current, growing)
        if state != self._given:
            self._given = state
            self._store.save(current, growing)
        for exchange in tuple(session.exchanges.values()):
            if exchange.id in self._saved_ids:
                continue
            if exchange.ended is not None:
                self._saved_ids.add(exchange.id)
                self._growing.pop(exchange.id, None)
                if not exchange.dropped:
                    self._store.keep_tape(session.id, exchange)
            elif self._growing.get(exchange.id) != len(exchange.reads):
                self._store.grow_tape(session.id, exchange, self._growing.get(exchange.id, 0))
                self._growing[exchange.id] = len(exchange.reads)

    def _changed(self, change: Change) -> None:
        if isinstance(change, TurnGrew):
            if self._timer is None:  # this is asked at every token
                self._later(GROWING)
        elif isinstance(change, ExchangeChanged):
            exchange = self._session.exchanges.get(change.exchange_id)
            if exchange is not None and exchange.ended is not None and exchange.id not in self._saved_ids:
                self._later(0)
            elif self._timer is None and exchange is not None and exchange.ended is None:
                self._later(GROWING)
        elif isinstance(change, DebugChanged) and change.progress:
            return
        elif isinstance(change, TurnChanged):
            self._later(SOON if self._session.growing else 0)  # thousands of choices end a few at a time
        else:
            self._later(0 if isinstance(change, PathChanged | RunStateChanged) else SOON)

    def _later(self, delay: float) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # nothing runs yet, or any more
            self.now()
            return
        if self._timer is not None:
            if self._due <= loop.time() + delay:
                return
            self._timer.cancel()
        self._due = loop.time() + delay
        self._timer = loop.call_later(delay, self.now)
