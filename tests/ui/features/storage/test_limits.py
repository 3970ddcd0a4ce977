"""Limits of stored exchanges."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from playground.engine.library.store.tape_rows import KeepTapes
from playground.ui.features.storage.limits import (
    BYTES_KEY,
    DAYS_KEY,
    GIB,
    MIB,
    days_words,
    keep_rule,
    size_words,
)


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)


def test_disk_rule_is_read_from_settings(settings: QSettings) -> None:
    assert keep_rule(settings) == KeepTapes()
    settings.setValue(DAYS_KEY, 7)
    settings.setValue(BYTES_KEY, 100 * MIB)
    assert keep_rule(settings) == KeepTapes(7, 100 * MIB)
    settings.setValue(DAYS_KEY, 0)
    settings.setValue(BYTES_KEY, 0)
    assert keep_rule(settings) == KeepTapes(None, None)
    settings.setValue(DAYS_KEY, "many")
    settings.setValue(BYTES_KEY, "-4")
    assert keep_rule(settings) == KeepTapes()


def test_sizes_and_times_are_formatted() -> None:
    assert [size_words(n) for n in (0, 2048, 5 * MIB // 2, 256 * MIB, 3 * GIB // 2, 4 * GIB)] == [
        "0 bytes", "2 KiB", "2.5 MiB", "256 MiB", "1.5 GiB", "4 GiB",
    ]  # fmt: skip
    assert [days_words(n) for n in (1, 90, 365, 730, 0)] == ["a day", "90 days", "a year", "2 years", "for ever"]
