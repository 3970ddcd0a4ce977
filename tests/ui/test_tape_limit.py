"""The limit for tapes: what is remembered is put into force, and what cannot be meant is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from playground.engine.gateways import Gateways
from playground.engine.profiles import ProfileStore
from playground.engine.secrets import Keys
from playground.engine.tapes import DEFAULT_LIMIT
from playground.engine.workspace import Workspace
from playground.ui.tape_limit import KEY, MIB, TapeLimit, TapeLimitDialog


def no_demo() -> str:
    raise AssertionError("nobody runs anything here")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(Gateways(ProfileStore(tmp_path / "gateways.json"), Keys(), no_demo))


@pytest.mark.parametrize(
    ("remembered", "limit"),
    [
        (None, DEFAULT_LIMIT),
        (str(64 * MIB), 64 * MIB),
        ("much", DEFAULT_LIMIT),
        ("-1", DEFAULT_LIMIT),
        ("5", DEFAULT_LIMIT),
    ],
)
def test_what_is_remembered_is_put_into_force(
    qtbot: QtBot, workspace: Workspace, tmp_path: Path, remembered: str | None, limit: int
) -> None:
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    if remembered is not None:
        settings.setValue(KEY, remembered)
    window = QWidget()
    qtbot.addWidget(window)
    TapeLimit(window, workspace, settings)
    assert workspace.tape_limit == limit
    assert workspace.new().exchanges.limit == limit


def test_the_limit_in_force_is_among_those_offered(qtbot: QtBot, workspace: Workspace) -> None:
    workspace.set_tape_limit(100 * MIB)
    dialog = TapeLimitDialog(workspace)
    qtbot.addWidget(dialog)
    offered = [dialog.choice.itemText(row) for row in range(dialog.choice.count())]
    assert offered == ["16 MiB", "64 MiB", "100 MiB", "256 MiB", "1 GiB", "4 GiB"]
    assert dialog.limit == 100 * MIB
