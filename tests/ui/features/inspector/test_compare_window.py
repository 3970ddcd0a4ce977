"""Two exchanges side by side: what is not known here has a page of its own, where there is any."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from playground.engine.inspect.compare import Comparison, Piece, Side
from playground.engine.session.session import Session
from playground.gateway.client import GatewayClient
from playground.ui.features.wire.compare_window import BESIDE, CompareWindow


async def nowhere(_profile_id: str) -> GatewayClient:
    raise OSError


def test_what_is_not_known_has_its_page_where_there_is_any(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    window = CompareWindow(Session(nowhere, profile_id="p"), parent)
    window.show()
    alike = (Piece(Side.SAME, "a"),)
    beside = (Piece(Side.SAME, '"sig": '), Piece(Side.REMOVED, '"one"'), Piece(Side.ADDED, '"two"'))
    window.show_comparison(Comparison(request=(), answer=alike, reasoning=(), figures=(), beside=beside))
    assert window.tabs.isTabVisible(BESIDE)
    window.tabs.setCurrentIndex(BESIDE)
    first, second = window.texts[BESIDE]
    assert first.isVisible()
    for text in (first, second):
        text.slices.finish()
    assert [text.toPlainText() for text in (first, second)] == ['"sig": "one"', '"sig": "two"']
    window.show_comparison(Comparison(request=(), answer=alike, reasoning=(), figures=()))
    assert not window.tabs.isTabVisible(BESIDE)
