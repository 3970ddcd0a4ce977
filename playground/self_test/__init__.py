"""``playground --self-test``: tests every part of an installation on this machine.

It imports all modules, draws a window, streams an answer over a socket, stores a key and writes an experiment. Nothing
of the user is read or changed: settings, gateways and experiments of the test are in a temporary folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from playground.self_test.report import Report

SECONDS = 180.0  # for each check
WAIT_SECONDS = 30.0  # for each state of the window
SLOW = 20  # times as long on a slow machine


def run(*, window: bool, slow: bool = False) -> int:
    """Make every check and print one line for each. Return 0 when none failed, else 1.

    ``window`` opens the window on the screen; otherwise it is drawn without one. ``slow`` gives each check ``SLOW``
    times as long.
    """
    factor = SLOW if slow else 1
    if not window:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        if sys.platform == "win32":  # Qt's offscreen platform does not look for the fonts of Windows
            os.environ.setdefault("QT_QPA_FONTDIR", str(Path(os.environ["SYSTEMROOT"]) / "Fonts"))
    from playground.self_test import imports, surroundings

    report = Report(SECONDS * factor)
    report.head()
    with report.check("parts"):
        report.good(imports.load_everything())
    with report.check("resources"):
        report.good(surroundings.read_resources())
    with report.check("certificates"):
        surroundings.look_at_certificates(report)
    with report.check("checks"):
        report.good(surroundings.check_elsewhere())
    with report.check("tool servers"):
        report.good(surroundings.ask_a_tool_server())
    with report.check("other programs"):
        report.good(surroundings.what_children_inherit())
    own = tempfile.TemporaryDirectory(prefix="playground-self-test-", ignore_cleanup_errors=True)
    with own as folder, report.check("window"):
        from playground.self_test import window as in_the_window

        in_the_window.run(report, Path(folder), WAIT_SECONDS * factor)
    return report.end()
