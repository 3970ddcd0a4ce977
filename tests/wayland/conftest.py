"""The stage of the flows on a Wayland screen of its own, and a person whose mouse and keyboard the compositor moves.

Windows are made, placed, given the focus and grabbed from by the compositor, as on a person's desktop; nothing is put
into Qt's own queue. Run by ``.ci/in_wayland.sh .venv/bin/pytest -n 0 tests/wayland``; nothing is collected elsewhere.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QToolButton, QWidget
from shiboken6 import isValid

from playground.app import App
from playground.demo.server import DemoConfig
from tests.flows.conftest import PACE, Person, Stage, shown
from tests.flows.conftest import stage as stage
from tests.support.sway import windows
from tests.support.wayland_hands import LEFT, RIGHT, Hands

ON_WAYLAND = "SWAYSOCK" in os.environ and "WAYLAND_DISPLAY" in os.environ
collect_ignore_glob = [] if ON_WAYLAND else ["test_*.py"]

PAUSE = 0.05  # seconds: a hand rests before it presses
STEPS = 20  # of a mouse that is dragged somewhere
_POPUPS = Qt.WindowType.Popup, Qt.WindowType.ToolTip
_MODIFIERS = {
    Qt.KeyboardModifier.ControlModifier: "Ctrl+",
    Qt.KeyboardModifier.ShiftModifier: "Shift+",
    Qt.KeyboardModifier.AltModifier: "Alt+",
}


@pytest.fixture(scope="session")
def hands() -> Iterator[Hands]:
    """The mouse and the keyboard of the screen."""
    with Hands() as created:
        yield created


@dataclass(frozen=True)
class Toplevel:
    """A window as the compositor has it; pixels of the screen, of what the program draws."""

    title: str
    place: QRect
    focused: bool
    urgent: bool


def toplevels() -> list[Toplevel]:
    """The windows on the screen, as the compositor lists them."""

    def read(node: dict[str, Any]) -> Toplevel:
        outer, inner = node["rect"], node["window_rect"]
        place = QRect(outer["x"] + inner["x"], outer["y"] + inner["y"], inner["width"], inner["height"])
        return Toplevel(node["name"] or "", place, node["focused"], node["urgent"])

    return [read(node) for node in windows()]


class Hand(Person):
    """A person at the window, with the mouse and the keyboard of the screen."""

    def __init__(self, person: Person, hands: Hands) -> None:
        super().__init__(person.app, person._mistakes)
        self.hands = hands

    def on_screen(self, widget: QWidget, position: QPoint) -> tuple[int, int]:
        """Where a point of a widget is on the screen: as the compositor placed its window, or the window whose popup it
        is in, which Qt tells where it came to stand over that.
        """
        top = widget.window()
        point = widget.mapTo(top, position)
        if top.windowType() in _POPUPS:
            parent = top.parentWidget()
            over = self.app.window if parent is None else parent.window()
            point = over.mapFromGlobal(top.mapToGlobal(point))
            if over.windowType() in _POPUPS:
                return self.on_screen(over, point)
            top = over
        (results,) = [window for window in toplevels() if window.title == top.windowTitle()]
        place = results.place.topLeft() + point
        return place.x(), place.y()

    async def click(self, widget: QWidget) -> None:
        await self.reveal(widget)
        await self.until(widget.isEnabled, f"{widget} to be of use")
        await self.rests(widget)
        await self.click_at(widget, widget.visibleRegion().boundingRect().center())

    async def click_at(self, widget: QWidget, position: QPoint, *, right: bool = False) -> None:
        """Click on a point of a widget."""
        place = self.on_screen(widget, position)
        self.hands.move(*place)
        await asyncio.sleep(PAUSE)
        self.hands.click(*place, RIGHT if right else LEFT)

    async def double_click(self, widget: QWidget) -> None:
        """Click twice on the middle of a widget, as a hand does that is not quite still."""
        x, y = self.on_screen(widget, widget.rect().center())
        self.hands.move(x, y)
        await asyncio.sleep(PAUSE)
        self.hands.click(x, y)
        await asyncio.sleep(PAUSE)
        self.hands.press()
        self.hands.move(x + 1, y + 1)
        await asyncio.sleep(PAUSE)
        self.hands.release()

    async def choose(self, button: QPushButton | QToolButton, entry: str) -> None:
        menu = button.menu()
        await self.click(button)
        await self.until(menu.isVisible, f"menu of {button}")
        await self.pick(menu, entry)

    async def opened(self) -> QMenu:
        """The menu that opens, once it is in view."""
        await self.until(lambda: isinstance(QApplication.activePopupWidget(), QMenu), "a menu")
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        return menu

    async def pick(self, menu: QMenu, entry: str) -> None:
        (action,) = [action for action in menu.actions() if shown(action.text()) == entry]
        await self.click_at(menu, menu.actionGeometry(action).center())
        await self.until(lambda: not isValid(menu) or not menu.isVisible(), "the menu to close")

    async def keys(self, text: str) -> None:
        self.hands.type(text)

    async def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        pending = "".join(name for item, name in _MODIFIERS.items() if modifier & item)
        self.hands.key(pending + key.name.removeprefix("Key_"))

    async def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Take hold of what is at one place of the screen, go to another as a hand does, rest, and release it."""
        self.hands.move(*start)
        await asyncio.sleep(PAUSE)
        self.hands.press()
        for step in range(1, STEPS + 1):
            await asyncio.sleep(PAUSE / 5)
            self.hands.move(*(a + (b - a) * step // STEPS for a, b in zip(start, end, strict=True)))
        await asyncio.sleep(4 * PAUSE)
        self.hands.release()


Walk = Callable[[Hand], Coroutine[Any, Any, None]]


@pytest.fixture
def walk(stage: Stage, hands: Hands) -> Callable[[Walk], App]:
    """Plays a scene with a person whose hands are those of the screen."""

    def play(scene: Walk, demo: DemoConfig = PACE) -> App:
        async def with_hands(person: Person) -> None:
            await scene(Hand(person, hands))

        return stage.play(with_hands, demo)

    return play
