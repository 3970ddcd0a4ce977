"""The menu of recent files."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from playground.ui.features.files.control import FORGET, KEY, MOST, NONE, RecentFiles
from tests.support.each_case import each_case


class RecentMenu:
    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.window = QWidget()
        qtbot.addWidget(self.window)
        self.settings = QSettings(str(folder / "w.ini"), QSettings.Format.IniFormat)
        self.opened: list[Path] = []
        self.recent = RecentFiles(self.settings, self.opened.append, self.window)

    @property
    def words(self) -> list[str]:
        return [action.text() for action in self.recent.menu.actions() if not action.isSeparator()]


@pytest.fixture
def recent_menu(qtbot: QtBot, tmp_path: Path) -> RecentMenu:
    return RecentMenu(qtbot, tmp_path)


def test_recent_files_are_limited_and_cleared(recent_menu: RecentMenu, tmp_path: Path) -> None:
    for number in range(MOST + 5):
        recent_menu.recent.add_recent(tmp_path / f"{number}.json")
    assert len(recent_menu.recent.paths) == MOST
    recent_menu.recent.remove(tmp_path / f"{MOST + 4}.json")
    assert recent_menu.recent.paths[0].name == f"{MOST + 3}.json"
    assert recent_menu.words[-1] == FORGET
    recent_menu.recent.menu.actions()[-1].trigger()
    assert recent_menu.recent.paths == []
    assert recent_menu.words == [NONE]


@each_case("text", ["", "{", "7", '{"a": 1}', '[1, null, ["a"]]'])
def test_invalid_settings_are_an_empty_list(recent_menu: RecentMenu, text: str) -> None:
    recent_menu.settings.setValue(KEY, text)
    assert recent_menu.recent.paths == []


def test_long_folder_is_shortened(recent_menu: RecentMenu) -> None:
    recent_menu.recent.add_recent(Path.home() / "talks" / "a.json")
    assert recent_menu.words[0] == f"a.json   {Path('~/talks')}"
    recent_menu.recent.add_recent(Path.home().joinpath(*["folder"] * 30, "b\u202e.json"))
    assert len(recent_menu.words[0]) < 80
    assert "\u202e" not in recent_menu.words[0]
