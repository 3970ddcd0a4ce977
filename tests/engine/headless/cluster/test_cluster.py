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
from tests.engine.headless.cluster.desks import ANSWER, Desk, said
from tests.support.eventually import eventually
from tests.support.fault_server import keep, send, sleep, whole

pytestmark = pytest.mark.timeout(200)


def _plain(table: str) -> list[list[str]]:
    """The lines of a table without what took time."""
    return [line.split("  ")[:1] + [word for word in line.split() if "%" in word] for line in table.splitlines()]


async def test_the_table_and_the_answers_are_those_of_one_process(desk: Desk) -> None:
    desk.write(20, repeats=2)
    here = await desk.run("")
    rows = desk.rows
    there = await desk.run(fresh=True)
    assert here.code == there.code == ExitCode.OK, there.err
    assert _plain(there.out)[:3] == _plain(here.out)[:3]
    assert len(rows) == 80
    assert desk.rows == rows
    assert {request.header("authorization") for request in desk.gateway.requests} == {f"Bearer {KEY}"}
    again = await desk.run(go_on=True)
    assert again.code == ExitCode.OK
    assert len(desk.gateway.requests) == 160


async def test_no_key_goes_over_the_wires_of_the_cluster(desk: Desk) -> None:
    desk.write(4, keep="all")
    desk.gateway.play(send(said({**ANSWER, "system_fingerprint": KEY})), keep())  # it tells the key
    before = len(desk.cluster.tap.seen)
    assert (await desk.run()).code == ExitCode.OK
    seen = bytes(desk.cluster.tap.seen[before:])
    assert desk.gateway.requests[0].header("authorization") == f"Bearer {KEY}"
    assert VARIABLE.encode() in seen  # so what travels can be read here
    assert b"Is it warm in {{city}}" in seen
    assert KEY.encode() not in seen
    assert KEY.encode() not in (desk.folder / "w.answers.sqlite").read_bytes()


@pytest.mark.slow
async def test_a_worker_that_is_killed_costs_no_more_than_what_it_had_under_way(desk: Desk) -> None:
    at_once = 12
    desk.write(100, at_once=at_once)
    desk.gateway.play(sleep(0.1), send(said(ANSWER)), keep())
    desk.cluster.add("victim")
    running = begin(desk.run())
    await eventually(lambda: len(desk.gateway.requests) >= 60)
    await asyncio.to_thread(desk.cluster.end, "victim", signal.SIGKILL)
    ended = await running
    assert ended.code == ExitCode.OK, ended.err
    assert len(desk.rows) == 200
    assert "was lost" in ended.err
    assert 200 <= len(desk.gateway.requests) <= 200 + at_once


@pytest.mark.slow
async def test_an_interrupt_keeps_what_came_and_the_rest_is_asked_later(desk: Desk) -> None:
    desk.write(50, at_once=4)
    desk.gateway.play(sleep(0.05), send(said(ANSWER)), keep())
    running = begin(desk.run())
    await eventually(lambda: len(desk.gateway.requests) >= 20)
    running.cancel()
    ended = await running
    assert ended.code == ExitCode.INTERRUPTED
    assert "--continue asks for the rest" in ended.err
    kept = len(desk.rows)
    assert kept >= 10
    asked = len(desk.gateway.requests)
    assert (await desk.run(go_on=True)).code == ExitCode.OK
    assert len(desk.rows) == 100
    assert len(desk.gateway.requests) <= asked + 100 - kept + 4


@pytest.mark.slow
async def test_a_judge_is_asked_by_workers_also_about_answers_that_are_kept(desk: Desk) -> None:
    desk.write(3)
    assert (await desk.run()).code == ExitCode.OK
    desk.write(3, checks=[{"kind": "judge", "rubric": "kind", "model": "m"}])
    verdict = {"index": 0, "message": {"role": "assistant", "content": '{"score": 1, "reason": "so"}'}}
    desk.gateway.play(send(said({**ANSWER, "choices": [{**verdict, "finish_reason": "stop"}]})), keep())
    ended = await desk.run(go_on=True)
    assert ended.code == ExitCode.OK
    assert len(desk.gateway.requests) == 12
    assert all('"so"' in row[-1] for row in desk.rows)


@pytest.mark.slow
async def test_that_one_worker_is_asked_to_wait_holds_for_all(desk: Desk) -> None:
    desk.write(30, at_once=4)
    busy = [send(whole(429, None, b"", "Retry-After: 2")), keep()]
    desk.gateway.play(sleep(0.02), send(said(ANSWER)), keep())
    for _ in range(10):
        desk.gateway.play_next(sleep(0.02), send(said(ANSWER)), keep())
    desk.gateway.play_next(*busy)
    running = begin(desk.run(retries=4))
    counts = []
    while not running.done():
        counts.append(len(desk.gateway.requests))
        await asyncio.sleep(0.1)
    assert (await running).code == ExitCode.OK
    assert len(desk.gateway.requests) == 61
    still = max(counts.count(count) for count in set(counts) if 11 <= count < 61)
    assert still >= 10  # tenths of a second in which nobody asked: two that were asked for, less what was under way


async def test_a_worker_without_the_key_is_named_before_anything_is_asked(desk: Desk) -> None:
    desk.write(2)
    ended = await desk.run(workers_variable="NOBODY_HAS_IT")
    assert ended.code == ExitCode.FAILED
    assert "The environment variable NOBODY_HAS_IT is not set on tcp://" in ended.err
    assert not desk.gateway.requests


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mcp": (Path("servers.json"),)}, "leave out --mcp and --allow, or --dask"),
        ({"allow": ("look_up",)}, "leave out --mcp and --allow, or --dask"),
        ({"headers": (("Authorization", "Bearer abcdefgh"),)}, "is secret, and secrets are not sent"),
        ({"proxy": "http://me:pass@127.0.0.1:9"}, "holds a password"),
    ],
)
async def test_what_workers_cannot_have_is_refused_in_words(desk: Desk, options: dict[str, Any], words: str) -> None:
    desk.write(2)
    ended = await desk.run(**options)
    assert ended.code == ExitCode.BAD_INPUT
    assert words in ended.err
    assert not desk.gateway.requests


async def test_a_cluster_that_is_not_there_is_said(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("playground.engine.headless.cluster.fleet.CONNECT", 1.0)
    desk.write(2)
    ended = await desk.run("tcp://127.0.0.1:1")
    assert ended.code == ExitCode.FAILED
    assert "No scheduler answers at tcp://127.0.0.1:1" in ended.err


@pytest.mark.slow
async def test_a_cluster_that_ends_in_the_middle_stops_the_run_and_what_came_is_kept(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("playground.engine.headless.cluster.fleet.COMING", 1.0)
    desk.write(50, at_once=4)
    desk.gateway.play(sleep(0.05), send(said(ANSWER)), keep())
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
        assert f"Stopped: No worker is left at {own.address}. What came is kept; --continue" in ended.err
        kept = len(desk.rows)
        assert kept >= 8
        own.add("next")
        running = begin(desk.run(own.address, go_on=True))
        await eventually(lambda: len(desk.gateway.requests) >= 30)
        await asyncio.to_thread(own.end, "scheduler", signal.SIGKILL)
        ended = await running
        assert ended.code == ExitCode.INCOMPLETE
        assert f"Stopped: The scheduler at {own.address} does not answer any more" in ended.err
        assert len(desk.rows) > kept
    finally:
        own.close()
    assert (await desk.run(go_on=True)).code == ExitCode.OK
    assert len(desk.rows) == 100
