"""Icons as Qt asks for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QSize, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from playground.ui.widgets.icons import icon


@pytest.fixture
def said(qapp: QApplication) -> Iterator[list[str]]:
    heard: list[str] = []
    before = qInstallMessageHandler(lambda kind, _, text: heard.append(text) if kind > QtMsgType.QtDebugMsg else None)
    yield heard
    qInstallMessageHandler(before)


@pytest.mark.parametrize("size", [QSize(0, 0), QSize(0, 12), QSize(12, 0)])
def test_a_button_without_room_has_no_picture(size: QSize, said: list[str]) -> None:
    assert icon("chevron-down", "muted").pixmap(size).isNull()
    assert said == []


def test_a_picture_is_as_large_as_asked(said: list[str]) -> None:
    assert icon("chevron-down").pixmap(QSize(12, 12), 1.0).size() == QSize(12, 12)
    assert said == []
