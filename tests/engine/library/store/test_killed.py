"""Killed at any moment, a store opens again and has all that it said was on the disk."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from playground.demo.server import DemoServer
from playground.domain.transcript import Ending
from playground.engine.gateways.gateways import Gateways
from playground.engine.library.store import Mode, Store
from playground.engine.library.workspace import Workspace
from playground.engine.session.session import Session
from playground.engine.session.variants import MOST_LANES
from tests.engine.exchanges import indexed
from tests.engine.library.store.conftest import sound
from tests.support.slow import slow_except


@pytest.mark.timeout(420)
@pytest.mark.skipif(sys.platform == "win32", reason="platform: Windows has neither fork nor SIGKILL")
@pytest.mark.parametrize("rounds", slow_except([10], [10, 205]))
def test_store_killed_at_random_moments_keeps_what_was_acknowledged(
    gateway: DemoServer, path: Path, rounds: int
) -> None:
    command = [sys.executable, "-m", "tests.engine.library.store.killed", str(path), gateway.start(), str(rounds)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    outcome = json.loads(ended.stdout.splitlines()[-1])
    assert (outcome["wrong"], outcome["mode"], outcome["words"]) == ([], "ready", "")
    assert outcome["rounds"] >= rounds
    assert outcome["acknowledged"] > rounds
    assert min(outcome["interrupted"], outcome["complete"]) >= rounds // 20


LATE = 2.0  # seconds: one between two states, and one for a machine that has much else to do
Reports = list[tuple[float, dict[str, int]]]


def killed(path: Path, url: str, lanes: int = 1) -> Reports:
    """Kill a process in the middle of an answer in each lane; return the number of reads of each lane over time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.engine.library.store.killed_stream", str(path), url, str(lanes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        reports: Reports = []
        for line in child.stdout:
            reports.append(tuple(json.loads(line)))
            first = next((moment for moment, reads in reports if reads), reports[-1][0])
            if reports[-1][0] - first > 2 * LATE:
                break
        child.kill()
        reports += [tuple(json.loads(line)) for line in child.stdout if line.endswith("\n")]
    return reports


def reads_before(reports: Reports) -> dict[str, int]:
    """Return the number of reads of each exchange ``LATE`` seconds before the end."""
    return [reads for moment, reads in reports if moment < reports[-1][0] - LATE][-1]


def long_before(reports: Reports) -> int:
    """Return the number of all reads ``LATE`` seconds before the end."""
    return sum(reads_before(reports).values())


@asynccontextmanager
async def opened(gateways: Gateways, path: Path) -> AsyncIterator[list[Session]]:
    """Open the experiments of a store, as after a start."""
    workspace = Workspace(gateways, Store(path))
    status = await workspace.start()
    try:
        assert status is not None
        assert status.mode is Mode.READY
        yield [await workspace.bring(experiment.id) for experiment in workspace.experiments]
    finally:
        await workspace.close()


async def test_lanes_killed_in_mid_stream_are_there_up_to_the_last_seconds(
    gateway: DemoServer, gateways: Gateways, path: Path
) -> None:
    reports = await asyncio.to_thread(killed, path, gateway.start(), MOST_LANES)
    log = path.with_name(f"{path.name}-wal")
    content = log.read_bytes()
    assert content
    for share in (0.2, 0.5, 0.97):  # as after a power failure: the end of what was written last is lost
        cut = path.parent / str(share) / path.name
        cut.parent.mkdir()
        shutil.copy(path, cut)
        cut.with_name(log.name).write_bytes(content[: round(len(content) * share)])
        async with opened(gateways, cut) as sessions:
            for lane in [lane for session in sessions for lane in session.experiment.lanes]:
                assert lane.transcript.head in {None, *lane.transcript.turns}
        assert sound(cut)
    async with opened(gateways, path) as sessions:
        session = next(session for session in sessions if len(session.experiment.lanes) > 1)
        lanes = session.experiment.lanes
        assert len({lane.transcript.head for lane in lanes}) == len(lanes) == MOST_LANES
        for lane in session.experiment.lanes:
            turn = lane.transcript.path[-1]
            assert turn.outcome is not None
            assert turn.outcome.ending is Ending.INTERRUPTED
            tape = await lane.experiment.bring_exchange(turn.outcome.exchange or "")
            assert tape is not None
            assert not tape.complete
            assert len(tape.reads) >= reads_before(reports)[tape.id] > 0
            decoded = sum(part.length for part in indexed(tape).parts(0) if part.kind == "text")
            assert abs(decoded - len(turn.text)) < 600, "text and tape were written together"
    assert sound(path)
