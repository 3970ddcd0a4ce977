"""The row of a gateway that was found on this computer."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from playground.engine.gateways.nearby import LocalGateway, LocalKind
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.services import KnownGateway
from playground.ui.features.gateways.nearby_list import NearbyRow, details_of, title_of

URL = "http://127.0.0.1:8080/v1"


def test_row_of_a_gateway_has_its_title_and_details() -> None:
    services = tuple(
        KnownGateway(id=name, name=name, base_url="http://127.0.0.1:1/v1") for name in ("A", "B", "C", "D")
    )
    unnamed = LocalGateway(URL, LocalKind.GATEWAY, models=1)
    assert (title_of(unnamed), details_of(unnamed)) == ("127.0.0.1:8080", "1 model")
    two = LocalGateway(URL, LocalKind.GATEWAY, services[:2], models=1234, cut=True)
    assert (title_of(two), details_of(two)) == ("Perhaps A or B", "127.0.0.1:8080 · 1,234 models and more")
    assert title_of(LocalGateway(URL, LocalKind.KEY, services)) == "Perhaps A, B, C or another"
    saved = LocalGateway(URL, LocalKind.GATEWAY, services[:1], sure=True, saved=Profile(name="Mine"))
    assert details_of(saved) == "127.0.0.1:8080 · no models · set up already as “Mine”"


def test_row_shows_foreign_text_plain_with_one_button(qtbot: QtBot) -> None:
    row = NearbyRow(LocalGateway(URL, LocalKind.ERROR, words="<b>bold</b> \u202e hidden " + "w" * 500))
    qtbot.addWidget(row)
    assert "<b>bold</b>" in row.details.text()
    assert "\u202e" not in row.details.text()
    assert [button.text() for button in row.findChildren(QPushButton)] == ["Use this address"]
