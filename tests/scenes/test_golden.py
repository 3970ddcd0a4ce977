"""The window looks as the golden pictures show. Renew them with ``python -m tests.scenes --golden [NAME ...]``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from tests.scenes.__main__ import GOLDEN
from tests.scenes.golden import COMMAND, PICTURES, find_differences, halve

ROOT = Path(__file__).parents[2]
GROUPS = 6  # each drawn by a process of its own, so that the fonts and the platform are those of the golden pictures
#: Changes of a dialog, and whether it still looks alike.
CHANGES = {
    "shift": True,
    "gamma": True,
    "no button": False,
    "other label": False,
    "cut off": False,
    "other colour": False,
    "other theme": False,
}


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


@pytest.mark.usefixtures("qapp")
def test_comparison_finds_what_a_person_would_notice() -> None:
    before = halve(_dialog(""))
    alike = {change: find_differences(before, _dialog(change)) is None for change in CHANGES}
    assert alike == CHANGES


def _dialog(change: str) -> QImage:
    """A drawn dialog of 600 × 400 pixels: a heading, a sentence and two buttons."""
    dark = change == "other theme"
    image = QImage(600, 400, QImage.Format.Format_RGB32)
    image.fill(QColor("#14161d" if dark else "#ffffff"))
    painter = QPainter(image)
    painter.translate(*((1, 1) if change == "shift" else (0, 0)))
    ink = QColor("#f0f0f0" if dark else "#2a2d35" if change == "gamma" else "#1c1e24")
    painter.setPen(ink)
    font = QFont(painter.font())
    font.setPixelSize(14)
    painter.setFont(font)
    painter.drawText(30, 40, "Delete the experiment?")
    painter.drawText(30, 80, "Its turns and answers " + ("" if change == "cut off" else "go to the trash."))
    buttons = {"Delete": (30, "#c62828" if change == "other colour" else "#2f5fe8"), "Cancel": (160, "#707682")}
    if change == "no button":
        del buttons["Cancel"]
    for label, (x, colour) in buttons.items():
        box = QRect(x, 120, 110, 32)
        painter.fillRect(box, QColor(colour))
        painter.setPen(QColor("#ffffff"))
        painter.drawText(box, 0x84, "Archive" if change == "other label" and label == "Delete" else label)
        painter.setPen(ink)
    painter.end()
    return image
