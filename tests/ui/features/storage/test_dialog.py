"""The storage dialog and its banner."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox, QLabel
from pytestqt.qtbot import QtBot

from playground.engine.library.store import Mode, Status
from playground.engine.library.store.backups import Backup
from playground.ui.features.storage.banner import StorageBanner
from playground.ui.features.storage.dialog import StorageDialog, StorageState, backup_time
from playground.ui.features.storage.limits import MIB

PLACE = StorageState("/data/somebody/experiments.db", 3 * MIB, "", 2048, can_restore=True)


def dialog_of(
    qtbot: QtBot, place: StorageState, days: int = 90, disk: int = 1024 * MIB, memory: int = 100 * MIB
) -> StorageDialog:
    dialog = StorageDialog(place, days, disk, memory, 30)
    qtbot.addWidget(dialog)
    return dialog


def test_current_limits_are_among_the_choices(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot, PLACE, days=45, disk=0)
    assert (dialog.days, dialog.disk, dialog.memory) == (45, 0, 100 * MIB)
    offered = {
        field.accessibleName(): [field.itemText(row) for row in range(field.count())]
        for field in dialog.findChildren(QComboBox)
    }
    assert offered == {
        "Keep bodies for": ["7 days", "30 days", "45 days", "90 days", "a year", "for ever"],
        "Bodies on the disk, at most": ["100 MiB", "512 MiB", "1 GiB", "5 GiB", "no limit"],
        "Bodies in memory, for each open experiment": ["16 MiB", "64 MiB", "100 MiB", "256 MiB", "1 GiB", "4 GiB"],
        "Keep deleted experiments for": ["a day", "7 days", "30 days", "90 days", "a year", "for ever"],
    }
    dialog.choose(days=7, disk=512 * MIB, memory=16 * MIB, trash_days=0)
    assert (dialog.days, dialog.disk, dialog.memory, dialog.trash_days) == (7, 512 * MIB, 16 * MIB, 0)


def test_size_of_the_trash_is_shown(qtbot: QtBot) -> None:
    def words(place: StorageState) -> list[str]:
        dialog = dialog_of(qtbot, place)
        return [label.text() for label in dialog.findChildren(QLabel) if "trash" in label.text()]

    assert words(PLACE) == ["The trash is empty."]
    assert words(replace(PLACE, deleted=1, trash=2048)) == ["The trash holds 1 experiment, about 2 KiB."]
    assert words(replace(PLACE, path="", deleted=2)) == ["The trash holds 2 experiments."]


def test_selected_backup_is_asked_to_be_restored(qtbot: QtBot, tmp_path: Path) -> None:
    backups = tuple(Backup(tmp_path / f"{day}.db", 1.79e9 + day * 86_400, day * MIB) for day in (2, 1))
    dialog = dialog_of(qtbot, replace(PLACE, backups=backups, backup_problem="The disk is full."))
    chosen: list[Backup] = []
    dialog.backup_restore_asked.connect(chosen.append)
    dialog.restore_backup.click()
    assert (chosen, dialog.restore_backup.isEnabled()) == ([], False)
    cells = dialog.backups.model()
    texts = [[cells.index(row, column).data() for column in range(2)] for row in range(2)]
    assert texts == [[backup_time(backups[0]), "2 MiB"], [backup_time(backups[1]), "1 MiB"]]
    dialog.backups.selectRow(1)
    dialog.restore_backup.click()
    assert chosen == [backups[1]]
    assert dialog.backup_problem.text() == "The last automatic backup was not made: The disk is full."
    assert dialog_of(qtbot, PLACE).backups.isHidden()


@pytest.fixture
def banner(qtbot: QtBot) -> StorageBanner:
    banner = StorageBanner()
    qtbot.addWidget(banner)
    return banner


def test_banner_shows_trouble_until_it_ends(banner: StorageBanner) -> None:
    asked: list[str] = []
    banner.show_status(
        Status(Mode.READY, trouble="The disk is full."), [("Open folder", lambda: asked.append("folder"))]
    )
    assert "The disk is full. Nothing is lost" in banner.words
    assert banner.close_button.isHidden()
    banner.buttons[0].click()
    assert asked == ["folder"]
    banner.show_status(Status(Mode.READY))
    assert banner.words == ""
