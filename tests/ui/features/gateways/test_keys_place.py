"""Where keys are made: a page that a browser may open, whatever a file says that was edited by hand."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QDesktopServices
from pytestqt.qtbot import QtBot

from playground.engine.gateways.known import KnownGateway
from playground.ui.features.gateways.service_panel import KeysPlace


@pytest.mark.parametrize(
    ("url", "opened"),
    [
        ("https://team.example/keys", ["https://team.example/keys"]),
        ("http://team.example/keys", []),
        ("file:///usr/bin/env", []),
        ("javascript:alert(1)", []),
        ("https:///keys", []),
        ("", []),
    ],
)
def test_only_a_page_of_https_is_opened(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, url: str, opened: list[str]
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda it: asked.append(it.toString()))
    place = KeysPlace()
    qtbot.addWidget(place)
    place.show_service(KnownGateway(id="team", name="Team", base_url="https://team.example/v1", keys_url=url))
    assert place.isHidden() is not bool(opened)
    assert asked == [], "not before the button is pressed"
    if opened:
        place.open.click()
    assert asked == opened
