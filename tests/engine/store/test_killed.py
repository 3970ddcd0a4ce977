"""Killed at any moment, a store opens again and has all that it said was on the disk."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from playground.demo.server import DemoServer

ROUNDS = 205


@pytest.mark.timeout(420)
@pytest.mark.skipif(sys.platform == "win32", reason="platform: Windows has neither fork nor SIGKILL")
def test_two_hundred_kills_lose_nothing_that_was_acknowledged(demo: DemoServer, path: Path) -> None:
    path.parent.mkdir()
    command = [sys.executable, "-m", "tests.engine.store.killed", str(path), demo.start(), str(ROUNDS)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    outcome = json.loads(ended.stdout.splitlines()[-1])
    assert outcome["wrong"] == []
    assert (outcome["mode"], outcome["words"]) == ("ready", "")
    assert outcome["rounds"] >= ROUNDS
    assert outcome["acknowledged"] > ROUNDS
    assert outcome["interrupted"] > 10
    assert outcome["complete"] > 10
