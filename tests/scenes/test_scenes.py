"""The command that draws scenes: it writes the pictures, names a scene that fails, and refuses an unknown name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.scenes.__main__ import main
from tests.scenes.registry import all_scenes

ROOT = Path(__file__).parents[2]


def test_command_draws_scenes_and_names_those_that_fail(tmp_path: Path) -> None:
    too_small = "300x200"  # the window refuses to be that small
    arguments = [str(tmp_path), "welcome", "--scheme", "dark", "--size", "900x640", "--size", too_small]
    command = [sys.executable, "-m", "tests.scenes", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "FAILED welcome-dark-300x200: SceneError: the window is" in done.stderr
    (file,) = tmp_path.iterdir()
    assert file.name == "welcome-dark-900x640.png"
    picture = QImage(str(file))
    assert (picture.width(), picture.height()) == (900, 640)
    assert len({picture.pixel(x, y) for x in range(0, 900, 3) for y in range(0, 640, 3)}) > 20


def test_command_with_unknown_scene_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "out"), "no-such-scene", "--scheme", "light"]) == 2
    assert "no-such-scene" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_scenes_have_file_names_and_descriptions() -> None:
    scenes = all_scenes()
    assert [name for name in scenes if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []
    assert [name for name, scene in scenes.items() if not (scene.play.__doc__ or "").strip()] == []
