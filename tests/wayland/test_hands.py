"""Typing, pointing, dragging, copying and dropping on a Wayland screen: only the compositor knows places."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from playground.app import App
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.files.experiment_file import write
from playground.engine.session.snapshot import Snapshot
from playground.ui.shell.docks import Dock
from tests.flows.conftest import shown
from tests.flows.pages.steps import open_tab
from tests.support.sway import compositor
from tests.wayland.conftest import Hand, Walk, toplevels

Play = Callable[[Walk], App]

#: Another program, with a window from which a file can be dragged.
GIVER = """
import sys
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QDrag
from PySide6.QtWidgets import QApplication, QLabel

class Giver(QLabel):
    def mousePressEvent(self, event):
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(sys.argv[1])])
        drag = QDrag(self)
        drag.setMimeData(data)
        drag.exec()

app = QApplication(sys.argv[:1])
label = Giver("take it")
label.setWindowTitle("Giver")
label.resize(200, 80)
label.show()
app.exec()
"""


@pytest.fixture(autouse=True)
def one_screen_of_one_scale() -> Iterator[None]:
    yield
    compositor("output", "HEADLESS-1", "resolution", "1440x900", "scale", "1")


def test_a_prompt_is_typed_and_run_and_its_answer_copied_and_pasted(walk: Play) -> None:
    async def scene(hand: Hand) -> None:
        assert QGuiApplication.platformName() == "wayland"
        await hand.until(lambda: hand.app.window.bar.model.ids, "the models")
        await hand.click(hand.message)
        await hand.keys('Hello (Wayland): {it\'s} "real", 100% & more?')
        await hand.until(lambda: hand.message.toPlainText().endswith("more?"), "what was typed")
        assert hand.message.toPlainText() == 'Hello (Wayland): {it\'s} "real", 100% & more?'
        await hand.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await hand.idle(turns=2)

        more = await hand.seen(QToolButton, "More for this message", hand.card(-1))
        await hand.choose(more, "Copy text")
        second = other_program_gets()
        await hand.until(lambda: second.poll() is not None, "another program to get it")
        assert second.communicate()[0].decode() == hand.path[-1].text

        other_program_copies("from another program: naïve – ✓")
        await hand.click(hand.message)
        await hand.key(Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        await hand.until(lambda: hand.message.toPlainText() == "from another program: naïve – ✓", "what was pasted")

    walk(scene)


@pytest.mark.parametrize("scale", ["1", "1.5", "2"])
def test_what_opens_over_the_window_is_where_the_program_takes_it_to_be(walk: Play, qtbot: QtBot, scale: str) -> None:
    drawn = math.ceil(float(scale))  # this compositor knows whole ones only, and makes the picture smaller
    pixels = f"{round(1440 * float(scale))}x{round(900 * float(scale))}"
    compositor("output", "HEADLESS-1", "resolution", pixels, "scale", scale)
    qtbot.waitUntil(lambda: QGuiApplication.primaryScreen().devicePixelRatio() == drawn)

    async def scene(hand: Hand) -> None:
        assert hand.app.window.devicePixelRatio() == drawn
        await hand.until(lambda: hand.app.window.bar.model.ids, "the models")

        role = await hand.seen(QPushButton, "Role of the message")
        await hand.choose(role, "System")
        assert role.text().strip() == "System"

        await hand.click(hand.message)
        await hand.keys("all of this")
        await hand.click_at(hand.message, QPoint(20, 8), right=True)
        menu = await hand.opened()
        everything = next(text for action in menu.actions() if (text := shown(action.text())).startswith("Select All"))
        await hand.pick(menu, everything)
        assert hand.message.textCursor().selectedText() == "all of this"

        form = hand.app.window.panels.parameters
        await hand.do(lambda: form.show_row("tool_choice"))  # under More parameters
        choice = await hand.seen(QComboBox, "Tool choice", form)
        await hand.rests(choice)
        await hand.click_at(choice, QPoint(choice.width() - 10, choice.height() // 2))
        listed = choice.view()
        await hand.until(listed.isVisible, "what can be chosen")
        last = choice.model().index(choice.count() - 1, 0)
        await hand.click_at(listed.viewport(), listed.visualRect(last).center())
        await hand.until(lambda: choice.currentIndex() == choice.count() - 1, "the last of them")
        assert not listed.isVisible()

        await hand.key(Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
        picker = hand.app.window.bar.model
        await hand.until(lambda: picker.panel is not None and picker.panel.isVisible(), "the models to choose from")
        await hand.keys("tools")
        await hand.key(Qt.Key.Key_Return)
        await hand.until(lambda: hand.session.settings.model == "tools", "the model that was typed")

    walk(scene)


def test_a_tool_and_the_edge_of_a_panel_are_dragged(walk: Play) -> None:
    async def scene(hand: Hand) -> None:
        window = hand.app.window
        panel = window.panels.tools
        await open_tab(hand, "Tools")
        names = ("first", "second", "third")
        hand.session.change(tools=tuple(ToolDefinition(name=name, parameters={"type": "object"}) for name in names))
        await hand.until(lambda: panel.list.model().rowCount() == len(names), "the tools")
        await hand.rests(panel.list)
        rows = [panel.list.visualRect(panel.list.model().index(row, 0)) for row in range(len(names))]
        view = panel.list.viewport()
        end = hand.on_screen(view, rows[2].center() + QPoint(0, rows[2].height() // 2 - 4))
        await hand.drag(hand.on_screen(view, rows[0].center()), end)
        await hand.until(lambda: [tool.name for tool in hand.session.settings.tools] == ["second", "third", "first"])

        before = window.left_dock.width()
        edge = hand.on_screen(window.left_dock, QPoint(before + 1, window.left_dock.height() // 2))
        await hand.drag(edge, (edge[0] + 80, edge[1]))
        await hand.until(lambda: abs(window.left_dock.width() - before - 80) <= 4, "the wider list")

    walk(scene)


def test_a_file_is_dropped_from_another_program(walk: Play, tmp_path: Path) -> None:
    file = tmp_path / "dropped.playground.json"
    turn = make_turn(Role.USER, "Hello")
    file.write_bytes(write(Snapshot(id="dropped", title="Dropped here", turns=(turn,), head=turn.id)))

    async def scene(hand: Hand) -> None:
        giver = other_program_gives(file)
        try:
            await hand.until(lambda: any(first.title == "Giver" for first in toplevels()), "the other program")
            (second,) = [first.place.center() for first in toplevels() if first.title == "Giver"]
            await hand.drag((second.x(), second.y()), hand.on_screen(hand.pane, QPoint(60, 60)))
            await hand.until(lambda: hand.session.title == "Dropped here", "the file to open")
        finally:
            giver.kill()
            giver.wait()

    walk(scene)


def test_a_panel_is_floated_and_put_back(walk: Play) -> None:
    async def scene(hand: Hand) -> None:
        window = hand.app.window
        dock, float_it = window.right_dock, window.action("view.float_side")
        await hand.do(float_it.trigger)
        await hand.until(lambda: dock.isFloating() and len(toplevels()) == 2, "a window of its own")
        assert placed(dock).size() == dock.size(), "the compositor has it as large as it is drawn"
        await hand.do(float_it.trigger)
        await hand.until(lambda: not dock.isFloating() and len(toplevels()) == 1, "it back in the window")
        assert dock.isVisible()

    walk(scene)


def placed(dock: Dock) -> QRect:
    """Where the compositor has the dock that is a window of its own."""
    (apart,) = [item for item in toplevels() if item.title == dock.windowTitle()]
    return apart.place


def other_program_gets() -> subprocess.Popen[bytes]:
    """It prints what it gets from the clipboard; it must not be waited for where this program has to give it."""
    return subprocess.Popen(["wl-paste", "--no-newline"], stdout=subprocess.PIPE)


def other_program_copies(text: str) -> None:
    subprocess.run(["wl-copy"], input=text, text=True, check=True, timeout=20)


def other_program_gives(file: Path) -> subprocess.Popen[bytes]:
    """It has a window with the title “Giver”, from which the file can be dragged."""
    return subprocess.Popen([sys.executable, "-c", GIVER, str(file)])
