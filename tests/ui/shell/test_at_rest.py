"""The real window after it has come to rest, when no timer of ours runs: what wakes it is seen to as before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]

#: The real application. A thread, of which the event loop knows nothing, says that all keepers rest; after a line that
#: comes in, it gives the event loop something to do that takes long.
PROGRAM = """
import sys, threading, time
import playground.app as app
from PySide6.QtCore import QObject, Signal
from playground.ui.widgets.stillness import Keeper

keepers = []
begin = Keeper.__init__

def begun(self, *arguments):
    begin(self, *arguments)
    keepers.append(self)

Keeper.__init__ = begun

class Asked(QObject):
    came = Signal()

class Made(app.App):
    def show(self):
        app.QApplication.setCursorFlashTime(0)  # a blinking caret is looked at here, and a signal is seen to then
        super().show()
        self.asked = Asked()
        self.asked.came.connect(self.stand_still)
        threading.Thread(target=self.tell, daemon=True).start()

    def tell(self):
        while any(keeper._clock for keeper in keepers):  # nothing else says so
            time.sleep(0.05)
        print("rests", flush=True)
        sys.stdin.readline()
        self.asked.came.emit()

    def stand_still(self):
        time.sleep(3)
        self.quit()

app.App = Made
sys.exit(app.run(patience=0.6))
"""


def at_rest(folder: Path) -> subprocess.Popen[str]:
    """The application, started with ``folder`` for all that it keeps, when it has come to rest."""
    places = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("DATA", "CONFIG", "STATE", "CACHE")}
    places |= {"HOME": str(folder), "LOCALAPPDATA": str(folder / "local"), "PYTHONPATH": str(ROOT)}
    program = folder / "resting.py"
    program.write_text(PROGRAM, encoding="utf-8")
    child = subprocess.Popen(
        [sys.executable, str(program)],
        env=os.environ | places | {"QT_QPA_PLATFORM": "offscreen"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    said = child.stdout.readline()
    assert said == "rests\n", child.communicate()
    return child


def test_a_freeze_after_a_rest_is_written(tmp_path: Path) -> None:
    _, errors = at_rest(tmp_path).communicate("go on\n", timeout=60)
    assert errors == ""
    (log,) = tmp_path.rglob("playground.log")
    text = log.read_text(encoding="utf-8")
    assert text.count("  stand_still (resting.py:") == 1
    assert "has not answered for" in text.partition("  stand_still (resting.py:")[0]


@pytest.mark.skipif(sys.platform == "win32", reason="platform: needs Linux or macOS, to send an interrupt to one child")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_a_rest_ends_it_in_order(number: signal.Signals, tmp_path: Path) -> None:
    child = at_rest(tmp_path)
    child.send_signal(number)
    assert child.stdin is not None
    code = child.wait(20)
    child.stdin.close()
    assert child.stdout is not None
    assert child.stderr is not None
    with child.stdout, child.stderr:
        assert (code, child.stderr.read()) == (0, "")
