"""Composition root: application, event loop, services, window, orderly shutdown. The only place that knows them all.

What the window's first paint does not need is imported by ``App.furnish``, after it.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, QStandardPaths, QTimer
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication

from playground import __version__
from playground.ui.first_frame import FirstFrame
from playground.ui.main_window import MainWindow
from playground.ui.resources import resource_root
from playground.ui.theme import STYLE, Theme

if TYPE_CHECKING:
    from playground.demo.embedded import Demo
    from playground.demo.server import DemoConfig
    from playground.engine.gateways import Gateways
    from playground.engine.session import Session
    from playground.engine.workspace import Workspace
    from playground.ui.watchdog import Watchdog
    from playground.ui.window_actions import WindowActions

FREEZE = 2.0  # seconds after which a window that does not answer is written to the log


class App:
    """Everything that lives as long as the window. Made once a process, before the event loop runs.

    With ``bare`` there is only the window's frame, which can be shown; ``furnish`` makes the rest. A freeze longer than
    ``patience``, in seconds, is written to the log.
    """

    demo: Demo
    gateways: Gateways
    workspace: Workspace
    actions: WindowActions
    watchdog: Watchdog

    def __init__(
        self, qt: QApplication, *, demo: DemoConfig | None = None, bare: bool = False, patience: float = FREEZE
    ) -> None:
        self._closing = False
        self._running = False
        self._patience = patience
        qt.setQuitOnLastWindowClosed(False)
        self.settings = QSettings(str(settings_path()), QSettings.Format.IniFormat)
        self.theme = Theme(qt, str(self.settings.value("theme", "system")))
        self.window = MainWindow(None, self.settings)
        self.window.close_asked.connect(self.quit)
        if not bare:
            for _ in self.furnish(demo):
                pass

    def furnish(self, demo: DemoConfig | None = None) -> Iterator[None]:
        """Load and make what works behind the window, in steps of some milliseconds; the order is that of imports."""
        yield  # the first frame is on its way to the screen
        self.window.setWindowIcon(QIcon(str(resource_root() / "icons" / "app.svg")))
        import pydantic_core  # noqa: F401 - a step of its own

        yield
        import pydantic  # noqa: F401 - a step of its own

        yield
        import asyncio  # noqa: F401 - a step of its own

        yield
        import playground.domain.transcript  # noqa: F401 - a step of its own

        yield
        from playground.engine.gateways import Gateways
        from playground.engine.profiles import ProfileStore
        from playground.engine.secrets import Keys

        yield
        from playground.demo.embedded import Demo
        from playground.demo.server import DemoConfig
        from playground.engine.workspace import Workspace

        self.demo = Demo(demo or DemoConfig())
        self.gateways = Gateways(ProfileStore(), Keys(), self.demo.start)
        self.workspace = Workspace(self.gateways)
        yield
        yield from self.window.furnish(self.workspace)
        yield
        from playground.demo.cheats import CHEATS
        from playground.ui.watchdog import Watchdog
        from playground.ui.window_actions import WindowActions

        self.actions = WindowActions(
            self.window, self.workspace, self.theme, self.settings, sample=load_sample, prompts=CHEATS
        )
        self.actions.quit_asked.connect(self.quit)
        self.watchdog = Watchdog(self.window, self._patience)

    def show(self) -> None:
        """Open the window, if it is not, and begin to work. Called once the event loop runs."""
        self._running = True
        if not self.window.isVisible():
            self.window.show()
            self.window.composer.setFocus()
        self.actions.start()
        self.watchdog.start()
        if self._closing:
            self._end()

    def quit(self) -> None:
        """End in order; asked twice, it is done once. Asked before the event loop runs, it is done when that does."""
        if not self._closing:
            self._closing = True
            if self._running:
                self._end()

    def _end(self) -> None:
        from playground.ui import loop

        loop.spawn(self.shut_down(), name="quit")

    async def shut_down(self) -> None:
        """Runs stopped and awaited, clients closed, the layout written, the demo gateway ended, the loop left."""
        import asyncio

        from playground.ui import loop

        try:
            self.window.remember_layout()
            next_time = self.gateways.get(self.gateways.active_id)
            self.window.remember_gateway(next_time.name, next_time.default_model, demo=next_time.demo)
            for session in self.workspace.sessions:
                session.stop()
            await loop.cancel_all()
            await self.actions.wire.cassettes.aclose()
            await self.gateways.aclose()
            self.gateways.keys.close()
            await asyncio.to_thread(self.demo.stop)
            self.watchdog.stop()
        finally:  # whatever goes wrong on the way, the process must not stay behind without a window
            self.window.let_close()
            self.window.close()
            loop.finish(0)


def load_sample(session: Session) -> None:
    """Fill a session with the sample experiment, on the demo gateway."""
    import json

    from playground.engine.gateways import DEMO_ID
    from playground.engine.headless import read_request

    text = (resource_root() / "samples" / "weather.json").read_text(encoding="utf-8")
    session.set_profile(DEMO_ID)
    session.load(read_request(json.loads(text)), "Weather in two cities")


def settings_path() -> Path:
    """Where the window's own settings are kept."""
    places = QStandardPaths.StandardLocation
    system = sys.platform in ("win32", "darwin")  # there, settings stand with the data; so says platformdirs as well
    folder = QStandardPaths.writableLocation(places.GenericDataLocation if system else places.GenericConfigLocation)
    return Path(folder) / "gateway-playground" / "window.ini"


def make_application() -> QApplication:
    """The QApplication with its names."""
    QGuiApplication.setDesktopFileName("gateway-playground")
    # The style is named here, as a person could: setting it later makes PySide wrap what Qt's styles hold (5 ms).
    qt = QApplication([*sys.argv[:1], "-style", STYLE])
    qt.setProperty("style", STYLE)
    qt.setApplicationName("Gateway Playground")
    qt.setApplicationVersion(__version__)
    return qt


def run(patience: float = FREEZE) -> int:
    """Open the window and stay until it is closed; ``patience`` as in ``App``. Returns the exit code."""
    import signal

    qt = make_application()
    app = App(qt, bare=True, patience=patience)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: app.quit())
    ticker = QTimer(qt)  # lets Python look at signals while Qt waits
    ticker.start(250)
    ticker.timeout.connect(_nothing)

    app.window.composer.setFocus()
    FirstFrame(qt, app.window, app.furnish()).show()
    from playground import log
    from playground.ui import loop

    log.begin()
    gc.freeze()  # what is there now stays; no collection needs to look through it
    gc.enable()

    async def main() -> None:
        app.show()

    return loop.run(qt, main)


def _nothing() -> None:
    return
