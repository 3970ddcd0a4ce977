"""Folders of their own for tests and pictures: nothing of the user's is read or written, no display is needed.

Must run before Qt, keyring or a module of ours looks at the environment, so it imports none of them.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

_BEFORE: dict[str, str] = {}
_WIDTH, _HEIGHT = 1440, 900  # pixels of a screen that tests have for themselves
_PR_SET_PDEATHSIG = 1  # of prctl(2): the signal that a process gets when the one that started it ends
_screens: list[subprocess.Popen[bytes]] = []  # one at most, kept: an unknown process causes a warning


def surroundings_before() -> dict[str, str]:
    """The environment as it was before ``settle``: what installs something for the tests needs the user's own."""
    return _BEFORE or dict(os.environ)


def remember(before: dict[str, str]) -> None:
    """Take this as the environment before ``settle``: that of the process that started this one."""
    _BEFORE.clear()
    _BEFORE.update(before)


def settle() -> Path:
    """Point every place where settings, keys and data are kept into a fresh folder. Returns it; removed at exit."""
    _BEFORE.update(os.environ)
    _name_the_screen_in_full()
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
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ[name] = str(place)
    # The user's keyring and session bus stay out of reach; tests of the real thing start a bus of their own.
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    os.environ["DBUS_SESSION_BUS_ADDRESS"] = "disabled:"
    # A proxy set on this machine must not come between a test and the loopback server it started.
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        os.environ.pop(name, None)
        os.environ.pop(name.lower(), None)
    if "QT_QPA_PLATFORM" not in os.environ:
        _choose_screen(home)
    return home


def _choose_screen(home: Path) -> None:
    """The screen there is; for one of several processes a screen of its own, as only one window can have the focus."""
    displayed = sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    one_of_several = "PYTEST_XDIST_WORKER" in os.environ
    if displayed and not one_of_several:
        return
    server = shutil.which("Xvfb") if displayed and sys.platform == "linux" else None
    if server is None:
        os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={_write_screen(home / 'screen.json')}"
        return
    os.environ.pop("WAYLAND_DISPLAY", None)
    os.environ["DISPLAY"] = f":{_start_screen(server)}"


def _write_screen(file: Path) -> Path:
    """Describe a screen of the same size for the platform without one, whose own would be 800 × 800: less than the
    window asks for, so that what is in view there is not what it would be anywhere else.
    """
    density = {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
    screen = {"name": "screen", "x": 0, "y": 0, "width": _WIDTH, "height": _HEIGHT} | density
    file.write_text(json.dumps({"screens": [screen]}), "utf-8")
    return file


def _start_screen(server: str) -> int:
    """Start an X server that draws into memory and ends with this process, however that ends. Gives its number."""
    end, message = os.pipe()
    # Without -noreset a screen resets when its last client leaves, and refuses a client at that moment.
    options = ["-screen", "0", f"{_WIDTH}x{_HEIGHT}x24", "-nolisten", "tcp", "-noreset"]
    kernel = ctypes.CDLL(None)
    _screens.append(
        subprocess.Popen(
            [server, "-displayfd", str(message), *options],
            pass_fds=(message,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM),
        )
    )
    os.close(message)
    with os.fdopen(end) as notices:
        return int(notices.readline())


def _name_the_screen_in_full() -> None:
    """A Wayland screen is looked for in the folder for what runs, which is about to be another one."""
    screen, runtime = os.environ.get("WAYLAND_DISPLAY", ""), os.environ.get("XDG_RUNTIME_DIR", "")
    if screen and runtime:
        os.environ["WAYLAND_DISPLAY"] = str(Path(runtime, screen))
