"""A crash of the whole process, for real: what it leaves, and what the next start makes of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROMPT = "the plot of my novel"

#: The real application; after a moment it crashes, quits, or says what it offers.
PROGRAM = """
import os, signal, sys
from PySide6.QtCore import QTimer
import playground.app as app_module
from playground.ui.shell.crash.crash_dialog import CrashDialog

class Watched(app_module.App):
    def show(self):
        super().show()
        QTimer.singleShot(200, self.act)

    def act(self):
        what, notice = sys.argv[1], self.window.pane.notice
        if what == "crash":
            self.window.pane.composer.set_text(sys.argv[2])
            os.kill(os.getpid(), signal.SIGSEGV)
        if what == "look":
            print("offer:", notice.words if notice.isVisible() else "")
            if notice.isVisible():
                notice.buttons[0].click()
                dialog = self.window.findChild(CrashDialog)
                print(dialog.windowTitle())
                print(dialog.report.toPlainText())
                dialog.accept()
        self.quit()

app_module.App = Watched
sys.exit(app_module.run())
"""


def start(home: Path, *arguments: str, program: str = PROGRAM) -> subprocess.CompletedProcess[str]:
    places = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    environment = {**os.environ, **places, "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("DISPLAY", None)
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.skipif(sys.platform == "win32", reason="platform: Windows has no such signal")
def test_crash_is_offered_at_the_next_start(tmp_path: Path) -> None:
    crashed = start(tmp_path, "crash", PROMPT)
    assert crashed.returncode == -signal.SIGSEGV
    files = [path for path in tmp_path.rglob("running-*.txt") if path.stat().st_size]
    assert len(files) == 1

    looked = start(tmp_path, "look")
    assert looked.returncode == 0, looked.stderr
    assert "offer: The last session ended unexpectedly." in looked.stdout
    assert "Fatal Python error: Segmentation fault" in looked.stdout
    assert "  act (<string>:" in looked.stdout
    assert "(playground/app.py:" in looked.stdout
    saved = next(tmp_path.rglob("last-crash.txt")).read_text(encoding="utf-8")
    for text in (looked.stdout, saved):
        assert PROMPT not in text
        assert str(tmp_path) not in text
    assert not list(tmp_path.rglob("running-*.txt"))


NO_START = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
import playground.app as app_module
from playground.ui.shell.crash.crash_dialog import CrashDialog
from playground.engine.library import workspace

def look():
    dialog = next((one for one in QApplication.topLevelWidgets() if isinstance(one, CrashDialog)), None)
    if dialog is None:
        QTimer.singleShot(50, look)
        return
    print(dialog.heading.text())
    print(dialog.report.toPlainText())
    dialog.continue_button.click()

class Broken:
    def __init__(self, *_, **__):
        raise ValueError(sys.argv[1])

if sys.argv[2] == "build":
    workspace.Workspace = Broken
else:
    app_module.MainWindow = Broken
make = app_module.make_application
def make_and_look():
    qt = make()
    QTimer.singleShot(50, look)
    return qt
app_module.make_application = make_and_look
sys.exit(app_module.run())
"""


@pytest.mark.parametrize("where", ["__init__", pytest.param("build", marks=pytest.mark.slow)])
def test_failed_start_is_shown_and_logged(tmp_path: Path, where: str) -> None:
    """With a window, whose rest cannot be made, and without one."""
    ended = start(tmp_path, PROMPT, where, program=NO_START)
    assert ended.returncode == 1, ended.stderr
    assert "Gateway Playground could not start." in ended.stdout
    assert "ValueError" in ended.stdout
    assert f"{where} (" in ended.stdout
    logged = next(tmp_path.rglob("playground.log")).read_text(encoding="utf-8")
    assert logged.count("could not start") == 1
    assert "ValueError" in logged
    for text in (ended.stdout, ended.stderr, logged):
        assert PROMPT not in text


EARLY_ERROR = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
import playground.app as app_module
from playground.ui.shell.crash.crash_dialog import CrashDialog

class Clumsy(app_module.App):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        QTimer.singleShot(0, self.stumble)

    def stumble(self):
        raise LookupError(sys.argv[1])

    def show(self):
        super().show()
        QTimer.singleShot(50, self.look)

    def look(self):
        dialog = self.window.findChild(CrashDialog)
        if dialog is None or not dialog.isVisible():
            QTimer.singleShot(50, self.look)
            return
        print(dialog.report.toPlainText())
        dialog.continue_button.click()
        self.quit()

app_module.App = Clumsy
sys.exit(app_module.run())
"""


@pytest.mark.slow
def test_error_before_the_first_frame_is_shown_and_logged(tmp_path: Path) -> None:
    ended = start(tmp_path, PROMPT, program=EARLY_ERROR)
    assert ended.returncode == 0, ended.stderr
    logged = next(tmp_path.rglob("playground.log")).read_text(encoding="utf-8")
    for text in (ended.stdout, logged):
        assert "LookupError" in text
        assert "stumble (" in text
        assert PROMPT not in text
