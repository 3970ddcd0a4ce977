"""Tests never touch the user's folders, settings or keyring.

A process of its own reports them: Qt keeps the place of settings from its first use, which may be in another test.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_folders_and_keyring_belong_to_the_session(home: Path) -> None:
    program = Path(__file__).with_name("surroundings_report.py")
    process = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=100)
    assert process.returncode == 0, process.stderr
    report = json.loads(process.stdout)
    assert report["keyring"] == "keyring.backends.fail"
    assert Path(report["places"]["home"]) == home
    assert not {name: place for name, place in report["places"].items() if not Path(place).is_relative_to(home)}
