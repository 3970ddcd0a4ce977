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


async def test_undo_goes_over_a_restart_to_where_each_lane_stood(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = workspace.current
    session.change(model="demo-chat")
    lanes = Lanes(session)
    lanes.add()
    states = []
    for question in ("Hello", "And now?"):
        states.append([said(lane) for lane in lanes.all])
        lanes.write(make_turn(Role.USER, question))
        states.append([said(lane) for lane in lanes.all])
        await lanes.run()
    states.append([said(lane) for lane in lanes.all])
    await lanes.all[1].regenerate(lanes.all[1].transcript.path[-1].id)
    lanes.all[1].turns.select_alternative(lanes.all[1].transcript.path[1].id)
    now = [lane.transcript.head for lane in lanes.all]
    await workspace.close()

    workspace = await make_workspace()
    session = workspace.current
    assert [lane.transcript.head for lane in session.lanes] == now
    found = []
    while session.undo():
        found.append([said(lane) for lane in session.lanes])
    assert [state for state in found if state in states] == states[::-1]
    while session.redo():
        pass
    assert [lane.transcript.head for lane in session.lanes] == now


async def test_a_lane_that_older_states_do_not_know_stands_where_it_stood(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = workspace.current
    session.change(model="demo-chat")
    session.turns.add_turn(make_turn(Role.USER, "One"))
    session.turns.add_turn(make_turn(Role.USER, "Two"))
    lane = Lanes(session).add()
    session.turns.add_turn(make_turn(Role.USER, "Three"))
    await workspace.close()
    workspace = await make_workspace()
    session, lane = workspace.current.lanes
    ends = []
    while session.undo():
        ends.append((said(session), said(lane)))
    assert ends == [(["One", "Two"], ["One", "Two"]), (["One"], ["One"]), ([], [])]


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
