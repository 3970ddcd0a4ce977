"""Sends an answer at its pace, streamed or in one piece, and ends at once when the client disconnects.

It is an ASGI response class of its own: a generation has to stop in the middle of a wait or a write, and some
answers break off on purpose.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from playground.demo.cheats import Directives
from playground.demo.dice import Dice
from playground.demo.problems import OVERLOADED
from playground.demo.rendering import Rendering, to_json
from playground.demo.steps import Step

Emit = Callable[[bytes], Awaitable[None]]

_KEEP_ALIVE = 1.0  # seconds between signs of life in a stall
STOPPED = "The model stopped in the middle of its answer: the service is overloaded. Please retry."


@dataclass
class Running:
    """The answers being generated now, so that they can be counted and ended with the server."""

    tasks: set[asyncio.Task[object]] = field(default_factory=set)
    closing: bool = False


class _DisconnectedError(Exception):
    """The client has closed the connection."""


class _CutError(Exception):
    """The connection is to be dropped here."""


@dataclass(frozen=True)
class Pace:
    """Seconds to the first token and tokens per second; 0 or infinity is as fast as can be."""

    first: float
    rate: float

    def gap(self, dice: Dice, streams: int) -> float:
        """Seconds to the next token, jittered around the rate."""
        if not 0 < self.rate < math.inf:
            return 0.0
        return dice.uniform(0.6, 1.4) / (self.rate * streams)


def pace_for(directives: Directives, pace: Pace) -> Pace:
    """Return ``pace`` as changed by the directives of the message."""
    if directives.has("fast"):
        return Pace(0.0, math.inf)
    if directives.has("slow"):
        return Pace(pace.first, 5.0)
    if directives.has("tps"):
        return Pace(pace.first, directives.number("tps", pace.rate))
    return pace


class Delivery(Response):
    """An ASGI response that sends one answer. ``streams`` is the number of completions that share the pace."""

    def __init__(
        self,
        rendering: Rendering,
        steps: Iterator[Step],
        pace: Pace,
        dice: Dice,
        running: Running,
        *,
        streamed: bool,
        complete: bool = True,
        streams: int = 1,
    ) -> None:
        media_type = "text/event-stream; charset=utf-8" if streamed else "application/json"
        super().__init__(None, 200, media_type=media_type)
        del self.headers["content-length"]  # sent in parts, of a length not known before
        if streamed:
            self.headers["cache-control"] = "no-cache"
        self._rendering = rendering
        self._steps = steps
        self._pace = pace
        self._dice = dice
        self._running = running
        self._streamed = streamed
        self._complete = complete
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        if task is None or self._running.closing:
            return
        self._running.tasks.add(task)
        try:
            await self._send_watched(receive, send)
        except asyncio.CancelledError:
            if not self._running.closing:
                raise
        finally:
            self._running.tasks.discard(task)

    async def _send_watched(self, receive: Receive, send: Send) -> None:
        """Send the answer until the client disconnects. Returning early makes the server close the connection."""
        try:
            async with asyncio.TaskGroup() as group:
                watch = group.create_task(_watch(receive))
                await self._send_all(send)
                watch.cancel()
        except* (_DisconnectedError, _CutError):
            pass

    async def _send_all(self, send: Send) -> None:
        begun = False

        async def emit(part: bytes) -> None:
            nonlocal begun
            if not begun:
                begun = True
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": part, "more_body": True})
            await asyncio.sleep(0)  # lets the watcher see a client that has gone

        await self._produce(emit)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _produce(self, emit: Emit) -> None:
        """Emit the parts, each when it is due; the headers go with the first, which a stream sends at once."""
        clock = asyncio.get_running_loop().time
        if self._streamed:
            await emit(b"")
        await asyncio.sleep(self._pace.first)
        if self._streamed:
            await emit(self._rendering.opening())
        due = clock()
        spoil = False  # the next piece
        for step in self._steps:
            if step.kind == "stall":
                await self._stall(emit, step.seconds)
                due = clock()
            elif step.kind == "cut":
                if not self._streamed:
                    await emit(to_json(self._rendering.full_answer())[:40])
                raise _CutError
            elif step.kind == "error":
                await emit(self._rendering.error(STOPPED, OVERLOADED))
                if self._streamed:
                    await self._stall(emit, step.seconds)
                return
            elif step.kind == "garble":
                spoil = True
            else:
                due += self._pace.gap(self._dice, self._streams)
                if due > clock():
                    await asyncio.sleep(due - clock())
                if self._streamed:
                    part = self._rendering.step(step)
                    await emit(_spoilt(part) if spoil and part else part)
                    spoil = spoil and not part
        await emit(
            self._rendering.closing(self._complete) if self._streamed else to_json(self._rendering.full_answer())
        )

    async def _stall(self, emit: Emit, seconds: float) -> None:
        """Send nothing but signs of life; before a JSON body they are blank lines, as proxies send them."""
        remaining = seconds
        while remaining > 0:
            await emit(self._rendering.keep_alive() if self._streamed else b"\n")
            pause = min(remaining, _KEEP_ALIVE)
            await asyncio.sleep(pause)
            remaining -= pause


def _spoilt(part: bytes) -> bytes:
    """The last event of ``part`` without its end."""
    return part.rstrip()[:-12] + b"\n\n"


async def _watch(receive: Receive) -> None:
    """Wait until the client disconnects, then raise."""
    while (await receive())["type"] != "http.disconnect":
        pass
    raise _DisconnectedError
