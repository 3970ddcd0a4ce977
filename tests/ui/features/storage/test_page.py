"""The preferences page of storage, and the banner."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from playground.engine.library.store import Mode, Status
from playground.engine.library.store.backups import Backup
from playground.ui.features.storage.banner import StorageBanner
from playground.ui.features.storage.limits import MIB, StorageLimits
from playground.ui.features.storage.page import UNAPPLIED, StoragePage, StorageState, backup_time

PLACE = StorageState("/data/somebody/experiments.db", 3 * MIB, "", 2048, can_restore=True)


@pytest.fixture
def page(qtbot: QtBot) -> StoragePage:
    page = StoragePage(StorageLimits(days=45, disk=0, memory=100 * MIB, trash_days=30))
    qtbot.addWidget(page)
    page.show_state(PLACE)
    return page


def test_current_limits_are_among_the_choices(page: StoragePage) -> None:
    choices = {
        field.accessibleName(): [field.itemText(row) for row in range(field.count())]
        for field in page.findChildren(QComboBox)
    }
    assert choices == {
        "Keep bodies for": ["7 days", "30 days", "45 days", "90 days", "a year", "for ever"],
        "Bodies on disk, at most": ["100 MiB", "512 MiB", "1 GiB", "5 GiB", "no limit"],
        "Bodies in memory, per open experiment": ["16 MiB", "64 MiB", "100 MiB", "256 MiB", "1 GiB", "4 GiB"],
        "Keep deleted experiments for": ["a day", "7 days", "30 days", "90 days", "a year", "for ever"],
    }


def test_limits_change_only_when_applied(page: StoragePage) -> None:
    applied: list[StorageLimits] = []
    page.limits_applied.connect(applied.append)
    days = next(field for field in page.findChildren(QComboBox) if field.accessibleName() == "Keep bodies for")
    assert not page.apply.isEnabled()
    days.setFocus()
    QTest.keyClick(days, Qt.Key.Key_Home)
    assert (applied, page.apply.isEnabled(), page.unapplied.text()) == ([], True, UNAPPLIED)
    page.apply.click()
    assert applied == [StorageLimits(days=7, disk=0, memory=100 * MIB, trash_days=30)]
    assert (page.apply.isEnabled(), page.unapplied.text()) == (False, "")


def test_size_of_the_trash_is_shown(page: StoragePage) -> None:
    def words(state: StorageState) -> str:
        page.show_state(state)
        return page.trash.text()

    assert words(PLACE) == "The trash is empty."
    assert words(replace(PLACE, deleted=1, trash=2048)) == "The trash holds 1 experiment, about 2 KiB."
    assert words(replace(PLACE, path="", deleted=2)) == "The trash holds 2 experiments."


def test_selected_backup_is_asked_to_be_restored(page: StoragePage, tmp_path: Path) -> None:
    assert page.backups.isHidden()
    backups = tuple(Backup(tmp_path / f"{day}.db", 1.79e9 + day * 86_400, day * MIB) for day in (2, 1))
    page.show_state(replace(PLACE, backups=backups, backup_problem="The disk is full."))
    chosen: list[Backup] = []
    page.backup_restore_asked.connect(chosen.append)
    page.restore_backup.click()
    assert (chosen, page.restore_backup.isEnabled()) == ([], False)
    texts = [page.backups.item(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(2)]
    assert texts == [f"{backup_time(backups[0])}, 2 MiB", f"{backup_time(backups[1])}, 1 MiB"]
    page.backups.setCurrentRow(1)
    page.restore_backup.click()
    assert chosen == [backups[1]]
    assert page.backup_problem.text() == "The last automatic backup was not made: The disk is full."


@pytest.fixture
def banner(qtbot: QtBot) -> StorageBanner:
    banner = StorageBanner()
    qtbot.addWidget(banner)
    return banner


def test_banner_shows_trouble_until_it_ends(banner: StorageBanner) -> None:
    requests: list[str] = []
    banner.show_status(
        Status(Mode.READY, trouble="The disk is full."), [("Open folder", lambda: requests.append("folder"))]
    )
    assert "The disk is full. Nothing is lost" in banner.words
    assert banner.close_button.isHidden()
    banner.buttons[0].click()
    assert requests == ["folder"]
    banner.show_status(Status(Mode.READY))
    assert banner.words == ""
