"""Checks the layout of scenes under fonts, directions and languages other than ours.

Usage: python -m tests.scenes.foreign CONDITION [NAME ...]. Prints the faults of each scene and ends with 1 when there
are some. Scales are set from outside, by QT_SCALE_FACTOR.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractButton, QApplication, QGroupBox, QLabel, QWidget

from tests.flows.pages.page import PADDING
from tests.scenes.registry import all_scenes
from tests.scenes.stage import Look, Stage, application, draw
from tests.support.geometry import find_faults
from tests.support.surroundings import settle

CONDITIONS = "plain", "wide", "longer", "mirrored"
STRETCH = 120  # percent of the width of letters
LOOK = Look("light", 1440, 900)
LONGEST = 40  # letters of a line


def lengthen(text: str) -> str:
    """Return a text one third longer, as a translation may be; a text without letters stays."""
    if not any(letter.isalpha() for letter in text) or PADDING in text:
        return text
    return text + " " + PADDING * max(1, len(text) // 3 - 1)


class Translator(QObject):
    """An event filter that lengthens the texts of labels, buttons and group boxes before they are first laid out."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Polish and isinstance(watched, QWidget):
            lengthen_widget(watched)
        return False


def lengthen_widget(widget: QWidget) -> None:
    """Lengthen the text of a widget in place, unless it is a long line: those hold data, which widgets shorten."""
    if isinstance(widget, QGroupBox):
        widget.setTitle(lengthen(widget.title()))
    if not isinstance(widget, QLabel | QAbstractButton) or (
        isinstance(widget, QLabel) and not widget.pixmap().isNull()
    ):
        return
    text = widget.text()
    wraps = isinstance(widget, QLabel) and widget.wordWrap()
    if (wraps or len(text) <= LONGEST) and lengthen(text) != text:
        widget.setText(lengthen(text))


def check_scene(name: str, condition: str) -> list[str]:
    """Play a scene, and return the faults of its windows."""
    scene = all_scenes()[name]
    faults: list[str] = []

    async def play(stage: Stage) -> None:
        await scene.play(stage)
        await stage.settle()
        windows = [window for window in QApplication.topLevelWidgets() if window.isVisible()]
        if condition == "longer":  # texts that were set later than the filter saw the widget
            for widget in (widget for window in windows for widget in window.findChildren(QWidget)):
                lengthen_widget(widget)
            size = stage.window.size()  # another size for a moment: some widgets adapt when theirs changes
            stage.window.resize(size.width() - 60, size.height())
            await stage.settle()
            stage.window.resize(size)
            await stage.settle()
        for window in windows:
            faults.extend(find_faults(window))

    draw(play, LOOK, scene.demo)
    return faults


def main(arguments: Sequence[str] | None = None) -> int:
    """Check scenes under a condition. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.scenes.foreign")
    parser.add_argument("condition", choices=CONDITIONS)
    parser.add_argument("names", nargs="*", metavar="NAME", help="scenes (all)")
    values = parser.parse_args(arguments)
    qt = application()
    if values.condition == "wide":
        font = QFont(qt.font())
        font.setStretch(STRETCH)
        qt.setFont(font)
    if values.condition == "mirrored":
        qt.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    translator = Translator()
    if values.condition == "longer":
        qt.installEventFilter(translator)
    failed = False
    for name in values.names or all_scenes():
        try:
            faults = check_scene(name, values.condition)
        except Exception as error:
            faults = [f"{type(error).__name__}: {error}"]
        for fault in faults:
            failed = True
            print(f"{name}: {fault}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    for variable in ("QT_QPA_PLATFORM", "QT_QPA_PLATFORMTHEME", "DISPLAY", "WAYLAND_DISPLAY"):
        os.environ.pop(variable, None)
    os.environ |= {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
    os.environ["FONTCONFIG_FILE"] = str(Path(__file__).parent / "fonts" / "fonts.conf")
    settle()
    sys.exit(main())
