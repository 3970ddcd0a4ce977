"""Print the folders and the keyring that a process of the tests uses, as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import keyring
import platformdirs
from PySide6.QtCore import QSettings, QStandardPaths

places = {
    "home": str(Path.home()),
    "data": platformdirs.user_data_dir("playground"),
    "config": platformdirs.user_config_dir("playground"),
    "state": platformdirs.user_state_dir("playground"),
    "cache": platformdirs.user_cache_dir("playground"),
    "Qt's data": QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation),
    "Qt's settings": QSettings("playground-test", "playground-test").fileName(),
}
print(json.dumps({"places": places, "keyring": type(keyring.get_keyring()).__module__}))
