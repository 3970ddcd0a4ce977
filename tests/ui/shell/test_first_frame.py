"""The window's first frame: the true window, in which one can write, before anything heavy is loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from playground.app import App
from playground.ui.shell.first_frame import FirstFrame
from playground.ui.shell.main_window import MainWindow

ROOT = Path(__file__).resolve().parents[3]

#: What the way to the first frame must not load: each costs 10 to 100 ms, or megabytes.
NOT_YET = {
    "anyio",
    "asyncio",
    "click",
    "concurrent",
    "email",
    "h11",
    "httpcore",
    "httpx",
    "jsonschema_rs",
    "keyring",
    "markdown_it",
    "numpy",
    "platformdirs",
    "pydantic",
    "pydantic_core",
    "pygments",
    "pyqtgraph",
    "qasync",
    "sqlite3",
    "ssl",
    "starlette",
    "truststore",
    "uvicorn",
}
OURS_NOT_YET = {"playground.demo", "playground.gateway", "playground.protocols"}
NAMES = "playground.protocols"  # the package itself, which has the names of the protocols and loads none of them
MOST_MODULES = 252  # with Python's own and PySide6's, and a row for each feature; a few above what it is now

PROGRAM = """
import json, sys
import playground.app as app
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFrame

class Watch(QObject):
    def eventFilter(self, window, event):
        if event.type() == QEvent.Type.Paint:
            window.removeEventFilter(self)
            app.seen = {"modules": sorted(sys.modules), "focus": window.focusWidget().accessibleName()}
            app.places = places(window)
            QTest.keyClicks(window.focusWidget(), "Hi ")
        return False

def places(window):
    def place(widget):
        corner = widget.mapTo(window, widget.rect().topLeft())
        return [corner.x(), corner.y(), widget.width(), widget.height()]
    docks = [window.left_dock, window.right_dock, window.bottom_dock]
    frames = [frame for frame in window._welcome.findChildren(QFrame) if frame.isVisible()]
    return [place(w) for w in (*docks, window.composer, window.bar, window.side.tabs, window.status, window._welcome,
            window.bar._gateway, window.bar._protocol, window.bar.model, *frames)]

class Watched(app.App):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.window._welcome = self.window._start.welcome
        self.watch = Watch()
        self.window.installEventFilter(self.watch)
    def show(self):
        super().show()
        QTest.keyClicks(self.window.focusWidget(), "there")
        QTimer.singleShot(300, self.tell)
    def tell(self):
        after = {"typed": self.window.composer.text, "draft": self.workspace.current.draft.text,
                 "before": app.places, "after": places(self.window)}
        with open(FILE, "w") as file:
            json.dump(app.seen | after, file)
        self.quit()
app.App = Watched
from playground.cli import main
FILE = sys.argv.pop()
sys.exit(main())
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process saw of its own first frame, on a computer where it never ran."""
    folder = tmp_path_factory.mktemp("first")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / "seen.json")],
        cwd=ROOT,
        env=os.environ
        | {"QT_QPA_PLATFORM": "offscreen", "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder / "data")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads((folder / "seen.json").read_text(encoding="utf-8"))
    return seen


def test_nothing_heavy_is_loaded_at_the_first_frame(seen: dict[str, Any]) -> None:
    loaded = set(seen["modules"]) - {"pydantic.plugin._loader"}  # which is ours: playground.model_library
    assert "PySide6.QtWidgets" in loaded
    assert not {name.partition(".")[0] for name in loaded} & NOT_YET
    assert not {name for name in loaded - {NAMES} if ".".join(name.split(".")[:2]) in OURS_NOT_YET}
    assert len(loaded) <= MOST_MODULES


def test_one_can_write_at_the_first_frame_and_nothing_of_it_is_lost(seen: dict[str, Any]) -> None:
    assert seen["focus"] == "Message"
    assert seen["typed"] == "Hi there"
    assert seen["draft"] == "Hi there"


def test_nothing_jumps_when_the_rest_comes(seen: dict[str, Any]) -> None:
    assert seen["before"] == seen["after"]


def test_what_the_last_session_spoke_to_is_named_at_once(qtbot: QtBot, tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat)
    before = MainWindow(None, settings)
    qtbot.addWidget(before)
    assert named(before) == ("Demo gateway", "")
    before.remember_gateway("Ours & theirs", "small-1", demo=False)
    after = MainWindow(None, QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat))
    qtbot.addWidget(after)
    assert named(after) == ("Ours && theirs", "small-1")
    for window in (before, after):
        window.let_close()


def named(window: MainWindow) -> tuple[str, str]:
    button = next(button for button in window.bar.findChildren(QPushButton) if button.accessibleName() == "Gateway")
    return button.text().strip(), window.bar.model.currentText()


# The class itself


def counting(made: list[int], upto: int) -> Iterator[None]:
    for number in range(upto):
        made.append(number)
        yield


def test_the_steps_come_after_the_paint_and_all_of_them(qtbot: QtBot, qapp: QApplication) -> None:
    made: list[int] = []
    at_paint: list[int] = []

    class Painted(QWidget):
        def paintEvent(self, event: object) -> None:
            at_paint.append(len(made))

    window = Painted()
    qtbot.addWidget(window)
    FirstFrame(qapp, window, counting(made, 5)).show()
    assert at_paint[0] == 0
    assert made == [0, 1, 2, 3, 4]


def test_what_a_step_raises_is_raised(qtbot: QtBot, qapp: QApplication) -> None:
    def steps() -> Iterator[None]:
        yield
        raise RuntimeError("no")

    window = QWidget()
    qtbot.addWidget(window)
    with pytest.raises(RuntimeError, match="no"):
        FirstFrame(qapp, window, steps()).show()


def test_a_window_that_opens_minimised_is_furnished_as_well(qtbot: QtBot, qapp: QApplication) -> None:
    made: list[int] = []

    class Unpainted(QWidget):
        def setVisible(self, visible: bool) -> None:
            """As a window nobody sees: no paint comes."""

    window = Unpainted()
    qtbot.addWidget(window)
    FirstFrame(qapp, window, counting(made, 2)).show()
    assert made == [0, 1]


def test_an_application_made_at_once_is_whole(qtbot: QtBot, qapp: QApplication) -> None:
    app = App(qapp)
    qtbot.addWidget(app.window)
    assert app.window.pane.composer is app.window.composer
    assert app.actions.session is app.workspace.current
    app.gateways.keys.close()
    app.window.let_close()
