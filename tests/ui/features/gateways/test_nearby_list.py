"""The row of a gateway that was found on this computer."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from playground.engine.gateways.nearby import LocalGateway, LocalKind
from playground.ui.features.gateways.nearby_list import NearbyRow

URL = "http://127.0.0.1:8080/v1"


def test_row_shows_foreign_text_plain_with_one_button(qtbot: QtBot) -> None:
    row = NearbyRow(LocalGateway(URL, LocalKind.ERROR, words="<b>bold</b> \u202e hidden " + "w" * 500))
    qtbot.addWidget(row)
    assert "<b>bold</b>" in row.details.text()
    assert "\u202e" not in row.details.text()
    assert [button.text() for button in row.findChildren(QPushButton)] == ["Use this address"]
