"""Lanes outlive the process, whatever ends it: they are branches of the one experiment."""

from __future__ import annotations

from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.library.workspace import Workspace
from playground.engine.session.session import Session
from tests.engine.library.store.conftest import MakeWorkspace


def said(lane: Session) -> list[str]:
    return [turn.text for turn in lane.transcript.path]


def ids(lane: Session) -> list[str]:
    """Which turns, not what they say: two answers may have the same words by chance."""
    return [turn.id for turn in lane.transcript.path]


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
        states.append([ids(lane) for lane in lanes.all])
        lanes.write(make_turn(Role.USER, question))
        states.append([ids(lane) for lane in lanes.all])
        await lanes.run()
    states.append([ids(lane) for lane in lanes.all])
    await lanes.all[1].regenerate(lanes.all[1].transcript.path[-1].id)
    lanes.all[1].turns.select_alternative(lanes.all[1].transcript.path[1].id)
    now = [lane.transcript.head for lane in lanes.all]
    await workspace.close()

    workspace = await make_workspace()
    session = workspace.current
    assert [lane.transcript.head for lane in session.lanes] == now
    found = []
    while session.undo():
        found.append([ids(lane) for lane in session.lanes])
    assert [state for state in found if state in states] == states[::-1]
    while session.redo():
        pass
    assert [lane.transcript.head for lane in session.lanes] == now


async def test_ticks_stand_after_a_restart_as_they_did(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = workspace.current
    session.change(model="demo-chat")
    lanes = Lanes(session)
    lanes.add()
    gone = lanes.add()
    lanes.write(make_turn(Role.USER, "Hello"))
    for lane in (lanes.all[0], gone):
        lanes.tick(lane, False)
    lanes.close(gone)
    await workspace.close()
    workspace = await make_workspace()
    again = Lanes(workspace.current)
    assert [lane in again.ticked for lane in again.all] == [False, True]
    again.tick(again.all[0], True)
    assert workspace.current.left_out == (), "of a lane that is closed nothing is kept"
