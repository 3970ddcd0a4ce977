"""The tests never touch what is the user's: folders, settings, keyring."""

from __future__ import annotations

from pathlib import Path

import keyring
import platformdirs
from keyring.backends.fail import Keyring as NoKeyring
from PySide6.QtCore import QSettings, QStandardPaths


def test_folders_lie_below_the_sessions_home(home: Path) -> None:
    assert Path.home() == home
    for place in (
        platformdirs.user_data_dir("playground"),
        platformdirs.user_config_dir("playground"),
        platformdirs.user_state_dir("playground"),
        platformdirs.user_cache_dir("playground"),
        QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation),
        QSettings("playground-test", "playground-test").fileName(),
    ):
        assert Path(place).is_relative_to(home), place


def test_the_users_keyring_is_out_of_reach() -> None:
    assert isinstance(keyring.get_keyring(), NoKeyring)
