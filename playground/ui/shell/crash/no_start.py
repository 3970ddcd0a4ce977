"""Show a dialog if the application could not start, for people without a terminal."""

from __future__ import annotations

import logging
from functools import partial

from PySide6.QtWidgets import QApplication, QWidget

from playground.system import log
from playground.ui.shell.crash.crash_dialog import CrashDialog, open_folder
from playground.ui.shell.crash.report import report

WORDS = "Gateway Playground could not start."


def tell(qt: QApplication, window: QWidget | None, error: BaseException) -> int:
    """Write the error down and show it, with an event loop of its own: there is none yet. Returns the exit code."""
    failure = report(type(error), error, error.__traceback__, "the start")
    logging.getLogger("playground.crash").error("The application could not start.\n%s", failure.text)
    dialog = CrashDialog(f"{WORDS} {failure.words}", failure.text, log.log_path().parent, window, starting=True)
    dialog.folder_asked.connect(open_folder)
    dialog.finished.connect(partial(_leave, qt))
    dialog.open()
    qt.exec()
    if window is not None:
        window.hide()
    return 1


def _leave(qt: QApplication, _result: int) -> None:
    qt.exit(1)  # not quit, which asks the window first
