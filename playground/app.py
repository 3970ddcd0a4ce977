"""Composition root: application, event loop, services, window, orderly shutdown. The only place that knows them all.

What the window's first paint does not need is imported by ``App.furnish``, after it.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from functools import partial
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
    from playground.engine.presets import PresetStore
    from playground.engine.workspace import Workspace
    from playground.ui.crash.crash_control import CrashControl
    from playground.ui.second_start_listener import SecondStarts
    from playground.ui.watchdog import Watchdog
    from playground.ui.window_actions import WindowActions

LAST_ENDED = "The last session ended unexpectedly."
FILES_BY_EVENT = sys.platform == "darwin"  # where the system hands over files so; elsewhere they are arguments
FREEZE = 2.0  # seconds after which a window that does not answer is written to the log


class App:
    """Everything that lives as long as the window. Made once a process, before the event loop runs.

    With ``bare`` there is only the window's frame, which can be shown; ``furnish`` makes the rest. A freeze longer than
    ``patience``, in seconds, is written to the log. All that is kept is kept below ``folder``: by default in the
    platform's places.
    """

    demo: Demo
    gateways: Gateways
    workspace: Workspace
    actions: WindowActions
    watchdog: Watchdog

    def __init__(
        self,
        qt: QApplication,
        *,
        demo: DemoConfig | None = None,
        bare: bool = False,
        patience: float = FREEZE,
        folder: Path | None = None,
    ) -> None:
        self._closing = False
        self._running = False
        self._patience = patience
        self._folder = folder
        self.second_starts: SecondStarts | None = None
        qt.setQuitOnLastWindowClosed(False)
        settings = folder / "window.ini" if folder else settings_path()
        self.settings = QSettings(str(settings), QSettings.Format.IniFormat)
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
        from playground.engine.store import Store
        from playground.engine.workspace import Workspace

        self.demo = Demo(demo or DemoConfig())
        profiles = ProfileStore(self._folder / "gateways.json" if self._folder else None)
        self.gateways = Gateways(profiles, Keys(), self.demo.start)
        store = Store(self._folder / "experiments.db" if self._folder else store_path(), self.gateways.keys.known)
        self.workspace = Workspace(self.gateways, store)
        yield
        yield from self.window.furnish(self.workspace)
        yield
        from playground.demo.cheats import CHEATS
        from playground.ui.watchdog import Watchdog
        from playground.ui.window_actions import WindowActions

        self.actions = WindowActions(
            self.window, self.workspace, self.theme, self.settings, prompts=CHEATS, presets=self._presets
        )
        self.actions.quit_asked.connect(self.quit)
        self.actions.library.storage.opened.connect(self._listen)
        self.watchdog = Watchdog(self.window, self._patience)

    def _presets(self) -> PresetStore:
        from playground.engine.presets import PresetStore

        return PresetStore(self._folder / "presets.json" if self._folder else None, self.gateways.keys.known)

    def _listen(self) -> None:
        """The store is open. Where it is this process's own, further starts with it are answered."""
        from playground.engine.store import Mode
        from playground.ui.second_start_listener import SecondStarts

        store = self.workspace.store
        if store is not None and store.status.mode is Mode.READY:
            self.second_starts = SecondStarts(self.window)
            self.second_starts.asked.connect(self._started_again)
            self.second_starts.listen(store.path)

    def _started_again(self, file: str, activation: str) -> None:
        self.window.come_forward(activation)
        if file:
            self.open_path(Path(file))

    def open_path(self, path: Path) -> None:
        """Open a file that somebody handed over: named at the start, by a second start, or by the system."""
        self.actions.keeping.files.open_path(path)

    def show(self) -> None:
        """Open the window, if it is not, and begin to work. Called once the event loop runs."""
        self._running = True
        if not self.window.isVisible():
            self.window.show()
            self.window.composer.setFocus()
        self.actions.start()
        self.watchdog.start()
        if self._closing:
            self._end(ask=False)

    def quit(self, *, ask: bool = True) -> None:
        """End in order; asked twice, it is done once. Asked before the event loop runs, it is done when that does.

        With ``ask`` a person is asked first where something could not be saved.
        """
        if not self._closing:
            self._closing = True
            if self._running:
                self._end(ask=ask)

    def _end(self, *, ask: bool) -> None:
        from playground.ui import loop

        loop.spawn(self.shut_down(ask=ask), name="quit")

    async def shut_down(self, *, ask: bool = True) -> None:
        """Runs stopped and awaited, all of it saved, clients closed, the layout written, the demo gateway ended, the
        loop left. Where a person would rather stay, nothing of that.
        """
        import asyncio

        from playground.ui import loop

        if not await self.actions.library.storage.may_end(ask=ask):
            self._closing = False
            return
        if self.second_starts is not None:
            self.second_starts.close()
        try:
            self.window.remember_layout()
            next_time = self.gateways.get(self.gateways.active_id)
            self.window.remember_gateway(next_time.name, next_time.default_model, demo=next_time.demo)
            growing = [(session, tuple(session.growing)) for session in self.workspace.sessions]
            for session in self.workspace.sessions:
                session.stop()
            await loop.cancel_all()
            for session, turn_ids in growing:
                session.mark_interrupted(turn_ids)
            await self.workspace.close()
            await self.actions.wire.cassettes.aclose()
            await self.gateways.aclose()
            self.gateways.keys.close()
            await asyncio.to_thread(self.demo.stop)
            self.watchdog.stop()
        finally:  # whatever goes wrong on the way, the process must not stay behind without a window
            self.window.let_close()
            self.window.close()
            loop.finish(0)


def settings_path() -> Path:
    """Where the window's own settings are kept."""
    places = QStandardPaths.StandardLocation
    system = sys.platform in ("win32", "darwin")  # there, settings stand with the data; so says platformdirs as well
    folder = QStandardPaths.writableLocation(places.GenericDataLocation if system else places.GenericConfigLocation)
    return Path(folder) / "gateway-playground" / "window.ini"


def store_path() -> Path:
    """Where experiments are kept: in the same place as ``playground.engine.store`` says, found without loading that."""
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)
    return Path(folder) / "gateway-playground" / "experiments.db"


def make_application() -> QApplication:
    """The QApplication with its names."""
    QGuiApplication.setDesktopFileName("gateway-playground")
    # The style is named here, as a person could: setting it later makes PySide wrap what Qt's styles hold (5 ms).
    arguments = [*sys.argv[:1], "-style", STYLE]
    if FILES_BY_EVENT:
        from playground.ui.application import Application

        qt: QApplication = Application(arguments)
    else:
        qt = QApplication(arguments)
    qt.setProperty("style", STYLE)
    qt.setApplicationName("Gateway Playground")
    qt.setApplicationVersion(__version__)
    return qt


def run(file: Path | None = None, patience: float = FREEZE) -> int:
    """Open the window, with the experiment in ``file`` if there is one, and stay until it is closed.

    ``patience`` as in ``App``. Returns the exit code.
    """
    import signal

    from playground.ui.second_start import hand_over

    if hand_over(store_path(), file):
        return 0
    qt = make_application()
    app = App(qt, bare=True, patience=patience)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: app.quit(ask=False))
    ticker = QTimer(qt)  # lets Python look at signals while Qt waits
    ticker.start(250)
    ticker.timeout.connect(_nothing)

    app.window.composer.setFocus()
    try:
        FirstFrame(qt, app.window, app.furnish()).show()
    except Exception as error:  # noqa: BLE001 - whatever it is, a person is to read it, and the log to have it
        return _cannot_start(qt, app, error)
    from playground import log
    from playground.ui import loop
    from playground.ui.crash import hard_crash

    log.begin()
    crashes, ended = _watch_for_crashes(app)
    gc.freeze()  # what is there now stays; no collection needs to look through it
    gc.enable()

    async def main() -> None:
        app.show()
        if ended:
            app.window.pane.notice.say(LAST_ENDED, "Show report", partial(crashes.show_ended, ended))
        if file is not None:
            app.open_path(file)
        if FILES_BY_EVENT:
            from playground.ui.application import Application

            if isinstance(qt, Application):
                qt.take_files(app.open_path)

    try:
        return loop.run(qt, main)
    finally:
        crashes.remove()
        hard_crash.end()


def _cannot_start(qt: QApplication, app: App, error: Exception) -> int:
    from playground import log
    from playground.ui.crash import no_start

    log.begin()
    return no_start.tell(qt, app.window, error)


def _watch_for_crashes(app: App) -> tuple[CrashControl, str]:
    """Errors nobody catches are shown and logged from now on, and a crash leaves a file for the next start.

    Gives the control, and the report of the last session if that crashed.
    """
    from playground.engine.redaction import without_secrets
    from playground.ui.crash import hard_crash
    from playground.ui.crash.crash_control import CrashControl

    crashes = CrashControl(app.window, partial(without_secrets, keys=app.gateways.keys))
    crashes.install()
    return crashes, hard_crash.begin()


def _nothing() -> None:
    return
