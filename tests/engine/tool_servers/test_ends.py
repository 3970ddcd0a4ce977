"""No process of a tool server outlives the window: not after a stop, a crash, a kill, nor after many of them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from playground.engine.tool_servers.events import State
from tests.engine.tool_servers.conftest import OpenServers, hostile
from tests.support.eventually import eventually
from tests.support.shared_tool_host import children

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="platform: needs Linux")


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    """The file to which a hostile server writes the numbers of its processes."""
    return tmp_path / "pids"


def written(pids: Path) -> list[int]:
    return [int(line) for line in pids.read_text(encoding="utf-8").split()] if pids.exists() else []


def is_alive(pid: int) -> bool:
    """Return whether a process runs and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


async def wait_for_end(pids: Path) -> None:
    await eventually(lambda: not any(map(is_alive, written(pids))), "the end of all processes of the server")


async def wait_for_child(pids: Path) -> None:
    await eventually(lambda: len(written(pids)) > 1, "the process that the server starts")


async def test_server_that_ignores_every_request_to_end_is_stopped_with_its_child(
    open_servers: OpenServers, pids: Path
) -> None:
    room = open_servers(hostile("stubborn", "parent", "--pids", str(pids)))
    await room.start()
    await wait_for_child(pids)
    assert all(map(is_alive, written(pids)))
    await room.servers.stop("h")
    assert not any(map(is_alive, written(pids)))


async def test_killed_tool_host_ends_its_servers_and_they_start_again(open_servers: OpenServers, pids: Path) -> None:
    room = open_servers(hostile("stubborn", "parent", "--pids", str(pids)), own_host=True)
    await room.start()
    await wait_for_child(pids)
    host = room.servers.host_pid
    os.kill(host, signal.SIGKILL)
    await eventually(lambda: room.live.state is State.FAILED, "the state after the end")
    assert "ended by itself" in room.live.problem
    await wait_for_end(pids)
    await room.call("echo", text="again")
    assert room.servers.host_pid != host


def start_window(pids: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "tests.engine.tool_servers.window_process", str(pids)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)


async def test_killed_window_leaves_no_process(pids: Path) -> None:
    with start_window(pids) as window:
        try:
            assert window.stdout is not None
            host = int(await asyncio.to_thread(window.stdout.readline))
            await wait_for_child(pids)
        finally:
            window.kill()
    await wait_for_end(pids)
    await eventually(lambda: not is_alive(host), "the end of the tool host")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("times", [4, pytest.param(200, marks=pytest.mark.slow)])
async def test_restarted_server_leaves_no_process_and_no_open_file(
    open_servers: OpenServers, pids: Path, times: int
) -> None:
    room = open_servers(hostile("--pids", str(pids)), own_host=True)
    await room.start()
    host = room.servers.host_pid

    def open_files() -> int:
        return len(list(Path(f"/proc/{host}/fd").iterdir()))

    for _ in range(2):
        await room.servers.restart("h")
    before = open_files()
    for _ in range(times):
        await room.servers.restart("h")
    await room.servers.stop("h")
    assert len(written(pids)) == times + 3
    assert not any(map(is_alive, written(pids)))
    assert open_files() <= before
    assert not children(host)
    assert room.servers.host_pid == host
