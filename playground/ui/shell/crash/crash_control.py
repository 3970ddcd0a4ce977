"""Catch unhandled errors of slots, tasks and threads, log them, and show one dialog.

One dialog at a time: what comes meanwhile is counted in it, and an error that was shown already is only counted. The
hooks may be called from any thread and in the middle of Qt's work, so the dialog opens later, in the event loop.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from playground.system.log import log_path
from playground.ui.shell.crash.crash_dialog import CrashDialog, open_folder
from playground.ui.shell.crash.report import Report, report

MOST = 20  # different errors written with their report by one process

log = logging.getLogger("playground.crash")


class CrashControl(QObject):
    """``clean`` takes secrets out of a text by value, should one ever get into a name."""

    _caught = Signal(object)

    def __init__(self, window: QWidget, clean: Callable[[str], str]) -> None:
        super().__init__(window)
        self._window = window
        self._clean = clean
        self._seen: Counter[str] = Counter()
        self._shown: set[str] = set()
        self._dialog: CrashDialog | None = None
        self._since = 0  # errors that came while the dialog was open
        self._caught.connect(self._show, Qt.ConnectionType.QueuedConnection)
        self._before: tuple[Any, Any, Any] | None = None

    @property
    def dialog(self) -> CrashDialog | None:
        """The dialog that is open."""
        return self._dialog

    def install(self) -> None:
        """Take the hooks over. ``remove`` gives them back."""
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        sys.excepthook = self._uncaught
        threading.excepthook = self._in_thread
        sys.unraisablehook = self._unraisable

    def remove(self) -> None:
        """Put the hooks back as they were."""
        if self._before is not None:
            sys.excepthook, threading.excepthook, sys.unraisablehook = self._before
            self._before = None

    def show_ended(self, text: str) -> None:
        """Show the report of a session that ended unexpectedly."""
        self._open(
            CrashDialog("The last session ended unexpectedly.", text, log_path().parent, self._window, ended=True)
        )

    # The hooks: any thread, any moment; they must not raise

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        self._take(report(kind, error, trace, "the window"))

    def _in_thread(self, failure: threading.ExceptHookArgs) -> None:
        if failure.exc_type is not SystemExit:
            self._take(report(failure.exc_type, failure.exc_value, failure.exc_traceback, "a thread"))

    def _unraisable(self, failure: sys.UnraisableHookArgs) -> None:
        """Log an error of a destructor; it concerns no action of a person."""
        self._take(report(failure.exc_type, failure.exc_value, failure.exc_traceback, "the cleaning-up"), quiet=True)

    def _take(self, error: Report, *, quiet: bool = False) -> None:
        error = Report(error.words, self._clean(error.text), error.place)
        self._seen[error.place] += 1
        times = self._seen[error.place]
        if times == 1 and len(self._seen) <= MOST:
            log.error("An unhandled error.\n%s", error.text)
            with suppress(OSError, ValueError):  # who started it from a terminal sees it
                if sys.stderr is not None:  # a windowed program on Windows has none
                    sys.stderr.write(f"{error.text}\n")
        elif str(times).strip("0") == "1":  # the 10th, the 100th …
            log.error("That error again, for the %dth time: %s", times, error.place)
        if not quiet and shiboken6.isValid(self):
            self._caught.emit(error)

    # In the event loop

    @Slot(object)
    def _show(self, error: Report) -> None:
        if self._dialog is not None:
            self._since += 1
            self._dialog.count(self._since)
        elif error.place not in self._shown:
            self._shown.add(error.place)
            self._open(CrashDialog(error.words, error.text, log_path().parent, self._window))

    def _open(self, dialog: CrashDialog) -> None:
        self._dialog, self._since = dialog, 0
        dialog.folder_asked.connect(open_folder)
        dialog.finished.connect(self._closed)
        dialog.open()

    def _closed(self, _result: int) -> None:
        self._dialog = None
