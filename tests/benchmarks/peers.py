"""1,000 cases evaluated side by side, in one run: promptfoo, ``playground eval``, and the openai SDK in a bare loop.

Each is a process of its own against one demo gateway in another, asks the same bodies with as many at once, and holds
each answer to the same check, which every other one passes. What each kept is counted, so that none skips work.
Measured are the process and its children, from start to end: wall time, CPU, and the most memory that one of them had.
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
    "promptfoo is not there. Install it in any folder, and say how it is started:\n"
    "    npm install promptfoo\n"
    f'    export {COMMAND}="node $PWD/node_modules/promptfoo/dist/src/entrypoint.js"'
)
ASKED: Final = "Is it warm in {{city}}? !fast"
#: What promptfoo sends of itself.
PARAMETERS: Final[dict[str, Any]] = {"max_tokens": 1024, "temperature": 0}


class Case(NamedTuple):
    """What is asked about, and what the answer is to have in it: it has where both are the same, as every other is."""

    city: str
    wanted: str


class Spent(NamedTuple):
    """What a process and its children took: seconds, seconds of CPU, MB at most in one of them."""

    wall: float
    cpu: float
    memory: float

    def least(self, other: Spent) -> Spent:
        """The smaller figures of two runs: noise only ever adds."""
        return Spent(min(self.wall, other.wall), min(self.cpu, other.cpu), min(self.memory, other.memory))


def run(short: bool) -> list[Figure]:
    """The ratios to promptfoo, then what each took."""
    cases = [Case(f"C{place}", f"C{place + place % 2}") for place in range(SHORT if short else CASES)]
    found: dict[str, Spent] = {}
    command = shlex.split(os.environ.get(COMMAND, "")) or [one for one in [shutil.which("promptfoo")] if one]
    with DemoGateway() as gateway:
        for _ in range(1 if short else PASSES):
            for name, contend in _contenders(gateway.url, cases, command).items():
                with tempfile.TemporaryDirectory() as folder:
                    spent = contend(Path(folder))
                found[name] = spent.least(found.get(name, spent))
    return [*_ratios(found), *(figure for name, spent in found.items() for figure in _told(name, spent))]


def _contenders(url: str, cases: Sequence[Case], promptfoo: list[str]) -> dict[str, Callable[[Path], Spent]]:
    out: dict[str, Callable[[Path], Spent]] = {
        "ours": lambda folder: _ours(folder, url, cases, streamed=False),
        "ours, streamed": lambda folder: _ours(folder, url, cases, streamed=True),
        "openai SDK in a loop": lambda folder: _sdk(folder, url, cases),
    }
    if promptfoo:
        return {"promptfoo": lambda folder: _promptfoo(folder, url, cases, promptfoo), **out}
    print(MISSING, file=sys.stderr)
    return out


def _ratios(found: Mapping[str, Spent]) -> list[Figure]:
    peer, ours = found.get("promptfoo"), found["ours"]
    if peer is None:
        return [Figure("promptfoo is not installed", None, "", "runs", False)]
    return [
        at_most("ours / promptfoo, CPU", ours.cpu / peer.cpu, "×", OF_PROMPTFOO),
        at_most("ours / promptfoo, peak memory", ours.memory / peer.memory, "×", OF_PROMPTFOO),
        Figure("ours / promptfoo, wall time", ours.wall / peer.wall, "×"),
    ]


def _told(name: str, spent: Spent) -> list[Figure]:
    return [
        Figure(f"{name}: wall time", spent.wall, "s"),
        Figure(f"{name}: CPU", spent.cpu, "s"),
        Figure(f"{name}: peak memory", spent.memory, "MB"),
    ]


def _promptfoo(folder: Path, url: str, cases: Sequence[Case], command: Sequence[str]) -> Spent:
    """As people run it, but for what would go to its makers or come from a cache; its own database is kept."""
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
        "PROMPTFOO_DISABLE_DEBUG_LOG": "1",  # written to its very end, it fell over that, after 1,000 cases
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


def _ours(folder: Path, url: str, cases: Sequence[Case], *, streamed: bool) -> Spent:
    content = {
        "experiment": 1,
        "id": "peers",
        "protocol": "chat",
        "model": MODEL,
        "parameters": {"chat": {**PARAMETERS, "stream": streamed}},
        "turns": [{"id": "asked", "role": "user", "parts": [{"kind": "text", "text": ASKED}]}],
        "head": "asked",
        "evaluation": {
            "cases": [{"id": case.city, "values": case._asdict()} for case in cases],
            "checks": [{"kind": "contains", "text": "{{wanted}}"}],
            "streamed": streamed,
            "at_once": AT_ONCE,
        },
    }
    file = folder / "peers.playground.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    kept = folder / "answers.sqlite"
    command = [sys.executable, "-m", "playground", "eval", str(file), "--base-url", url, "--answers", str(kept)]
    spent = _watched(command, folder, {"PLAYGROUND_API_KEY": KEY})
    with closing(sqlite3.connect(kept)) as store:
        rows = store.execute("SELECT verdicts FROM answers WHERE failure = ''").fetchall()
    verdicts = [list(json.loads(text).values()) for (text,) in rows]
    _check(cases, len(rows), sum(all(passed for passed, *_ in one) for one in verdicts))
    return spent


def _sdk(folder: Path, url: str, cases: Sequence[Case]) -> Spent:
    asked, found = folder / "asked.json", folder / "found.json"
    asked.write_text(
        json.dumps([[case.wanted, ASKED.replace("{{city}}", case.city)] for case in cases]), encoding="utf-8"
    )
    spent = _watched([sys.executable, "-m", "tests.benchmarks.sdk_loop", url, str(asked), str(found)], folder, {})
    marks = json.loads(found.read_text(encoding="utf-8"))
    _check(cases, len(marks), sum(marks))
    return spent


def _watched(command: Sequence[str], folder: Path, own: Mapping[str, str]) -> Spent:
    """Run a command to its end. Raises RuntimeError with what it said where it failed."""
    with (folder / "said.txt").open("w+b") as said:
        began = time.perf_counter()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env={**os.environ, **own})
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            said.seek(0)
            words = said.read()[-2000:].decode(errors="replace")
            raise RuntimeError(f"{command[0]} ended with {child.returncode}: {words}")
    unit = 1 if sys.platform == "darwin" else 2**10  # bytes
    return Spent(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 2**20)


def _check(cases: Sequence[Case], answered: int, passed: int) -> None:
    """That nobody left anything out. Raises RuntimeError."""
    if (answered, passed) != (len(cases), sum(case.city == case.wanted for case in cases)):
        raise RuntimeError(f"{answered} of {len(cases)} answers came, {passed} passed")
