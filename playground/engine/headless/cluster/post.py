"""What is between the command and the workers, at the scheduler: errands on their way out, results on their way back.

An errand is with one worker at a time. When that one is lost, what it had goes to others; a result that comes twice
counts once. Results stay until the command said that it has them. Nothing is written, and nothing outlives its run.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

POLL: Final = 2.0  # seconds for which a question waits for its answer
SILENT: Final = 30.0  # seconds after which a worker that asks nothing is lost
MOST_LOST: Final = 3  # workers that an errand may be lost with
_LOT: Final = 8 * 1024 * 1024  # bytes of results that go in one answer

#: A number of the command's own, and the errand; a number and the result.
Numbered: TypeAlias = tuple[int, Sequence[Any]]
#: What happened ("lost", "refused", "given up"), to whom, and what to say of it: words, or a number.
Event: TypeAlias = tuple[str, str, Any]


@dataclass
class _Worker:
    heard: float
    out: dict[int, Sequence[Any]] = field(default_factory=dict)  # errands that it has
    new: deque[Numbered] = field(default_factory=deque)  # those of them that it was not handed yet
    called: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class _Run:
    client: str
    workers: dict[str, _Worker] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    known: set[int] = field(default_factory=set)  # errands that were taken in, and have no result yet
    waiting: deque[Numbered] = field(default_factory=deque)  # for a worker
    losses: dict[int, int] = field(default_factory=dict)
    results: dict[int, Numbered] = field(default_factory=dict)  # by a number that goes up
    events: dict[int, Event] = field(default_factory=dict)
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    called: asyncio.Event = field(default_factory=asyncio.Event)


class Post:
    """All runs of a cluster. What its methods are asked for a run that is over, they answer with None."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}

    # The command's side

    def open(self, run: str, client: str) -> None:
        """A run begins; it is over when it is closed, or when that client of the cluster is gone."""
        self._runs[run] = _Run(client)

    def close(self, run: str) -> None:
        """A run is over: its workers find nothing more to do."""
        found = self._runs.pop(run, None)
        if found is not None:
            for worker in found.workers.values():
                worker.called.set()

    def send(self, run: str, errands: Iterable[Numbered]) -> None:
        """Hand errands to workers. One that is there already is not taken twice."""
        found = self._runs.get(run)
        if found is not None:
            new = [(number, errand) for number, errand in errands if number not in found.known]
            found.known.update(number for number, _ in new)
            self._deal(found, new)

    async def gather(self, run: str, known: int) -> tuple[list[Any], list[Any], int, int] | None:
        """Results and events after the number ``known``, each behind its number, as soon as there are any; how many
        workers there are, and how many refused.
        """
        found = self._runs.get(run)
        if found is None:
            return None
        for numbered in (found.results, found.events):
            for number in [one for one in numbered if one <= known]:
                del numbered[number]
        if not found.results and not found.events:
            await _called(found.called)
        now = time.monotonic()
        for name in [name for name, worker in found.workers.items() if now - worker.heard > SILENT]:
            self._lost(found, name)
        results, size = [], 0
        for number, (errand, result) in found.results.items():
            results.append((number, errand, result))
            size += sum(len(part) for part in result if isinstance(part, bytes))
            if size > _LOT:
                break
        # No event goes before a result with a lower number: what is known is known up to a number.
        last = results[-1][0] if len(results) < len(found.results) else None
        events = [(number, *event) for number, event in found.events.items() if last is None or number < last]
        return results, events, len(found.workers), len(found.refused)

    # The workers' side

    async def take(self, run: str, worker: str) -> list[Numbered] | None:
        """The errands for a worker, as soon as there are any; empty after a while without. Who asks takes part."""
        found = self._runs.get(run)
        if found is None:
            return None
        there = found.workers.get(worker)
        if there is None:
            there = found.workers[worker] = _Worker(time.monotonic())
            waiting, found.waiting = found.waiting, deque()
            self._deal(found, waiting)
        there.heard = time.monotonic()
        if not there.new:
            await _called(there.called)
        there.heard = time.monotonic()
        if self._runs.get(run) is not found:
            return None
        new, there.new = there.new, deque()
        return list(new)

    def bring(self, run: str, worker: str, results: Iterable[Numbered]) -> bool | None:
        """Results of a worker: true once they are here."""
        found = self._runs.get(run)
        if found is None:
            return None
        there = found.workers.get(worker)
        for number, result in results:
            if there is not None:
                there.out.pop(number, None)
            if number in found.known:
                found.known.discard(number)
                found.results[next(found.numbers)] = (number, result)
        found.called.set()
        return True

    def refuse(self, run: str, worker: str, words: str) -> None:
        """A worker cannot take part."""
        found = self._runs.get(run)
        if found is not None:
            found.refused.add(worker)
            self._tell(found, ("refused", worker, words))

    # The cluster's side

    def lose(self, worker: str) -> None:
        """A worker left the cluster."""
        for found in self._runs.values():
            self._lost(found, worker)

    def gone(self, client: str) -> list[str]:
        """A client left the cluster; its runs are over. Returns them."""
        runs = [run for run, found in self._runs.items() if found.client == client]
        for run in runs:
            self.close(run)
        return runs

    def _deal(self, found: _Run, errands: Iterable[Numbered]) -> None:
        """Each to the worker that has the least to do."""
        for number, errand in errands:
            if not found.workers:
                found.waiting.append((number, errand))
                continue
            worker = min(found.workers.values(), key=lambda one: len(one.out))
            worker.out[number] = errand
            worker.new.append((number, errand))
            worker.called.set()

    def _lost(self, found: _Run, name: str) -> None:
        worker = found.workers.pop(name, None)
        if worker is None:
            return
        worker.called.set()
        again = []
        for number, errand in worker.out.items():
            if number not in found.known:
                continue
            found.losses[number] = found.losses.get(number, 0) + 1
            if found.losses[number] >= MOST_LOST:
                found.known.discard(number)
                self._tell(found, ("given up", name, number))
            else:
                again.append((number, errand))
        self._tell(found, ("lost", name, len(again)))
        self._deal(found, again)

    @staticmethod
    def _tell(found: _Run, event: Event) -> None:
        found.events[next(found.numbers)] = event
        found.called.set()


async def _called(event: asyncio.Event) -> None:
    """Wait until somebody calls, for a while."""
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), POLL)
    event.clear()
