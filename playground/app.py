"""Composition root: application, event loop, services, window, orderly shutdown. The only place that knows them all."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

from PySide6.QtCore import QSettings, QTimer
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication

from playground import __version__
from playground.demo.cheats import CHEATS
from playground.demo.server import DemoConfig, DemoServer
from playground.engine.gateways import DEMO_ID, Gateways
from playground.engine.headless import read_request
from playground.engine.profiles import ProfileStore
from playground.engine.secrets import Keys
from playground.engine.session import Session
from playground.engine.workspace import Workspace
from playground.ui import loop
from playground.ui.main_window import MainWindow
from playground.ui.resources import resource_root
from playground.ui.theme import Theme
from playground.ui.window_actions import WindowActions


class Demo:
    """The embedded demo gateway, started when first asked for."""

    def __init__(self, config: DemoConfig) -> None:
        self._server = DemoServer(config)
        self._starting = threading.Lock()
        self._ended = False

    def start(self) -> str:
        """The base URL of the running server. Raises OSError when it cannot start, or was ended."""
        with self._starting:
            if self._ended:
                raise OSError("The demo gateway was ended with the application.")
            return self._server.base_url if self._server.running else self._server.start()

    def stop(self) -> None:
        """End it for good, with whatever it is sending; a start under way is waited for."""
        with self._starting:
            self._ended = True
            self._server.stop()

    @property
    def server(self) -> DemoServer:
        """The server itself, for tests that look at what arrived."""
        return self._server


class App:
    """Everything that lives as long as the window. Made once a process, before the event loop runs."""

    def __init__(self, qt: QApplication, *, demo: DemoConfig | None = None) -> None:
        self._closing = False
        qt.setQuitOnLastWindowClosed(False)
        self.settings = QSettings(str(settings_path()), QSettings.Format.IniFormat)
        self.theme = Theme(qt, str(self.settings.value("theme", "system")))
        self.demo = Demo(demo or DemoConfig())
        self.gateways = Gateways(ProfileStore(), Keys(), self.demo.start)
        self.workspace = Workspace(self.gateways)
        self.window = MainWindow(self.workspace, self.settings)
        self.actions = WindowActions(
            self.window, self.workspace, self.theme, self.settings, sample=load_sample, prompts=CHEATS
        )
        self.window.close_asked.connect(self.quit)
        self.actions.quit_asked.connect(self.quit)

    def show(self) -> None:
        """Open the window. Called once the event loop runs."""
        self.window.show()
        self.window.pane.composer.setFocus()
        self.actions.start()

    def quit(self) -> None:
        """End in order; asked twice, it is done once."""
        if not self._closing:
            self._closing = True
            loop.spawn(self.shut_down(), name="quit")

    async def shut_down(self) -> None:
        """Runs stopped and awaited, clients closed, the layout written, the demo gateway ended, the loop left."""
        import asyncio

        try:
            self.window.remember_layout()
            for session in self.workspace.sessions:
                session.stop()
            await loop.cancel_all()
            await self.gateways.aclose()
            self.gateways.keys.close()
            await asyncio.to_thread(self.demo.stop)
        finally:  # whatever goes wrong on the way, the process must not stay behind without a window
            self.window.let_close()
            self.window.close()
            loop.finish(0)


def load_sample(session: Session) -> None:
    """Fill a session with the sample experiment, on the demo gateway."""
    text = (resource_root() / "samples" / "weather.json").read_text(encoding="utf-8")
    session.set_profile(DEMO_ID)
    session.load(read_request(json.loads(text)), "Weather in two cities")


def settings_path() -> Path:
    """Where the window's own settings are kept."""
    from platformdirs import user_config_path

    return user_config_path("gateway-playground", appauthor=False) / "window.ini"


def make_application() -> QApplication:
    """The QApplication with its names and icon."""
    QGuiApplication.setDesktopFileName("gateway-playground")
    qt = QApplication(sys.argv[:1])
    qt.setApplicationName("Gateway Playground")
    qt.setApplicationVersion(__version__)
    qt.setWindowIcon(QIcon(str(resource_root() / "icons" / "app.svg")))
    return qt


def run() -> int:
    """Open the window and stay until it is closed. Returns the exit code."""
    import signal

    qt = make_application()
    app = App(qt)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: app.quit())
    ticker = QTimer(qt)  # lets Python look at signals while Qt waits
    ticker.start(250)
    ticker.timeout.connect(_nothing)

    async def main() -> None:
        app.show()

    return loop.run(qt, main)


def _nothing() -> None:
    return
