"""The exchanges of one experiment, with a bound on the memory that their bodies take.

Above the bound the oldest bodies go, and the exchanges say so; times, headers and failures stay. What is still on its
way is never let go. The one that came last stays until the next: it is looked at, and would be read again at once.
"""

from __future__ import annotations

from typing import Final

from playground.gateway.tape import Exchange

DEFAULT_LIMIT: Final = 256 * 1024 * 1024  # bytes
#: Memory that a read takes besides its bytes.
_A_READ: Final = 128


class Tapes(dict[str, Exchange]):
    """Exchanges by id, oldest first. ``keep`` puts one in, and again when more of it is known."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        super().__init__()
        self._limit = limit
        self._sizes: dict[str, int] = {}  # of those that have ended and still have their bodies, oldest first

    @property
    def limit(self) -> int:
        """Bytes that the bodies of ended exchanges may take together. A lower one takes effect at once."""
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self._limit = limit
        self._settle()

    @property
    def bytes(self) -> int:
        """What the bodies of ended exchanges take now."""
        return sum(self._sizes.values())

    def keep(self, exchange: Exchange) -> None:
        """Have ``exchange`` among them; called for every read, it costs nothing before the end."""
        self[exchange.id] = exchange
        if exchange.ended is not None and exchange.id not in self._sizes and not exchange.dropped:
            self._sizes[exchange.id] = len(exchange.request_body) + exchange.size + _A_READ * len(exchange.reads)
            self._settle(spared=exchange.id)

    def _settle(self, spared: str = "") -> None:
        taken = self.bytes
        for id_ in list(self._sizes):
            if taken <= self._limit or id_ == spared:
                break
            taken -= self._sizes.pop(id_)
            self[id_].drop()
