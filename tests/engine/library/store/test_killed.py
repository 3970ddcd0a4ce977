"""Killed at any moment, a store opens again and has all that it said was on the disk."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from playground.demo.server import DemoServer
from playground.domain.transcript import Ending
from playground.engine.cassettes import cassette
from playground.engine.cassettes.replay import CassettePlayer
from playground.engine.inspect.timeline import Timeline
from playground.engine.library.store import Mode
from playground.engine.library.workspace import Workspace
from tests.engine.exchanges import indexed
from tests.engine.library.store.conftest import MakeWorkspace, sound

ROUNDS = 205


@pytest.mark.timeout(420)
@pytest.mark.skipif(sys.platform == "win32", reason="platform: Windows has neither fork nor SIGKILL")
def test_two_hundred_kills_lose_nothing_that_was_acknowledged(gateway: DemoServer, path: Path) -> None:
    command = [sys.executable, "-m", "tests.engine.library.store.killed", str(path), gateway.start(), str(ROUNDS)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    outcome = json.loads(ended.stdout.splitlines()[-1])
    assert outcome["wrong"] == []
    assert (outcome["mode"], outcome["words"]) == ("ready", "")
    assert outcome["rounds"] >= ROUNDS
    assert outcome["acknowledged"] > ROUNDS
    assert outcome["interrupted"] > 10
    assert outcome["complete"] > 10


LATE = 2.0  # seconds: one between two states, and one for a machine that has much else to do


Said = list[tuple[float, dict[str, int]]]


def killed(path: Path, url: str, lanes: int = 1) -> Said:
    """Kill a process in the middle of an answer in each lane; gives how many reads of each there were, and when."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.engine.library.store.killed_stream", str(path), url, str(lanes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        said: Said = []
        for line in child.stdout:
            said.append(tuple(json.loads(line)))
            first = next((at for at, reads in said if reads), said[-1][0])
            if said[-1][0] - first > 2 * LATE:
                break
        child.kill()
        said += [tuple(json.loads(line)) for line in child.stdout if line.endswith("\n")]
    return said


def long_before(said: Said) -> int:
    """How many reads there were ``LATE`` seconds before."""
    return max(sum(reads.values()) for at, reads in said if at < said[-1][0] - LATE)


async def test_the_tape_of_a_stream_that_was_killed_is_there_up_to_the_last_second(
    gateway: DemoServer, path: Path, make_workspace: MakeWorkspace, tmp_path: Path
) -> None:
    path.parent.mkdir()
    had = long_before(await asyncio.to_thread(killed, path, gateway.start()))
    assert had > 10
    workspace: Workspace = await make_workspace()
    assert workspace.store is not None
    assert (workspace.store.status.mode, workspace.store.status.words) == (Mode.READY, "")
    session = next(
        one for one in [await workspace.bring(experiment.id) for experiment in workspace.experiments] if one.exchanges
    )
    turn = session.transcript.path[-1]
    assert turn.outcome is not None
    assert turn.outcome.ending is Ending.INTERRUPTED
    assert turn.outcome.exchange is not None
    assert turn.outcome.exchange in session.exchanges
    tape = await session.bring_exchange(turn.outcome.exchange)
    assert tape is not None
    assert not tape.complete
    assert len(tape.reads) >= had
    index = indexed(tape)
    timeline = Timeline(index)
    timeline.extend()
    assert len(index) >= had
    assert timeline.end == tape.reads[-1].at
    decoded = sum(part.length for part in index.parts(0) if part.kind == "text")
    assert decoded > 0
    assert abs(decoded - len(turn.text)) < 600, "text and tape were written together"
    file = tmp_path / "killed.cassette.json"
    cassette.save(file, [tape])
    player = CassettePlayer(cassette.open_file(file))
    assert player.session().transcript.path[-1].text.startswith(turn.text[:50])
    await workspace.close()
    assert sound(path)
