"""The freeze watchdog: a real application whose loop stands still, and the log it leaves behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from playground.ui.shell.stack_text import short
from playground.ui.shell.watchdog import stacks
from tests.support.each_case import each_case
from tests.ui.shell.freezing_program import BEGINS

ROOT = Path(__file__).resolve().parents[3]
CANARY = "sk-canary-5f2c9d"
LIMIT_S = 0.6
STARTS = 3  # of a window that may stand still because the machine is busy


def run_freezing(home: Path, way: str) -> str:
    """Run the application, freeze it, and return its log from then on."""
    places = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "LOCALAPPDATA": str(home / "state")}
    done = subprocess.run(
        [sys.executable, "-m", "tests.ui.shell.freezing_program", way, str(LIMIT_S), CANARY],
        cwd=ROOT,
        env=os.environ | places | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    (log,) = home.rglob("playground.log")
    return log.read_text(encoding="utf-8").partition(BEGINS)[2].strip()


def test_each_freeze_is_logged_once_with_stacks_and_without_secrets(tmp_path: Path) -> None:
    text = run_freezing(tmp_path, "sleep")
    assert text.count("has not answered for") == 2
    assert text.count("  stand_still (freezing_program.py:") == 2
    assert re.search(r"  freeze \(freezing_program\.py:\d+\)", text)
    assert re.search(r"  run \(playground/ui/widgets/loop\.py:\d+\)", text)
    assert "Thread “MainThread”:" in text
    assert re.search(r"Gateway Playground \d\S+, Python 3", text)
    assert len(re.findall(r"answers again, after \d+\.\d s", text)) == 2
    for word in ("canary", CANARY, "prompt", str(tmp_path), str(ROOT), str(Path.home()), "time.sleep"):
        assert word not in text, word


@pytest.mark.slow
def test_computation_that_lets_no_thread_run_is_logged(tmp_path: Path) -> None:
    text = run_freezing(tmp_path, "compute")
    assert len(re.findall(r"ha[sd] not answered for \d", text)) == 1
    assert ("Thread “MainThread”:" in text) is not ("no thread could look" in text)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="platform: no way to stop a process")
@pytest.mark.slow
def test_stopped_process_is_not_logged_as_frozen(tmp_path: Path) -> None:
    homes = [tmp_path / str(number) for number in range(STARTS)]
    for home in homes:
        home.mkdir()
    assert any(run_freezing(home, "stop") == "" for home in homes)


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


def test_stacks_name_every_thread() -> None:
    gate, inside = threading.Event(), threading.Event()

    def wait_here() -> None:
        inside.set()
        gate.wait()

    thread = threading.Thread(target=wait_here, name="named")
    thread.start()
    inside.wait()
    try:
        text = stacks()
    finally:
        gate.set()
        thread.join()
    assert "Thread “named”:" in text
    assert "  wait_here (test_watchdog.py:" in text
