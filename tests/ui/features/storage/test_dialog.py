"""The storage dialog and its banner."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from playground.engine.library.store import Mode, Status
from playground.ui.features.storage.banner import StorageBanner


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
