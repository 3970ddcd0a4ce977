"""What holds for every test: its own home folder, no keyring of the user's, a platform to draw on, nothing left open.

The environment is settled at import, before Qt or any module of ours reads it. The rule on skips is in
``tests.skips``.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playground.demo.server import DemoServer

pytest_plugins = ["tests.skips"]


def _settle_environment() -> Path:
    """Give the session folders of its own. Returns the home folder, removed when the process ends."""
    home = Path(tempfile.mkdtemp(prefix="playground-tests-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    places = {
        "HOME": home,
        "USERPROFILE": home,
        "APPDATA": home / "roaming",
        "LOCALAPPDATA": home / "local",
        "XDG_CONFIG_HOME": home / "config",
        "XDG_DATA_HOME": home / "data",
        "XDG_STATE_HOME": home / "state",
        "XDG_CACHE_HOME": home / "cache",
        "XDG_RUNTIME_DIR": home / "runtime",
    }
    for name, place in places.items():
        place.mkdir(parents=True, exist_ok=True)
        os.environ[name] = str(place)
    (home / "runtime").chmod(0o700)
    # The user's keyring and session bus stay out of reach; tests of the real thing start a bus of their own.
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    os.environ["DBUS_SESSION_BUS_ADDRESS"] = "disabled:"
    # A proxy set on this machine must not come between a test and the loopback server it started.
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        os.environ.pop(name, None)
        os.environ.pop(name.lower(), None)
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    return home


_HOME = _settle_environment()


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
    left = [widget for widget in widgets.QApplication.topLevelWidgets() if widget.isVisible()]
    names = [f"{type(widget).__name__} {widget.windowTitle()!r}" for widget in left]
    for widget in left:
        widget.hide()
        widget.deleteLater()
    if names:
        pytest.fail(f"{request.node.name} left open: {', '.join(names)}", pytrace=False)


@pytest.fixture
def demo() -> Iterator[DemoServer]:
    """The demo gateway, running on a loopback port, answering as fast as it can and limiting nothing."""
    from playground.demo.server import DemoConfig, DemoServer

    with DemoServer(DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000)) as server:
        yield server
