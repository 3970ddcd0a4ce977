"""Lanes outlive the process, whatever ends it: they are branches of the one experiment."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playground.demo.server import DemoServer
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.gateways.offered import Gateways
from playground.engine.library.store import Mode, Store
from playground.engine.library.workspace import Workspace
from playground.engine.session.session import Session
from playground.engine.session.variants import MOST_LANES
from tests.engine.library.store.conftest import MakeWorkspace, sound
from tests.engine.library.store.test_killed import killed


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


PASSES = 4  # what the code does is done in each of them, what a busy machine does is not


async def test_six_lanes_that_were_killed_in_mid_stream_lose_a_second_at_most(
    gateway: DemoServer, tmp_path: Path, gateways: Gateways
) -> None:
    lost: list[float] = []
    while min(lost, default=2.0) > 1.0 and len(lost) < PASSES:
        lost.append(await _lost(gateways, tmp_path / str(len(lost)), gateway.start()))
    assert min(lost) <= 1.0, lost


async def _lost(gateways: Gateways, folder: Path, url: str) -> float:
    """For how many seconds before it was killed that lane received what is not there which lost the most."""
    path = folder / "experiments.db"
    said = await asyncio.to_thread(killed, path, url, MOST_LANES)
    await _sound_where_it_was_cut(gateways, path)
    seconds = []
    async with opened(gateways, path) as found:
        session = next(one for one in found if len(one.lanes) > 1)
        assert len({lane.transcript.head for lane in session.lanes}) == len(session.lanes) == MOST_LANES
        for lane in session.lanes:
            turn = lane.transcript.path[-1]
            assert turn.text or turn.reasoning  # which it may still be at where much else is done
            assert turn.outcome is not None
            assert turn.outcome.ending is Ending.INTERRUPTED
            tape = await lane.bring_exchange(turn.outcome.exchange or "")
            assert tape is not None
            kept = len(tape.reads)
            assert kept > 10
            seconds.append(said[-1][0] - max(at for at, reads in said if reads.get(tape.id, 0) <= kept))
    assert sound(path)
    return max(seconds)


async def _sound_where_it_was_cut(gateways: Gateways, path: Path) -> None:
    """As after a power failure: the end of what was written last is not on the disk, from wherever on."""
    log = path.with_name(f"{path.name}-wal")
    whole = log.read_bytes()
    assert whole
    for share in (0.2, 0.5, 0.8, 0.97):
        cut = path.parent / str(share) / path.name
        cut.parent.mkdir()
        shutil.copy(path, cut)
        cut.with_name(log.name).write_bytes(whole[: round(len(whole) * share)])
        async with opened(gateways, cut) as found:
            for lane in [lane for session in found for lane in session.lanes]:
                assert lane.transcript.head in {None, *lane.transcript.turns}
        assert sound(cut)


@asynccontextmanager
async def opened(gateways: Gateways, path: Path) -> AsyncIterator[list[Session]]:
    """The experiments of a store, as after a start."""
    workspace = Workspace(gateways, Store(path))
    await workspace.start()
    try:
        assert workspace.store is not None
        assert workspace.store.status.mode is Mode.READY
        yield [await workspace.bring(experiment.id) for experiment in workspace.experiments]
    finally:
        await workspace.close()


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
