"""10,000 answers by two workers of a Dask cluster, beside one process in the same run: 1,000 cases × 5 variants × 2.

The command is run as people run it, in a process of its own: once alone, once with ``--dask`` and a scheduler and two
workers in processes of their own, and once more where a worker is killed in the middle. The gateway is a bare one that
costs little. Compared is the time from the first request to the last one: what starting a process and finding a
cluster takes is told besides. With two cores, five processes share them: see README.md.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.benchmarks.bare_gateway import BareGateway
from tests.benchmarks.evaluate import CASES, REPEATS, SHORT, VARIANTS
from tests.benchmarks.registry import Figure, at_most

AT_ONCE: Final = 160
SHARE: Final = 0.6  # of the time of one process
_PATIENCE: Final = 60.0  # seconds for a process to be there
_SLOW: Final = 0.02  # seconds an answer takes where a worker is killed


@dataclass
class _Ran:
    seconds: float  # from the first request to the last one
    whole: float  # of the process
    cpu: float  # of the process
    kept: int
    killed_at: int = 0
    others: tuple[float, ...] = ()  # CPU of the processes of the cluster, the scheduler first, and of the gateway


def run(short: bool) -> list[Figure]:
    """Wall time beside one process; what a lost worker costs."""
    cases = SHORT if short else CASES
    count = cases * VARIANTS * REPEATS
    with tempfile.TemporaryDirectory() as name, BareGateway() as gateway:
        folder = Path(name)
        file = folder / "cities.playground.json"
        file.write_text(json.dumps(_experiment(cases)), encoding="utf-8")
        with _cluster(folder) as (address, _):
            first = _run(file, gateway.url)
            there = [_run(file, gateway.url, address) for _ in range(2)]
            last = _run(file, gateway.url)
        with BareGateway(_SLOW) as slow, _cluster(folder) as (address, workers):
            lost = _run(file, slow.url, address, workers[0], count)
            asked = slow.asked
    alone = (first.seconds + last.seconds) / 2
    best = min(there, key=lambda one: one.seconds)
    for one in (first, last, *there, lost):
        if one.kept != count:
            raise RuntimeError(f"{one.kept} of {count} answers are kept")
    return [
        at_most("time of two workers, of that of one process", best.seconds / alone, "×", SHARE),
        Figure("answers per second, two workers", count / best.seconds, "/s"),
        Figure("answers per second, one process", count / alone, "/s"),
        Figure("CPU an answer of the command, with workers", 1000 * best.cpu / count, "ms"),
        Figure("CPU an answer of one process", 1000 * first.cpu / count, "ms"),
        Figure("start and end of the command, with workers", best.whole - best.seconds, "s"),
        Figure("answers kept when a worker was killed", lost.killed_at, ""),
        at_most("asked more than once when a worker was killed", asked - count, "", AT_ONCE),
    ]


def _experiment(cases: int) -> dict[str, object]:
    others = [
        {"id": f"v{place}", "differences": {"parameters": {"chat": {"temperature": place / 4}}}}
        for place in range(VARIANTS - 1)
    ]
    evaluation = {
        "cases": [{"id": f"c{place}", "values": {"city": f"C{place}"}, "expected": "x"} for place in range(cases)],
        "variants": others,
        "checks": [
            {"kind": "contains", "text": "warm"},
            {"kind": "latency", "seconds": 60},
            {"kind": "regex", "pattern": "warm"},
            {"kind": "tool_called", "negated": True},
        ],
        "repeats": REPEATS,
        "at_once": AT_ONCE,
        "streamed": False,
        "keep": "none",
    }
    turns = [{"id": "t", "role": "user", "parts": [{"kind": "text", "text": "Is it warm in {{city}}?"}]}]
    return {"experiment": 1, "id": "e", "model": "m", "turns": turns, "head": "t", "evaluation": evaluation}


def _run(
    file: Path, url: str, address: str = "", victim: subprocess.Popen[bytes] | None = None, count: int = 0
) -> _Ran:
    """The command from its start to its end; a worker that is named is killed when a third of the answers is there."""
    answers = file.parent / "answers.sqlite"
    for path in file.parent.glob("answers.sqlite*"):
        path.unlink()
    command = [sys.executable, "-m", "playground", "eval", str(file), "--answers", str(answers), "--base-url", url]
    command += ["--dask", address] if address else []
    began = time.perf_counter()
    before = os.times()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
        killed = 0
        if victim is not None:
            while killed < count // 3 and child.poll() is None:
                time.sleep(0.05)
                killed = _kept(answers)
            victim.send_signal(signal.SIGKILL)
        assert child.stderr is not None
        said = child.stderr.read()
    whole = time.perf_counter() - began
    after = os.times()
    if child.returncode:
        raise RuntimeError(said)
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    with closing(sqlite3.connect(answers)) as found:
        seconds = float(found.execute("SELECT max(at) - min(at) FROM answers").fetchone()[0])
    return _Ran(seconds, whole, cpu, _kept(answers), killed)


def _kept(answers: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{answers}?mode=ro", uri=True)) as found:
            return int(found.execute("SELECT count(*) FROM answers").fetchone()[0])
    except sqlite3.OperationalError:
        return 0  # it is not there yet


@contextmanager
def _cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and two workers, each with one thread: their address, and the workers' processes."""
    there = folder / "scheduler.json"
    there.unlink(missing_ok=True)
    started = [_start(folder, "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(there))]
    try:
        _until(lambda: there.exists() and there.read_text().rstrip().endswith("}"))
        address: str = json.loads(there.read_text())["address"]
        for name in ("one", "other"):
            started.append(_start(folder, "worker", address, "--nthreads", "1", "--no-nanny", "--name", name))
        logs = [folder / f"worker-{place}.log" for place in (1, 2)]
        _until(lambda: all(b"Registered to" in log.read_bytes() for log in logs))
        yield address, started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()


def _start(folder: Path, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments, "--no-dashboard"]
    environment = {**os.environ, "DASK_TEMPORARY_DIRECTORY": str(folder)}
    number = 2 if "other" in arguments else 1
    with (folder / f"{kind}-{number}.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment)


def _until(there: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE
    while not there():
        if time.monotonic() > end:
            raise RuntimeError("the cluster did not start")
        time.sleep(0.05)
