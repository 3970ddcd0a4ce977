"""Files that others hand to the application: a second start, and events of the system as macOS sends them.

Each in processes of their own, started as a person's desktop starts them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from playground.domain.transcript import Role, make_turn
from playground.engine.files.experiment_file import write
from playground.engine.session.snapshot import Snapshot

#: The application, with a voice: it tells the title of what it shows whenever that is another one.
PROGRAM = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication
import playground.app as app_module

def hand(path):
    QApplication.sendEvent(QApplication.instance(), QFileOpenEvent(path))

early, later, argument = sys.argv[1:4]
app_module.FILES_BY_EVENT = True

class Telling(app_module.App):
    told = "New experiment"

    def __init__(self, qt, **options):
        super().__init__(qt, **options)
        if early:
            hand(early)
        self.timer = QTimer(interval=20, timeout=self.tell)

    def show(self):
        super().show()
        self.timer.start()

    def tell(self):
        title = self.workspace.current.title
        if self.second_starts is not None and title != self.told:
            self.told = title
            print(title, flush=True)
            if title == "Early" and later:
                hand(later)
        if title == "The last":
            self.quit(ask=False)

app_module.App = Telling
code = app_module.run(Path(argument) if argument else None)
print("ended", flush=True)
sys.exit(code)
"""


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


def start(home: Path, early: str = "", later: str = "", argument: str = "") -> subprocess.Popen[str]:
    places = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    (home / "runtime").mkdir(mode=0o700, exist_ok=True)
    environment = {**os.environ, **places, "XDG_RUNTIME_DIR": str(home / "runtime"), "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("DISPLAY", None)
    command = [sys.executable, "-c", PROGRAM, early, later, argument]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def experiment(folder: Path, title: str) -> str:
    turn = make_turn(Role.USER, f"What {title} says")
    path = folder / f"{title}.playground.json"
    path.write_bytes(write(Snapshot(id=title.replace(" ", ""), title=title, turns=(turn,), head=turn.id)))
    return str(path)


def line(process: subprocess.Popen[str]) -> str:
    out: IO[str] | None = process.stdout
    assert out is not None
    return out.readline().strip()


def test_a_file_the_system_hands_over_is_opened_early_or_late(
    tmp_path: Path, processes: list[subprocess.Popen[str]]
) -> None:
    process = start(tmp_path, experiment(tmp_path, "Early"), experiment(tmp_path, "The last"))
    processes.append(process)
    assert [line(process) for _ in range(3)] == ["Early", "The last", "ended"]
    assert process.wait(60) == 0


def test_a_second_start_hands_its_file_to_the_first_window_and_ends(
    tmp_path: Path, processes: list[subprocess.Popen[str]]
) -> None:
    first = start(tmp_path, argument=experiment(tmp_path, "Begun with"))
    processes.append(first)
    assert line(first) == "Begun with"
    second = start(tmp_path, argument=experiment(tmp_path, "The last"))
    processes.append(second)
    assert second.wait(60) == 0
    assert line(second) == "ended", "it showed nothing of its own"
    assert line(first) == "The last"
    assert first.wait(60) == 0
