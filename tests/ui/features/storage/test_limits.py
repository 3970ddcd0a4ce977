"""Limits of stored exchanges."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from playground.engine.library.store.tape_rows import KeepTapes
from playground.ui.features.storage.limits import GIB, MIB, StorageLimits, days_words, size_words
from playground.ui.widgets.preferences import read_preferences, write_preferences


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)


def test_limits_are_read_from_settings_and_invalid_ones_are_the_default(settings: QSettings) -> None:
    def read() -> StorageLimits:
        settings.sync()
        return read_preferences(StorageLimits, QSettings(settings.fileName(), QSettings.Format.IniFormat))

    assert (read(), read().tapes) == (StorageLimits(), KeepTapes())
    settings.setValue("tapes/days", 7)
    settings.setValue("tapes/bytes", 100 * MIB)
    assert read().tapes == KeepTapes(7, 100 * MIB)
    write_preferences(StorageLimits(days=0, disk=0, memory=MIB, trash_days=7), settings)
    assert (read().tapes, read().memory, read().trash_days) == (KeepTapes(None, None), MIB, 7)
    settings.setValue("tapes/days", "many")
    settings.setValue("tapes/bytes", "-4")
    settings.setValue("tape_limit", 5)
    assert read() == StorageLimits(trash_days=7)


def test_sizes_and_times_are_formatted() -> None:
    assert [size_words(n) for n in (0, 2048, 5 * MIB // 2, 256 * MIB, 3 * GIB // 2, 4 * GIB)] == [
        "0 bytes", "2 KiB", "2.5 MiB", "256 MiB", "1.5 GiB", "4 GiB",
    ]  # fmt: skip
    assert [days_words(n) for n in (1, 90, 365, 730, 0)] == ["a day", "90 days", "a year", "2 years", "for ever"]
