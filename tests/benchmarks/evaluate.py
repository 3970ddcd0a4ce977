"""10,000 answers, 64 at once, from a demo gateway in a process of its own: 1,000 cases × 5 variants × 2, asked whole.

Held against a bare httpx loop in the same run, which asks the same and keeps nothing, each of its workers over a
connection of its own: one half of them before ours and one behind, so that a busy minute falls on both. Compared are
answers per second; CPU is told besides.
"""

from __future__ import annotations

import asyncio
import gc
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import httpx

from playground.domain.checks.calls import ToolCalled
from playground.domain.checks.figures import Latency
from playground.domain.checks.texts import Contains, Matches
from playground.domain.transcript import Role, make_turn
from playground.engine.evaluation.answers import AnswerStore
from playground.engine.evaluation.inquiry import Inquiry
from playground.engine.evaluation.results import Results
from playground.engine.evaluation.runner import Runner
from playground.engine.gateways.profiles import Profile, connection
from playground.engine.gateways.secrets import Secret
from playground.engine.headless.collecting import seldom_collected
from playground.engine.session.plan import Case, Keep, Plan
from playground.engine.session.session import Session
from playground.engine.session.variants import Variant
from playground.gateway.client import GatewayClient
from tests.benchmarks.demo_gateway import KEY, MODEL, DemoGateway
from tests.benchmarks.memory import resident_mb
from tests.benchmarks.registry import Figure, at_least, at_most

CASES, VARIANTS, REPEATS, AT_ONCE = 1000, 5, 2, 64
SHORT: Final = 50  # cases
SHARE: Final = 0.7  # of the answers per second of a bare loop
MEMORY: Final = 150  # MB
OPENED: Final = 300  # ms


def run(short: bool) -> list[Figure]:
    """Ratios to the bare loop, then the limits in a window."""
    from tests.benchmarks import evaluate_window

    cases = SHORT if short else CASES

    def prepare(session: Session) -> int:
        _plan(session, cases, seed=2)
        return cases * VARIANTS * REPEATS

    with DemoGateway() as gateway, tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(_measure(gateway.url, Path(folder), cases))
        gc.collect()
        return found + evaluate_window.run(gateway.url, prepare)


async def _measure(url: str, folder: Path, cases: int) -> list[Figure]:
    profile = Profile(base_url=url, name="demo")
    async with GatewayClient(connection(profile, Secret(KEY), {})) as client:
        await _bare(url, 4 * AT_ONCE)  # warm
        await Runner(Inquiry(_session(profile, client, 20, seed=9)), AnswerStore(folder / "warm.sqlite")).run()
        session = _session(profile, client, cases, seed=1)
        count = cases * VARIANTS * REPEATS
        gc.collect()
        before = resident_mb()
        store = AnswerStore(folder / "answers.sqlite")
        runner = Runner(Inquiry(session), store)
        bare_first = await _timed(lambda: _bare(url, count // 2))
        with seldom_collected():
            ours = await _timed(runner.run)
        added = resident_mb() - before
        bare_last = await _timed(lambda: _bare(url, count - count // 2))
        await store.aclose()
    if runner.progress.done != count or runner.progress.failed:
        raise RuntimeError(f"{runner.progress.done} of {count} answers came, {runner.progress.failed} failed")
    bare = (bare_first[0] + bare_last[0], bare_first[1] + bare_last[1])
    again = AnswerStore(folder / "answers.sqlite")
    opened = min([await _opened(session, again) for _ in range(3)])
    began = time.process_time()
    results = Results(runner.inquiry, runner.answers)
    _ = results.columns, results.checks()
    shown = time.process_time() - began
    await again.aclose()
    return [
        at_least("answers per second of those of a bare loop", bare[0] / ours[0], "×", SHARE),
        Figure("answers per second", count / ours[0], "/s"),
        Figure("CPU an answer", 1000 * ours[1] / count, "ms"),
        Figure("CPU an answer, bare loop", 1000 * bare[1] / count, "ms"),
        at_most("memory added", added, "MB", MEMORY),
        at_most("the finished evaluation opened, CPU", 1000 * opened, "ms", OPENED),
        Figure("its columns and checks worked out, CPU", 1000 * shown, "ms"),
    ]


def _session(profile: Profile, client: GatewayClient, cases: int, seed: int) -> Session:
    async def connect(_profile_id: str) -> GatewayClient:
        return client

    session = Session(connect, profile_id=profile.id, model=MODEL, profile_of=lambda _profile_id: profile)
    _plan(session, cases, seed)
    return session


def _plan(session: Session, cases: int, seed: int) -> None:
    session.turns.add_turn(make_turn(Role.USER, "Is it warm in {{city}}? !fast"))
    others = [
        Variant.model_validate({"id": f"v{place}", "differences": {"parameters": {"chat": {"temperature": place / 4}}}})
        for place in range(VARIANTS - 1)
    ]
    plan = Plan(
        cases=tuple(Case(id=f"c{place}", values={"city": f"C{seed} {place}"}, expected="x") for place in range(cases)),
        variants=tuple(others),
        checks=(Contains(text="{{city}}"), Latency(seconds=60), Matches(pattern="warm"), ToolCalled(negated=True)),
        repeats=REPEATS,
        at_once=AT_ONCE,
        streamed=False,
        keep=Keep.NONE,
    )
    session.change(evaluation=plan)


async def _bare(url: str, count: int) -> None:
    """The same questions, asked with nothing around them: a client with one connection for each worker.

    In one pool, httpx looks at all connections when a request begins and when it ends: that is no floor.
    """
    left = iter(range(count))
    verify = httpx.create_ssl_context()  # one for all: to make it takes longer than many answers

    async def work() -> None:
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, timeout=60, verify=verify) as http:
            for number in left:
                message = {"role": "user", "content": f"Is it warm in C{number}? !fast"}
                body = {"model": MODEL, "messages": [message], "stream": False}
                (await http.post(f"{url}/chat/completions", json=body)).json()

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))


async def _timed(work: Callable[[], Coroutine[Any, Any, None]]) -> tuple[float, float]:
    """Wall time and CPU of this process, in seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    await work()
    return time.perf_counter() - wall, time.process_time() - cpu


async def _opened(session: Session, store: AnswerStore) -> float:
    """Seconds of CPU to find all answers of an evaluation."""
    began = time.process_time()
    await Runner(Inquiry(session), store).load()
    return time.process_time() - began
