"""The list of experiments: days, search, choosing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPushButton
from pytestqt.qtbot import QtBot

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways import Gateways
from playground.engine.profiles import ProfileStore
from playground.engine.secrets import Keys
from playground.engine.session import Session
from playground.engine.workspace import Workspace
from playground.ui.experiments.panel import ExperimentsPanel, day_name
from tests.engine.conftest import no_keyring

pytestmark = pytest.mark.qt_log_ignore("plugin does not support")  # the offscreen one says so of pop-ups


def _no_demo() -> str:
    raise OSError("nothing is to be asked here")


class Stand:
    """A panel on a workspace with two experiments."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace(Gateways(ProfileStore(folder / "gateways.json"), Keys(backend=no_keyring), _no_demo))
        self.first = self.write("Weather in Rome")
        self.second = self.write("A poem on rivers")
        self.panel = ExperimentsPanel(self.workspace)

    def write(self, text: str) -> Session:
        session = self.workspace.new()
        session.add_turn(make_turn(Role.USER, text))
        return session

    @property
    def titles(self) -> list[str]:
        rows = self.panel.list
        return [rows.item(at).text() for at in range(rows.count()) if rows.item(at).flags() & Qt.ItemFlag.ItemIsEnabled]

    def row(self, title: str) -> int:
        return next(at for at in range(self.panel.list.count()) if self.panel.list.item(at).text() == title)

    def centre(self, title: str) -> QPoint:
        return self.panel.list.visualItemRect(self.panel.list.item(self.row(title))).center()


@pytest.fixture
def stand(qtbot: QtBot, tmp_path: Path) -> Stand:
    stand = Stand(tmp_path)
    qtbot.addWidget(stand.panel)
    stand.panel.resize(260, 500)
    stand.panel.show()
    qtbot.waitExposed(stand.panel)
    return stand


def test_experiments_stand_under_their_day_newest_first(stand: Stand) -> None:
    assert stand.panel.list.item(0).text() == "Today"
    assert stand.titles == [stand.second.title, stand.first.title]
    assert stand.panel.list.currentItem().text() == stand.second.title


def test_a_click_opens(stand: Stand) -> None:
    QTest.mouseClick(stand.panel.list.viewport(), Qt.MouseButton.LeftButton, pos=stand.centre(stand.first.title))
    assert stand.workspace.current is stand.first


def test_search_looks_into_the_turns(stand: Stand, qtbot: QtBot) -> None:
    QTest.keyClicks(stand.panel.search, "RIVERS poem")
    qtbot.waitUntil(lambda: stand.titles == [stand.second.title])
    stand.panel.search.clear()
    qtbot.waitUntil(lambda: len(stand.titles) == 2)


def test_new_makes_one_and_a_rename_is_followed(stand: Stand, qtbot: QtBot) -> None:
    next(b for b in stand.panel.findChildren(QPushButton) if b.text() == "New experiment").click()
    qtbot.waitUntil(lambda: len(stand.titles) == 3)
    assert stand.workspace.current not in (stand.first, stand.second)
    stand.first.rename("Rome, again")
    qtbot.waitUntil(lambda: "Rome, again" in stand.titles)


def test_the_menu_renames_and_deletes(stand: Stand, qtbot: QtBot) -> None:
    title = stand.first.title

    def choose(words: str) -> None:
        stand.panel.list.customContextMenuRequested.emit(stand.centre(title))
        menu = stand.panel.findChildren(QMenu)[-1]
        next(action for action in menu.actions() if action.text() == words).trigger()
        menu.close()

    with qtbot.waitSignal(stand.panel.rename_asked) as asked:
        choose("Rename")
    assert asked.args == [stand.first.id]
    choose("Delete")
    qtbot.waitUntil(lambda: title not in stand.titles)
    assert stand.first not in stand.workspace.sessions


def test_a_day_can_be_painted(stand: Stand) -> None:
    image = stand.panel.grab().toImage()
    assert len({image.pixel(x, y) for x in range(0, 260, 3) for y in range(0, 300, 3)}) > 5


@pytest.mark.parametrize(
    ("then", "words"),
    [
        ((2026, 11, 21, 0, 1), "Today"),
        ((2026, 11, 22, 9, 0), "Today"),  # a clock that was set back
        ((2026, 11, 20, 23, 59), "Yesterday"),
        ((2026, 11, 19, 12, 0), "19 November"),
        ((2025, 12, 31, 12, 0), "31 December 2025"),
    ],
)
def test_days_are_named(then: tuple[int, int, int, int, int], words: str) -> None:
    assert day_name(moment(*then), moment(2026, 11, 21, 12, 0)) == words


def moment(year: int, month: int, day: int, hour: int, minute: int) -> float:
    """The Unix time of a local time."""
    return time.mktime((year, month, day, hour, minute, 0, 0, 0, -1))


def test_now_is_today() -> None:
    assert day_name(time.time()) == "Today"
