"""Events on a cluster during a run: workers come, leave, freeze or do not fit, and commands are killed."""

from __future__ import annotations

import asyncio
import io
import signal
from pathlib import Path

import pytest

from playground.engine.headless.exit_codes import ExitCode
from tests.engine.debugging import begin
from tests.engine.headless.cluster.clusters import KEY, VARIABLE, Cluster
from tests.engine.headless.cluster.desks import ANSWER, Desk, response
from tests.support.eventually import eventually
from tests.support.fault_server import keep, send, sleep

pytestmark = [pytest.mark.timeout(200), pytest.mark.slow]

OTHER_KEY = "sk-canary-of-the-newcomer-52b0"
#: What a process of the cluster loads before anything of ours: an earlier version of this program, or none.
EARLIER = 'import playground\nplayground.__version__ = "0.0.1"\n'
NONE = """
import sys
for name in [one for one in sys.modules if one.startswith("playground")]:
    del sys.modules[name]
sys.modules["playground"] = None
"""
IMPATIENT = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "4s"}


def module(folder: Path, text: str) -> tuple[str, str]:
    """Options that make a process of the cluster load it first."""
    path = folder / "loaded_first.py"
    path.write_text(text, encoding="utf-8")
    return "--preload", str(path)


def askers(desk: Desk) -> set[str]:
    """The keys that came, of which each worker may have its own."""
    return {(request.header("authorization") or "").removeprefix("Bearer ") for request in desk.gateway.requests}


async def test_a_worker_that_comes_in_mid_run_takes_part_with_the_key_of_its_own_environment(desk: Desk) -> None:
    desk.write(60, at_once=6)
    desk.gateway.play(sleep(2), send(response(ANSWER)), keep())
    running = begin(desk.run())
    await eventually(lambda: len(desk.gateway.requests) >= 6)
    assert askers(desk) == {KEY}
    try:
        await asyncio.to_thread(desk.cluster.add, "newcomer", environment={VARIABLE: OTHER_KEY})
        await eventually(lambda: OTHER_KEY in askers(desk))
        desk.gateway.play(send(response(ANSWER)), keep())
        ended = await running
    finally:
        await asyncio.to_thread(desk.cluster.end, "newcomer")
    assert ended.code == ExitCode.OK, ended.err
    assert askers(desk) == {KEY, OTHER_KEY}
    assert len(desk.gateway.requests) == len(desk.rows) == 120


@pytest.mark.parametrize(
    ("loaded", "words"),
    [(EARLIER, "has playground 0.0.1 on Python 3"), (NONE, "Install the same gateway-playground[dask] there as here")],
)
async def test_a_worker_with_another_version_is_named_before_anything_is_asked(
    desk: Desk, tmp_path: Path, loaded: str, words: str
) -> None:
    desk.write(2)
    await asyncio.to_thread(desk.cluster.add, "unfit", *module(tmp_path, loaded))
    try:
        ended = await desk.run()
    finally:
        await asyncio.to_thread(desk.cluster.end, "unfit")
    assert ended.code == ExitCode.FAILED
    assert words in ended.err
    assert "tcp://127.0.0.1:" in ended.err
    assert not desk.gateway.requests


async def test_what_a_lost_worker_had_is_asked_by_others_and_an_answer_lost_with_three_stops_the_run(
    desk: Desk, tmp_path: Path
) -> None:
    at_once = 6
    desk.write(80, at_once=at_once)
    desk.gateway.play(sleep(0.2), send(response(ANSWER)), keep())
    own = Cluster(tmp_path, IMPATIENT)
    try:
        own.add("one")
        own.add("two", environment={VARIABLE: OTHER_KEY})
        running = begin(desk.run(own.address))
        await eventually(lambda: askers(desk) == {KEY, OTHER_KEY})
        own.signal("two", signal.SIGSTOP)
        await eventually(lambda: "was lost" in desk.err.getvalue())
        own.signal("two", signal.SIGCONT)  # its results count once
        ended = await running
        assert ended.code == ExitCode.OK, ended.err
        assert len(desk.rows) == 160
        assert 160 < len(desk.gateway.requests) <= 160 + at_once

        await asyncio.to_thread(own.end, "two", signal.SIGKILL)
        await asyncio.to_thread(own.add, "three", environment={VARIABLE: OTHER_KEY})
        desk.write(1, variants=[])
        desk.gateway.requests.clear()
        desk.gateway.play(sleep(60), send(response(ANSWER)), keep())
        running = begin(desk.run(own.address, fresh=True))
        keys = {KEY: "one", OTHER_KEY: "three"}
        for lost in range(2):
            await eventually(lambda lost=lost: len(desk.gateway.requests) == lost + 1)  # type: ignore[misc]
            asked_by = (desk.gateway.requests[-1].header("authorization") or "").removeprefix("Bearer ")
            await asyncio.to_thread(own.end, keys[asked_by], signal.SIGKILL)
        await asyncio.to_thread(own.add, "four")
        await eventually(lambda: len(desk.gateway.requests) == 3)
        await asyncio.to_thread(own.end, "four", signal.SIGKILL)
        ended = await running
    finally:
        own.close()
    assert ended.code == ExitCode.INCOMPLETE
    assert "was lost; 1 of its answers are requested again by other workers" in ended.err
    assert "Stopped: Several workers were lost while they made one answer, tcp://127.0.0.1:" in ended.err


async def test_a_killed_command_ends_the_run_at_the_workers_and_the_rest_is_asked_later(desk: Desk) -> None:
    at_once = 4
    desk.write(50, at_once=at_once)
    desk.gateway.play(sleep(0.2), send(response(ANSWER)), keep())
    command = ("--base-url", desk.gateway.url, "--dask", desk.cluster.address, "--key-variable", VARIABLE)
    running = begin(desk.command(*command, killed_when=lambda: len(desk.gateway.requests) >= 20))
    assert (await running).code == -signal.SIGKILL
    await asyncio.sleep(1)
    request_count, saved_count = len(desk.gateway.requests), len(desk.rows)
    await asyncio.sleep(1)
    assert len(desk.gateway.requests) == request_count
    assert saved_count >= 10
    ended = await desk.command(*command, "--continue")
    assert ended.code == ExitCode.OK, ended.err
    assert len(desk.rows) == 100
    assert len(desk.gateway.requests) <= 100 + 2 * at_once


async def test_two_commands_on_one_cluster_do_not_mix(desk: Desk, tmp_path: Path) -> None:
    desk.write(20, at_once=4)
    (tmp_path / "beside").mkdir()
    second_desk = Desk(tmp_path / "beside", desk.gateway, desk.cluster, io.StringIO())
    second_desk.write(30, at_once=4)
    first, second = await asyncio.gather(desk.run(), second_desk.run())
    assert first.code == second.code == ExitCode.OK, first.err + second.err
    assert (len(desk.rows), len(second_desk.rows)) == (40, 60)
    assert len(desk.gateway.requests) == 100
