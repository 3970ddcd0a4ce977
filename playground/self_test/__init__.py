"""``playground --self-test``: whether this installation holds all it needs, tried out and not guessed.

Meant for packages and for people whose machine differs from ours: what is imported late is imported now, a window is
drawn, an answer streamed over a socket, a key kept, an experiment written. Nothing of the user's is read or changed:
settings, gateways and experiments of the test live in a folder that is gone afterwards.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from playground.self_test.report import Report

SECONDS = 180  # for each check


def run(*, window: bool) -> int:
    """Make every check and print one line for each. Returns 0 when none failed, else 1.

    ``window`` opens the window on the screen there is; otherwise it is drawn without one.
    """
    if not window:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        if sys.platform == "win32":  # Qt's offscreen platform does not look for the fonts of Windows
            os.environ.setdefault("QT_QPA_FONTDIR", str(Path(os.environ["SYSTEMROOT"]) / "Fonts"))
    from playground.self_test import imports, surroundings

    report = Report(SECONDS)
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

        in_the_window.run(report, Path(folder))
    return report.end()
