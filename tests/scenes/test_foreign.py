"""Main scenes and dialogs hold with a wider font, at larger scales, mirrored, and with longer texts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scenes.registry import all_scenes

ROOT = Path(__file__).parents[2]
#: What each condition is: the argument of `tests.scenes.foreign` and the scale.
CONDITIONS = {
    "wide font": ("wide", "1"),
    "scale 1.25": ("plain", "1.25"),
    "scale 1.5": ("plain", "1.5"),
    "right to left": ("mirrored", "1"),
    "longer texts": ("longer", "1"),
}
#: Scenes for every run; the slow test checks all.
QUICK = ("welcome", "tools-form", "servers-dialog", "evaluate-cases")
GROUPS = 14  # of all scenes, each checked by a process


def find_faults(condition: str, names: tuple[str, ...]) -> str:
    """Check scenes in a process of its own. Returns its report, empty without faults."""
    if sys.platform in ("win32", "darwin"):
        pytest.skip("platform: scenes are drawn with Fontconfig and FreeType")
    kind, scale = CONDITIONS[condition]
    command = [sys.executable, "-m", "tests.scenes.foreign", kind, *names]
    environment = os.environ | {"QT_SCALE_FACTOR": scale}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=115, check=False)
    assert ended.returncode in (0, 1), ended.stderr
    return ended.stdout


@pytest.mark.parametrize("condition", CONDITIONS)
def test_main_scene_under_a_foreign_condition_is_not_cut_off(condition: str) -> None:
    assert find_faults(condition, QUICK) == ""


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize("condition", CONDITIONS)
def test_scene_under_a_foreign_condition_is_not_cut_off(condition: str, group: int) -> None:
    assert find_faults(condition, tuple(all_scenes())[group::GROUPS]) == ""
