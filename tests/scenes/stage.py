"""The real window, driven as a person would, and the picture of it. Knows no scene.

A stage makes one picture: a new ``App`` with its own demo gateway, opened at one size in one scheme, shut down
in order afterwards. Whatever goes to ``sys.excepthook`` or to Qt's warnings meanwhile is an error of the scene.
"""

from __future__ import annotations

import asyncio
import gc
import re
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

import shiboken6
from PySide6.QtCore import (
    QEvent,
    QMessageLogContext,
    QPoint,
    QRegularExpression,
    QSettings,
    QSize,
    Qt,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtGui import QColor, QImage, QPainter, QTextDocument
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QLabel,
    QPlainTextEdit,
    QTabBar,
    QTableWidget,
    QWidget,
)

from playground.app import App, make_application, settings_path
from playground.demo.server import DemoConfig
from playground.domain.debugging import Answer
from playground.engine.library.store.opening import default_path as store_path
from playground.engine.session.changes import Change, RunStateChanged
from playground.engine.session.session import Session
from playground.jsonkit.values import JSON
from playground.ui.widgets import loop
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.theme import tokens
from tests.flows.conftest import Person

W = TypeVar("W", bound=QWidget)
SEED = 7
ROLES = Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole
TOP = 10  # pixels above the first message
SETTLE = 0.25  # seconds: longer than the window's own delays (preview 0.15, token count 0.2, checks 0.15)
STEP = 0.05  # seconds between two looks, of which the second one has to see no change
STEPS = 40  # so many times that, until what still changes is taken for something that never ends
PATIENCE = 45.0  # seconds until something awaited counts as failed: a process may have to start on a busy machine
ADDRESS = QRegularExpression(r"127\.0\.0\.1:\d{5}")
VARYING = (  # what depends on the machine and the moment, and what pictures show instead
    (re.compile(r"127\.0\.0\.1:\d{5}"), "127.0.0.1:8080"),
    (re.compile(r"\b\d+ min( \d+ s)?\b|\b[\d.,]+ (µs|ms|s)\b"), "0.5 s"),
    (re.compile(r"since \d\d:\d\d"), "since 14:03"),
    (re.compile(r"[\d.,]+ tok/s · | · 0\.5 s$"), ""),  # not said of every answer
)
HARMLESS = "This plugin does not support"  # what the offscreen platform says of every window and popup


class SceneError(Exception):
    """A scene did not come to the state it is to show."""


@dataclass(frozen=True, slots=True)
class Look:
    """One way to draw a scene: a scheme and the window's size in pixels."""

    scheme: str
    width: int
    height: int

    @property
    def name(self) -> str:
        """The name used in file names."""
        return f"{self.scheme}-{self.width}x{self.height}"


class Stage:
    """The application, gateway and window of a scene."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.window = app.window
        self.person = Person(app, [])  # for page objects

    @property
    def session(self) -> Session:
        """The experiment looked at."""
        return self.app.workspace.current

    # Doing

    def act(self, action_id: str) -> None:
        """Carry out one of the window's actions, as its menu item would."""
        self.window.action(action_id).trigger()

    def fresh(self, model: str, *, protocol: str = "chat", **parameters: JSON) -> None:
        """Set the empty experiment up: the demo gateway, a model, parameters by their wire names; a fixed seed."""
        session = self.session
        session.change(protocol=protocol)
        session.change(model=model)
        if protocol == "chat":
            parameters.setdefault("seed", SEED)
        values = session.settings.current
        for name, value in parameters.items():
            values = values.with_value(name, value)
        session.set_parameters(values)

    async def ask(self, text: str, *, wait: bool = True) -> None:
        """Write a message and run it; ``wait`` until the answer has ended."""
        self.window.pane.composer.set_text(text)
        await self.run(wait=wait)

    async def run(self, *, wait: bool = True) -> None:
        """Run the experiment in view."""
        await self.begin(self.window.pane.run)
        if wait:
            await self.idle()

    def open_sample(self) -> None:
        """Open the sample experiment with tools, with a seed so that its answers and the ids of calls are the same."""
        self.act("sample.tools")
        self.session.set_parameters(self.session.settings.current.with_value("seed", SEED))

    async def sample(self) -> None:
        """The sample experiment, run until its calls wait."""
        self.open_sample()
        await self.run()
        await self.until(lambda: len(self.session.transcript.unanswered()) > 1, "two calls to wait for an answer")

    async def answer(self, *results: str) -> None:
        """Answer the calls that wait, in order; the run that follows is awaited."""
        waiting = zip(self.session.transcript.unanswered(), results, strict=True)

        def give() -> None:
            for call, result in waiting:
                self.send(call.id, result)

        await self.begin(give)
        await self.idle()

    def send(self, call_id: str, result: str) -> None:
        """Send a result for one call that waits."""
        turn_id = next(turn_id for turn_id, call in self.session.debugger.waiting if call.id == call_id)
        self.window.pane.calls.answer(turn_id, call_id, Answer(text=result))

    async def begin(self, start: Callable[[], None]) -> None:
        """Start a run. Listens rather than looks: a refused one is over before one could look."""
        messages: list[Change] = []
        cancel = self.session.subscribe(messages.append)
        start()
        await self.until(lambda: any(isinstance(change, RunStateChanged) for change in messages), "the run to begin")
        cancel()

    # Finding

    def growing(self, what: str) -> str:
        """The text of the turn being received: its ``reasoning`` or its ``text``."""
        choice = next(iter(self.session.growing.values()), None)
        if choice is None:
            return ""
        return "".join("".join(part.fragments) for part in choice.parts if part.kind == what)

    async def dialog(self, title: str) -> QWidget:
        """The window or dialog with this title, once it is open."""

        def matches() -> list[QWidget]:
            return [widget for widget in _above(self.window) if widget.windowTitle() == title]

        await self.until(lambda: bool(matches()), f"the window {title!r}")
        return matches()[0]

    def find(self, kind: type[W], name: str = "", inside: QWidget | None = None) -> W:
        """The first visible widget with this accessible name or text. Raises SceneError where there is none."""
        matches = self.person.find(kind, name, inside)
        if not matches:
            raise SceneError(f"there is no {kind.__name__} {name!r}")
        return matches[0]

    def select(self, name: str, text: str, inside: QWidget | None = None) -> None:
        """Select the row with this text in the list, table or tree of this accessible name."""
        view = self.find(QAbstractItemView, name, inside)
        model = view.model()
        rows = [model.index(row, 0) for row in range(model.rowCount())]
        row = next((row for row in rows if any(text in str(row.data(role)) for role in ROLES)), None)
        if row is None:
            raise SceneError(f"there is no row {text!r}: {[row.data() for row in rows]}")
        view.setCurrentIndex(row)

    def turn_to(self, title: str, bar_name: str) -> None:
        """Turn to the tab with this title in the bar of this accessible name."""
        bar = self.find(QTabBar, bar_name)
        bar.setCurrentIndex(next(index for index in range(bar.count()) if bar.tabText(index).startswith(title)))

    # Waiting

    async def until(self, reached: Callable[[], bool], what: str) -> None:
        """Wait for a state. Raises SceneError when it does not come."""
        end = time.monotonic() + PATIENCE
        while not reached():
            if time.monotonic() > end:
                raise SceneError(f"waited {PATIENCE:.0f} s for {what}")
            await asyncio.sleep(0.01)

    async def idle(self) -> None:
        """Wait until no run is under way."""
        await self.until(lambda: self.session.active_run is None, "the run to end")

    async def settle(self) -> None:
        """Let what is drawn with a delay be drawn: until nothing changes, unless an answer is being received."""
        before = None
        await asyncio.sleep(SETTLE)
        for _ in range(STEPS):
            await asyncio.sleep(STEP)
            now = self.picture()
            if now == before or self.session.active_run is not None:
                return
            before = now

    # Scrolling

    async def scroll_to_turn(self, index: int) -> None:
        """Bring a turn's beginning to the top of the view."""
        await self.settle()
        view = self.window.pane.view
        card = view.card(self.session.transcript.path[index].id)
        if card is None:
            raise SceneError(f"turn {index} has no card")
        bar = view.verticalScrollBar()
        bar.setValue(card.y() - TOP)

    async def scroll_to_top(self) -> None:
        """Show the first turn."""
        await self.settle()
        self.window.pane.view.verticalScrollBar().setValue(0)

    # The picture

    def picture(self) -> QImage:
        """Return a picture of the window and of the dialogs and popups above it, at its own size."""
        image = _render(self.window)
        origin = self.window.mapToGlobal(QPoint(0, 0))
        painter = QPainter(image)
        for widget in _above(self.window):
            index = widget.mapToGlobal(QPoint(0, 0)) - origin
            if not widget.windowFlags() & Qt.WindowType.FramelessWindowHint:
                # A desktop centres a dialog and frames it; a platform without a desktop does neither.
                index = QPoint((image.width() - widget.width()) // 2, (image.height() - widget.height()) // 2)
                painter.setPen(QColor(tokens().muted))
                painter.drawRect(index.x() - 1, index.y() - 1, widget.width() + 1, widget.height() + 1)
            painter.drawImage(index, _render(widget))
        painter.end()
        return image


def _above(window: QWidget) -> list[QWidget]:
    """Return the open dialogs and popups."""
    return [w for w in QApplication.topLevelWidgets() if w is not window and w.isVisible()]


def fix_figures(windows: Iterable[QWidget]) -> None:
    """Put fixed figures in the place of measured times, rates and ports, so that two pictures of a state are alike."""
    for widget in (widget for window in windows for widget in window.findChildren(QWidget)):
        if isinstance(widget, QLabel | QAbstractButton):
            if (text := _fixed(widget.text())) != widget.text():
                widget.setText(text)
        elif isinstance(widget, ElidedLabel):
            show_metrics = getattr(widget, "show_metrics", None)
            if show_metrics is not None:
                show_metrics(_fixed(widget.text).split(" · "))
            else:
                widget.set_text(_fixed(widget.text))
        elif isinstance(widget, QPlainTextEdit):
            _fix_port(widget.document())
        elif isinstance(widget, QTableWidget):
            for item in widget.findItems("127.0.0.1:", Qt.MatchFlag.MatchStartsWith):
                item.setText(_fixed(item.text()))


def _fixed(text: str) -> str:
    for pattern, figure in VARYING:
        text = pattern.sub(figure, text)
    return text


def _fix_port(document: QTextDocument) -> None:
    result = document.find(ADDRESS)
    while not result.isNull():
        result.insertText("127.0.0.1:8080")
        result = document.find(ADDRESS, result)


def _render(widget: QWidget) -> QImage:
    image = QImage(widget.size(), QImage.Format.Format_RGB32)
    image.fill(QColor(tokens().window))
    widget.render(image)
    return image


def application() -> QApplication:
    """The one QApplication; the cursor does not blink, so that two pictures of one state are alike."""
    existing = QApplication.instance()
    qt = existing if isinstance(existing, QApplication) else make_application()
    qt.setCursorFlashTime(0)
    return qt


def draw(play: Callable[[Stage], Awaitable[None]], look: Look, demo: DemoConfig) -> QImage:
    """Open the window, play a scene and take its picture. Raises SceneError, or what the scene raised."""
    _forget_settings(look)
    qt = application()
    opened: list[App] = []
    drawn: list[QImage] = []
    failed: list[BaseException] = []

    async def main() -> None:
        app = App(qt, demo=demo)
        opened.append(app)
        try:
            drawn.append(await _play(app, play, look))
        except Exception as error:  # kept for the caller, after the window has been shut down in order
            failed.append(error)
        finally:
            for widget in _above(app.window):
                widget.close()
            app.quit(ask=False)

    gc.disable()  # a collection on the demo gateway's thread would end Qt objects there
    with _listening(failed):
        loop.run(qt, main)
        for app in opened:  # a window left over would be restyled with every later one
            shiboken6.delete(app.window)
            shiboken6.delete(app.theme)
        opened.clear()
        gc.collect()
    if failed:
        raise failed[0]
    return drawn[0]


async def _play(app: App, play: Callable[[Stage], Awaitable[None]], look: Look) -> QImage:
    stage = Stage(app)
    app.window.resize(look.width, look.height)
    app.show()
    await stage.person.key(Qt.Key.Key_Shift)  # with a first key the demo gateway starts
    await stage.until(lambda: bool(app.window.bar.model.ids), "the demo gateway's models")
    await play(stage)
    for _ in range(2):  # what a timer said meanwhile is put right the second time
        await stage.settle()
        fix_figures([app.window, *_above(app.window)])
        for _ in range(4):  # as many layouts are nested
            QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
    if app.window.size() != QSize(look.width, look.height):
        size = app.window.size()
        raise SceneError(f"the window is {size.width()}x{size.height()}; something in it needs more room")
    return stage.picture()


def _forget_settings(look: Look) -> None:
    """A first start in this scheme: no layout, no gateways and no experiments from the scene before."""
    for folder in {settings_path().parent, store_path().parent}:
        for path in folder.rglob("*"):  # with the backups of experiments
            if path.is_file():
                path.unlink()
    settings = QSettings(str(settings_path()), QSettings.Format.IniFormat)
    settings.clear()
    settings.setValue("theme", look.scheme)
    settings.sync()


@contextmanager
def _listening(failed: list[BaseException]) -> Iterator[None]:
    """Collect errors of tasks and slots, and Qt's warnings, which otherwise would only be printed."""

    def hook(_kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
        failed.append(error)

    def handler(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        if kind not in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) and HARMLESS not in text:
            failed.append(SceneError(f"Qt said: {text}"))

    before, sys.excepthook = sys.excepthook, hook
    previous = qInstallMessageHandler(handler)
    try:
        yield
    finally:
        qInstallMessageHandler(previous)
        sys.excepthook = before
