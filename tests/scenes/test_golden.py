"""The window looks as the golden pictures show. Renew them with ``python -m tests.scenes --golden [NAME ...]``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.scenes.__main__ import GOLDEN
from tests.scenes.golden import COMMAND, PICTURES, find_differences

ROOT = Path(__file__).parents[2]
GROUPS = 6  # each drawn by a process of its own, so that the fonts and the platform are those of the golden pictures


@pytest.mark.parametrize("group", range(GROUPS))
def test_window_looks_like_golden_pictures(group: int) -> None:
    if sys.platform in ("win32", "darwin"):
        pytest.skip("platform: golden pictures are drawn with Fontconfig and FreeType")
    names = PICTURES[group::GROUPS]
    out = Path(tempfile.mkdtemp(prefix="playground-golden-"))
    command = [sys.executable, "-m", "tests.scenes", "--golden", "--into", str(out), *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    failed = [name for name in names if not _looks_alike(name, out)]
    assert not failed, (
        f"{len(failed)} of {len(names)} pictures look different: {', '.join(failed)}.\n"
        f"NAME.png, NAME-golden.png and NAME-difference.png are in {out}.\n"
        f"If they shall look so from now on: {COMMAND} {' '.join(failed)}"
    )
    out.rmdir()


def _looks_alike(name: str, out: Path) -> bool:
    """Compare a new picture with its golden one; keep the pictures in ``out`` only when they differ."""
    golden, actual = QImage(str(GOLDEN / f"{name}.png")), QImage(str(out / f"{name}.png"))
    difference = find_differences(golden, actual)
    if difference is None:
        (out / f"{name}.png").unlink()
        return True
    golden.save(str(out / f"{name}-golden.png"))
    difference.save(str(out / f"{name}-difference.png"))
    return False


def test_golden_pictures_are_those_listed() -> None:
    assert sorted(file.stem for file in GOLDEN.glob("*.png")) == sorted(PICTURES)
