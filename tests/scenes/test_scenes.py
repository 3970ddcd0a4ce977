"""The pictures are drawn, from a process of their own, and a scene that fails is named."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.scenes.registry import all_scenes, scene
from tests.scenes.stage import Stage

SCENES = all_scenes()
ROOT = Path(__file__).parents[2]


def draw(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.scenes", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_two_scenes_are_drawn(tmp_path: Path) -> None:
    done = draw(str(tmp_path), "welcome", "finished", "--scheme", "dark", "--size", "900x640")
    assert (done.returncode, done.stderr) == (0, "")
    names = ["finished-dark-900x640.png", "welcome-dark-900x640.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    pictures = [QImage(str(tmp_path / name)) for name in names]
    for name, picture in zip(names, pictures, strict=True):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert (picture.width(), picture.height()) == (900, 640)
        colours = {picture.pixel(x, y) for x in range(0, 900, 3) for y in range(0, 640, 3)}
        assert len(colours) > 20
    assert pictures[0] != pictures[1]


def test_a_scene_that_fails_is_named_and_leaves_no_picture(tmp_path: Path) -> None:
    too_small = "300x200"  # the window refuses to be that small
    done = draw(str(tmp_path), "welcome", "--scheme", "light", "--size", too_small)
    assert done.returncode == 1
    assert "FAILED welcome-light-300x200: SceneError: the window is" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_scene_is_refused(tmp_path: Path) -> None:
    done = draw(str(tmp_path / "out"), "no-such-scene", "--scheme", "light")
    assert done.returncode == 2
    assert "no-such-scene" in done.stderr
    assert not (tmp_path / "out").exists()


def test_every_scene_has_a_name_of_its_own_that_fits_into_a_file_name() -> None:
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in SCENES)
    assert [item.name for item in SCENES.values()] == list(SCENES)
    assert len({item.play for item in SCENES.values()}) == len(SCENES)

    async def welcome(stage: Stage) -> None:
        """Bears a name that is taken."""

    with pytest.raises(ValueError, match="two scenes are called welcome"):
        scene()(welcome)


def test_every_scene_says_what_to_look_at() -> None:
    assert [name for name, item in SCENES.items() if not (item.play.__doc__ or "").strip()] == []
