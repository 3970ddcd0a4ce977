"""No process of a server outlives the window: not after a stop, a crash, a kill, nor after many of them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from playground.engine.session.serving import Ticket
from playground.engine.tool_servers.live import State
from playground.engine.tool_servers.servers import ServerError
from playground.tasks import Tasks
from tests.engine.tool_servers.conftest import SECONDS, Room, hostile
from tests.support.eventually import eventually

Open = Callable[..., Room]
TIMES = 200

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="platform: needs Linux")


def noted(pids: Path) -> list[int]:
    """The processes that servers have noted."""
    return [int(line) for line in pids.read_text(encoding="utf-8").split()] if pids.exists() else []


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody looked at does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


async def gone(pids: Path) -> None:
    """Wait until none of them is there any more."""
    await eventually(lambda: not any(map(alive, noted(pids))))


def window_of(pids: Path, folder: Path) -> subprocess.Popen[bytes]:
    """A process of its own that has started a server; it says which process speaks with it."""
    program = folder / "window.py"
    program.write_text(
        textwrap.dedent(
            f"""
            import asyncio
            from playground.engine.gateways.secrets import Keys
            from playground.engine.tool_servers.book import ServerBook
            from playground.engine.tool_servers.servers import Servers
            from tests.engine.conftest import no_keyring
            from tests.engine.tool_servers.conftest import hostile

            async def main():
                book = ServerBook.passing([hostile("stubborn", "parent", "--pids", {str(pids)!r})])
                servers = Servers(book, Keys(backend=no_keyring))
                await servers.start("h")
                print(servers.host_pid, flush=True)
                await asyncio.sleep(600)

            asyncio.run(main())
            """
        ),
        encoding="utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, env=environment)


def open_files(pid: int) -> int:
    """How many files a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def children(pid: int) -> list[int]:
    """The processes that a process has started and that run."""
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [child for child in map(int, found.read_text(encoding="utf-8").split()) if alive(child)]


@linux
async def test_one_that_ends_for_nothing_is_ended_with_all_that_it_started(open_servers: Open, pids: Path) -> None:
    room = open_servers(hostile("stubborn", "parent", "--pids", str(pids)))
    await room.servers.start("h")
    await room.until(lambda: len(noted(pids)) > 1, "the process of the process")
    assert all(map(alive, noted(pids)))
    await room.servers.stop("h")
    assert not any(map(alive, noted(pids)))


@linux
async def test_what_a_server_leaves_behind_when_it_ends_by_itself_is_ended(open_servers: Open, pids: Path) -> None:
    room = open_servers(hostile("parent", "--pids", str(pids)))
    await room.servers.start("h")
    await room.until(lambda: len(noted(pids)) > 1, "the process of the process")
    with pytest.raises(ServerError):
        await room.servers.call("h", "die", {}, Ticket())
    await room.servers.stop("h")
    await gone(pids)


@linux
async def test_closing_in_the_middle_of_everything_leaves_nothing(open_servers: Open, pids: Path) -> None:
    servers = [hostile("stubborn", "--pids", str(pids), id=f"h{n}", name=f"Hostile {n}") for n in range(3)]
    room = open_servers(*servers, own_host=True)
    tasks = Tasks(ServerError)
    calls = [tasks.start(room.servers.call("h0", "hang", {}, Ticket())), tasks.start(room.servers.start("h1"))]
    await room.until(lambda: noted(pids), "the first process")
    tasks.start(room.servers.start("h2"))
    await room.servers.close()
    await asyncio.wait(calls, timeout=SECONDS)
    assert all(call.done() for call in calls)
    await gone(pids)
    await tasks.end()


@linux
async def test_when_the_process_of_servers_is_killed_so_are_they_and_they_start_again(
    open_servers: Open, pids: Path
) -> None:
    room = open_servers(hostile("stubborn", "parent", "--pids", str(pids)), own_host=True)
    await room.servers.start("h")
    await room.until(lambda: len(noted(pids)) > 1, "the process of the process")
    host = room.servers.host_pid
    os.kill(host, signal.SIGKILL)
    await room.until(lambda: room.servers.live("h").state is State.FAILED, "its end")
    assert "ended by itself" in room.servers.live("h").problem
    await gone(pids)
    await room.servers.call("h", "echo", {"text": "again"}, Ticket())
    assert room.servers.host_pid != host


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_when_the_window_is_killed_no_server_is_left(pids: Path, tmp_path: Path, number: signal.Signals) -> None:
    window = window_of(pids, tmp_path)
    try:
        assert window.stdout is not None
        host = int(await asyncio.to_thread(window.stdout.readline))
        await eventually(lambda: len(noted(pids)) > 1)
        window.send_signal(number)
        window.wait(SECONDS)
        await gone(pids)
        await eventually(lambda: not alive(host))
    finally:
        with contextlib.suppress(ProcessLookupError):
            window.kill()
        window.wait()
        window.stdout.close()  # type: ignore[union-attr]


@linux
@pytest.mark.timeout(300)
async def test_after_many_starts_and_stops_nothing_is_left(open_servers: Open, pids: Path) -> None:
    room = open_servers(hostile("--pids", str(pids)), own_host=True)
    await room.servers.start("h")
    host = room.servers.host_pid

    async def again() -> None:
        await room.servers.restart("h")

    for _ in range(5):
        await again()
    before = open_files(host)
    for _ in range(TIMES - 6):
        await again()
    await room.servers.stop("h")
    assert len(noted(pids)) == TIMES
    assert not any(map(alive, noted(pids)))
    assert open_files(host) <= before
    assert not children(host)
    assert room.servers.host_pid == host
