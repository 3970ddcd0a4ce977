"""What a window costs with nothing to do: how often its process wakes, and its processor time, beside a bare one.

The window has answered once, over the demo gateway of its own process, and six seconds have gone by. The gateway tells
of no rate limit: what is left of one is counted down in view, every second, until its window is over. Then its threads'
voluntary switches, each the end of a stretch of work after which a thread waits again, are counted from outside, as the
system keeps them in ``/proc``; where it does not, nothing is told. The bare window has qasync's loop and one field for
text that has the focus, so its caret blinks as ours does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from select import select
from tempfile import TemporaryDirectory

from tests.benchmarks.registry import Figure, at_most

LOOK_S, SHORT_LOOK_S = 15.0, 10.0
CALM_S = 6.0  # after which a window with nothing to do is idle
PATIENCE_S = 150.0  # for a window to say that it has nothing to do
STATES = ("conversation", "minimised", "compare", "evaluate")

BARE = """
import os, sys, asyncio
os.environ["QT_API"] = "pyside6"
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow, QPlainTextEdit
import qasync
qt = QApplication(sys.argv)
loop = qasync.QEventLoop(qt)
window = QMainWindow()
text = QPlainTextEdit()
window.setCentralWidget(text)
window.resize(1440, 900)
window.show()
text.setFocus()
QTimer.singleShot(0, lambda: os.write(1, b"idle\\n"))
with loop:
    loop.run_forever()
"""
OURS = """
import asyncio, os, sys
import playground.app as app
from playground.demo.server import DemoConfig
from playground.domain.transcript import Role, make_turn
from playground.ui.shell.features import COMPARE, EVALUATE
from playground.ui.widgets import loop
STATE = sys.argv.pop()
class Used(app.App):
    def furnish(self, demo=None):
        return super().furnish(DemoConfig(rate_limit=0))
    def show(self):
        super().show()
        loop.spawn(self.use(), name="use")
    async def use(self):
        while self.workspace.opening or not self.workspace.current.settings.model:
            await asyncio.sleep(0.05)
        session = self.workspace.current
        session.turns.add_turn(make_turn(Role.USER, "Write a few lines."))
        await session.run()
        assert session.transcript.path[-1].outcome.finish_reason == "stop"
        if STATE == "minimised":
            self.window.showMinimized()
        elif STATE != "conversation":
            self.actions.of({"compare": COMPARE, "evaluate": EVALUATE}[STATE]).show(True)
        os.write(1, b"idle\\n")
app.App = Used
from playground.cli import main
sys.argv = ["playground"]
sys.exit(main())
"""


@dataclass(frozen=True, slots=True)
class Idle:
    """Wake-ups a second of all threads together, and per cent of one core."""

    wakes: float
    share: float


def run(short: bool) -> list[Figure]:
    """What each state of ours adds to the bare window; the short form has the first state alone."""
    if not Path("/proc/self/task").is_dir():
        return [Figure("the system keeps no count of a thread's switches", None, "")]
    states = STATES[: 1 if short else None]
    bare, *ours = _watch([[BARE], *([OURS, state] for state in states)], SHORT_LOOK_S if short else LOOK_S)
    figures = [
        Figure("a bare window, wake-ups", bare.wakes, "1/s"),
        Figure("a bare window, of a core", bare.share, "%"),
    ]
    for state, found in zip(states, ours, strict=True):
        figures += [
            at_most(f"{state}, wake-ups beyond the bare window's", max(found.wakes - bare.wakes, 0.0), "1/s", 0.1),
            at_most(f"{state}, of a core", found.share, "%", 0.1),
        ]
    return figures


def _watch(programs: list[list[str]], seconds: float) -> list[Idle]:
    """All of them side by side, for as long: they have nothing to do, so none is in another's way."""
    with ExitStack() as last:
        processes = [_started(program, last) for program in programs]
        for process in processes:
            assert process.stdout is not None
            if not select([process.stdout], [], [], PATIENCE_S)[0] or process.stdout.readline() != b"idle\n":
                raise RuntimeError("a window did not come to rest")
        time.sleep(CALM_S)
        began = [(_switches(process.pid), _spent(process.pid)) for process in processes]
        time.sleep(seconds)
        return [
            Idle((_switches(process.pid) - wakes) / seconds, 100 * (_spent(process.pid) - spent) / seconds)
            for process, (wakes, spent) in zip(processes, began, strict=True)
        ]


def _started(program: list[str], last: ExitStack) -> subprocess.Popen[bytes]:
    """Each with a folder of its own, or it would hand over to the window that is open."""
    folder = last.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))
    places = {f"XDG_{kind}_HOME": folder for kind in ("DATA", "CONFIG", "STATE", "CACHE")}
    command = [sys.executable, "-c", *program]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | places)
    last.callback(process.wait, PATIENCE_S)
    last.callback(process.send_signal, signal.SIGTERM)
    return process


def _switches(pid: int) -> int:
    """How often any thread of it has begun to wait, until now."""
    found = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        lines = (task / "status").read_text(encoding="utf-8").splitlines()
        found += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return found


def _spent(pid: int) -> float:
    """Seconds of processor time, in the system's clock ticks: hundredths, so ten seconds tell a thousandth."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
