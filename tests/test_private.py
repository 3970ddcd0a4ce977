"""The application's own files are read by their owner alone, also where an earlier version was more generous."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from playground.system.private import make_file, make_folder

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="platform: needs Linux or macOS, where files have modes"
)
LOGS = """
import logging, os
from playground.system import log
from playground.ui.shell.crash import hard_crash
os.umask(0o022)
hard_crash.begin()
log.BYTES = 200
log.begin()
for _ in range(40):
    logging.getLogger("playground").warning("something happened")
print(log.log_path())
"""


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_logs_and_their_folders_are_private_after_each_change_of_file(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    ended = subprocess.run([sys.executable, "-c", LOGS], capture_output=True, text=True, env=environment, check=True)
    folder = Path(ended.stdout.strip()).parent
    assert folder.is_relative_to(tmp_path)
    results = [path for path in folder.rglob("*") if path.is_file()]
    assert len(results) > 3
    assert {mode(path) for path in results} == {0o600}
    assert mode(folder) == 0o700


def test_what_was_open_to_others_is_closed_and_what_is_not_ours_stays(tmp_path: Path) -> None:
    ours = tmp_path / "gateway-playground" / "log"
    ours.mkdir(parents=True)
    for folder in (tmp_path, ours, ours.parent):
        folder.chmod(0o755)
    make_folder(ours)
    make_folder(tmp_path)
    assert [mode(path) for path in (tmp_path, ours.parent, ours)] == [0o755, 0o700, 0o700]
    file = ours / "window.ini"
    file.write_text("kept")
    file.chmod(0o644)
    make_file(file)
    assert mode(file) == 0o600
    assert file.read_text() == "kept"
    make_file(tmp_path / "none" / "file")
