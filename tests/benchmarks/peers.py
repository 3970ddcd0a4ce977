"""Measure 1,000 cases evaluated side by side by promptfoo and ``playground eval``.

Each is a process of its own against one demo gateway in another, asks the same bodies with as many at once, and applies
the same check, which every other answer passes. The answers kept are counted, so that neither skips work. Measured are
the process and its children, from start to end.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.benchmarks.demo_gateway import KEY, MODEL, DemoGateway
from tests.benchmarks.registry import Figure, at_most

CASES, SHORT, AT_ONCE, PASSES = 1000, 100, 64, 2
OF_PROMPTFOO: Final = 0.5
#: The command that starts promptfoo; else the one of that name on the path.
COMMAND: Final = "PROMPTFOO"
MISSING: Final = (
    "promptfoo is missing. Install it in any folder, and set its command:\n"
    "    npm install promptfoo\n"
    f'    export {COMMAND}="node $PWD/node_modules/promptfoo/dist/src/entrypoint.js"'
)
ASKED: Final = "Is it warm in {{city}}? !fast"
#: Parameters that promptfoo sends.
PARAMETERS: Final[dict[str, Any]] = {"max_tokens": 1024, "temperature": 0}


class Case(NamedTuple):
    """A city in the question, and a text in the answer; they are the same in every other case, which passes."""

    city: str
    wanted: str


class Spent(NamedTuple):
    """Seconds, seconds of CPU, and the most MB in one process."""

    wall: float
    cpu: float
    memory: float

    def least(self, second: Spent) -> Spent:
        """Return the smaller figures of two runs: noise only adds."""
        return Spent(min(self.wall, second.wall), min(self.cpu, second.cpu), min(self.memory, second.memory))


def run(short: bool) -> list[Figure]:
    """Return the ratios to promptfoo and the figures of each."""
    command = shlex.split(os.environ.get(COMMAND, "")) or [path for path in [shutil.which("promptfoo")] if path]
    if not command:
        print(MISSING, file=sys.stderr)
        return [Figure("promptfoo is not installed", None, "", "runs", False)]
    cases = [Case(f"C{place}", f"C{place + place % 2}") for place in range(SHORT if short else CASES)]
    contenders: dict[str, Callable[[Path, str], Spent]] = {
        "promptfoo": lambda folder, url: _promptfoo(folder, url, cases, command),
        "ours": lambda folder, url: _ours(folder, url, cases),
    }
    least: dict[str, Spent] = {}
    with DemoGateway() as gateway:
        for _ in range(1 if short else PASSES):
            for name, contend in contenders.items():
                with tempfile.TemporaryDirectory() as folder:
                    spent = contend(Path(folder), gateway.url)
                least[name] = spent.least(least.get(name, spent))
    peer, ours = least["promptfoo"], least["ours"]
    return [
        at_most("ours / promptfoo, CPU", ours.cpu / peer.cpu, "×", OF_PROMPTFOO),
        at_most("ours / promptfoo, peak memory", ours.memory / peer.memory, "×", OF_PROMPTFOO),
        Figure("ours / promptfoo, wall time", ours.wall / peer.wall, "×"),
        Figure("ours: CPU", ours.cpu, "s"),
        Figure("ours: peak memory", ours.memory, "MB"),
    ]


def _promptfoo(folder: Path, url: str, cases: Sequence[Case], command: Sequence[str]) -> Spent:
    """Run promptfoo without telemetry, sharing and cache; it writes its own database."""
    provider = {"id": f"openai:chat:{MODEL}", "config": {"apiBaseUrl": url, "apiKey": KEY, **PARAMETERS}}
    config = {
        "prompts": [ASKED],
        "providers": [provider],
        "defaultTest": {"assert": [{"type": "contains", "value": "{{wanted}}"}]},
        "tests": [{"vars": case._asdict()} for case in cases],
    }
    file = folder / "promptfooconfig.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    home = folder / "home"
    own = {
        "HOME": str(folder),
        "PROMPTFOO_CONFIG_DIR": str(home),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
        "PROMPTFOO_DISABLE_DEBUG_LOG": "1",  # it fails on its own log after 1,000 cases
        "PROMPTFOO_DISABLE_ERROR_LOG": "1",
        "PROMPTFOO_FAILED_TEST_EXIT_CODE": "0",
    }
    options = ["--no-cache", "--no-share", "--no-table", "--no-progress-bar", "-j", str(AT_ONCE)]
    spent = _watched([*command, "eval", "-c", str(file), *options], folder, own)
    with closing(sqlite3.connect(home / "promptfoo.db")) as store:
        rows = store.execute("SELECT success, coalesce(error, ''), response FROM eval_results").fetchall()
    answered = sum(bool(json.loads(response or "{}").get("output")) for *_, response in rows)
    _check(cases, answered, sum(success for success, *_ in rows))
    return spent


def _ours(folder: Path, url: str, cases: Sequence[Case]) -> Spent:
    content = {
        "experiment": 1,
        "id": "peers",
        "protocol": "chat",
        "model": MODEL,
        "parameters": {"chat": {**PARAMETERS, "stream": False}},
        "turns": [{"id": "asked", "role": "user", "parts": [{"kind": "text", "text": ASKED}]}],
        "head": "asked",
        "evaluation": {
            "cases": [{"id": case.city, "values": case._asdict()} for case in cases],
            "checks": [{"kind": "contains", "text": "{{wanted}}"}],
            "streamed": False,
            "at_once": AT_ONCE,
        },
    }
    file = folder / "peers.playground.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    saved = folder / "answers.sqlite"
    command = [sys.executable, "-m", "playground", "eval", str(file), "--base-url", url, "--answers", str(saved)]
    spent = _watched(command, folder, {"PLAYGROUND_API_KEY": KEY})
    with closing(sqlite3.connect(saved)) as store:
        rows = store.execute("SELECT verdicts FROM answers WHERE failure = ''").fetchall()
    verdicts = [list(json.loads(text).values()) for (text,) in rows]
    _check(cases, len(rows), sum(all(passed for passed, *_ in verdict) for verdict in verdicts))
    return spent


def _watched(command: Sequence[str], folder: Path, own: Mapping[str, str]) -> Spent:
    """Run a command to its end. Raises RuntimeError with its output when it fails."""
    with (folder / "said.txt").open("w+b") as output:
        began = time.perf_counter()
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env={**os.environ, **own}
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            output.seek(0)
            words = output.read()[-2000:].decode(errors="replace")
            raise RuntimeError(f"{command[0]} ended with {child.returncode}: {words}")
    unit = 1 if sys.platform == "darwin" else 2**10  # bytes
    return Spent(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 2**20)


def _check(cases: Sequence[Case], answered: int, passed: int) -> None:
    """Raise RuntimeError when answers are missing."""
    if (answered, passed) != (len(cases), sum(case.city == case.wanted for case in cases)):
        raise RuntimeError(f"{answered} of {len(cases)} answers came, {passed} passed")
