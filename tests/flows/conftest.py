"""A stage: the real application on the real event loop, and a person at its mouse and keyboard.

A scene is a coroutine; it acts only through ``Person`` and waits only for conditions. When it ends the application is
quit as a person would quit it, and nothing may be left: no task, no thread, no window, no server.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QToolButton,
    QWidget,
)
from shiboken6 import isValid

from playground.app import App
from playground.demo.server import DemoConfig, DemoServer
from playground.demo.service import ReceivedRequest
from playground.domain.transcript import Turn
from playground.engine.session.session import Session
from playground.ui.features.conversation.pane import ConversationPane
from playground.ui.features.conversation.turn_card import TurnCard
from playground.ui.widgets import loop
from tests.flows.pages.conversation import ConversationPage

W = TypeVar("W", bound=QWidget)
PACE = DemoConfig(tokens_per_second=600, time_to_first_token=0.02, rate_limit=1_000_000)
SECONDS = 40  # the longest one wait may take on a busy machine

Scene = Callable[["Person"], Coroutine[Any, Any, None]]


class Person:
    """A person at the window."""

    def __init__(self, app: App, mistakes: list[BaseException]) -> None:
        self.app = app
        self._mistakes = mistakes

    # Looking

    @property
    def windows(self) -> list[QWidget]:
        """All visible top-level windows and dialogs."""
        return [window for window in QApplication.topLevelWidgets() if window.isVisible()]

    @property
    def pane(self) -> ConversationPane:
        return self.app.window.pane

    @property
    def conversation(self) -> ConversationPage:
        """The conversation with its composer and bars."""
        return ConversationPage(self)

    @property
    def session(self) -> Session:
        return self.app.workspace.current

    @property
    def server(self) -> DemoServer:
        return self.app.demo.server

    @property
    def path(self) -> tuple[Turn, ...]:
        return self.session.transcript.path

    @property
    def message(self) -> QPlainTextEdit:
        """The field of the composer."""
        return self.get(QPlainTextEdit, "Message", self.pane.composer)

    @property
    def posts(self) -> list[ReceivedRequest]:
        """The requests of runs that the demo gateway received, oldest first."""
        return [request for request in self.server.requests if request.method == "POST"]

    def body(self, index: int = -1) -> dict[str, Any]:
        """The body of a request as the demo gateway received it."""
        body: dict[str, Any] = json.loads(self.posts[index].body)
        return body

    def card(self, index: int) -> TurnCard:
        """The card of a turn on the path."""
        card = self.pane.view.card(self.path[index].id)
        assert card is not None, f"turn {index} has no card"
        return card

    def find(self, kind: type[W], name: str = "", inside: QWidget | None = None) -> list[W]:
        """Widgets in view whose accessible name, or else text, is or begins with ``name``."""
        place = inside or self.app.window
        return [widget for widget in place.findChildren(kind) if widget.isVisible() and _called(widget, name)]

    def get(self, kind: type[W], name: str = "", inside: QWidget | None = None) -> W:
        result = self.find(kind, name, inside)
        assert len(result) == 1, f"{len(result)} × {kind.__name__} {name!r}"
        return result[0]

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait for a condition, the application going on meanwhile.

        It still holds a turn of Qt's events later: by then what was made along with it is in view, as for a person.
        """
        try:
            async with asyncio.timeout(SECONDS):
                while not (condition() and await self._holds(condition)):
                    await asyncio.sleep(0.01)
                    if self._mistakes:  # told already by pytest-qt; there is nothing left to wait for
                        raise self._mistakes[0]
        except TimeoutError:
            raise AssertionError(f"never came: {what or condition}") from None

    async def _holds(self, condition: Callable[[], object]) -> bool:
        await self.do(lambda: None)
        return bool(condition())

    async def seen(self, kind: type[W], name: str = "", inside: QWidget | None = None) -> W:
        """Wait until there is one such widget in view."""
        await self.until(lambda: len(self.find(kind, name, inside)) == 1, f"{kind.__name__} {name!r}")
        return self.get(kind, name, inside)

    async def idle(self, turns: int | None = None) -> None:
        """Wait until no run is active, the path has so many turns, and the messages in view are drawn."""

        def rests() -> bool:
            if self.session.active_run is not None or turns not in (None, len(self.path)):
                return False
            return self.conversation.is_drawn

        await self.until(rests, f"rest with {turns} turns")

    # Doing: as events of their own, as real ones come, not inside a task

    async def do(self, work: Callable[[], object]) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def act() -> None:
            if done.done():  # nothing waits for it any more
                return
            try:
                work()
            except BaseException as error:
                done.set_exception(error)
            else:
                if not done.done():  # the end of the application may have come of it
                    done.set_result(None)

        QTimer.singleShot(0, act)
        await done

    async def click(self, widget: QWidget) -> None:
        """Press and release the left button in the middle of what is seen of a widget, once it can be used."""
        await self.reveal(widget)
        await self.until(widget.isEnabled, f"{widget} to be of use")
        await self.rests(widget)
        await self.do(lambda: click_at(widget, widget.visibleRegion().boundingRect().center()))

    async def rests(self, widget: QWidget) -> None:
        """Wait until a widget has stayed where it is for a moment: a person does not click on what is still moving."""
        while True:
            place = widget.visibleRegion().boundingRect().translated(widget.mapTo(widget.window(), QPoint(0, 0)))
            await asyncio.sleep(0.03)
            await self.reveal(widget)
            now = widget.visibleRegion().boundingRect().translated(widget.mapTo(widget.window(), QPoint(0, 0)))
            if now == place:
                return

    async def reveal(self, widget: QWidget) -> None:
        """Scroll the areas around a widget until it is in view."""
        area = widget.parentWidget()
        while area is not None and widget.visibleRegion().isEmpty():
            if isinstance(area, QScrollArea):
                await self.do(partial(area.ensureWidgetVisible, widget))
            area = area.parentWidget()
        view = self.pane.view
        if widget.visibleRegion().isEmpty() and view.isAncestorOf(widget):
            bar = view.verticalScrollBar()
            await self.do(lambda: bar.setValue(bar.value() + widget.mapTo(view, QPoint(0, -40)).y()))
        await self.until(lambda: not widget.visibleRegion().isEmpty(), f"{widget} in view")

    async def press(self, name: str, inside: QWidget | None = None) -> None:
        """Click the button of that name."""
        await self.click(await self.seen(QAbstractButton, name, inside))

    async def keys(self, text: str) -> None:
        """Type where the focus is."""
        for letter in text:
            await self.do(partial(QTest.keyClick, self.app.window.windowHandle(), letter))

    async def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press one key where the focus is."""
        await self.do(partial(QTest.keyClick, self.app.window.windowHandle(), key, modifier))

    async def type_into(self, widget: QWidget, text: str) -> None:
        """Click into a field, mark all and type. A click activates the field's window, as it does on a desktop."""
        if not widget.isActiveWindow():
            await self.do(widget.window().activateWindow)
        await self.click(widget)
        await self.until(lambda: _has_focus(widget), f"focus in {widget}")
        await self.key(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        await self.keys(text)

    async def run(self, text: str) -> None:
        """Write a message and run it with Ctrl+Enter."""
        await self.type_into(self.message, text)
        await self.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)

    async def use_model(self, model: str) -> None:
        """Type a model id where the model is chosen: in the tool bar, or above the lane in front."""
        picker = self.app.actions.features.gateways.picker
        await self.type_into(picker, model)
        await self.key(Qt.Key.Key_Return)
        await self.until(lambda: self.session.settings.model == model, f"the model {model}")

    async def choose(self, button: QPushButton | QToolButton, entry: str) -> None:
        """Open the menu of a button, once it is enabled, and click an entry."""
        await self.reveal(button)
        await self.until(button.isEnabled, f"{button} to be enabled")
        await self.rests(button)
        menu = button.menu()
        point = button.visibleRegion().boundingRect().center()
        QTimer.singleShot(0, partial(click_at, button, point))  # may not return before the menu is closed
        await self.until(menu.isVisible, f"menu of {button}")
        await self.pick(menu, entry)

    async def trigger(self, action: str) -> None:
        """Trigger the action of this id, as its key or menu entry does, once it is enabled."""
        match = self.app.window.action(action)
        await self.until(match.isEnabled, f"the action {action} to be enabled")
        await self.do(match.trigger)

    async def pick(self, menu: QMenu, entry: str) -> None:
        """Click the entry of an open menu, once it is enabled."""

        def entries() -> list[QAction]:
            return [action for action in menu.actions() if shown(action.text()) == entry and action.isEnabled()]

        await self.until(lambda: len(entries()) == 1, f"the entry {entry!r}")
        (action,) = entries()
        entry_center = menu.actionGeometry(action).center()
        for step in reversed(range(MOVES)):
            await self.do(partial(QTest.mouseMove, menu.windowHandle(), entry_center + QPoint(step, 0)))
        await self.do(partial(click_at, menu, entry_center))
        await self.until(lambda: not isValid(menu) or not menu.isVisible(), "the menu to close")


def shown(text: str) -> str:
    """The text of a button or menu entry as a person sees it."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").strip()


def _called(widget: QWidget, name: str) -> bool:
    if not name:
        return True
    text = shown(widget.text()) if isinstance(widget, QAbstractButton) else ""
    return any(words == name or words.startswith(f"{name} ") for words in (widget.accessibleName(), text))


MOVES = 8  # with fewer, Qt takes a click on an entry that covers the menu's button for the end of the click on that


def click_at(widget: QWidget, position: QPoint) -> None:
    window = widget.window()
    position = widget.mapTo(window, position)
    hit = window.childAt(position)
    assert window is widget or hit is widget or (hit is not None and widget.isAncestorOf(hit)), f"{hit} covers {widget}"
    QTest.mouseClick(window.windowHandle(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, position)


def _has_focus(widget: QWidget) -> bool:
    focus = QApplication.focusWidget()
    return focus is not None and (focus is widget or widget.isAncestorOf(focus))


class Stage:
    """Plays one scene; may be used again in the same process."""

    def __init__(self, qapp: QApplication) -> None:
        self._qapp = qapp
        self.exit_code: int | None = None

    def play(self, scene: Scene, demo: DemoConfig = PACE) -> App:
        """Open the application, play, quit. What the scene raises is raised here. Gives the ended application."""
        before, tasks = set(threading.enumerate()), set(loop._tasks)
        raised: list[BaseException] = []
        mistakes: list[BaseException] = []
        notices = sys.excepthook

        def note(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            mistakes.append(error)
            notices(kind, error, trace)

        sys.excepthook = note
        app = App(self._qapp, demo=demo)

        async def main() -> None:
            try:
                app.show()
                app.window.activateWindow()
                person = Person(app, mistakes)
                await person.until(lambda: QApplication.activeWindow() is app.window, "an active window")
                await scene(person)
            except BaseException as error:
                raised.append(error)
            finally:
                app.quit(ask=False)  # after a scene that failed, nothing answers the question

        try:
            self.exit_code = loop.run(self._qapp, main)
            still_running = app.demo.server.running
        finally:
            sys.excepthook = notices
            app.demo.stop()
            _clear(app)
        if raised:
            raise raised[0]
        remaining = [thread for thread in threading.enumerate() if thread not in before and _ours(thread)]
        assert not remaining, f"threads left alive: {remaining}"
        assert loop._tasks <= tasks, f"tasks left: {loop._tasks - tasks}"
        assert not still_running, "the demo gateway was left running"
        return app


def flow(
    demo: DemoConfig = PACE,
) -> Callable[[Callable[..., Coroutine[Any, Any, None]]], Callable[..., None]]:
    """Make a test of a scene: it is played in one start of the application, with its other parameters as fixtures."""

    def decorate(scene: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
        @wraps(scene)
        def run(stage: Stage, **fixtures: Any) -> None:
            stage.play(partial(scene, **fixtures), demo)

        parameters = list(signature(scene).parameters.values())[1:]
        stage = Parameter("stage", Parameter.POSITIONAL_OR_KEYWORD)
        run.__signature__ = Signature([stage, *parameters])  # type: ignore[attr-defined]
        return run

    return decorate


def _ours(thread: threading.Thread) -> bool:
    """Qt's own pool shows up as dummies, which Python 3.11 keeps after they have ended."""
    return thread.is_alive() and not isinstance(thread, threading._DummyThread)


def _clear(app: App) -> None:
    """Objects of Qt die here and now, in the thread they belong to."""
    assert not app.window.isVisible(), "the window was left open"
    app.window.deleteLater()
    app.theme.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def stage(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """The stage, with settings and gateways in a folder of its own."""
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "APPDATA", "LOCALAPPDATA", "HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    yield Stage(qapp)
    qapp.setStyleSheet("")
