"""What a gateway takes, shared by all workers that ask it: leases of requests, written down at the scheduler.

A worker holds leave for some requests, and asks for more before it runs out, so that no request waits for the
scheduler while the gateway is not the limit. It says what it has under way, and what the gateway told; the ledger
answers how many it may hold from now on. So what one was told, all know within ``EVERY`` seconds. Who is not heard of
holds nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from playground.gateway.limits import Limiter, RateLimit, RateLimits

EVERY: Final = 0.1  # seconds between two words of a worker that asks
FORGOTTEN: Final = 10.0  # seconds after which nobody believes in a lease
_VALID: Final = 2.0  # seconds for which a worker goes on without hearing of the ledger
_PAUSE: Final = 0.01  # seconds between two looks for leave
_LEAST: Final = 16  # requests that a worker asks leave for


class Report(NamedTuple):
    """What a worker says. ``held`` is how many it has leave for and has not sent, ``wanted`` how many it would like.

    ``windows`` are (dimension, remaining, seconds until the reset) of the last answer, ``hold`` the seconds that an
    answer asked to wait.
    """

    under_way: int
    held: int
    wanted: int
    windows: tuple[tuple[str, float | None, float | None], ...] = ()
    hold: float = 0.0


#: A worker, and the run that it takes part in.
Holder: TypeAlias = tuple[str, str]


@dataclass
class _Gateway:
    limiter: Limiter
    holders: dict[Holder, tuple[int, float]] = field(default_factory=dict)  # requests out, and when heard of


class Ledger:
    """Who may ask which gateway how often. ``clock`` gives seconds that only go on."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._gateways: dict[str, _Gateway] = {}

    def lease(self, gateway: str, holder: Holder, report: Report) -> tuple[int, float]:
        """For how many requests a holder has leave from now on, those that it had included, and for how many seconds
        there will be none.
        """
        found = self._gateways.setdefault(gateway, _Gateway(Limiter(self._clock)))
        for name, (_, heard) in list(found.holders.items()):
            if self._clock() - heard > FORGOTTEN:
                self._end(found, name)
        limiter = found.limiter
        out, _ = found.holders.get(holder, (0, 0.0))
        for _ in range(out - report.under_way - report.held):
            limiter.end()
        for _ in range(report.under_way + report.held - out):  # it was forgotten, and is back
            limiter.begin()
        if report.windows:
            limits = tuple(RateLimit(name, None, left, reset) for name, left, reset in report.windows)
            limiter.note(RateLimits(limits))
        if report.hold:
            limiter.hold(report.hold)
        found.holders[holder] = (report.under_way + report.held, self._clock())
        may = self._share(found, report)
        for _ in range(may - report.held):
            limiter.begin()
        for _ in range(report.held - may):
            limiter.give_back()
        found.holders[holder] = (report.under_way + may, self._clock())
        return may, limiter.delay if may == 0 else 0.0

    @staticmethod
    def _share(found: _Gateway, report: Report) -> int:
        if found.limiter.is_paused:
            return 0
        left = found.limiter.remaining
        if left is None:
            return report.wanted
        free = left + report.held
        fair = max(int(free / (2 * len(found.holders))), min(int(free), 1))
        return max(min(report.wanted, fair), 0)

    def lose(self, worker: str) -> None:
        """A worker is gone, with all that it had."""
        for found in self._gateways.values():
            for holder in [one for one in found.holders if one[0] == worker]:
                self._end(found, holder)

    @staticmethod
    def _end(found: _Gateway, holder: Holder) -> None:
        out, _ = found.holders.pop(holder, (0, 0.0))
        for _ in range(out):
            found.limiter.end()


class LeasedLimiter(Limiter):
    """A worker's: what it says goes to the ledger by ``exchange``, requests wait for leave. ``renew`` has to run."""

    def __init__(self, exchange: Callable[[Report], Awaitable[Sequence[Any]]]) -> None:
        super().__init__()
        self._exchange = exchange
        self._may = 0
        self._none_until = self._valid_until = 0.0
        self._sent = 0
        self._limits: tuple[RateLimits, float] | None = None
        self._asked_to_wait: tuple[float, float] | None = None
        self._wanted = asyncio.Event()

    @property
    def delay(self) -> float:
        """Seconds until the next request may go out, or until it is worth to look again."""
        own = super().delay
        now = time.monotonic()
        if own > 0 or (self._may > 0 and now < self._valid_until):
            return own
        self._wanted.set()
        return max(self._none_until - now, _PAUSE)

    def begin(self) -> None:
        super().begin()
        self._may -= 1
        self._sent += 1
        if self._may <= self._sent // 2:
            self._wanted.set()

    def note(self, limits: RateLimits) -> None:
        super().note(limits)
        if limits:
            self._limits = (limits, time.monotonic())

    def hold(self, seconds: float) -> None:
        super().hold(seconds)
        self._asked_to_wait = (seconds, time.monotonic())
        self._wanted.set()

    async def renew(self) -> None:
        """Ask for leave before there is none left, and say what the gateway told, until cancelled."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), EVERY)
            if not (self._wanted.is_set() or self._sent or self._under_way or self._may > 0):
                continue
            self._wanted.clear()
            had, sent, self._sent = self._may, self._sent, 0
            wanted = max(_LEAST, 4 * sent, 2 * self._under_way) if sent or self._under_way or had <= 0 else 0
            report = Report(self._under_way, max(had, 0), wanted, self._told(), self._hold())
            may, none_for = await self._exchange(report)
            self._may = may - (had - self._may)
            now = time.monotonic()
            self._none_until, self._valid_until = now + none_for, now + _VALID
            await asyncio.sleep(_PAUSE)

    def _told(self) -> tuple[tuple[str, float | None, float | None], ...]:
        if self._limits is None:
            return ()
        (limits, at), self._limits = self._limits, None
        age = time.monotonic() - at
        return tuple(
            (one.dimension, one.remaining, one.reset_in - age if one.reset_in is not None else None)
            for one in limits.windows
        )

    def _hold(self) -> float:
        if self._asked_to_wait is None:
            return 0.0
        (seconds, at), self._asked_to_wait = self._asked_to_wait, None
        return max(seconds - (time.monotonic() - at), 0.0)
