"""Plays shapes into a real window, and says for how long each kept it from answering."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from playground.app import App
from playground.domain.transcript import Role, make_turn
from playground.engine.profiles import Profile
from playground.engine.session import Session
from playground.ui import loop
from tests.hostile.gaps import Gaps
from tests.hostile.shapes import WindowShape
from tests.support.fault_server import FaultServer, head, send

PIECE = 32 * 1024  # bytes in one write
ENOUGH = 60.0  # seconds on the clock that one may take; one that takes longer is stopped


@dataclass(frozen=True)
class Played:
    """One shape played: the longest gap in seconds of a quiet machine, and on the clock."""

    shape: WindowShape
    gap: float
    wall: float
    seconds: float
    whole: bool


def prepare(app: App, shape: WindowShape, server: FaultServer) -> Session:
    """A new experiment in view, ready to run, whose answer will be the shape."""
    profile = app.gateways.store.add(Profile(name=shape.name, base_url=server.url, retries=0))
    session = app.workspace.new()
    session.set_profile(profile.id)
    session.set_protocol(shape.protocol)
    session.set_model("m")
    session.set_tools(shape.tools)
    session.debugger.set_debugging(shape.rules)
    session.add_turn(make_turn(Role.USER, "Go on."))
    body = shape.body()
    server.play(send(head()), *[send(body[at : at + PIECE]) for at in range(0, len(body), PIECE)])
    return session


async def play(app: App, shape: WindowShape) -> Played:
    """Run a new experiment whose answer is the shape, and wait until the window has come to rest."""
    with FaultServer() as server:
        session = prepare(app, shape, server)
        await asyncio.sleep(0.5)
        began = time.monotonic()
        async with Gaps() as gaps:
            run = loop.spawn(session.run(), name="a hostile answer")
            done, _ = await asyncio.wait([run], timeout=ENOUGH)
            if not done:
                session.stop()
                await asyncio.wait([run], timeout=ENOUGH)
            await asyncio.sleep(1.0)  # what is drawn and checked after it
        app.workspace.delete(session.id)
        await asyncio.sleep(0.1)
        return Played(shape, gaps.seconds, gaps.wall, time.monotonic() - began, bool(done))
