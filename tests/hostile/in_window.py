"""Plays shapes into a real window, and says for how long each kept it from answering."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtGui import QFontDatabase

from playground.app import App
from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.gateways.profiles import Profile
from playground.engine.session.call_notes import CallVerdictCode
from playground.engine.session.session import Session
from playground.ui.widgets import loop
from tests.hostile.gaps import LAID_OUT, LIMIT, PASSES, Gaps
from tests.hostile.shapes import WindowShape
from tests.hostile.streams import answer_with
from tests.support.fault_server import FaultServer, head, send

PIECE = 32 * 1024  # bytes in one write
SOON, LATE = 0.1, 0.35  # seconds without work, after which no more of it comes: at once, and by timers of ours
ENOUGH = 60.0  # seconds on the clock that one may take; one that takes longer is stopped


@dataclass(frozen=True)
class Played:
    """One shape played: the longest gap in seconds of a quiet machine, and on the clock.

    ``looked`` is the longest one while the inspector was gone through, and the experiment left and opened again.
    """

    shape: WindowShape
    gap: float
    wall: float
    seconds: float
    whole: bool
    looked: float

    def answered(self, margin: float = 1) -> bool:
        """Return whether the window kept to the limit, times ``margin``."""
        return max(self.gap, self.looked) <= LIMIT * margin


async def warm_up(app: App) -> None:
    """Import and make everything that is otherwise made when first needed."""
    await play(app, WindowShape("a word", lambda: answer_with("a *word*\n\n```json\n{}\n```")))


async def _look(app: App, experiment: str, gaps: Gaps) -> None:
    """Go through the inspector, to another experiment and back, and through the turns."""
    tabs, bar = app.window.inspector.tabs, app.window.pane.view.verticalScrollBar()
    for number in (*range(tabs.count()), 0):
        tabs.setCurrentIndex(number)
        await asyncio.sleep(0.05)
    second = app.workspace.new()
    await gaps.calm(SOON, 0.2)
    app.workspace.open(experiment)
    await gaps.calm(SOON, 0.3)
    for share in (0, 0.5, 1):
        bar.setValue(round(bar.maximum() * share))
        await asyncio.sleep(0.05)
    app.workspace.delete(second.id)


def forget_fonts() -> None:
    """Have Qt forget what it found for which script: it does when a font is added, if there is a file of one."""
    places = map(Path, QStandardPaths.standardLocations(QStandardPaths.StandardLocation.FontsLocation))
    file = next((result for place in places for result in place.rglob("*.ttf")), None)
    if file is not None:
        QFontDatabase.removeApplicationFont(QFontDatabase.addApplicationFont(str(file)))


def prepare(app: App, shape: WindowShape, server: FaultServer) -> Session:
    """A new experiment in view, ready to run, whose answer will be the shape."""
    profile = app.gateways.store.add_profile(Profile(name=shape.name, base_url=server.url, retries=0))
    session = app.workspace.new()
    session.change(profile_id=profile.id)
    session.change(protocol=shape.protocol)
    session.change(model="m")
    session.change(tools=shape.tools)
    session.change(debugging=shape.rules)
    session.turns.add_turn(make_turn(Role.USER, "Go on."))
    body = shape.body()
    server.play(send(head()), *[send(body[index : index + PIECE]) for index in range(0, len(body), PIECE)])
    return session


def _checking(lane: Session) -> bool:
    """Return whether the verdict on a call is still missing."""
    return any(lane.debugger.verdict(call).code is CallVerdictCode.CHECKING for call in lane.transcript.path[-1].calls)


async def play(app: App, shape: WindowShape) -> Played:
    """Run a new experiment whose answer is the shape, in each of its lanes, and look at it on every side."""
    if shape.cold:
        forget_fonts()
    with FaultServer() as server:
        session = prepare(app, shape, server)
        lanes = Lanes(session)
        for _ in range(1, shape.lanes):
            lanes.add()
        if shape.lanes > 1:
            app.window.action("compare.open").trigger()
        async with Gaps(LAID_OUT) as before:
            await before.calm(SOON, 0.5)
        began = time.monotonic()
        async with Gaps(LAID_OUT) as gaps:
            run = loop.spawn(lanes.run(), name="a hostile answer")
            done, _ = await asyncio.wait([run], timeout=ENOUGH)
            if not done:
                lanes.stop()
                await asyncio.wait([run], timeout=ENOUGH)
            for _ in range(5):  # what is drawn and checked after it
                await gaps.calm(LATE, 1.0)
                if not any(_checking(lane) for lane in lanes.all):
                    break
        async with Gaps(LAID_OUT) as looked:
            await _look(app, session.id, looked)
        if shape.lanes > 1:
            app.window.action("compare.open").trigger()
        app.workspace.delete(session.id)
        await asyncio.sleep(0.1)
        return Played(shape, gaps.seconds, gaps.wall, time.monotonic() - began, bool(done), looked.seconds)


async def best_of(app: App, shape: WindowShape, margin: float = 1, passes: int = PASSES) -> Played:
    """Play a shape, and again so many times in all where it took longer than it may: the shortest gaps count."""
    best = await play(app, shape)
    while passes > 1 and not best.answered(margin):
        passes -= 1
        next_one = await play(app, shape)
        gap, looked = min(best.gap, next_one.gap), min(best.looked, next_one.looked)
        best = replace(next_one, gap=gap, looked=looked, whole=best.whole and next_one.whole)
    return best
