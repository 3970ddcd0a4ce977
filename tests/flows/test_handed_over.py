"""Files that the system hands over in events, as macOS sends them, to an application in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from playground.domain.transcript import Role, make_turn
from playground.engine.files.experiment_file import write
from playground.engine.session.snapshot import Snapshot

#: The application; it prints the title of the experiment shown whenever it changes.
PROGRAM = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication
import playground.app as app_module

def hand(path):
    QApplication.sendEvent(QApplication.instance(), QFileOpenEvent(path))

early, later = sys.argv[1:3]
app_module.FILES_BY_EVENT = True

class Telling(app_module.App):
    told = "New experiment"

    def __init__(self, qt, **options):
        super().__init__(qt, **options)
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
            if title == "Early":
                hand(later)
        if title == "The last":
            self.quit(ask=False)

app_module.App = Telling
code = app_module.run()
print("ended", flush=True)
sys.exit(code)
"""


def experiment(folder: Path, title: str) -> str:
    turn = make_turn(Role.USER, f"What {title} says")
    path = folder / f"{title}.playground.json"
    path.write_bytes(write(Snapshot(id=title.replace(" ", ""), title=title, turns=(turn,), head=turn.id)))
    return str(path)


def test_file_of_the_system_is_opened_early_or_late(tmp_path: Path) -> None:
    places = {name: str(tmp_path) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    (tmp_path / "runtime").mkdir(mode=0o700)
    environment = {**os.environ, **places, "XDG_RUNTIME_DIR": str(tmp_path / "runtime"), "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("DISPLAY", None)
    command = [sys.executable, "-c", PROGRAM, experiment(tmp_path, "Early"), experiment(tmp_path, "The last")]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    assert done.stdout.split("\n")[:3] == ["Early", "The last", "ended"]
