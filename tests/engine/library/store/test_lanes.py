"""Lanes outlive the process, whatever ends it: they are branches of the one experiment."""

from __future__ import annotations

import asyncio
from pathlib import Path

from playground.demo.server import DemoServer
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.library.workspace import Workspace
from playground.engine.session.session import Session
from tests.engine.library.store.conftest import MakeWorkspace, sound
from tests.engine.library.store.test_killed import killed


def said(lane: Session) -> list[str]:
    return [turn.text for turn in lane.transcript.path]


async def test_lanes_are_there_after_a_restart_and_in_a_copy(make_workspace: MakeWorkspace) -> None:
    workspace: Workspace = await make_workspace()
    session = workspace.current
    session.change(model="demo-chat")
    lanes = Lanes(session)
    lane = lanes.add(name="other")
    lane.change(model="demo-reasoner")
    lanes.write(make_turn(Role.USER, "Hello"))
    await lanes.run()
    texts = [said(one) for one in lanes.all]
    await workspace.close()
    workspace = await make_workspace()
    again = Lanes(workspace.current)
    assert [said(one) for one in again.all] == texts
    assert [one.settings.model for one in again.all] == ["demo-chat", "demo-reasoner"]
    assert workspace.current.undo()
    assert len(said(workspace.current)) == 1
    copy = await workspace.duplicate(workspace.current.id)
    assert len(copy.lanes) == 2


async def test_lanes_that_were_killed_in_mid_stream_are_there_up_to_the_last_second(
    demo: DemoServer, path: Path, make_workspace: MakeWorkspace
) -> None:
    had = await asyncio.to_thread(killed, path, demo.start(), 3)
    assert had > 10
    workspace = await make_workspace()
    found = [await workspace.bring(experiment.id) for experiment in workspace.experiments]
    session = next(one for one in found if one.exchanges)
    lanes = session.lanes
    assert len(lanes) == 3
    assert len({lane.transcript.head for lane in lanes}) == 3
    for lane in lanes:
        turn = lane.transcript.path[-1]
        assert turn.text
        assert turn.outcome is not None
        assert turn.outcome.ending is Ending.INTERRUPTED
        tape = await lane.bring_exchange(turn.outcome.exchange or "")
        assert tape is not None
        assert len(tape.reads) >= had
    await workspace.close()
    assert sound(path)
