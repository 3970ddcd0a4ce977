"""Composition root: application, event loop, services, window, orderly shutdown. The only place that knows them all.

The window's frame is painted first; ``App.build`` then imports and makes everything else at once.
"""

from __future__ import annotations

import gc
import linecache
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QEventLoop, QLoggingCategory, QObject, QStandardPaths, QTimer
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication

from playground import __version__
from playground.engine.io.files import resource_root
from playground.ui.shell.main_window import MainWindow
from playground.ui.shell.window_settings import open_settings
from playground.ui.widgets.theme import STYLE, Theme

if TYPE_CHECKING:
    from types import TracebackType

    from PySide6.QtGui import QSessionManager

    from playground.demo.server import Demo, DemoConfig
    from playground.engine.files.presets import PresetStore
    from playground.engine.gateways.gateways import Gateways
    from playground.engine.library.workspace import Workspace
    from playground.ui.features.cassettes.control import CassetteControl
    from playground.ui.features.evaluate.control import EvaluateControl
    from playground.ui.features.files.control import FileControl
    from playground.ui.features.listen.control import ListenControl
    from playground.ui.features.storage.control import StorageControl
    from playground.ui.features.tool_servers.control import ToolServersControl
    from playground.ui.shell.crash.crash_control import CrashControl
    from playground.ui.shell.second_start_listener import SecondStarts
    from playground.ui.shell.watchdog import Watchdog
    from playground.ui.shell.window_actions import WindowActions

LAST_ENDED = "The last session ended unexpectedly."
FILES_BY_EVENT = sys.platform == "darwin"  # where the system hands over files so; elsewhere they are arguments
FLUSH = 2.0  # seconds that the end of the session waits for the disk
UNSEEN_MS = 500  # milliseconds that the start waits for the first paint
FREEZE = 2.0  # seconds after which a window that does not answer is written to the log


class App:
    """Everything that lives as long as the window. Made once a process, before the event loop runs.

    With ``bare`` there is only the window's frame, which can be shown; ``build`` makes the rest. A freeze longer than
    ``patience``, in seconds, is written to the log. ``folder`` holds all files; by default the platform's places do.
    """

    demo: Demo
    gateways: Gateways
    workspace: Workspace
    actions: WindowActions
    storage: StorageControl
    files: FileControl
    evaluation: EvaluateControl
    listen: ListenControl
    cassettes: CassetteControl
    tool_servers: ToolServersControl
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
        self._asks = True
        self._running = False
        self._patience = patience
        self._folder = folder
        self.second_starts: SecondStarts | None = None
        qt.setQuitOnLastWindowClosed(False)
        settings = folder / "window.ini" if folder else settings_path()
        self.settings, self._odd_settings = open_settings(settings)
        self.theme = Theme(qt, str(self.settings.value("theme", "system")))
        self._store_path = folder / "experiments.db" if folder else store_path()
        self.window = MainWindow(None, self.settings, opening=os.path.exists(self._store_path))  # noqa: PTH110 - it never raises
        self.window.close_asked.connect(self.quit)
        if not bare:
            self.build(demo)

    def build(self, demo: DemoConfig | None = None) -> None:
        """Make the services, the content of the window and its actions."""
        from playground.demo.cheats import CHEATS
        from playground.demo.server import Demo, DemoConfig
        from playground.engine.gateways.gateways import Gateways
        from playground.engine.gateways.profiles import ProfileStore
        from playground.engine.gateways.redaction import remove_fingerprints
        from playground.engine.gateways.secrets import Keys
        from playground.engine.library.store import Store
        from playground.engine.library.workspace import Workspace
        from playground.ui.features.storage.banner import StorageBanner
        from playground.ui.shell.crash.hard_crash import crash_file
        from playground.ui.shell.watchdog import Watchdog
        from playground.ui.shell.window_actions import WindowActions

        _forget_sources()
        self.window.setWindowIcon(QIcon(str(resource_root() / "icons" / "app.svg")))
        self.demo = Demo(demo or DemoConfig())
        profiles = ProfileStore(self._folder / "gateways.json" if self._folder else None)
        remove_fingerprints(profiles.path.parent)
        keys = Keys()
        self.gateways = Gateways(profiles, keys, self.demo.start)
        store = Store(self._store_path, keys.known_secrets)
        self.workspace = Workspace(self.gateways, store)
        self.window.populate(self.workspace)
        _forget_sources()
        self.actions = WindowActions(
            self.window,
            self.workspace,
            self.theme,
            self.settings,
            prompts=[(cheat.typed, cheat.happens, cheat.group) for cheat in CHEATS],
            presets=self._presets,
        )
        self.actions.quit_asked.connect(self.quit)
        self.storage, self.files = self.actions.features.storage, self.actions.features.files
        self.evaluation, self.cassettes = self.actions.features.evaluate, self.actions.features.cassettes
        self.tool_servers, self.listen = self.actions.features.tool_servers, self.actions.features.listen
        self.storage.opened.connect(self._listen)
        self.watchdog = Watchdog(self.window, self._patience, crash_file())
        if words := " ".join(filter(None, (self._odd_settings, *profiles.messages))):
            self.window.add_banner(StorageBanner(words))
        _forget_sources()

    def without_secrets(self, text: str) -> str:
        """Return ``text`` for a report, without the keys of all gateways; before ``build`` none is known."""
        if not hasattr(self, "gateways"):
            return text
        return self.gateways.keys.redactor.text(text)

    def _presets(self) -> PresetStore:
        from playground.engine.files.presets import PresetStore

        return PresetStore(self._folder / "presets.json" if self._folder else None, self.gateways.keys.known_secrets)

    def _listen(self) -> None:
        """Listen for second starts, now that the store is open, if this process may write to it."""
        from playground.engine.library.store import Mode
        from playground.ui.shell.second_start_listener import SecondStarts

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
        """Open a file named at the start, by a second start, or by the system."""
        self.files.open_path(path)

    def show(self) -> None:
        """Open the window, if it is not, and begin to work. Called once the event loop runs."""
        if not self.window.isVisible():
            self.window.show()
        self.window.composer.setFocus()
        self.actions.start()
        self.watchdog.start()
        self._running = True
        if self._closing:  # asked for before the window was built
            self._end()

    def quit(self, *, ask: bool = True) -> None:
        """End in order; asked twice, it is done once. Asked before the window is built, it is done when that is.

        With ``ask`` a person is asked first where something could not be saved. Asked without it meanwhile, that
        question is taken back: the system ends, say.
        """
        again, self._closing, self._asks = self._closing, True, self._asks and ask
        if self._running:
            self._end(again=again)

    def session_ends(self, manager: QSessionManager) -> None:
        """The system ends the session. Where that loses something and a person can be asked, it has to wait."""
        if self._running and not self.workspace.flush_now(FLUSH) and manager.allowsInteraction():
            manager.cancel()
            manager.release()
            self.quit()

    def _end(self, *, again: bool = False) -> None:
        from playground.ui.widgets import loop

        if not self._asks:
            self.storage.ask_no_longer()
        if not again:
            loop.spawn(self.shut_down(), name="quit")

    async def _may_end(self) -> bool:
        """Return whether nothing is under way that a person wants to keep running."""
        return await self.evaluation.may_end() and await self.listen.may_end()

    async def shut_down(self) -> None:
        """Runs stopped and awaited, all of it saved, clients closed, the layout written, the demo gateway ended, the
        loop left. Where a person would rather stay, nothing of that.
        """
        import asyncio

        from playground.engine.questions import checking
        from playground.ui.widgets import loop

        if not await self.storage.may_end(self.files.save_copies, self._may_end):
            self._closing = False
            return
        self._running = False
        if self.second_starts is not None:
            self.second_starts.close()
        try:
            self.window.remember_layout()
            self.tool_servers.keep_drafts()
            await self.listen.aclose()
            next_time = self.gateways.get(self.gateways.active_id)
            self.window.remember_gateway(next_time.name, next_time.default_model)
            growing = [(session, tuple(session.growing)) for session in self.workspace.sessions]
            for session in self.workspace.sessions:
                session.experiment.stop()
            await loop.cancel_all()
            for session, turn_ids in growing:
                session.turns.mark_interrupted(turn_ids)
            await self.workspace.close()
            await self.cassettes.aclose()
            await self.gateways.aclose()
            await asyncio.to_thread(checking.rest)
            await asyncio.to_thread(self.demo.stop)
            await loop.cancel_all()  # what these changes have started
            self.watchdog.stop()
        finally:  # whatever goes wrong on the way, the process must not stay behind without a window
            self.window.let_close()
            self.window.close()
            loop.finish(0)


def settings_path() -> Path:
    """Return the path of the window's own settings."""
    places = QStandardPaths.StandardLocation
    system = sys.platform in ("win32", "darwin")  # where platformdirs keeps settings with the data
    folder = QStandardPaths.writableLocation(places.GenericDataLocation if system else places.GenericConfigLocation)
    return Path(folder) / "gateway-playground" / "window.ini"


def store_path() -> Path:
    """Return the path of the store, as ``playground.engine.library.store`` does, without loading that."""
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)
    return Path(folder) / "gateway-playground" / "experiments.db"


def make_application() -> QApplication:
    """Return the QApplication with its names set."""
    QGuiApplication.setDesktopFileName("gateway-playground")
    if "WAYLAND_DISPLAY" in os.environ:  # where no input method runs, Qt warns of each window that has had the focus
        QLoggingCategory.setFilterRules("qt.qpa.wayland.textinput.warning=false")
    # The style is named here, as a person could: setting it later makes PySide wrap what Qt's styles hold (5 ms).
    arguments = [*sys.argv[:1], "-style", STYLE]
    if FILES_BY_EVENT:
        from playground.ui.shell.application import Application

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

    from playground.ui.shell.second_start import hand_over

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # while there is nothing to lose, Ctrl+C ends the process
    if hand_over(store_path(), file):
        return 0
    with ExitStack() as last:
        errors = _Errors()
        last.callback(errors.end)
        qt = make_application()
        app: App | None = None
        try:
            app = App(qt, bare=True, patience=patience)
            qt.commitDataRequest.connect(app.session_ends)
            app.window.fit_screen()
            _show_frame(app.window)
            return _work(qt, app, errors, last, file)
        except Exception as error:  # noqa: BLE001 - whatever it is, a person is to read it, and the log to have it
            return _cannot_start(qt, app, error)


def _work(qt: QApplication, app: App, errors: _Errors, last: ExitStack, file: Path | None) -> int:
    """Run the event loop until the window is closed; ``last`` takes what is to be done at the end.

    Raises the error of a failed start.
    """
    from playground.ui.shell.signals import Signals
    from playground.ui.widgets import loop

    failures: list[Exception] = []

    async def main() -> None:
        try:
            last.callback(Signals(partial(app.quit, ask=False), qt).end)
            errors.tell(app)
            app.build()
        except Exception as error:  # noqa: BLE001 - raised again below, outside the loop
            failures.append(error)
            loop.finish(1)
            return
        gc.freeze()  # what is there now stays; no collection needs to look through it
        qt.sendPostedEvents()  # shows the new widgets: a hidden message field would lose the focus when it is shown
        app.show()
        errors.tell_of_last_time()
        if file is not None:
            app.open_path(file)
        if FILES_BY_EVENT:
            from playground.ui.shell.application import Application

            if isinstance(qt, Application):
                qt.take_files(app.open_path)

    gc.enable()  # the loop collects from here on
    code = loop.run(qt, main)
    if failures:
        raise failures[0]
    return code


def _forget_sources() -> None:
    """Empty Python's cache of source lines.

    PySide reads the source of each module that is imported after it, to see whether it uses PySide: 24 MB by the end of
    the start. The memory is used again by what is made next, so this is called between the steps of the start.
    """
    linecache.clearcache()


def _show_frame(window: MainWindow) -> None:
    """Show the window and wait for its first paint; a window that opens minimised is not painted.

    This event loop ends before the application's own is loaded, which takes as long as a third of the first frame.
    """
    frame = QEventLoop()
    watch = _PaintWatch(window, frame.quit)
    QTimer.singleShot(UNSEEN_MS, frame.quit)
    window.show()
    frame.exec()
    window.removeEventFilter(watch)


class _PaintWatch(QObject):
    """Calls ``painted`` after each paint event of ``window``."""

    def __init__(self, window: MainWindow, painted: Callable[[], None]) -> None:
        super().__init__(window)
        self._painted = painted
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            QTimer.singleShot(0, self._painted)  # the picture has gone to the screen by then
        return False


def _cannot_start(qt: QApplication, app: App | None, error: Exception) -> int:
    from playground.system import log
    from playground.ui.shell.crash import no_start

    log.begin()
    return no_start.tell(qt, app.window if app is not None else None, error)


class _Errors:
    """Uncaught errors are shown and logged, and a crash leaves a file for the next start.

    The report window is not loaded before the first paint: earlier errors are kept until ``tell``.
    """

    def __init__(self) -> None:
        self._errors: list[tuple[type[BaseException], BaseException, TracebackType | None]] = []
        self._crashes: CrashControl | None = None
        self._window: MainWindow | None = None
        self._ended = ""
        sys.excepthook = self._keep

    def _keep(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self._errors.append((kind, error, trace))

    def tell(self, app: App) -> None:
        """Show errors from now on, and the earlier ones."""
        from playground.system import log
        from playground.ui.shell.crash import hard_crash
        from playground.ui.shell.crash.crash_control import CrashControl

        log.begin()
        sys.excepthook = sys.__excepthook__
        self._crashes = CrashControl(app.window, app.without_secrets)
        self._crashes.install()
        self._window = app.window
        self._ended = hard_crash.begin()
        self._tell_kept()

    def tell_of_last_time(self) -> None:
        """Show a notice if the last session crashed."""
        if self._ended and self._crashes is not None and self._window is not None:
            show = partial(self._crashes.show_ended, self._ended)
            self._window.pane.notice.say(LAST_ENDED, "Show report", show)

    def end(self) -> None:
        """End; errors that were not shown go to standard error."""
        if self._crashes is not None:
            from playground.ui.shell.crash import hard_crash

            self._crashes.remove()
            hard_crash.end()
        else:
            sys.excepthook = sys.__excepthook__
            self._tell_kept()

    def _tell_kept(self) -> None:
        errors, self._errors = self._errors, []
        for error in errors:
            sys.excepthook(*error)
