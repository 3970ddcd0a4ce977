"""The files opened last are remembered, the latest first, and what is in the settings is trusted in nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from playground.ui.features.files.control import FORGET, KEY, MOST, NONE, RecentFiles


class Stand:
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
def stand(qtbot: QtBot, tmp_path: Path) -> Stand:
    return Stand(qtbot, tmp_path)


def test_without_files_the_menu_says_so(stand: Stand) -> None:
    assert stand.words == [NONE]
    assert not stand.recent.menu.actions()[0].isEnabled()
    assert stand.recent.entries() == []


def test_the_latest_comes_first_and_each_once(stand: Stand, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.json", "b & c.json", "a.json")]
    for file in files:
        stand.recent.add_recent(file)
    assert stand.recent.paths == files[:0:-1]
    assert stand.words[0].startswith("a.json   ")
    assert stand.words[1].startswith("b && c.json")
    stand.recent.menu.actions()[1].trigger()
    stand.recent.entries()[0].act()
    assert stand.opened == [files[1], files[0]]
    again = RecentFiles(stand.settings, stand.opened.append, stand.window)
    assert again.paths == stand.recent.paths


def test_the_list_ends_somewhere_and_can_be_forgotten(stand: Stand, tmp_path: Path) -> None:
    for number in range(MOST + 5):
        stand.recent.add_recent(tmp_path / f"{number}.json")
    assert len(stand.recent.paths) == MOST
    stand.recent.remove(tmp_path / f"{MOST + 4}.json")
    assert stand.recent.paths[0].name == f"{MOST + 3}.json"
    assert stand.words[-1] == FORGET
    stand.recent.menu.actions()[-1].trigger()
    assert stand.recent.paths == []
    assert stand.words == [NONE]


@pytest.mark.parametrize("text", ["", "{", "7", '{"a": 1}', '[1, null, ["a"]]'])
def test_settings_that_hold_something_else_are_no_list(stand: Stand, text: str) -> None:
    stand.settings.setValue(KEY, text)
    assert stand.recent.paths == []


def test_the_home_folder_is_short_and_a_long_one_is_cut(stand: Stand) -> None:
    stand.recent.add_recent(Path.home() / "talks" / "a.json")
    assert stand.words[0] == f"a.json   {Path('~/talks')}"
    stand.recent.add_recent(Path.home().joinpath(*["folder"] * 30, "b\u202e.json"))
    assert len(stand.words[0]) < 80
    assert "\u202e" not in stand.words[0]
