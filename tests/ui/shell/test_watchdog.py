"""The freeze watchdog: a real application whose loop really stands still, and the log it leaves behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from playground.ui.shell.stack_text import short
from playground.ui.shell.watchdog import Watchdog, stacks
from tests.support.passes import PASSES, shortest

ROOT = Path(__file__).resolve().parents[3]
CANARY = "sk-canary-5f2c9d"
LIMIT = 0.6
BEGINS = "Here the freezing begins."

#: The real application; once its loop turns calmly, what stands in FREEZES happens in its loop, then it is quit. How
#: it starts on a busy machine, which may be a freeze of its own, is not looked at.
PROGRAM = """
import logging, sys, time
import playground.app as app
from PySide6.QtCore import QTimer

class Made(app.App):
    def show(self):
        super().show()
        self.key = CANARY
        self.window.composer.set_text("prompt " + CANARY)
        self.calm, self.ticked = 0, time.monotonic()
        self.ticker = QTimer(self.window, interval=50)
        self.ticker.timeout.connect(self.tick)
        self.ticker.start()

    def tick(self):
        now = time.monotonic()
        self.calm, self.ticked = self.calm + 1 if now - self.ticked < 0.1 else 0, now
        if self.calm == 6:
            self.ticker.stop()
            logging.getLogger("playground.freeze").warning(BEGINS)
            self.freeze()

    def freeze(self):
        held = ["local " + CANARY, self.key]
        stand_still(held)
        QTimer.singleShot(PAUSE, self.again)

    def again(self):
        FREEZES and FREEZES.pop()
        self.freeze() if FREEZES else QTimer.singleShot(PAUSE, self.quit)

def stand_still(held):
    HOW

app.App = Made
sys.exit(app.run(patience=LIMIT))
"""


#: A computation of about 1.5 s of this machine, in which no other thread of the program runs.
COMPUTED = (
    "began = time.process_time()",
    "sum(range(10**6))",
    "sum(range(int(10**6 * 1.5 / (time.process_time() - began))))",
)


def frozen(home: Path, how: str, times: int = 1) -> str:
    """Run the application, freeze it, and return what its log says from then on."""
    values = {
        "BEGINS": repr(BEGINS),
        "CANARY": repr(CANARY),
        "HOW": how,
        "FREEZES": "FREEZES",
        "LIMIT": str(LIMIT),
        "PAUSE": "250",
    }
    program = f"FREEZES = [0] * {times}\n" + PROGRAM
    for name, value in values.items():
        program = program.replace(name, value)
    places = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "LOCALAPPDATA": str(home / "state")}
    script = home / "freezing.py"
    script.write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=ROOT,
        env=os.environ | places | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    (log,) = home.rglob("playground.log")
    return log.read_text(encoding="utf-8").partition(BEGINS)[2].strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("frozen")


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    """The log of an application that was frozen twice."""
    return frozen(folder, "time.sleep(1.6)", times=2)


def test_each_freeze_is_written_once_with_all_stacks_and_how_long(text: str) -> None:
    assert text.count("has not answered for") == 2
    assert text.count("  stand_still (freezing.py:") == 2
    assert re.search(r"  freeze \(freezing\.py:\d+\)", text)
    assert re.search(r"  run \(playground/ui/widgets/loop\.py:\d+\)", text)
    assert "Thread “MainThread”:" in text
    assert "Thread “freeze watchdog”, which looks:" in text
    assert re.search(r"Gateway Playground \d\S+, Python 3", text)
    first, second = re.findall(r"answers again, after (\d\.\d) s", text)
    assert all(1.4 <= float(seconds) <= 15 for seconds in (first, second))


def test_nothing_secret_and_no_folder_is_written(text: str, folder: Path) -> None:
    assert "stand_still" in text
    for word in ("canary", CANARY, "prompt", str(folder), str(ROOT), str(Path.home()), "time.sleep"):
        assert word not in text, word


@pytest.mark.slow
def test_a_computation_that_lets_no_other_thread_run_is_found_too(tmp_path: Path) -> None:
    """The thread that looks is kept from running as well: it is late, but processor time went by.

    It comes to look when the computation ends: in the function, just behind it, or when the loop has turned again.
    """
    text = frozen(tmp_path, "\n    ".join(COMPUTED))
    assert len(re.findall(r"ha[sd] not answered for \d", text)) == 1
    assert ("Thread “MainThread”:" in text) is not ("no thread could look" in text)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="platform: no way to share a processor")
@pytest.mark.slow
def test_it_is_found_too_where_other_programs_have_the_processor(tmp_path: Path) -> None:
    """Then it gets less than half of the time that goes by, as one does that was stopped."""
    lines = (
        "import os, subprocess",
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})",
        "hogs = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(3)]",
        *COMPUTED,
        "[(hog.kill(), hog.wait()) for hog in hogs]",
    )
    assert re.findall(r"ha[sd] not answered for \d", frozen(tmp_path, "\n    ".join(lines)))


def quiet_once(folder: Path, how: str) -> bool:
    """Whether one of a few starts writes nothing: on a busy machine a window may stand still for other reasons."""
    homes = [folder / str(number) for number in range(PASSES)]
    for home in homes:
        home.mkdir()
    return any(frozen(home, how) == "" for home in homes)


@pytest.mark.slow
def test_a_lively_window_leaves_no_log(tmp_path: Path) -> None:
    assert quiet_once(tmp_path, "pass")


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="platform: no way to stop a process")
@pytest.mark.slow
def test_a_process_that_was_stopped_as_a_whole_was_not_frozen(tmp_path: Path) -> None:
    """As with a debugger or a machine that slept: the looking thread stood still, too."""
    wake = "import os, signal, sys, time; time.sleep(1.5); os.kill(int(sys.argv[1]), signal.SIGCONT)"
    lines = (
        "import os, signal, subprocess",
        f"subprocess.Popen([sys.executable, '-c', {wake!r}, str(os.getpid())])",
        "os.kill(os.getpid(), signal.SIGSTOP)",
    )
    assert quiet_once(tmp_path, "\n    ".join(lines))


def test_it_ends_with_the_application(qtbot: QtBot, qapp: object) -> None:
    from PySide6.QtCore import QCoreApplication

    application = QCoreApplication.instance()
    assert application is not None
    before = set(threading.enumerate())
    watchdog = Watchdog(application, 120)  # it looks every thirty seconds, and does not wait for that
    watchdog.start()
    (made,) = (one for one in set(threading.enumerate()) - before if one.name == "freeze watchdog")
    began = time.monotonic()
    watchdog.stop()
    assert not made.is_alive()
    assert time.monotonic() - began < 15


def test_it_costs_next_to_nothing(qtbot: QtBot) -> None:
    from PySide6.QtCore import QCoreApplication

    application = QCoreApplication.instance()
    assert application is not None
    watchdog = Watchdog(application, 2.0)
    watchdog.start()

    def seconds() -> float:
        began = time.process_time()
        qtbot.wait(1000)
        return time.process_time() - began

    spent = shortest(seconds, 0.05)
    watchdog.stop()
    assert spent < 0.05


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("/opt/jane/venv/lib/python3.11/site-packages/httpx/_client.py", "httpx/_client.py"),
        (r"C:\Users\Jane\App\playground\ui\widgets\loop.py", "playground/ui/widgets/loop.py"),
        (r"C:\Users\Jos\xe9\secret\notes.py", "notes.py"),
        (os.__file__, "python/" + Path(os.__file__).relative_to(sys.base_prefix).as_posix()),
        ("<string>", "<string>"),
    ],
)
def test_paths_are_told_from_the_package_on(file: str, said: str) -> None:
    assert short(file) == said


def test_stacks_name_every_thread() -> None:
    gate, inside = threading.Event(), threading.Event()

    def wait_here() -> None:
        inside.set()
        gate.wait()

    thread = threading.Thread(target=wait_here, name="a named one")
    thread.start()
    inside.wait()
    try:
        text = stacks()
    finally:
        gate.set()
        thread.join()
    assert "Thread “a named one”:" in text
    assert "  wait_here (test_watchdog.py:" in text
