"""A signal is acted on by a window that sleeps: nothing of Python's runs in it until it is woken."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SLEEPS = """
import os, signal, sys
from PySide6.QtCore import QCoreApplication, QTimer
from playground.ui.shell.signals import Signals
qt = QCoreApplication([])
signals = Signals(qt.quit, qt)
QTimer.singleShot(0, lambda: os.write(1, b"sleeps\\n"))
qt.exec()
signals.end()
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


@pytest.mark.skipif(sys.platform == "win32", reason="platform: needs Linux or macOS, to send an interrupt to one child")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_window_that_sleeps_acts_on_a_signal(number: signal.Signals) -> None:
    code = (
        f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n{SLEEPS}"  # it may be ignored here
    )
    child = subprocess.Popen(
        [sys.executable, "-X", "dev", "-W", "error", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"sleeps\n"
    if sys.platform == "linux":  # it is asleep in the system's wait, not on its way there
        while "S (sleeping)" not in Path(f"/proc/{child.pid}/status").read_text(encoding="ascii"):
            os.sched_yield()
    child.send_signal(number)
    _, err = child.communicate(timeout=30)
    assert (child.returncode, err) == (0, b"")
