"""From the process's start to the first painted frame, and its memory: the application beside a bare PySide6 window.

Both run in fresh processes, in turn, watched from outside: the clock starts before the process does and stops when it
says through a pipe that its first frame has been painted and flushed. How fast the machine is changes from one second
to the next, for both; so the figure is the median of the ratios of neighbours, and not the ratio of two best starts,
which seldom had the same moment. Memory is the process's resident set, pages shared with others counted whole, at that
moment and again when nothing is left to be done; where the system does not tell it, those figures are left out.

Modules are compiled by a first start that is not counted, whatever the environment says: an installed program's are.
All starts find the same folder for what is kept, made by that one.
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

#: Says through the pipe what happened: ``p`` first frame painted and flushed, with the pages resident; ``w`` whole.
WATCH = """
import os, sys
PIPE = int(sys.argv.pop())
def say(what):
    try:
        with open("/proc/self/statm") as file:
            pages = file.read().split()[1]
    except OSError:
        pages = "0"
    os.write(PIPE, f"{what} {pages}\\n".encode())
from PySide6.QtCore import QEvent, QObject, QTimer
class Watch(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self.painted)  # the event loop comes to it after the flush
        return False
    def painted(self):
        say("p")
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
        QTimer.singleShot(0, lambda: say("w"))
app.App = Watched
from playground.cli import main
sys.argv = ["playground"]
sys.exit(main())
"""
)


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds to the first frame and, for the application, to the whole window; bytes resident then and when idle.

    ``bytes_idle`` is 0 for a start that was not waited for so long.
    """

    first: float
    whole: float
    bytes_first: int
    bytes_idle: int


def run(short: bool) -> list[Figure]:
    """Starts of a bare window and of ours in turn, and what one takes of the other."""
    count = 5 if short else 15
    bare: list[Start] = []
    ours: list[Start] = []
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        kept = {f"XDG_{kind}_HOME": folder for kind in ("DATA", "CONFIG", "STATE", "CACHE")}
        places = os.environ | kept | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
        _start(BARE, places, whole=False), _start(OURS, places, whole=True)  # files come into the system's cache, too
        for turn in range(count):
            rest = CALM_S if turn < RESTS else 0.0
            bare.append(_start(BARE, places, whole=False, rest=rest))
            ours.append(_start(OURS, places, whole=True, rest=rest))
    ratio = median(mine.first / floor.first for mine, floor in zip(ours, bare, strict=True))
    figures = [
        at_most("first frame, times a bare window's", ratio, "×", 1.9),
        Figure("first frame", median(start.first for start in ours) * 1000, "ms"),
        Figure("first frame of a bare window", median(start.first for start in bare) * 1000, "ms"),
        at_most("everything in place, the best start", min(start.whole for start in ours) * 1000, "ms", 800),
        Figure("everything in place, the median", median(start.whole for start in ours) * 1000, "ms"),
    ]
    if ours[0].bytes_idle:
        for words, of, goal in (("first frame", "bytes_first", 1.8), ("idle", "bytes_idle", 2.3)):
            mine, floor = (median(getattr(start, of) for start in starts[:RESTS]) for starts in (ours, bare))
            figures.append(at_most(f"memory at {words}, times a bare window's", mine / floor, "×", goal))
            figures.append(Figure(f"memory at {words}", mine / 2**20, "MiB"))
    return figures


def _start(program: str, places: Mapping[str, str], *, whole: bool, rest: float = 0.0) -> Start:
    reading, writing = os.pipe()
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", program, str(writing)], pass_fds=[writing], env=places)
    os.close(writing)
    try:
        said = _said(reading)
        first, bytes_first = next(said)
        last = next(said)[0] if whole else first
        time.sleep(rest)
        bytes_idle = _resident(process.pid) if rest else 0
    finally:
        os.close(reading)
        process.send_signal(signal.SIGTERM if whole else signal.SIGKILL)
        process.wait(PATIENCE)
    return Start(first - began, last - began, bytes_first, bytes_idle)


def _said(pipe: int) -> Iterator[tuple[float, int]]:
    """When each line came, and the bytes resident that it names."""
    waiting = b""
    while True:
        if not select([pipe], [], [], PATIENCE)[0]:
            raise TimeoutError("the window was not painted")
        piece = os.read(pipe, 100)
        now = time.perf_counter()
        if not piece:
            raise RuntimeError("the process ended before its window was painted")
        *lines, waiting = (waiting + piece).split(b"\n")
        for line in lines:
            yield now, int(line.split()[1]) * _page()


def _page() -> int:
    return int(os.sysconf("SC_PAGE_SIZE"))


def _resident(pid: int) -> int:
    """Bytes of the process in memory; 0 where the system has no such file."""
    try:
        return resident(pid)
    except OSError:
        return 0
