"""The link to the page where keys are made."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from playground.engine.gateways.services import KnownGateway
from playground.ui.features.gateways.service_panel import KeysPlace
from tests.support.each_case import each_case


@each_case(
    "url",
    [
        "https://team.example/keys",
        "http://team.example/keys",
        "file:///usr/bin/env",
        "javascript:alert(1)",
        "https:///k",
        "",
    ],
)
def test_only_a_page_of_https_is_offered(qtbot: QtBot, url: str) -> None:
    place = KeysPlace()
    qtbot.addWidget(place)
    place.show_service(KnownGateway(id="team", name="Team", base_url="https://team.example/v1", keys_url=url))
    assert place.isHidden() is not (url == "https://team.example/keys")
