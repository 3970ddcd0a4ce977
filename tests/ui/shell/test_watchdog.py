"""The freeze watchdog: a real application whose loop blocks, and the log it writes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from playground.ui.shell.stack_text import short
from tests.support.each_case import each_case
from tests.ui.shell.freezing_program import BEGINS

ROOT = Path(__file__).resolve().parents[3]
CANARY = "sk-canary-5f2c9d"
LIMIT_S = 0.6


def run(home: Path, *arguments: str, code: int = 0) -> str:
    """Run Python in ``home`` and return its standard output."""
    places = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "LOCALAPPDATA": str(home / "state")}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | places | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def run_freezing(home: Path, way: str, code: int = 0) -> str:
    """Run the application, freeze it, and return its log from then on."""
    run(home, "-m", "tests.ui.shell.freezing_program", way, str(LIMIT_S), CANARY, code=code)
    (log,) = home.rglob("playground.log")
    return log.read_text(encoding="utf-8").partition(BEGINS)[2].strip()


def test_each_freeze_is_logged_once_with_stacks_and_without_secrets(tmp_path: Path) -> None:
    text = run_freezing(tmp_path, "sleep")
    assert len(re.findall(r"did not answer for \d+\.\d s", text)) == 2
    assert text.count("  stand_still (freezing_program.py:") == 2
    assert re.search(r"  freeze \(freezing_program\.py:\d+\)", text)
    assert re.search(r"  run \(playground/ui/widgets/loop\.py:\d+\)", text)
    assert "Thread “MainThread”:" in text
    assert re.search(r"Gateway Playground \d\S+, Python 3", text)
    for word in ("canary", CANARY, "prompt", str(tmp_path), str(ROOT), str(Path.home()), "time.sleep"):
        assert word not in text, word


@pytest.mark.slow
def test_computation_that_lets_no_thread_run_is_logged(tmp_path: Path) -> None:
    text = run_freezing(tmp_path, "compute")
    assert len(re.findall(r"did not answer for \d", text)) == 1
    assert "Thread “MainThread”:" in text


@each_case(
    ("file", "text"),
    [
        ("/opt/jane/venv/lib/python3.11/site-packages/httpx/_client.py", "httpx/_client.py"),
        (r"C:\Users\Jane\App\playground\ui\widgets\loop.py", "playground/ui/widgets/loop.py"),
        (r"C:\Users\Jos\xe9\secret\notes.py", "notes.py"),
        (os.__file__, "python/" + Path(os.__file__).relative_to(sys.base_prefix).as_posix()),
        ("<string>", "<string>"),
    ],
)
def test_path_in_a_stack_begins_with_its_package(file: str, text: str) -> None:
    assert short(file) == text


@pytest.mark.skipif(sys.platform == "win32", reason="platform: no SIGKILL")
def test_freeze_that_does_not_end_is_reported_by_the_next_start(tmp_path: Path) -> None:
    run_freezing(tmp_path, "kill", -signal.SIGKILL)
    code = "from playground.ui.shell.crash import hard_crash; print(hard_crash.begin()); hard_crash.end()"
    report = run(tmp_path, "-c", code)
    assert "Ended unexpectedly" in report
    assert "  stand_still (freezing_program.py:" in report
    assert CANARY not in report
