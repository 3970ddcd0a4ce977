"""Folders of their own for tests and pictures: nothing of the user's is read or written, no display is needed.

Must run before Qt, keyring or a module of ours looks at the environment, so it imports none of them.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

_BEFORE: dict[str, str] = {}


def surroundings_before() -> dict[str, str]:
    """The environment as it was before ``settle``: what installs something for the tests needs the user's own."""
    return _BEFORE or dict(os.environ)


def settle() -> Path:
    """Point every place where settings, keys and data are kept into a fresh folder. Returns it; removed at exit."""
    _BEFORE.update(os.environ)
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
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    return home
