"""Surroundings of every test: its own home folder, no keyring of the user's, a platform to draw on, nothing left open.

The environment is settled at import, before Qt or any module of ours reads it. The rule on skips is in
``tests.skips``, how tests are shared out to processes in ``tests.workers``.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.support.bytecode import share_bytecode
from tests.support.surroundings import settle

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from playground.demo.server import DemoServer

pytest_plugins = ["tests.skips", "tests.workers"]

share_bytecode()  # in the user's own cache folder, so before the next line
_HOME = settle()

# How long making an example takes says how busy the machine is, and nothing of what is tested.
settings.register_profile("ours", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ours")


# Garbage is collected between tests, in this thread: left to the allocations of another, Qt objects would die over
# there. And seldom: a collection looks through everything that tests have made and keep as well; the
# tests themselves, thirteen thousand, and what they import are left out.
gc.disable()
_YOUNG = 200_000  # objects that are looked through between tests when so many came since the last time,
_OLD = 10  # or when what is young was looked through so often,
_TESTS = 20  # or after so many tests: an application that one has ended takes 4 MiB until then
_since = 0  # tests since the last time


def pytest_collection_finish() -> None:
    _collect()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    global _since
    done = yield
    young, _, old = gc.get_count()
    _since += 1
    if young > _YOUNG or old > _OLD or _since >= _TESTS:
        _since = 0
        _collect()
    return done


def _collect() -> None:
    gc.collect()
    gc.freeze()  # each time: the application's event loop ends with all of it thawed, and asking takes as long


@pytest.fixture(scope="session")
def home() -> Path:
    """The session's own home folder: everything the application keeps lands below it."""
    return _HOME


@pytest.fixture(autouse=True)
def nothing_left_open(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a window standing: the next one would inherit its timers, focus and shortcuts."""
    yield
    widgets = sys.modules.get("PySide6.QtWidgets")
    if widgets is None or widgets.QApplication.instance() is None:
        return
    remaining = [widget for widget in widgets.QApplication.topLevelWidgets() if widget.isVisible()]
    names = [f"{type(widget).__name__} {widget.windowTitle()!r}" for widget in remaining]
    for widget in remaining:
        widget.hide()
        widget.deleteLater()
    # What was closed goes only when a loop of Qt's runs, and many tests have none: thousands of widgets stood there
    # after some hundred tests, and every style that was set was worked out for them, too.
    application = widgets.QApplication.instance()
    if application.styleSheet():
        application.setStyleSheet("")  # the next test's widgets are dressed as if it were the first one
    widgets.QApplication.sendPostedEvents(None, sys.modules["PySide6.QtCore"].QEvent.Type.DeferredDelete)
    if names:
        pytest.fail(f"{request.node.name} left open: {', '.join(names)}", pytrace=False)


@pytest.fixture(scope="session")
def qapp(qapp: QApplication) -> QApplication:
    """pytest-qt's own; as in ours, the last window that closes is not the end of an event loop that has work to do.

    Its letters are those of ours from the first test on: how wide a widget is does not depend on which ran before.
    """
    from playground.ui.widgets.theme import body_font

    qapp.setQuitOnLastWindowClosed(False)
    qapp.setFont(body_font())
    return qapp


@pytest.fixture(scope="session", autouse=True)
def nothing_left_on_the_clipboard() -> Iterator[None]:
    """Without a screen Qt drops what was copied only after Python has ended; data made in Python would crash there."""
    yield
    gui = sys.modules.get("PySide6.QtGui")
    if gui is not None and gui.QGuiApplication.instance() is not None:
        gui.QGuiApplication.clipboard().clear()


@pytest.fixture
def gateway() -> Iterator[DemoServer]:
    """The demo gateway on a loopback port, without limits of speed or rate."""
    from playground.demo.server import DemoConfig, DemoServer

    with DemoServer(DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000)) as server:
        yield server


@pytest.fixture
def demo(gateway: DemoServer) -> DemoServer:
    """The former name of ``gateway``."""
    return gateway
