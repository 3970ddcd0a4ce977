"""Measure the start of the application beside a bare PySide6 window: first painted frame, all in place, idle memory.

Both run in fresh processes, alternating, watched from outside: the clock starts before the process and stops when it
reports through a pipe. The figure is the median of the ratios of neighbours. A first start, which is not counted,
compiles all modules in a folder of its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from select import select
from statistics import median
from tempfile import TemporaryDirectory

from tests.benchmarks.memory import resident
from tests.benchmarks.registry import Figure, at_most

PATIENCE = 30.0  # seconds for one start
CALM_S = 6.0  # after everything is in place: what was left for a calm moment has been done, too
RESTS = 3  # starts of each that are given so long

#: Reports through the pipe: ``p`` first frame painted and flushed, ``w`` all in place.
WATCH = """
import os, sys
PIPE = int(sys.argv.pop())
def report(event):
    os.write(PIPE, event)
from PySide6.QtCore import QEvent, QObject, QTimer
class Watch(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self.painted)  # the event loop comes to it after the flush
        return False
    def painted(self):
        report(b"p")
"""
BARE = (
    WATCH
    + """
from PySide6.QtWidgets import QApplication, QMainWindow
qt = QApplication(sys.argv)
watch = Watch()
window = QMainWindow()
window.resize(1440, 900)
window.installEventFilter(watch)
window.show()
qt.exec()
"""
)
OURS = (
    WATCH
    + """
import gc
gc.disable()  # as `playground` does before it loads the application
import playground.app as app
class Watched(app.App):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.watch = Watch()
        self.window.installEventFilter(self.watch)
    def show(self):
        super().show()
        QTimer.singleShot(0, lambda: report(b"w"))
app.App = Watched
from playground.cli import main
sys.argv = ["playground"]
sys.exit(main())
"""
)


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds to the first frame and until all is in place; bytes resident when idle, 0 where unknown."""

    first: float
    whole: float
    idle: int


def run(short: bool) -> list[Figure]:
    """Return the ratios of ours to a bare window."""
    count = 5 if short else 15
    bare: list[Start] = []
    ours: list[Start] = []
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        homes = {f"XDG_{kind}_HOME": folder for kind in ("DATA", "CONFIG", "STATE", "CACHE")}
        environment = os.environ | homes | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
        _start(BARE, environment, whole=False)
        _start(OURS, environment, whole=True)
        for turn in range(count):
            rest = CALM_S if turn < RESTS else 0.0
            bare.append(_start(BARE, environment, whole=False, rest=rest))
            ours.append(_start(OURS, environment, whole=True, rest=rest))
    ratio = median(mine.first / floor.first for mine, floor in zip(ours, bare, strict=True))
    figures = [
        at_most("first frame, times a bare window's", ratio, "×", 2.5),
        Figure("first frame", median(start.first for start in ours) * 1000, "ms"),
        at_most("everything in place", median(start.whole for start in ours), "s", 1.5),
    ]
    if ours[0].idle:
        mine, floor = (median(start.idle for start in starts[:RESTS]) for starts in (ours, bare))
        figures.append(at_most("idle memory, times a bare window's", mine / floor, "×", 3.2))
        figures.append(Figure("idle memory", mine / 2**20, "MiB"))
    return figures


def _start(program: str, environment: Mapping[str, str], *, whole: bool, rest: float = 0.0) -> Start:
    reading, writing = os.pipe()
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", program, str(writing)], pass_fds=[writing], env=environment)
    os.close(writing)
    try:
        reports = _read(reading)
        first = next(reports)
        last = next(reports) if whole else first
        time.sleep(rest)
        idle = _resident(process.pid) if rest else 0
    finally:
        os.close(reading)
        process.send_signal(signal.SIGTERM if whole else signal.SIGKILL)
        process.wait(PATIENCE)
    return Start(first - began, last - began, idle)


def _read(pipe: int) -> Iterator[float]:
    """Yield the time of each report."""
    while True:
        if not select([pipe], [], [], PATIENCE)[0]:
            raise TimeoutError("the window was not painted")
        reports = os.read(pipe, 100)
        now = time.perf_counter()
        if not reports:
            raise RuntimeError("the process ended before its window was painted")
        for _ in reports:
            yield now


def _resident(pid: int) -> int:
    """Return the bytes of the process in memory; 0 where the system has no such file."""
    try:
        return resident(pid)
    except OSError:
        return 0
