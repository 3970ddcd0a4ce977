"""The tests never touch what is the user's: folders, settings, keyring.

Asked in a process of its own, as every test's own processes are started: Qt remembers where settings lie from the first
time it is asked, which may be a test with folders of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ASKED = """
import json
from pathlib import Path
import keyring, platformdirs
from PySide6.QtCore import QSettings, QStandardPaths
print(json.dumps({
    "home": str(Path.home()),
    "data": platformdirs.user_data_dir("playground"),
    "config": platformdirs.user_config_dir("playground"),
    "state": platformdirs.user_state_dir("playground"),
    "cache": platformdirs.user_cache_dir("playground"),
    "Qt's data": QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation),
    "Qt's settings": QSettings("playground-test", "playground-test").fileName(),
    "keyring": type(keyring.get_keyring()).__module__,
}))
"""


def test_folders_and_keyring_are_the_sessions_own(home: Path) -> None:
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    places = json.loads(done.stdout)
    assert places.pop("keyring") == "keyring.backends.fail"
    assert Path(places.pop("home")) == home
    for name, place in places.items():
        assert Path(place).is_relative_to(home), name
