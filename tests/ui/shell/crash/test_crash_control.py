"""Uncaught errors: one dialog at a time, each place once, everything in the log and no canary anywhere."""

from __future__ import annotations

import io
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from playground.engine.gateways.secrets import Keys, Secret
from playground.system import log
from playground.ui.shell.crash.crash_control import CrashControl
from playground.ui.shell.crash.crash_dialog import CrashDialog
from tests.engine.conftest import no_keyring

KEY = "sk-canary-99af03b1c2d4"
PROMPT = "a poem for my grandmother"


class CrashReporter:
    """A window with the hooks installed, and what was logged and printed."""

    def __init__(self, window: QWidget, keys: Keys) -> None:
        self.keys = keys
        self.control = CrashControl(window, lambda text: keys.redactor.text(text))
        self.logged = io.StringIO()
        self.printed = io.StringIO()

    @property
    def dialog(self) -> CrashDialog:
        assert self.control.dialog is not None
        return self.control.dialog

    @property
    def everything(self) -> str:
        displayed = self.control.dialog.report.toPlainText() if self.control.dialog else ""
        return self.logged.getvalue() + self.printed.getvalue() + displayed


@pytest.fixture
async def keys() -> Keys:
    keys = Keys(backend=no_keyring)
    await keys.set("one", "https://gateway.example:443", Secret(KEY))
    return keys


@pytest.fixture
def reporter(qtbot: QtBot, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> Iterator[CrashReporter]:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    reporter = CrashReporter(window, keys)
    handler = logging.StreamHandler(reporter.logged)
    logger = logging.getLogger("playground")
    logger.addHandler(handler)
    monkeypatch.setattr(sys, "stderr", reporter.printed)
    reporter.control.install()
    yield reporter
    reporter.control.remove()
    logger.removeHandler(handler)
    if reporter.control.dialog is not None:
        reporter.control.dialog.accept()


def fail() -> None:
    raise ValueError(f"{PROMPT} {KEY}")


def fail_otherwise() -> None:
    raise KeyError(PROMPT)


def raise_uncaught(work: object) -> None:
    """Hand an error to the hook, as Python does."""
    try:
        work()  # type: ignore[operator]  # a function without arguments
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)


def test_error_in_a_slot_opens_a_dialog(qtbot: QtBot, reporter: CrashReporter) -> None:
    raise_uncaught(fail)
    assert reporter.control.dialog is None, "not in the middle of Qt's work"
    qtbot.waitUntil(lambda: reporter.control.dialog is not None)
    assert reporter.dialog.isModal()
    assert "ValueError" in reporter.dialog.report.toPlainText()
    assert "fail (" in reporter.dialog.report.toPlainText()
    reporter.dialog.copy_button.click()
    assert QGuiApplication.clipboard().text() == reporter.dialog.report.toPlainText()
    folders: list[str] = []
    reporter.dialog.folder_asked.disconnect()
    reporter.dialog.folder_asked.connect(folders.append)
    reporter.dialog.folder_button.click()
    assert Path(folders[0]) == log.log_path().parent
    reporter.dialog.continue_button.click()
    assert reporter.control.dialog is None
    assert "ValueError" in reporter.logged.getvalue()
    assert KEY not in reporter.everything
    assert PROMPT not in reporter.everything


def test_repeated_errors_open_one_dialog(qtbot: QtBot, reporter: CrashReporter) -> None:
    for _ in range(200):
        raise_uncaught(fail)
    raise_uncaught(fail_otherwise)
    qtbot.waitUntil(lambda: reporter.control.dialog is not None and reporter.dialog.repeats.isVisible())
    dialog = reporter.dialog
    qtbot.waitUntil(lambda: dialog.repeats.text().startswith("200 more errors"))
    assert reporter.logged.getvalue().count("ValueError\n") == 1
    assert "for the 100th time" in reporter.logged.getvalue()
    dialog.continue_button.click()
    raise_uncaught(fail)
    raise_uncaught(fail_otherwise)
    qtbot.waitUntil(lambda: reporter.control.dialog is not None)
    assert "KeyError" in reporter.dialog.report.toPlainText(), "the other one was shown before"


@pytest.mark.qt_no_exception_capture
def test_errors_in_threads_and_timers_are_shown_without_secrets(qtbot: QtBot, reporter: CrashReporter) -> None:
    named = type(f"Odd {KEY}", (Exception,), {})

    def fail_with_key() -> None:
        raise named

    thread = threading.Thread(target=fail, name="some work")
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: reporter.control.dialog is not None)
    assert "“some work”" in reporter.dialog.report.toPlainText()
    reporter.dialog.continue_button.click()
    QTimer.singleShot(0, fail_with_key)
    qtbot.waitUntil(lambda: reporter.control.dialog is not None)
    assert "Odd" in reporter.everything
    for secret in (KEY, PROMPT):
        assert secret not in reporter.everything


def test_error_in_a_finalizer_is_only_logged(qtbot: QtBot, reporter: CrashReporter) -> None:
    class Odd:
        def __del__(self) -> None:
            raise ValueError(PROMPT)

    Odd()
    qtbot.waitUntil(lambda: "the cleaning-up" in reporter.logged.getvalue())
    assert reporter.control.dialog is None
    assert PROMPT not in reporter.everything
