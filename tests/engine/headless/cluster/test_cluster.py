"""Evaluations on a cluster of real processes: what is kept and shown is what one process keeps and shows."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from playground.engine.headless.exit_codes import ExitCode
from tests.engine.debugging import begin
from tests.engine.headless.cluster.clusters import KEY, VARIABLE, Cluster
from tests.engine.headless.cluster.desks import ANSWER, Desk, response
from tests.support.eventually import eventually
from tests.support.fault_server import keep, send, sleep

pytestmark = pytest.mark.timeout(200)


def _plain(table: str) -> list[list[str]]:
    """The lines of a table without what took time."""
    return [line.split("  ")[:1] + [word for word in line.split() if "%" in word] for line in table.splitlines()]


async def test_cluster_gives_the_table_and_answers_of_one_process_and_hears_no_key(desk: Desk) -> None:
    desk.write(8, repeats=2, keep="all")
    desk.gateway.play(send(response({**ANSWER, "system_fingerprint": KEY})), keep())  # it tells the key
    local = await desk.run("")
    rows, before = desk.rows, len(desk.cluster.tap.seen)
    remote = await desk.run(fresh=True)
    assert local.code == remote.code == ExitCode.OK, remote.err
    assert _plain(remote.out)[:3] == _plain(local.out)[:3]
    assert len(rows) == 32
    assert desk.rows == rows
    assert {request.header("authorization") for request in desk.gateway.requests} == {f"Bearer {KEY}"}
    assert (await desk.run(go_on=True)).code == ExitCode.OK
    assert len(desk.gateway.requests) == 64
    seen = bytes(desk.cluster.tap.seen[before:])
    assert VARIABLE.encode() in seen  # so what travels can be read here
    assert b"Is it warm in {{city}}" in seen
    assert KEY.encode() not in seen + (desk.folder / "w.answers.sqlite").read_bytes()


@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.timeout(1500)])])
async def test_worker_killed_in_the_middle_loses_no_answer(desk: Desk, tmp_path: Path, count: int) -> None:
    at_once = 16
    desk.write(count, at_once=at_once, variants=[])
    desk.gateway.play(sleep(0.02), send(response(ANSWER)), keep())
    own = Cluster(tmp_path)
    try:
        own.add("first")
        own.add("second")
        running = begin(desk.run(own.address))
        await eventually(lambda: len(desk.gateway.requests) >= count // 3, seconds=600)
        await asyncio.to_thread(own.end, "second", signal.SIGKILL)
        ended = await running
    finally:
        own.close()
    assert ended.code == ExitCode.OK, ended.err
    assert "was lost" in ended.err
    assert len(desk.rows) == count
    assert len(desk.gateway.requests) <= count + at_once


@pytest.mark.slow
async def test_a_judge_is_asked_by_workers_also_about_answers_that_are_kept(desk: Desk) -> None:
    desk.write(3)
    assert (await desk.run()).code == ExitCode.OK
    desk.write(3, checks=[{"kind": "judge", "rubric": "kind", "model": "m"}])
    verdict = {"index": 0, "message": {"role": "assistant", "content": '{"score": 1, "reason": "so"}'}}
    desk.gateway.play(send(response({**ANSWER, "choices": [{**verdict, "finish_reason": "stop"}]})), keep())
    ended = await desk.run(go_on=True)
    assert ended.code == ExitCode.OK
    assert len(desk.gateway.requests) == 12
    assert all('"so"' in row[-1] for row in desk.rows)


async def test_cluster_or_options_that_do_not_fit_are_refused_in_words(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("playground.engine.headless.cluster.client.CONNECT", 1.0)
    desk.write(2)
    tools = "leave out --mcp and --allow, or --dask"
    cases: list[tuple[dict[str, Any], ExitCode, str]] = [
        ({"mcp": (Path("servers.json"),)}, ExitCode.BAD_INPUT, tools),
        ({"allow": ("look_up",)}, ExitCode.BAD_INPUT, tools),
        ({"headers": (("Authorization", "Bearer abcdefgh"),)}, ExitCode.BAD_INPUT, "is secret, and secrets are not"),
        ({"proxy": "http://me:pass@127.0.0.1:9"}, ExitCode.BAD_INPUT, "holds a password"),
        ({"workers_variable": "NO_KEY"}, ExitCode.FAILED, "The environment variable NO_KEY is not set on tcp://"),
        ({"address": "tcp://127.0.0.1:1"}, ExitCode.FAILED, "No scheduler answers at tcp://127.0.0.1:1"),
    ]
    for options, code, words in cases:
        ended = await desk.run(**options)
        assert ended.code == code
        assert words in ended.err
    assert not desk.gateway.requests


@pytest.mark.slow
async def test_a_cluster_that_ends_in_the_middle_stops_the_run_and_what_came_is_kept(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("playground.engine.headless.cluster.client.WORKER_WAIT", 1.0)
    desk.write(50, at_once=4)
    desk.gateway.play(sleep(0.05), send(response(ANSWER)), keep())
    own = Cluster(tmp_path)
    try:
        ended = await desk.run(own.address)
        assert ended.code == ExitCode.FAILED
        assert f"The cluster at {own.address} has no worker. Start one with: dask worker" in ended.err
        own.add("only")
        running = begin(desk.run(own.address))
        await eventually(lambda: len(desk.gateway.requests) >= 12)
        await asyncio.to_thread(own.end, "only", signal.SIGKILL)
        ended = await running
        assert ended.code == ExitCode.INCOMPLETE
        assert f"Stopped: No worker is left at {own.address}. The answers so far are saved; --continue" in ended.err
        saved_count = len(desk.rows)
        assert saved_count >= 8
        own.add("next")
        running = begin(desk.run(own.address, go_on=True))
        await eventually(lambda: len(desk.gateway.requests) >= 30)
        await asyncio.to_thread(own.end, "scheduler", signal.SIGKILL)
        ended = await running
        assert ended.code == ExitCode.INCOMPLETE
        assert f"Stopped: The scheduler at {own.address} does not answer any more" in ended.err
        assert len(desk.rows) > saved_count
    finally:
        own.close()
    assert (await desk.run(go_on=True)).code == ExitCode.OK
    assert len(desk.rows) == 100
